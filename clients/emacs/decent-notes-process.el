;;; decent-notes-process.el --- The process of Decent Notes  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; The process: one for all of Emacs.  It is spoken to in JSON-RPC.  This file
;; knows nothing of notes: others register what is to be done about a
;; notification, about a new process, and about the end of one.
;;
;; Nothing is done inside process filters, which may run in the middle of
;; anything, even of our own sending.  What comes is put into a queue, and
;; `decent-notes--work' does it from a timer, between commands.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'seq)
(require 'subr-x)

(defgroup decent-notes nil
  "Notes edited here and elsewhere at once."
  :group 'text)

(defcustom decent-notes-program "decent-notes"
  "The program, or a list of it and its arguments."
  :type '(choice string (repeat string)))

(defcustom decent-notes-notebook nil
  "The folder of the notebook; nil means the one the program chooses."
  :type '(choice (const :tag "The program's own choice" nil) directory))

(defcustom decent-notes-name nil
  "What others see beside your cursor, and in the history.
If nil, it is what the program takes, which is user@host."
  :type '(choice (const :tag "The program's own choice" nil) string))

(defvar decent-notes--connection nil "The connection, nil without a process.")
(defvar decent-notes--process nil "The process of the connection.")
(defvar decent-notes--outbox nil
  "The requests that are not sent yet because the process is stopped.
Each is a pair: a function that sends it, and one to call if that fails.")
(defvar decent-notes--heard 0 "When the process has sent something last.")
(defvar decent-notes--ready nil "Non-nil if the process has been initialized.")
(defvar decent-notes--failure nil "The error that kept the process from starting, as one line.")
(defvar decent-notes--restarts nil "The times of automatic restarts.")
(defvar decent-notes--suggested-tags nil "The tags which the program suggests.")
(defvar decent-notes--queue nil
  "Functions to be called soon, in order.
One that returns `later' is called again after a while.")
(defvar decent-notes--deferred nil "The functions of the queue that have returned `later'.")
(defvar decent-notes--timer nil "The timer that will work off the queue.")
(defvar decent-notes--sending nil
  "Non-nil while a message is being written.
Timers run meanwhile if it is a long one.  They must not send anything: writing
that would take in the answer to the first before `jsonrpc' expects it.")

(defvar decent-notes--handlers nil
  "An alist of methods of notifications and lists of functions.
Each function is called with the parameters of each notification.")
(defvar decent-notes--ready-hook nil "Called when a process was initialized.")
(defvar decent-notes--lost-hook nil "Called when the process has ended.")
(defvar decent-notes--continued-hook nil "Called when the process was continued after a stop.")
(defvar decent-notes--quit-hook nil "Called before the process is ended when Emacs ends.")
(defvar decent-notes--needed-functions nil
  "Functions that return non-nil if the process is needed.
If all return nil, a process that never was ready is not started again.")

(defun decent-notes--on (method function)
  "Have FUNCTION called with the parameters of each notification METHOD."
  (cl-pushnew function (alist-get method decent-notes--handlers)))

;;; Messages for the user

(defun decent-notes--log (format &rest arguments)
  "Add a line, made of FORMAT and ARGUMENTS, to the buffer *decent-notes log*."
  (with-current-buffer (get-buffer-create "*decent-notes log*")
    (save-excursion
      (goto-char (point-max))
      (insert (format-time-string "%T ") (apply #'format format arguments) "\n"))))

(defun decent-notes--tell (format &rest arguments)
  "Show FORMAT with ARGUMENTS as one line, and log it."
  (let ((line (replace-regexp-in-string "\n+" " " (apply #'format format arguments))))
    (decent-notes--log "%s" line)
    (message "Decent Notes: %s" line)))

;;; The queue

(defun decent-notes--enqueue (job)
  "Have the function JOB called soon, outside of process filters."
  (setq decent-notes--queue (nconc decent-notes--queue (list job)))
  (decent-notes--schedule 0))

(defun decent-notes--schedule (seconds)
  "Work off the queue in SECONDS."
  (unless decent-notes--timer
    (setq decent-notes--timer (run-at-time seconds nil #'decent-notes--work))))

(defconst decent-notes--garbage 50000000
  "The bytes of garbage that we make before Emacs may collect them.")

(defun decent-notes--work ()
  "Work off the queue."
  (when decent-notes--timer (cancel-timer decent-notes--timer))
  (setq decent-notes--timer nil)
  (if decent-notes--sending
      (decent-notes--schedule 0.01)
    (let ((inhibit-quit t) ; as in a timer: what C-g stops here would be lost
          ;; Garbage is collected once, at the end, and not again and again.
          (gc-cons-threshold (max decent-notes--garbage gc-cons-threshold)))
      (setq decent-notes--queue (nconc (nreverse decent-notes--deferred) decent-notes--queue)
            decent-notes--deferred nil)
      (while decent-notes--queue
        (let ((job (pop decent-notes--queue)))
          ;; An error must not keep the jobs behind this one from being done.
          (condition-case problem
              (when (eq (funcall job) 'later) (push job decent-notes--deferred))
            (error (decent-notes--log "%s" (error-message-string problem))))))
      (when decent-notes--deferred (decent-notes--schedule 0.05)))))

(defun decent-notes--wait (seconds done)
  "Wait until the function DONE has a non-nil value, for at most SECONDS.
Return that value."
  (let ((deadline (+ (float-time) seconds))
        ;; Otherwise the list of a large notebook, megabytes, comes in pieces of
        ;; 4 KB, and after every few of them garbage is collected.
        (read-process-output-max (max 65536 read-process-output-max))
        (gc-cons-threshold (max decent-notes--garbage gc-cons-threshold)))
    (while (and (not (funcall done)) (< (float-time) deadline))
      (accept-process-output nil 0.05)
      (decent-notes--work))
    (funcall done)))

(defun decent-notes--interrupting-p ()
  "Return non-nil within a timer that interrupts other Lisp code, which waits.
At rest the command loop itself runs the timers, and there is no code below."
  (let (timer below)
    (mapbacktrace (lambda (_evaluated function _arguments _flags)
                    (cond (timer (setq below t))
                          ((eq function 'timer-event-handler) (setq timer t)))))
    below))

;;; A program that does not answer

(defvar decent-notes--asked nil
  "The requests that have no answer, the oldest first, each with when it was made.")
(defvar decent-notes--silent nil
  "Non-nil if the process does not answer: t, or `unsure' at the first look.")
(defvar decent-notes--watch nil "The timer that will look whether the process answers.")

(defconst decent-notes--patience 2.2
  "How many seconds the process may be silent while it has a request to answer.")

(defconst decent-notes--help "M-x decent-notes-restart ends it and starts another"
  "What helps against a process that does not answer.")

(defun decent-notes--answered (request)
  "REQUEST needs no answer any more."
  (setq decent-notes--asked (assq-delete-all request decent-notes--asked)))

(defun decent-notes--watch-answers (seconds)
  "Look in SECONDS whether the process answers."
  (unless decent-notes--watch
    (setq decent-notes--watch (run-at-time seconds nil #'decent-notes--look))))

(defun decent-notes--look ()
  "Look whether the process answers, and tell the user if that is different now."
  (setq decent-notes--watch nil)
  (let* ((since (if (decent-notes--stopped-p) decent-notes--heard
                  (max decent-notes--heard (or (cdar decent-notes--asked) 0))))
         (left (- decent-notes--patience (- (float-time) since))))
    (cond ((not (and decent-notes--process
                     (or decent-notes--asked (decent-notes--stopped-p))))
           (decent-notes--set-silent nil))
          ((< 0 left)
           (decent-notes--set-silent nil)
           (decent-notes--watch-answers left))
          (decent-notes--silent
           (decent-notes--set-silent t)
           (decent-notes--watch-answers 0.6))
          (t
           ;; If Emacs itself was busy or stopped, there may be an answer to be read,
           ;; and a request may take long while others are answered.
           (decent-notes--set-silent 'unsure)
           (decent-notes--watch-answers 0.6)
           (unless decent-notes--sending
             (decent-notes--request 'notebook/find '(:name "" :limit 1) #'ignore #'ignore))))))

(defun decent-notes--set-silent (silent)
  "Set `decent-notes--silent' to SILENT; tell the user if that is news."
  (let ((told (eq decent-notes--silent t)))
    (setq decent-notes--silent silent)
    (unless (eq told (eq silent t))
      (force-mode-line-update t)
      (if told (when decent-notes--process (decent-notes--tell "the program answers again"))
        (decent-notes--tell "the program does not answer%s; %s"
                            (if (decent-notes--stopped-p) ": it was stopped" "")
                            decent-notes--help)))))

;;; Requests

(defun decent-notes--request (method params &optional success failure)
  "Send the request METHOD with PARAMS, and go on.
Later SUCCESS is called with the result, or FAILURE with the error.
Return the request's entry of the outbox."
  (let* ((connection decent-notes--connection)
         (request (list nil))
         (failed (lambda (problem)
                   (decent-notes--answered request)
                   (decent-notes--enqueue
                    (lambda ()
                      (if failure (funcall failure problem)
                        (decent-notes--log "%s: %s" method (plist-get problem :message)))))))
         (send (lambda ()
                 (jsonrpc-async-request
                  connection method params :timeout nil
                  :success-fn (lambda (result)
                                (decent-notes--answered request)
                                (when success
                                  (decent-notes--enqueue (lambda () (funcall success result)))))
                  :error-fn failed))))
    (setcar request send)
    (setcdr request failed)
    (setq decent-notes--outbox (nconc decent-notes--outbox (list request)))
    ;; What tells how far it has got may take long.
    (unless (plist-member params :workDoneToken)
      (setq decent-notes--asked (nconc decent-notes--asked (list (cons request (float-time)))))
      (decent-notes--watch-answers decent-notes--patience))
    (decent-notes--post)
    request))

(defun decent-notes--take-back (request)
  "Do not send REQUEST any more, if it was not sent yet."
  (when (memq request decent-notes--outbox)
    (setq decent-notes--outbox (delq request decent-notes--outbox))
    (decent-notes--answered request)))

(defun decent-notes--stopped-p ()
  "Return non-nil if the process is stopped: Emacs refuses to write to it then."
  (and decent-notes--process (eq (process-status decent-notes--process) 'stop)))

(defun decent-notes--post ()
  "Send what is in the outbox, unless the process is stopped.
What cannot be sent now is sent, in order, when the process runs again."
  (let ((decent-notes--sending t)
        (connection decent-notes--connection))
    (while (and decent-notes--outbox (not (decent-notes--stopped-p)))
      (pcase-let* ((request (pop decent-notes--outbox)) (`(,send . ,failed) request))
        (condition-case problem (funcall send)
          (error
           (if (decent-notes--stopped-p) ; just now
               (push request decent-notes--outbox)
             (funcall failed (list :code -1 :message (error-message-string problem)))
             ;; Emacs may not report the end of a process that ends at once.
             (unless (and connection (jsonrpc-running-p connection))
               (decent-notes--enqueue (lambda () (decent-notes--died connection)))))))))))

(defun decent-notes--continued ()
  "Send what has waited: the process was stopped and was continued."
  (decent-notes--post)
  (run-hooks 'decent-notes--continued-hook))

(defun decent-notes--notify (method &optional params)
  "Send the notification METHOD with PARAMS, if there is a process."
  (let ((decent-notes--sending t))
    (ignore-errors (jsonrpc-notify decent-notes--connection method params))))

(defun decent-notes--call (method params &optional take what)
  "Return the result of METHOD with PARAMS, or signal a `user-error'.
TAKE is called with the result before any other message is handled.  The text
of the error has the error of the answer, if there was one, as a property.
If it takes a second, the user is told that Emacs waits for WHAT, the answer
where that is nil."
  (decent-notes--ensure)
  (let* (answered result problem
                  (what (or what (format "the answer to %s" method)))
                  (request (decent-notes--request method params
                                                  (lambda (it)
                                                    (setq answered t result it)
                                                    (when take (funcall take it)))
                                                  (lambda (it) (setq answered t problem it)))))
    (unwind-protect
        ;; A long answer takes its time, but comes all the while.
        (let ((begun (float-time)))
          (while (not (decent-notes--wait 1 (lambda () answered)))
            (decent-notes--show-wait what)
            (when (< 10 (- (float-time) (max begun decent-notes--heard)))
              (user-error "Decent Notes waited 10 seconds for %s; %s%s" what
                          "the program does not answer: " decent-notes--help))))
      ;; A request that the user has given up, or that is said to have failed, must
      ;; not be sent later.
      (decent-notes--take-back request))
    (when problem
      (user-error "%s" (propertize (decent-notes--cause problem) 'decent-notes-problem problem)))
    result))

(defun decent-notes--show-wait (what)
  "Show that Emacs waits for WHAT, and what helps if the process does not answer."
  (let (message-log-max)
    (message "Decent Notes waits for %s (C-g gives up)%s" what
             (if (eq decent-notes--silent t)
                 (concat "; the program does not answer: " decent-notes--help)
               ""))))

(defun decent-notes--refusal (problem)
  "The error of the answer because of which PROBLEM was signalled.
It is nil if there was no answer, as without a program."
  (when-let ((text (cadr problem))
             (refusal (and (stringp text) (not (string-empty-p text))
                           (get-text-property 0 'decent-notes-problem text))))
    ;; -1 is the end of the process.
    (unless (eql (plist-get refusal :code) -1) refusal)))

(defun decent-notes--cause (problem)
  "Return the message of PROBLEM.
If it is about the disk, its cause is put before the path."
  (let ((message (plist-get problem :message)))
    (if (and (member (decent-notes--reason problem)
                     '("diskFull" "readOnly" "writeFailed"))
             (string-match "\\`\\(.*\\): \\([^:]+\\)\\'" message))
        (format "%s (%s)" (match-string 2 message) (match-string 1 message))
      message)))

(defun decent-notes--reason (problem)
  "The reason that PROBLEM, the error of an answer, names; nil if it names none."
  (plist-get (plist-get problem :data) :reason))

;;; Start and end

(defun decent-notes--dispatch (_connection method params)
  "Put the notification METHOD with PARAMS into the queue."
  (dolist (function (alist-get method decent-notes--handlers))
    (decent-notes--enqueue (lambda () (funcall function params)))))

(defun decent-notes--make-connection (&rest initargs)
  "Return a `jsonrpc-process-connection' with INITARGS that logs no messages."
  (condition-case nil
      (apply #'make-instance 'jsonrpc-process-connection
             :events-buffer-config '(:size 0) initargs)
    ;; Older versions of the library, as those of Emacs 28 and 29, call it this.
    (invalid-slot-name
     (apply #'make-instance 'jsonrpc-process-connection
            :events-buffer-scrollback-size 0 initargs))))

(defun decent-notes--home ()
  "The folder for the program, and where commands of a note begin.
That of the buffer it was opened from may be gone, or on another machine."
  (if (file-directory-p "~/") (expand-file-name "~/") "/"))

(defun decent-notes--say (verb)
  "Run VERB of the program, and return the last line of its output.
Signal a `user-error' if it fails."
  (let ((words (append (ensure-list decent-notes-program)
                       (when decent-notes-notebook
                         (list "--notebook" (expand-file-name decent-notes-notebook)))
                       (list verb)))
        (default-directory (decent-notes--home)))
    (with-temp-buffer
      (let ((status (apply #'call-process (car words) nil t nil (cdr words)))
            (said (string-trim (buffer-string))))
        (unless (eql status 0) (user-error "%s" said))
        (car (last (split-string said "\n")))))))

(defun decent-notes--start ()
  "Start the process, or signal a `user-error'."
  (let ((command (ensure-list decent-notes-program))
        ;; Otherwise Emacs waits some 30 ms for more output after each answer.
        process-adaptive-read-buffering
        (default-directory (decent-notes--home)))
    (setq decent-notes--ready nil decent-notes--failure nil)
    (condition-case problem
        (setq decent-notes--connection
              (decent-notes--make-connection
               :name "decent-notes"
               :process (lambda ()
                          (setq decent-notes--process
                                (make-process
                                 :name "decent-notes" :command command
                                 :connection-type 'pipe
                                 :coding 'utf-8-emacs-unix :noquery t
                                 ;; The library expects this name.
                                 :stderr (get-buffer-create "*decent-notes stderr*"))))
               :notification-dispatcher #'decent-notes--dispatch
               :on-shutdown
               (lambda (connection)
                 (decent-notes--enqueue (lambda () (decent-notes--died connection))))))
      (error (user-error "Cannot start %s: %s" (car command)
                         (error-message-string problem))))
    (decent-notes--watch-process)
    (decent-notes--watch-output)
    (decent-notes--initialize)
    (add-hook 'kill-emacs-hook #'decent-notes--quit)))

(defconst decent-notes--largest (* 256 1024 1024)
  "The bytes of the longest message that is taken for one of the program.
The text of the largest note is a good deal shorter.")

(defun decent-notes--guard-output (connection)
  "Give up the process of CONNECTION if what comes from it is no message.
`jsonrpc' would wait for ever, and keep all of it."
  (let* ((process (jsonrpc--process connection))
         (expected (jsonrpc--expected-bytes connection))
         (problem
          (when (buffer-live-p (process-buffer process))
            (with-current-buffer (process-buffer process)
              (cond (expected
                     (when (> expected decent-notes--largest)
                       (format "a message of %d bytes" expected)))
                    ((> (buffer-size) 8192) "headers that do not end")
                    ((save-excursion
                       (goto-char (point-min))
                       (and (looking-at "\\(.*\\)\n") (not (looking-at "[-[:alnum:]]+:"))))
                     (match-string 1)))))))
    (when problem
      (set-process-filter process #'ignore)
      (decent-notes--enqueue
       (lambda ()
         (when (eq connection decent-notes--connection)
           (decent-notes--stop)
           (setq decent-notes--failure
                 (format "the program does not speak the protocol: %s"
                         (truncate-string-to-width problem 60)))
           (decent-notes--tell "%s" decent-notes--failure)))))))

(defun decent-notes--watch-output ()
  "Look at what the process sends when `jsonrpc' has taken its messages out of it."
  (let ((connection decent-notes--connection)
        (filter (process-filter decent-notes--process)))
    (set-process-filter decent-notes--process
                        (lambda (process output)
                          (setq decent-notes--heard (float-time))
                          (funcall filter process output)
                          (decent-notes--guard-output connection)))))

(defun decent-notes--watch-process ()
  "Have the sentinel act when the process is stopped or continued."
  (let ((sentinel (process-sentinel decent-notes--process)))
    (set-process-sentinel
     decent-notes--process
     (lambda (process change)
       (pcase (process-status process)
         ('run (decent-notes--enqueue #'decent-notes--continued))
         ('stop (decent-notes--enqueue
                 (lambda () (decent-notes--watch-answers decent-notes--patience)))))
       (force-mode-line-update t) ; which shows that the process is stopped
       ;; The library has a message for each end of a process; we have our own.
       (let ((inhibit-message t) message-log-max)
         (funcall sentinel process change))))))

(defun decent-notes--initialize ()
  "Make the first request."
  (decent-notes--request
   'initialize
   (append
    (list :processId (emacs-pid)
          :clientInfo (list :name "Emacs" :version "0.1.0")
          ;; Code points, as characters in buffers are.
          :capabilities '(:general (:positionEncodings ["utf-32"])))
    (when decent-notes-name (list :participant (list :name decent-notes-name)))
    (when decent-notes-notebook
      (list :initializationOptions
            (list :notebook (expand-file-name decent-notes-notebook)))))
   (lambda (result)
     (decent-notes--notify 'initialized)
     (setq decent-notes--ready t
           decent-notes--suggested-tags
           (append (plist-get result :suggestedTags) nil))
     (run-hooks 'decent-notes--ready-hook))
   (lambda (problem)
     (unless (eql (plist-get problem :code) -1)
       (setq decent-notes--failure (plist-get problem :message))
       (decent-notes--stop)
       (when (run-hook-with-args-until-success 'decent-notes--needed-functions)
         (decent-notes--tell "%s" decent-notes--failure))))))

(defun decent-notes--forget-process ()
  "The process is gone, and with it all that it has not been sent."
  (setq decent-notes--connection nil decent-notes--process nil decent-notes--ready nil
        decent-notes--asked nil decent-notes--silent nil)
  (let ((outbox decent-notes--outbox))
    (setq decent-notes--outbox nil)
    (pcase-dolist (`(,_ . ,failed) outbox)
      (funcall failed (list :code -1 :message "The program has ended")))))

(defun decent-notes--stop ()
  "End the process.  It is not started again automatically."
  (let ((process decent-notes--process))
    (decent-notes--forget-process)
    (when process (delete-process process))
    (run-hooks 'decent-notes--lost-hook)))

(defun decent-notes--died (connection)
  "The process of CONNECTION has ended: start another."
  (when (and connection (eq connection decent-notes--connection))
    (let ((was-ready decent-notes--ready))
      (decent-notes--forget-process)
      (setq decent-notes--restarts
            (seq-filter (lambda (time) (< (- (float-time) time) 180)) decent-notes--restarts))
      (run-hooks 'decent-notes--lost-hook)
      (cond ((not (or was-ready
                      (run-hook-with-args-until-success 'decent-notes--needed-functions))))
            ((< (length decent-notes--restarts) 5)
             (push (float-time) decent-notes--restarts)
             (condition-case problem (decent-notes--start)
               (error (decent-notes--tell "%s" (error-message-string problem)))))
            (t (decent-notes--tell "the program ended again and again; %s"
                                   "M-x decent-notes-restart starts it"))))))

(defun decent-notes--ensure ()
  "Have a process that has been initialized, or signal a `user-error'."
  (unless decent-notes--connection (decent-notes--start))
  (decent-notes--wait 10 (lambda () (or decent-notes--ready (not decent-notes--connection))))
  (unless decent-notes--ready
    (user-error "Decent Notes: %s" (or decent-notes--failure
                                       (decent-notes--last-words)
                                       "the program does not answer"))))

(defun decent-notes--last-words ()
  "The first line that the process wrote to standard error; nil if there is none."
  (accept-process-output nil 0.1)
  (when-let ((buffer (get-buffer " *decent-notes stderr*")))
    (with-current-buffer buffer
      (goto-char (point-min))
      (when (looking-at "\\s-*\\(.+\\)") (match-string 1)))))

(defun decent-notes-restart ()
  "Start the program anew; open notes stay open."
  (interactive)
  (decent-notes--stop)
  (setq decent-notes--restarts nil)
  (decent-notes--ensure))

(defun decent-notes--quit ()
  "End the process in order: Emacs ends."
  (run-hooks 'decent-notes--quit-hook)
  (when decent-notes--ready
    (let (answered)
      (decent-notes--request 'shutdown nil
                             (lambda (_result) (setq answered t))
                             (lambda (_problem) (setq answered t)))
      (decent-notes--wait 5 (lambda () answered))
      (decent-notes--notify 'exit)
      (decent-notes--forget-process))))

(defun decent-notes--show-message (params)
  "Show the message of PARAMS, of window/showMessage."
  (decent-notes--tell "%s" (plist-get params :message)))

(defun decent-notes--log-message (params)
  "Log the message of PARAMS, of window/logMessage."
  (decent-notes--log "%s" (plist-get params :message)))

(decent-notes--on 'window/showMessage #'decent-notes--show-message)
(decent-notes--on 'window/logMessage #'decent-notes--log-message)

(provide 'decent-notes-process)
;;; decent-notes-process.el ends here
