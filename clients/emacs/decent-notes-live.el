;;; decent-notes-live.el --- Text that changes on both sides at once  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The process, the text of open notes, and their buffers.
;;
;; The buffer is the truth of what you see, and the program `decent-notes' is
;; the one who merges.  The two talk as Protocol/README.md of the project says;
;; its section "Live text" explains the names `attachment', `version', `rev'.
;;
;; Three rules keep it simple:
;;
;; - Nothing in the path of typing waits for an answer.
;; - Nothing is done inside process filters, which may run in the middle of
;;   anything, even of our own sending.  What comes is put into a queue, and
;;   `decent-notes--work' does it from a timer, between commands.
;; - Which text changed is tracked, never what changed in it: two numbers for
;;   each buffer, how many characters at its beginning and at its end are as
;;   they were.  Should Emacs have told us wrongly or not at all, the hash that
;;   goes with each change does not fit, and the whole text is sent instead.

;;; Code:

(require 'bookmark)
(require 'cl-lib)
(require 'jsonrpc)
(require 'seq)
(eval-when-compile (require 'subr-x))

(defgroup decent-notes nil
  "Notes edited here and elsewhere at once."
  :group 'text)

(defcustom decent-notes-program "decent-notes"
  "The program, or a list of it and its arguments."
  :type '(choice string (repeat string)))

(defcustom decent-notes-notebook nil
  "The folder of the notebook; nil means the one the program chooses."
  :type '(choice (const :tag "The program's own choice" nil) directory))

(defcustom decent-notes-major-mode #'text-mode
  "The major mode of notes whose title names none.
A title names one as the name of a file does, by `auto-mode-alist': the
note \"journal.org\" is opened in Org mode."
  :type '(choice (function-item text-mode) (function-item markdown-mode)
                 (function-item org-mode) function))

(defcustom decent-notes-own-undo t
  "Whether the undo keys take back one's own changes only.
If nil they are Emacs's own, which knows nothing of others: it takes
back whatever came last."
  :type 'boolean)

(defface decent-notes-peer '((t :inherit highlight))
  "Where others have their cursors and selections.")

;;; The process

(defvar decent-notes--connection nil "The connection, nil without a process.")
(defvar decent-notes--process nil "The process of the connection.")
(defvar decent-notes--outbox nil
  "The requests that wait for the process, which is stopped, to run again.
Each is what sends it and what to call if that fails.")
(defvar decent-notes--ready nil "Whether the process has been initialized.")
(defvar decent-notes--failure nil "Why there is no process, as one line.")
(defvar decent-notes--restarts nil "When the process was started again by itself.")
(defvar decent-notes--suggested-tags nil "The tags which the program suggests.")
(defvar decent-notes--notes nil "The open notes.")
(defvar decent-notes--queue nil "What is to be done: functions.")
(defvar decent-notes--timer nil "The timer that will do it.")
(defvar decent-notes--sending nil
  "Whether a message is just being written.
Timers run meanwhile if it is a long one.  They must not send anything: writing
that would take in the answer to the first before `jsonrpc' expects it.")
(defvar decent-notes--idle-timer nil "The timer for what waits for a pause.")

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

(defun decent-notes--enqueue (job)
  "Have the function JOB called soon, outside of process filters."
  (setq decent-notes--queue (nconc decent-notes--queue (list job)))
  (decent-notes--schedule 0))

(defun decent-notes--schedule (seconds)
  "Work off the queue in SECONDS."
  (unless decent-notes--timer
    (setq decent-notes--timer (run-at-time seconds nil #'decent-notes--work))))

(defun decent-notes--positions-noted-p ()
  "Whether positions may have been noted which edits of others must not shift.
Commands do so, `query-replace' among them, what reads its arguments in
the minibuffer, and isearch, for going back."
  (or real-this-command
      (minibufferp (window-buffer))
      (buffer-local-value 'isearch-mode (window-buffer))))

(defconst decent-notes--garbage 50000000
  "How many bytes of garbage we make before Emacs may collect them.")

(defun decent-notes--work ()
  "Do what is in the queue.
A push, which is a list of itself and no function, may have to wait."
  (when decent-notes--timer (cancel-timer decent-notes--timer))
  (setq decent-notes--timer nil)
  (if decent-notes--sending
      (decent-notes--schedule 0.01)
    (let ((inhibit-quit t) ; as in a timer: what C-g stops here would be lost
          ;; Garbage is collected once, at the end, and not again and again.
          (gc-cons-threshold (max decent-notes--garbage gc-cons-threshold))
          waiting)
      (while decent-notes--queue
        (let ((job (pop decent-notes--queue)))
          (condition-case problem
              (cond ((functionp job) (funcall job))
                    ((decent-notes--positions-noted-p) (push job waiting))
                    (t (apply #'decent-notes--take-push job)))
            ;; An error must not keep the jobs behind it from being done.
            (error (decent-notes--log "%s" (error-message-string problem))))))
      (when waiting
        (setq decent-notes--queue (nconc (nreverse waiting) decent-notes--queue))
        (decent-notes--schedule 0.05)))))

(defun decent-notes--wait (seconds done)
  "Wait until the function DONE has a non-nil value, for at most SECONDS.
Return that value."
  (let ((deadline (+ (float-time) seconds))
        ;; Without these the list of a large notebook, megabytes, comes in pieces of
        ;; 4 KB, and after every few of them garbage is collected.
        (read-process-output-max (max 65536 read-process-output-max))
        (gc-cons-threshold (max decent-notes--garbage gc-cons-threshold)))
    (while (and (not (funcall done)) (< (float-time) deadline))
      (accept-process-output nil 0.05)
      (decent-notes--work))
    (funcall done)))

(defun decent-notes--request (method params &optional success failure)
  "Ask the process for METHOD with PARAMS, and go on.
SUCCESS is called with the result or FAILURE with the error, later.
Return what is in the outbox as long as this is not sent."
  (let* ((connection decent-notes--connection)
         (failed (lambda (problem)
                   (decent-notes--enqueue
                    (lambda ()
                      (if failure (funcall failure problem)
                        (decent-notes--log "%s: %s" method (plist-get problem :message)))))))
         (send (lambda ()
                 (jsonrpc-async-request
                  connection method params :timeout nil
                  :success-fn (lambda (result)
                                (when success
                                  (decent-notes--enqueue (lambda () (funcall success result)))))
                  :error-fn failed))))
    (let ((request (cons send failed)))
      (setq decent-notes--outbox (nconc decent-notes--outbox (list request)))
      (decent-notes--post)
      request)))

(defun decent-notes--stopped-p ()
  "Whether the process is stopped, so that Emacs would refuse to write to it."
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
             ;; Of a process that ends at once Emacs may forget to tell.
             (unless (and connection (jsonrpc-running-p connection))
               (decent-notes--enqueue (lambda () (decent-notes--died connection)))))))))))

(defun decent-notes--continued ()
  "Send what has waited for the process, which was stopped, to run."
  (decent-notes--post)
  (mapc #'decent-notes--moved decent-notes--notes))

(defun decent-notes--forget-process ()
  "The process is gone, and with it all that it has not been sent."
  (setq decent-notes--connection nil decent-notes--process nil decent-notes--ready nil)
  (let ((outbox decent-notes--outbox))
    (setq decent-notes--outbox nil)
    (pcase-dolist (`(,_ . ,failed) outbox)
      (funcall failed (list :code -1 :message "The program has ended")))))

(defun decent-notes--call (method params &optional take)
  "Return the result of METHOD with PARAMS, or signal a `user-error'.
TAKE is called with it before any other message is dealt with.  The text of
the error has the error of the answer, if there was one, as a property."
  (decent-notes--ensure)
  (let* (answered result problem
         (request (decent-notes--request method params
                                         (lambda (it)
                                           (setq answered t result it)
                                           (when take (funcall take it)))
                                         (lambda (it) (setq answered t problem it)))))
    (unwind-protect
        (unless (decent-notes--wait 10 (lambda () answered))
          (user-error "No answer to %s within 10 seconds" method))
      ;; What the user has given up, or is told has failed, must not be done later.
      (setq decent-notes--outbox (delq request decent-notes--outbox)))
    (when problem
      (user-error "%s" (propertize (decent-notes--cause problem) 'decent-notes-problem problem)))
    result))

(defun decent-notes--refusal (problem)
  "The error of the answer because of which PROBLEM was signalled.
It is nil if there was no answer, as without a program."
  (when-let ((text (cadr problem))
             (refusal (and (stringp text) (not (string-empty-p text))
                           (get-text-property 0 'decent-notes-problem text))))
    ;; -1 is the end of the process.
    (unless (eql (plist-get refusal :code) -1) refusal)))

(defun decent-notes--cause (problem)
  "The message of PROBLEM, with the cause before the path if it is the disk's."
  (let ((message (plist-get problem :message)))
    (if (and (member (decent-notes--reason problem)
                     '("diskFull" "readOnly" "writeFailed"))
             (string-match "\\`\\(.*\\): \\([^:]+\\)\\'" message))
        (format "%s (%s)" (match-string 2 message) (match-string 1 message))
      message)))

(defun decent-notes--reason (problem)
  "The reason that the error PROBLEM of an answer names, if it does."
  (plist-get (plist-get problem :data) :reason))

(defun decent-notes--start ()
  "Start the process, or signal a `user-error'."
  (let ((command (ensure-list decent-notes-program))
        ;; Else each answer waits some 30 ms for more to come.
        process-adaptive-read-buffering
        (default-directory (if (file-directory-p "~/") (expand-file-name "~/") "/")))
    (setq decent-notes--ready nil decent-notes--failure nil)
    (condition-case problem
        (setq decent-notes--connection
              (make-instance
               'jsonrpc-process-connection :name "decent-notes"
               :events-buffer-scrollback-size 0
               :process (lambda ()
                          (setq decent-notes--process
                                (make-process
                                 :name "decent-notes" :command command
                                 :connection-type 'pipe
                                 :coding 'utf-8-emacs-unix :noquery t
                                 ;; The library expects this name.
                                 :stderr (get-buffer-create "*decent-notes stderr*"))))
               :notification-dispatcher
               (lambda (_connection method params)
                 (decent-notes--enqueue (decent-notes--job method params)))
               :on-shutdown
               (lambda (connection)
                 (decent-notes--enqueue (lambda () (decent-notes--died connection))))))
      (error (user-error "Cannot start %s: %s" (car command)
                         (error-message-string problem))))
    (let ((sentinel (process-sentinel decent-notes--process)))
      (set-process-sentinel
       decent-notes--process
       (lambda (process change)
         (when (eq (process-status process) 'run)
           (decent-notes--enqueue #'decent-notes--continued))
         (force-mode-line-update t) ; which says that it is stopped, or no more
         ;; The library has a message for each end of a process; we have our own.
         (let ((inhibit-message t) message-log-max)
           (funcall sentinel process change)))))
    (decent-notes--request
     'initialize
     (append
      (list :processId (emacs-pid)
            :clientInfo (list :name "decent-notes.el" :version "0.1.0")
            ;; Code points, as characters in buffers are.
            :capabilities '(:general (:positionEncodings ["utf-32"])))
      (when decent-notes-notebook
        (list :initializationOptions
              (list :notebook (expand-file-name decent-notes-notebook)))))
     (lambda (result)
       (decent-notes--notify 'initialized)
       (setq decent-notes--ready t
             decent-notes--suggested-tags
             (append (plist-get result :suggestedTags) nil))
       (mapc #'decent-notes--send-unsent decent-notes--notes)
       (decent-notes--did-change t))
     (lambda (problem)
       (unless (eql (plist-get problem :code) -1)
         (setq decent-notes--failure (plist-get problem :message))
         (decent-notes--stop)
         (when decent-notes--notes (decent-notes--tell "%s" decent-notes--failure)))))
    (unless decent-notes--idle-timer
      (setq decent-notes--idle-timer (run-with-idle-timer 0.5 t #'decent-notes--pause)))
    (add-hook 'kill-emacs-query-functions #'decent-notes--may-quit)
    (add-hook 'kill-emacs-hook #'decent-notes--quit)))

(defun decent-notes--notify (method &optional params)
  "Send the notification METHOD with PARAMS, if the process is still there."
  (let ((decent-notes--sending t))
    (ignore-errors (jsonrpc-notify decent-notes--connection method params))))

(defun decent-notes--stop ()
  "End the process, which is not to be started again by itself."
  (let ((process decent-notes--process))
    (decent-notes--forget-process)
    (when process (delete-process process))
    (mapc #'decent-notes--detach decent-notes--notes)))

(defun decent-notes--died (connection)
  "The process of CONNECTION has ended: start another."
  (when (and connection (eq connection decent-notes--connection))
    (let ((was-ready decent-notes--ready))
      (decent-notes--forget-process)
      (setq decent-notes--restarts
            (seq-filter (lambda (time) (< (- (float-time) time) 180)) decent-notes--restarts))
      (mapc #'decent-notes--detach decent-notes--notes)
      (cond ((not (or decent-notes--notes was-ready)))
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
  "The first line that the process wrote to standard error, if it did."
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

(defun decent-notes--job (method params)
  "Return what to do about the notification METHOD with PARAMS."
  (pcase method
    ('note/edit (list params))
    ('note/presence (lambda () (decent-notes--take-presence params)))
    ('notebook/didChange (lambda () (decent-notes--did-change (plist-get params :changed))))
    ('window/showMessage
     (lambda ()
       (decent-notes--tell "%s" (plist-get params :message))
       ;; Perhaps what could not be saved now can.
       (when (eql (plist-get params :type) 3)
         (mapc #'decent-notes--send-unsent decent-notes--notes))))
    ('window/logMessage (lambda () (decent-notes--log "%s" (plist-get params :message))))
    (_ #'ignore)))

;;; Live text

(cl-defstruct (decent-notes--note (:conc-name decent-notes--) (:copier nil)
                               (:constructor decent-notes--make-note))
  "An open note.
`attachment' is nil while the process is
gone, and `opening' tells that it has been asked for.  `version' and `rev' are
the protocol's.  `answered' is the last version that was answered, `whole' that
of the last change that had the whole text.  `head' and `tail' are how many
characters at the beginning and at the end are as they were sent last; nil if
all are.  `lines' and `size' are how many lines and characters there were then,
and `tick' is that of the buffer's changes that we know of.  `unsent' tells that
the whole text has to be sent, and `trouble' why: the reason and the message.
`base' is a text that the process has for certain, and `base-tick' of when.
`unhashed' tells that the last change had no hash.  `letters' is how many were
typed in a row, as one step of undo, and `half-sent' that the present command
has sent something.  `follow' tells that point is to go where the next push is;
`kept' is the tick of the text that was written to a file.  `peers' are the
others who are there."
  id title trashed buffer attachment session opening (version 0) (rev 0) (answered 0) (whole 0)
  head tail lines size tick unsent trouble base base-tick unhashed
  (letters 0) half-sent follow cursor-timer peers kept)

(defun decent-notes--with (part value)
  "The open note whose PART, a function, is VALUE."
  (seq-find (lambda (note) (equal (funcall part note) value)) decent-notes--notes))

(defvar-local decent-notes--here nil "The note of this buffer.")
(put 'decent-notes--here 'permanent-local t)

(defconst decent-notes--largest-hashed (* 256 1024)
  "The length in bytes up to which a text is sent with its hash.")

(defmacro decent-notes--in-whole (note &rest body)
  "Evaluate BODY in the buffer of NOTE without its narrowing.
Do nothing if there is no buffer, or its narrowing cannot be undone now, as
with long lines in hooks of Emacs 29: whoever calls will try again."
  (declare (indent 1) (debug t))
  `(when (buffer-live-p (decent-notes--buffer ,note))
     (with-current-buffer (decent-notes--buffer ,note)
       (save-restriction
         (widen)
         (let ((inhibit-field-text-motion t)) ; lines are lines, whatever is in them
           (unless (buffer-narrowed-p) ,@body))))))

(defun decent-notes--text (&optional beg end)
  "The text of the buffer, or of BEG to END."
  (buffer-substring-no-properties (or beg (point-min)) (or end (point-max))))

(defun decent-notes--bytes ()
  "The length of the text in UTF-8."
  ;; Emacs keeps Unicode as UTF-8, so this is exact, and costs nothing.
  (1- (position-bytes (point-max))))

(defun decent-notes--hash ()
  "The SHA-256 of the text in UTF-8."
  (let ((coding-system-for-write 'utf-8-unix))
    (secure-hash 'sha256 (current-buffer))))

(defun decent-notes--changed (beg end old)
  "Remember that OLD characters became those between BEG and END."
  (when-let ((note decent-notes--here))
    ;; Changes of text properties leave the tick as it is; but so do insertions by
    ;; `insert-file-contents' and `call-process'.
    (unless (and (= old (- end beg))
                 (eql (buffer-chars-modified-tick) (decent-notes--tick note)))
      (unless (decent-notes--head note)
        ;; The change may be made outside of commands: send it soon in any case.
        (decent-notes--enqueue (lambda () (decent-notes--flush note))))
      (let ((after (- (1+ (buffer-size)) end)))
        (setf (decent-notes--head note)
              (min (1- beg) (or (decent-notes--head note) (1- beg)))
              (decent-notes--tail note)
              (min after (or (decent-notes--tail note) after)))))
    (setf (decent-notes--tick note) (buffer-chars-modified-tick))))
(put 'decent-notes--changed 'permanent-local-hook t)

(defun decent-notes--after-command ()
  "Send what the command changed, and where it has left point.
What a keyboard macro changes is sent when it is over, as one change."
  (when-let ((note (and (not executing-kbd-macro) decent-notes--here)))
    (decent-notes--flush note)
    (setf (decent-notes--half-sent note) nil)
    (decent-notes--moved note)))
(put 'decent-notes--after-command 'permanent-local-hook t)

(defun decent-notes--flush (note &optional whole)
  "Send what was changed in NOTE since the last time; if WHOLE, the whole text.
If many changes have not been answered, it is sent when they are."
  (decent-notes--in-whole note
    (when whole (setf (decent-notes--tick note) nil))
    (let ((missed (not (eql (buffer-chars-modified-tick) (decent-notes--tick note)))))
      (when (or missed (decent-notes--head note))
        (when (and (decent-notes--attachment note) (not (decent-notes--stuck-p note)))
          (decent-notes--send note (or missed (decent-notes--unsent note))))
        (decent-notes--settle note)))))

(defun decent-notes--stuck-p (note)
  "Whether the process seems not to read what is sent of NOTE.
Emacs would hang, even at \\[keyboard-quit], once the pipe to it is full."
  (> (- (decent-notes--version note) (decent-notes--answered note)) 50))

(defun decent-notes--send-unsent (note)
  "Send all of NOTE that the process does not have, if there is one."
  (if (decent-notes--attachment note)
      (decent-notes--flush note (decent-notes--unsent note))
    (when (and decent-notes--ready (not (decent-notes--opening note)))
      (decent-notes--resume note))))

(defun decent-notes--send (note whole)
  "Send what was changed of NOTE, or its WHOLE text."
  (let* ((beg (if whole 1 (1+ (decent-notes--head note))))
         (end (if whole (point-max) (- (point-max) (decent-notes--tail note))))
         (text (decent-notes--text beg end)))
    (if (decent-notes--refuse note text)
        (decent-notes--seen note t)
      (let ((change (if whole (list :text text)
                      (decent-notes--replacement note beg end text))))
        (decent-notes--seen note nil)
        (decent-notes--change note
                              (append change
                                      (when (decent-notes--same-step note) '(:sameStep t)))
                              (<= (decent-notes--bytes) decent-notes--largest-hashed))
        (when whole (setf (decent-notes--whole note) (decent-notes--version note)))))))

(defun decent-notes--replacement (note beg end text)
  "Say what in NOTE became TEXT, which is there from BEG to END."
  (let* ((start (decent-notes--position beg))
         (line (plist-get start :line))
         (column (plist-get start :character))
         (after (- (line-number-at-pos (point-max)) (line-number-at-pos end)))
         (last (- (decent-notes--lines note) after 1))
         (size (- (decent-notes--size note) (1- beg) (decent-notes--tail note))))
    (if (= line last)
        ;; It was within one line, which may be a long one.
        (let ((stop (list :line line :character (+ column size))))
          (list :ranges (vector (list :range (list :start start :end stop) :newText text))))
      ;; Nobody knows in which column it ended.
      (let ((lines (decent-notes--text (- beg column)
                                       (save-excursion (goto-char end) (line-end-position)))))
        (list :lines (vector (vector line (1+ last) (vconcat (split-string lines "\n")))))))))

(defun decent-notes--same-step (note)
  "Whether what is sent of NOTE is one step of undo with what was sent before.
As Emacs does it, all that one command does is, and up to twenty letters
typed in a row are."
  (let ((is-letter (and this-command (eq this-command real-last-command)
                        (string-suffix-p "self-insert-command" (format "%s" this-command))))
        (goes-on (and real-this-command (decent-notes--half-sent note))))
    (setf (decent-notes--half-sent note) (and real-this-command t))
    (unless goes-on
      (setf (decent-notes--letters note)
            (if (and is-letter (< 0 (decent-notes--letters note) 20))
                (1+ (decent-notes--letters note))
              1)))
    (or goes-on (> (decent-notes--letters note) 1))))

(defun decent-notes--refuse (note text)
  "Whether TEXT, of NOTE, cannot be sent; the user is told."
  (when-let ((index (string-match-p "[^\x01-\ud7ff\ue000-\x10ffff]" text)))
    (decent-notes--fail
     note (format "this is no Unicode text, and is kept in the buffer only: %s"
                  (single-key-description (aref text index))))))

(defun decent-notes--fail (note message &optional reason)
  "Remember that the text of NOTE could not be sent because of MESSAGE; return t.
It is told once, and once only for the same REASON: a message may name another
temporary file each time."
  (let ((old (decent-notes--trouble note)))
    (setf (decent-notes--unsent note) t
          (decent-notes--trouble note) (cons (or reason message) message))
    (unless (equal (car old) (or reason message)) (decent-notes--tell "%s" message)))
  t)

(defun decent-notes--seen (note unsent)
  "Note that the text of NOTE has been dealt with, or is UNSENT all the same."
  (setf (decent-notes--head note) nil
        (decent-notes--tail note) nil
        (decent-notes--lines note) (line-number-at-pos (point-max))
        (decent-notes--size note) (buffer-size)
        (decent-notes--tick note) (buffer-chars-modified-tick)
        (decent-notes--unsent note) unsent))

(defun decent-notes--change (note change hashed)
  "Send CHANGE of NOTE, with the hash of the text if HASHED, else its length."
  (let ((attachment (decent-notes--attachment note))
        (version (cl-incf (decent-notes--version note))))
    (setf (decent-notes--unhashed note) (not hashed))
    (decent-notes--request
     'note/change
     (append (list :attachment attachment :version version :rev (decent-notes--rev note))
             change
             (if hashed (list :sha256 (decent-notes--hash))
               (list :bytes (decent-notes--bytes) :lineCount (decent-notes--lines note))))
     (lambda (_result) (decent-notes--take-answer note attachment version nil))
     (lambda (problem) (decent-notes--take-answer note attachment version problem)))))

(defun decent-notes--take-answer (note attachment version problem)
  "The change VERSION of NOTE with ATTACHMENT was made, or not because of PROBLEM."
  (let ((code (plist-get problem :code)))
    ;; -1 is the end of the process, about which we hear apart.
    (when (and (eql attachment (decent-notes--attachment note)) (not (eql code -1)))
      (setf (decent-notes--answered note) version)
      (cond ((not problem)
             (unless (decent-notes--unsent note) (setf (decent-notes--trouble note) nil))
             (when (decent-notes--trashed note) (decent-notes--inquire note))
             (when (= version (decent-notes--version note))
               (decent-notes--did-change
                (list (list :id (decent-notes--id note) :what '("text"))))))
            ;; One whole text mends all changes sent before it.
            ((< version (decent-notes--whole note)))
            ((equal (decent-notes--reason problem) "reopen")
             (decent-notes--detach note)
             (decent-notes--resume note))
            ((and (eql code -32801) (> version (decent-notes--whole note)))
             (decent-notes--flush note t))
            (t (decent-notes--fail note (decent-notes--cause problem)
                                   (decent-notes--reason problem))))
      (decent-notes--flush note)
      (decent-notes--settle note))))

(defun decent-notes--unkept-p (note)
  "Whether something in NOTE has not been acknowledged."
  (and (or (decent-notes--head note) (decent-notes--unsent note)
           (< (decent-notes--answered note) (decent-notes--version note)))
       t))

(defun decent-notes--settle (note)
  "Show NOTE as modified as long as something in it is not kept."
  (when (buffer-live-p (decent-notes--buffer note))
    (with-current-buffer (decent-notes--buffer note)
      (let ((modified (or (not (decent-notes--attachment note))
                          (decent-notes--unkept-p note))))
        (unless (eq modified (buffer-modified-p))
          (set-buffer-modified-p modified))))))

(defun decent-notes--take-push (push)
  "Apply PUSH, the parameters of note/edit, or heal."
  (when-let ((note (decent-notes--with #'decent-notes--attachment
                                       (plist-get push :attachment))))
    (decent-notes--flush note)
    (decent-notes--in-whole note
      (when (eql (plist-get push :version) (decent-notes--version note))
        (if (not (decent-notes--fits-p push))
            (decent-notes--flush note t)
          (decent-notes--apply note (decent-notes--edits (plist-get push :ranges)))
          (setf (decent-notes--rev note) (plist-get push :rev))
          (decent-notes--settle note)
          (decent-notes--moved note)
          ;; Where nobody types there may be no other pause for hours.
          (when (current-idle-time) (decent-notes--keep-base note)))))))

(defun decent-notes--apply (note edits)
  "Make EDITS, the last one first, in NOTE, as one change that is not the user's."
  (let* ((inhibit-read-only t) deactivate-mark
         (beg (or (car (car (last edits))) 1))
         (end (or (cadr (car edits)) 1))
         (size (buffer-size))
         (at-top (seq-filter (lambda (window) (= (window-start window) (point-min)))
                             (get-buffer-window-list nil nil t))))
    (undo-boundary)
    (let ((decent-notes--here nil))
      ;; Hooks of others, which may edit, run when all is done and positions are right.
      (combine-change-calls beg end
        (pcase-dolist (`(,beg ,end ,text) edits)
          (setq size (+ size (length text) (- beg end)))
          (decent-notes--replace beg end text))))
    (undo-boundary)
    (decent-notes--seen note nil)
    ;; They have edited, and nobody has told us.
    (unless (= size (buffer-size)) (setf (decent-notes--tick note) nil))
    ;; Who looks at the beginning wants to see what comes in before it.
    (dolist (window at-top) (set-window-start window (point-min) t))
    ;; Who has undone something wants to see it.
    (when (decent-notes--follow note)
      (setf (decent-notes--follow note) nil)
      (goto-char (+ beg (length (nth 2 (car (last edits))))))
      (when-let ((window (get-buffer-window))) (set-window-point window (point))))))

(defun decent-notes--fits-p (push)
  "Whether PUSH was made for the text of the buffer."
  (let ((sha256 (plist-get push :sha256))
        (bytes (plist-get push :bytes))
        (count (plist-get push :lineCount)))
    (and (or (not bytes) (= bytes (decent-notes--bytes)))
         (or (not count) (= count (line-number-at-pos (point-max))))
         (or (not sha256) (equal sha256 (decent-notes--hash))))))

(defun decent-notes--edits (ranges)
  "The edits of RANGES, the last one first, each (BEG END TEXT)."
  (save-excursion
    (goto-char (point-min))
    (let ((at 0) edits)
      (cl-flet ((place (position)
                  ;; Ranges ascend: no line is passed twice.
                  (forward-line (- (plist-get position :line) at))
                  (setq at (plist-get position :line))
                  (+ (point) (plist-get position :character))))
        (seq-doseq (edit ranges)
          (let ((range (plist-get edit :range)))
            (push (list (place (plist-get range :start)) (place (plist-get range :end))
                        (plist-get edit :newText))
                  edits))))
      edits)))

(defun decent-notes--replace (beg end text)
  "Replace BEG to END by TEXT, with all that points into the buffer left in place.
Lines that come in before a line leave what is at its beginning with it;
anything else comes after what is at BEG."
  (save-excursion
    (goto-char beg)
    (if (not (and (= beg end) (bolp) (string-suffix-p "\n" text)))
        (insert text)
      ;; The overlays that end here end with the line before.
      (let ((ending (seq-filter (lambda (overlay) (= (overlay-end overlay) beg))
                                (overlays-in (max (1- beg) (point-min)) beg))))
        (insert-before-markers text)
        (dolist (overlay ending)
          (move-overlay overlay (min beg (overlay-start overlay)) beg))))
    ;; Inserted first, deleted then: markers behind stay behind the new text.
    (delete-region (+ beg (length text)) (+ end (length text)))))

(defun decent-notes--pause ()
  "Do what can wait until the user pauses."
  (dolist (note (unless decent-notes--sending decent-notes--notes))
    (decent-notes--flush note)
    (when (decent-notes--attachment note)
      (decent-notes--in-whole note
        (cond ((decent-notes--unkept-p note))
              ((decent-notes--unhashed note)
               (decent-notes--change note '(:lines [] :sameStep t) t))
              ((decent-notes--keep-base note)))))))

(defun decent-notes--keep-base (note)
  "Keep the text of NOTE, which the process has, for coming back."
  (unless (or (decent-notes--unkept-p note)
              (eql (decent-notes--base-tick note) (decent-notes--tick note)))
    (setf (decent-notes--base note) (decent-notes--text)
          (decent-notes--base-tick note) (decent-notes--tick note))))

;;; Coming back

(defun decent-notes--detach (note)
  "NOTE has lost its attachment."
  (setf (decent-notes--unsent note) (decent-notes--unkept-p note)
        (decent-notes--attachment note) nil
        (decent-notes--opening note) nil
        (decent-notes--answered note) (decent-notes--version note))
  (decent-notes--show-peers nil note)
  (decent-notes--settle note))

(defun decent-notes--resume (note)
  "Open NOTE again with the text that its buffer has now."
  (decent-notes--in-whole note
    (let ((text (decent-notes--text))
          (was-unsent (decent-notes--unkept-p note)))
      (if (decent-notes--refuse note text)
          (decent-notes--seen note t)
        ;; Whatever is typed from here on is the next change.
        (decent-notes--seen note was-unsent)
        (setf (decent-notes--opening note) t)
        (decent-notes--request
         'note/open
         (list :id (decent-notes--id note) :mode "edit" :push "ranges"
               :resume (list :session (decent-notes--session note)
                             :version (decent-notes--version note)
                             :rev (decent-notes--rev note)
                             :text text :baseText (decent-notes--base note)))
         (lambda (result)
           (setf (decent-notes--unsent note) nil
                 (decent-notes--trouble note) nil
                 (decent-notes--base note) text
                 (decent-notes--base-tick note) nil)
           (decent-notes--attached note result)
           (when (equal (plist-get result :resumed) "conflict")
             (decent-notes--tell "%s: what was here is now the note %s"
                                 (buffer-name (decent-notes--buffer note))
                                 (plist-get result :copy)))
           (decent-notes--flush note))
         (lambda (problem)
           (unless (eql (plist-get problem :code) -1)
             (setf (decent-notes--opening note) nil)
             (decent-notes--fail note (decent-notes--cause problem)
                                 (decent-notes--reason problem))
             (decent-notes--settle note))))))))

(defun decent-notes--attached (note result)
  "Take over from RESULT, of note/open, the numbers of NOTE."
  (setf (decent-notes--opening note) nil
        (decent-notes--attachment note) (plist-get result :attachment)
        (decent-notes--session note) (plist-get result :session)
        (decent-notes--rev note) (plist-get result :rev))
  (decent-notes--settle note)
  (decent-notes--moved note))

;;; Leaving

(defun decent-notes--keep-in-file (note)
  "Write the text of NOTE, which could not be sent, to a file; return its name."
  (decent-notes--in-whole note
    (let* ((folder (expand-file-name "decent-notes/unsent/"
                                     (or (getenv "XDG_STATE_HOME") "~/.local/state")))
           (file (format "%s%s-%s.txt" folder
                         (replace-regexp-in-string "[^[:alnum:]_-]" "_"
                                                   (decent-notes--id note))
                         (format-time-string "%Y%m%dT%H%M%S.%3N")))
           (coding-system-for-write 'utf-8-unix))
      (with-file-modes #o700 (make-directory folder t))
      (with-file-modes #o600
        (write-region (point-min) (point-max) file nil 'quiet nil 'excl))
      (decent-notes--tell "unsent text is kept in %s" file)
      file)))

(defun decent-notes--deliver (notes seconds)
  "Send what is unsent in NOTES and wait for the answers, for at most SECONDS.
Return the notes of which something could not be kept."
  (mapc #'decent-notes--flush notes)
  (when (seq-some #'decent-notes--unkept-p notes)
    (ignore-errors (decent-notes--ensure))
    (mapc #'decent-notes--send-unsent notes)
    (decent-notes--wait
     seconds (lambda ()
               (seq-every-p (lambda (note)
                              (or (not (decent-notes--unkept-p note))
                                  (not decent-notes--connection)
                                  (and (decent-notes--trouble note)
                                       (not (decent-notes--opening note))
                                       (= (decent-notes--answered note)
                                          (decent-notes--version note)))))
                            notes))))
  (seq-filter #'decent-notes--unkept-p notes))

(defun decent-notes--close ()
  "Close the note of a buffer that is about to be killed."
  (when-let ((note decent-notes--here))
    (when (eq (current-buffer) (decent-notes--buffer note))
      (mapc #'decent-notes--keep-in-file (decent-notes--deliver (list note) 5))
      (setq decent-notes--notes (delq note decent-notes--notes))
      (when (decent-notes--attachment note)
        (decent-notes--request 'note/close
                               (list :attachment (decent-notes--attachment note)))))))
(put 'decent-notes--close 'permanent-local-hook t)

(defun decent-notes--keep-in-files ()
  "Send what is unsent; write to files what cannot be.  Return their names."
  (delq nil
        (mapcar (lambda (note)
                  (unless (eql (decent-notes--kept note) (decent-notes--tick note))
                    (setf (decent-notes--kept note) (decent-notes--tick note))
                    (decent-notes--keep-in-file note)))
                (decent-notes--deliver decent-notes--notes 5))))

(defun decent-notes--may-quit ()
  "Whether Emacs may be left: nothing is unsent, or the user knows about it."
  (let ((files (decent-notes--keep-in-files)))
    (or (not files)
        (yes-or-no-p (format "Text that could not be sent is kept in %s; quit? "
                             (string-join files ", "))))))

(defun decent-notes--quit ()
  "End the process in order, with everything kept."
  (decent-notes--keep-in-files)
  (when decent-notes--ready
    (let (answered)
      (decent-notes--request 'shutdown nil
                             (lambda (_result) (setq answered t))
                             (lambda (_problem) (setq answered t)))
      (decent-notes--wait 5 (lambda () answered))
      (decent-notes--notify 'exit)
      (decent-notes--forget-process))))

;;; Note buffers

(defvar decent-notes-note-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map [remap save-buffer] #'decent-notes-save)
    (dolist (command '(undo undo-only advertised-undo))
      (define-key map (vector 'remap command)
                  '(menu-item "" decent-notes-undo
                              :filter (lambda (undo) (and decent-notes-own-undo undo)))))
    (define-key map [remap undo-redo]
                '(menu-item "" decent-notes-redo
                            :filter (lambda (redo) (and decent-notes-own-undo redo))))
    map)
  "The keys of `decent-notes-note-mode'.")

(define-minor-mode decent-notes-note-mode
  "Live text in a buffer with a note.
Whatever is done to the text of the buffer is done to the note, at once,
and whatever others do to the note appears here.  It is on as long as the
buffer shows the note, whatever its major mode: until `write-file' makes
it a buffer of a file.
\\<decent-notes-note-mode-map>
\\[decent-notes-save] waits until everything is on disk.  The undo keys take
back your own changes only, see `decent-notes-own-undo'.  The buffer is shown
as modified as long as something in it has not been kept.

`decent-notes-title', `decent-notes-tag', `decent-notes-priority' and
`decent-notes-history' are commands for the note of the buffer."
  :lighter (:eval (format " Note[%s]" (decent-notes-status)))
  :keymap decent-notes-note-mode-map
  ;; Not for users: without its hooks a buffer would only pretend to be a note.
  (unless decent-notes--here
    (setq decent-notes-note-mode nil)
    (user-error "This buffer shows no note"))
  (setq decent-notes-note-mode t)
  (add-hook 'post-command-hook #'decent-notes--after-command nil t)
  (add-hook 'kill-buffer-hook #'decent-notes--close nil t)
  (add-hook 'write-contents-functions #'decent-notes--write nil t)
  (add-hook 'after-set-visited-file-name-hook #'decent-notes--leave nil t)
  (add-hook 'after-change-major-mode-hook #'decent-notes--major-mode nil t)
  (decent-notes--major-mode))
(put 'decent-notes-note-mode 'permanent-local t)

(defun decent-notes--major-mode ()
  "Set again what major modes forget, or set otherwise."
  ;; A change of the major mode keeps this hook, but until something sets it or
  ;; the buffer is left, Emacs 28 runs the hook without its local part.
  (add-hook 'after-change-functions #'decent-notes--changed nil t)
  ;; A copy of the buffer is no note.
  (add-hook 'clone-buffer-hook
            (lambda () (setq decent-notes--here nil decent-notes-note-mode nil)) nil t)
  (setq-local require-final-newline nil
              revert-buffer-function #'decent-notes--revert
              bookmark-make-record-function #'decent-notes--bookmark
              ;; Where \\[list-buffers] has the names of files.
              list-buffers-directory (when decent-notes--here
                                       (concat "note://" (decent-notes--id decent-notes--here)))))
(put 'decent-notes--major-mode 'permanent-local-hook t)

(defun decent-notes--bookmark ()
  "A bookmark of this place, for `bookmark-make-record-function'."
  (cons (decent-notes--title decent-notes--here)
        (append (list (cons 'note (decent-notes--id decent-notes--here))
                      (cons 'handler 'decent-notes-bookmark-jump)
                      (cons 'location (concat "note://" (decent-notes--id decent-notes--here))))
                (bookmark-make-record-default 'no-file))))

(defun decent-notes-status ()
  "How the note is: offline, in the trash, connected, or who else is here.
It is not answering while the process is stopped."
  (cond ((not (and decent-notes--here (decent-notes--attachment decent-notes--here)))
         "offline")
        ((decent-notes--stopped-p) "not answering")
        ((decent-notes--trashed decent-notes--here) "in the trash")
        ((decent-notes--peers decent-notes--here)
         (let ((count (length (decent-notes--peers decent-notes--here))))
           (if (= count 1) "1 other" (format "%d others" count))))
        (t "connected")))

(defun decent-notes--name (title)
  "The name for the buffer of a note with TITLE, perhaps not the only one."
  (let ((safe (replace-regexp-in-string "[[:cntrl:]]+" " " title)))
    (cond ((string-blank-p safe) "(untitled)")
          ;; Emacs takes buffers with such names for its own.
          ((string-match-p "\\`[ *]" safe) (concat "|" safe))
          (t safe))))

(defun decent-notes--mode (title)
  "The major mode for a note with TITLE."
  (let ((mode (decent-notes--mode-named title)))
    (when (and mode (autoloadp (symbol-function mode)))
      (autoload-do-load (symbol-function mode) mode))
    ;; Other modes show pictures or archives, and want their bytes.
    (if (or (memq mode '(conf-mode-maybe c-or-c++-mode))
            (and mode (provided-mode-derived-p mode 'text-mode 'prog-mode 'conf-mode)))
        mode
      decent-notes-major-mode)))

(defun decent-notes--mode-named (title)
  "The major mode that files called TITLE have, if there is one."
  (cl-flet ((find ()
              (let ((mode (assoc-default title auto-mode-alist #'string-match-p)))
                (and mode (symbolp mode) (fboundp mode) mode))))
    ;; What ends with a number is a date or a version, and no page of a manual.
    (unless (string-match-p "[0-9]\\'" title)
      (or (let (case-fold-search) (find))
          (let ((case-fold-search t)) (and auto-mode-case-fold (find)))))))

(defun decent-notes--set-mode (title)
  "Turn on the major mode for a note with TITLE."
  ;; Whatever goes wrong in a mode or its hooks, the note has to live.
  (condition-case problem (funcall (decent-notes--mode title))
    (error (decent-notes--tell "%s" (error-message-string problem)))))

(defvar decent-notes--change-functions nil
  "Functions to call with what `decent-notes--did-change' is called with.")

(defun decent-notes--did-change (changes)
  "Take in what was changed.
CHANGES are lists with `:id' and `:what', or t if anything may be different."
  (dolist (note decent-notes--notes)
    (when (or (eq changes t)
              (seq-some (lambda (change)
                          (and (equal (plist-get change :id) (decent-notes--id note))
                               (seq-intersection (plist-get change :what) '("title" "trashed"))))
                        changes))
      (decent-notes--inquire note)))
  (run-hook-with-args 'decent-notes--change-functions changes))

(defun decent-notes--inquire (note)
  "Ask for the title of NOTE, and for whether it is in the trash."
  (decent-notes--request 'note/get (list :id (decent-notes--id note))
                         (lambda (result)
                           (decent-notes--learn note (plist-get result :note)))))

(defun decent-notes--learn (note summary)
  "Take over the SUMMARY of NOTE, and show what is different."
  (let ((old (decent-notes--title note))
        (title (plist-get summary :title))
        (trashed (eq t (plist-get summary :trashed))))
    (unless (equal old title)
      (setf (decent-notes--title note) title)
      (when (buffer-live-p (decent-notes--buffer note))
        (with-current-buffer (decent-notes--buffer note)
          (rename-buffer (decent-notes--name title) t)
          ;; If the name says nothing new, it is the user who chose the mode.
          (unless (eq (decent-notes--mode old) (decent-notes--mode title))
            (decent-notes--set-mode title)))))
    (unless (eq trashed (decent-notes--trashed note))
      (setf (decent-notes--trashed note) trashed)
      (decent-notes--tell (if trashed "%s is in the trash now; what you type takes it out"
                            "%s is out of the trash")
                          (decent-notes--name title))
      (force-mode-line-update t))))

(defun decent-notes--buffer-for (summary)
  "The buffer of the note of SUMMARY, which is opened if need be."
  (let* ((id (plist-get summary :id))
         (title (plist-get summary :title))
         (note (decent-notes--with #'decent-notes--id id)))
    (unless note
      (decent-notes--call
       'note/open (list :id id :mode "edit" :push "ranges")
       (lambda (result)
         (setq note (decent-notes--make-note
                     :id id :title title :trashed (eq t (plist-get summary :trashed))
                     :buffer (generate-new-buffer (decent-notes--name title))))
         (decent-notes--take note result)
         (push note decent-notes--notes))))
    (decent-notes--buffer note)))

(defun decent-notes--visit (summary)
  "Show the note of SUMMARY, and return its buffer."
  (pop-to-buffer-same-window (decent-notes--buffer-for summary)))

(defun decent-notes--summary (id)
  "The summary of the note ID."
  (plist-get (decent-notes--call 'note/get (list :id id)) :note))

(defun decent-notes--take (note result)
  "Show NOTE with the text of RESULT, of note/open."
  (with-current-buffer (decent-notes--buffer note)
    (let ((fresh (not decent-notes--here))
          (text (plist-get result :text))
          (buffer (current-buffer)))
      (save-restriction
        (widen)
        (let ((inhibit-read-only t)
              (decent-notes--here nil)) ; what follows is no change of the user's
          (if fresh (insert text)
            (with-temp-buffer
              (insert text)
              (let ((source (current-buffer)))
                (with-current-buffer buffer (replace-buffer-contents source 1))))))
        (setf (decent-notes--base note) text
              (decent-notes--version note) (plist-get result :version)
              (decent-notes--answered note) (plist-get result :version)
              (decent-notes--whole note) 0
              (decent-notes--trouble note) nil)
        (decent-notes--seen note nil)
        (setf (decent-notes--base-tick note) (decent-notes--tick note)))
      (setq decent-notes--here note)
      (when fresh
        (setq buffer-undo-list nil)
        (goto-char (point-min))
        (decent-notes--set-mode (decent-notes--title note))
        (decent-notes-note-mode)))
    (decent-notes--attached note result)))

(defun decent-notes--revert (_ignore-auto no-confirm)
  "Show the note as the process has it.
Ask first if text would be lost, unless NO-CONFIRM."
  (let ((note decent-notes--here))
    (decent-notes--ensure)
    (cond
     ((not (decent-notes--deliver (list note) 5))
      ;; The hash tells if the text is not what the process takes it for; what was
      ;; dropped comes again; and what can be undone stays so.
      (unless (decent-notes--wait 5 (lambda () (decent-notes--attachment note)))
        (user-error "The note cannot be opened: %s" (cdr (decent-notes--trouble note))))
      (decent-notes--change note '(:lines [] :sameStep t) t)
      (decent-notes--deliver (list note) 5))
     ((or no-confirm (yes-or-no-p "Discard what could not be sent? "))
      (decent-notes--call
       'note/open (list :id (decent-notes--id note) :mode "edit" :push "ranges")
       (lambda (result)
         (when-let ((old (decent-notes--attachment note)))
           (decent-notes--request 'note/close (list :attachment old)))
         (decent-notes--take note result)))))))

(defun decent-notes--write ()
  "Keep what is in this buffer, as `write-contents-functions' has it."
  (when decent-notes--here
    (decent-notes-save)
    t))
(put 'decent-notes--write 'permanent-local-hook t)

(defun decent-notes--leave ()
  "Leave the note if the buffer visits a file now, as by `write-file'."
  (when-let ((note (and buffer-file-name decent-notes--here)))
    (decent-notes--close)
    (decent-notes--show-peers nil note)
    (setf (decent-notes--buffer note) nil)
    (setq decent-notes--here nil decent-notes-note-mode nil)
    (remove-hook 'after-change-major-mode-hook #'decent-notes--major-mode t)
    (kill-local-variable 'require-final-newline)
    (kill-local-variable 'revert-buffer-function)
    (kill-local-variable 'bookmark-make-record-function)
    (kill-local-variable 'list-buffers-directory)))
(put 'decent-notes--leave 'permanent-local-hook t)

(defun decent-notes-save ()
  "Wait until this note, and all else in the notebook, is on disk."
  (interactive)
  (let ((note (or decent-notes--here (user-error "This buffer shows no note"))))
    (decent-notes--ensure)
    (when (decent-notes--deliver (list note) 10)
      (user-error "Not written: %s" (or (cdr (decent-notes--trouble note)) "no answer")))
    (decent-notes--call 'notebook/flush nil)
    (message "%s written" (buffer-name (decent-notes--buffer note)))))

(defun decent-notes-undo (&optional count)
  "Take back your own last change of this note, or COUNT of them."
  (interactive "p")
  (decent-notes--undo 'note/undo (or count 1)))

(defun decent-notes-redo (&optional count)
  "Make again what `decent-notes-undo' took back, COUNT times."
  (interactive "p")
  (decent-notes--undo 'note/redo (or count 1)))

(defun decent-notes--undo (method count)
  "Have the process carry out METHOD, COUNT times; the effect comes as a push."
  (let ((note decent-notes--here))
    (decent-notes--flush note)
    (unless (decent-notes--attachment note)
      (user-error "The program is gone; M-x decent-notes-restart starts it"))
    (dotimes (_ count)
      (decent-notes--request
       method (list :attachment (decent-notes--attachment note))
       (lambda (result)
         (if (eq t (plist-get result :done)) (setf (decent-notes--follow note) t)
           (message "Nothing of yours left to %s" (substring (symbol-name method) 5))))
       (lambda (problem) (decent-notes--tell "%s" (plist-get problem :message)))))))

;;; Cursors

(defun decent-notes--position (place)
  "PLACE as a position of the protocol."
  (save-excursion
    (goto-char place)
    (forward-line 0)
    (list :line (1- (line-number-at-pos)) :character (- place (point)))))

(defun decent-notes--moved (note)
  "Tell where point is in NOTE, in a tenth of a second."
  (unless (decent-notes--cursor-timer note)
    (setf (decent-notes--cursor-timer note)
          (run-at-time 0.1 nil #'decent-notes--tell-cursor note))))

(defun decent-notes--tell-cursor (note)
  "Tell where point is in NOTE now."
  (setf (decent-notes--cursor-timer note) nil)
  (unless decent-notes--sending (decent-notes--flush note))
  (decent-notes--in-whole note
    (unless (or (not (decent-notes--attachment note)) (decent-notes--stuck-p note)
                decent-notes--sending (decent-notes--stopped-p))
      (let ((end (decent-notes--position (point))))
        (decent-notes--notify
         'note/cursor
         (list :attachment (decent-notes--attachment note)
               :version (decent-notes--version note) :rev (decent-notes--rev note)
               :ranges (vector (list :start (if mark-active
                                                (decent-notes--position (mark))
                                              end)
                                     :end end))))))))

(defun decent-notes--take-presence (presence)
  "Show who is in PRESENCE, the parameters of note/presence."
  (when-let ((note (decent-notes--with #'decent-notes--attachment
                                       (plist-get presence :attachment))))
    (when (and (eql (decent-notes--version note) (plist-get presence :version))
               (eql (decent-notes--rev note) (plist-get presence :rev)))
      (decent-notes--show-peers (append (plist-get presence :peers) nil) note))))

(defun decent-notes--show-peers (peers note)
  "Show in NOTE where PEERS are."
  (decent-notes--in-whole note
    (remove-overlays nil nil 'decent-notes-peer t)
    (setf (decent-notes--peers note) peers)
    (dolist (peer peers)
      (dolist (edit (decent-notes--edits (seq-map (lambda (range) (list :range range))
                                                  (plist-get peer :ranges))))
        (let* ((beg (min (car edit) (cadr edit)))
               (end (max (car edit) (cadr edit)))
               (at-end (and (= beg end) (memq (char-after end) '(nil ?\n))))
               (overlay (make-overlay beg (if (or at-end (< beg end)) end (1+ end)))))
          (overlay-put overlay 'decent-notes-peer t)
          (if at-end (overlay-put overlay 'after-string
                                  ;; Our own cursor, at this place, stays before it.
                                  (propertize " " 'face 'decent-notes-peer 'cursor t))
            (overlay-put overlay 'face 'decent-notes-peer)))))
    (force-mode-line-update)))

(provide 'decent-notes-live)
;;; decent-notes-live.el ends here
