;;; decent-notes-undo-tests.el --- Tests of undo, and of what waits  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Whatever undoes takes back the user's own last step, in order with the keys.
;; Edits of others wait for code that has noted positions.  A program that does
;; not answer is shown as such, and what it lacks is in a file.

;;; Code:

(require 'decent-notes-tests)

(defmacro decent-notes-undo-tests-with (&rest body)
  "Evaluate BODY in a note in which the user and then somebody else have typed."
  (declare (indent 0) (debug t))
  `(decent-notes-tests-with "one\ntwo\n"
     (goto-char 4)
     (insert " mine")
     (decent-notes-tests-agree)
     (decent-notes-tests-replace "two" "two theirs")
     (goto-char (point-max))
     ,@body))

(defmacro decent-notes-undo-tests-stopped (&rest body)
  "Evaluate BODY while the process is stopped."
  (declare (indent 0) (debug t))
  `(let ((process decent-notes--process))
     (signal-process process 'STOP)
     (decent-notes-tests-until (decent-notes--stopped-p))
     (unwind-protect (progn ,@body)
       (when (process-live-p process) (signal-process process 'CONT)))))

;;; Undo

(decent-notes-tests-deftest undo-by-any-command
    "Emacs's own undo commands, called by name, take back the user's last step in a note."
  (dolist (commands '((undo . undo-redo) (undo-only . undo-redo)
                      (decent-notes-undo . decent-notes-redo)))
    (decent-notes-undo-tests-with
      (setq last-command nil)
      (call-interactively (car commands))
      (should (equal (buffer-string) "one\ntwo theirs\n"))
      (call-interactively (cdr commands))
      (should (equal (buffer-string) "one mine\ntwo theirs\n"))
      ;; An undo after another command is no redo.
      (setq last-command 'forward-char)
      (call-interactively (car commands))
      (call-interactively (car commands))
      (should (equal (buffer-string) "one\ntwo theirs\n"))
      (should (string-search "Nothing of yours left" (decent-notes-tests-messages))))))

(decent-notes-tests-deftest undo-by-unknown-commands
    "What knows only Emacs's list of changes is told that there is none in a note."
  (decent-notes-undo-tests-with
    (should-error (undo-start) :type 'user-error)
    (should (equal (buffer-string) "one mine\ntwo theirs\n"))
    (with-current-buffer (clone-buffer "copy")
      (should-not (eq t buffer-undo-list))
      (insert "x")
      (undo-boundary)
      (setq last-command nil)
      (undo)
      (should (equal (buffer-string) "one mine\ntwo theirs\n"))
      (kill-buffer))))

(decent-notes-tests-deftest undo-with-a-region
    "With an active region undo takes back the last step, and says that it does not keep to it."
  (decent-notes-undo-tests-with
    (let ((transient-mark-mode t))
      (goto-char 10)
      (push-mark (point-max) t t)
      (should (use-region-p))
      (call-interactively (key-binding (kbd "C-/")))
      (should (equal (buffer-string) "one\ntwo theirs\n"))
      (should (string-search "a note has no undo in the region" (decent-notes-tests-messages))))))

(decent-notes-tests-deftest undo-of-changes-in-many-lines
    "A change in each of many lines is undone at once, and places stay at their text."
  (let ((text (mapconcat (lambda (line) (format "line %d" line)) (number-sequence 1 300) "\n")))
    (decent-notes-tests-with text
      (let ((place (progn (goto-char (point-min)) (search-forward "line 2") (point-marker)))
            (new (mapconcat (lambda (line) (format "> line %d" line)) (number-sequence 1 300) "\n")))
        (decent-notes-tests-replace text new)
        (decent-notes-tests-until (equal (buffer-string) new))
        (goto-char place)
        (should (looking-back "^> line 2" (line-beginning-position)))
        (goto-char (point-min))
        (while (not (eobp))
          (end-of-line)
          (insert "é")
          (forward-line 1))
        (decent-notes-tests-agree)
        (decent-notes-undo)
        (decent-notes-tests-until (equal (buffer-string) new))))))

(decent-notes-tests-deftest two-changes-in-each-of-many-lines
    "A place between two changes of one line stays there, in however many lines others make them."
  (cl-flet ((lines (line) (mapconcat #'identity (make-list 250 line) "\n")))
    (let ((text (lines "ab é e f g cd")))
      (decent-notes-tests-with text
        (goto-char (point-min))
        (forward-line 100)
        (search-forward "é")
        ;; The first push has two ranges of each line, the second has lines.
        (let ((place (point-marker)))
          (pcase-dolist (`(,line . ,column) '(("a1b é e f g c2d" . 5) ("ab é e f g c2d" . 4)))
            (decent-notes-tests-replace text (lines line))
            (setq text (lines line))
            (decent-notes-tests-until (equal (buffer-string) text))
            (goto-char place)
            (should (= column (- place (line-beginning-position))))))))))

(ert-deftest decent-notes-tests-unsent-texts-leave-no-lock ()
  "No lock is made for the file of an unsent text: an Emacs that is killed would leave it."
  (letrec ((folder (make-temp-file "unsent" t))
           (locks nil)
           (handler (lambda (operation &rest arguments)
                      (when (eq operation 'lock-file) (push create-lockfiles locks))
                      (let ((inhibit-file-name-handlers (list handler))
                            (inhibit-file-name-operation operation))
                        (apply operation arguments))))
           (file-name-handler-alist (list (cons "\\.new\\'" handler))))
    (decent-notes--write-unsent (expand-file-name "text" folder) "text")
    (should (equal locks '(nil)))
    (should (equal (directory-files folder nil "\\`[^.]\\|\\`\\.#") '("text")))
    (delete-directory folder t)))

(decent-notes-tests-deftest undo-in-order
    "The keys behind an undo in a keyboard macro see its effect, and point is where it was."
  (decent-notes-undo-tests-with
    (execute-kbd-macro (kbd "M-< C-/ C-e ! C-n C-a ? C-/ ."))
    ;; What the macro had typed since the first undo is one step.
    (should (equal (buffer-string) "one.\ntwo theirs\n"))
    (decent-notes-tests-agree)
    (decent-notes-undo)
    (should-error (execute-kbd-macro (kbd "C-/ x")) :type 'user-error)
    (should (equal (buffer-string) "one\ntwo theirs\n"))))

(decent-notes-tests-deftest undo-behind-a-stopped-process
    "An undo waits for a process that is stopped; when it has ended nothing moves point."
  (decent-notes-undo-tests-with
    (let ((process decent-notes--process))
      (decent-notes-undo-tests-stopped
        (run-at-time 1 nil (lambda () (signal-process process 'CONT)))
        (decent-notes-undo)
        (should (equal (buffer-string) "one\ntwo theirs\n"))
        (should (= 4 (point))))
      (goto-char (point-max))
      (insert "on")
      (decent-notes-tests-agree)
      (should (eobp)))))

(decent-notes-tests-deftest undo-that-is-given-up
    "An undo that was given up while the process is stopped is not made later."
  (decent-notes-undo-tests-with
    (decent-notes-undo-tests-stopped
      (run-at-time 0.5 nil (lambda () (setq quit-flag t)))
      (should (eq 'quit (condition-case nil (decent-notes-undo) (quit 'quit))))
      (should-not decent-notes--outbox)
      (should-not decent-notes--asked))
    (decent-notes-tests-agree)
    (insert "on")
    (decent-notes-tests-agree)
    (should (equal (buffer-string) "one mine\ntwo theirs\non"))
    (should (eobp))))

(decent-notes-tests-deftest undo-before-all-is-sent
    "An undo is refused while the process lacks what was typed last."
  (decent-notes-undo-tests-with
    (insert "\0")
    (should-error (decent-notes-undo) :type 'user-error)
    (should (equal (decent-notes-tests-theirs) "one mine\ntwo theirs\n"))
    (delete-char -1)
    (decent-notes-tests-agree)))

(decent-notes-tests-deftest undo-after-the-process-died
    "An undo right after the end of the process waits for the next one."
  (decent-notes-undo-tests-with
    (let ((process decent-notes--process))
      (signal-process process 'KILL)
      (decent-notes-tests-until (not (eq process decent-notes--process))))
    (decent-notes-undo)
    (should (equal (buffer-string) "one\ntwo theirs\n"))))

(decent-notes-tests-deftest undo-in-a-long-note
    "On 2 MB an undo makes Emacs itself work for at most a tenth of a second."
  (let ((text (mapconcat (lambda (n) (format "%06d a line of some sixty bytes, as in long notes\n" n))
                         (number-sequence 1 35000) "")))
    (decent-notes-tests-with text
      (goto-char 1000000)
      (insert "here")
      (decent-notes-tests-agree)
      (garbage-collect)
      (let ((begun (get-internal-run-time)))
        (decent-notes-undo)
        (should (> 0.1 (float-time (time-subtract (get-internal-run-time) begun)))))
      (should (equal (buffer-string) text)))))

;;; What waits

(decent-notes-tests-deftest pushes-wait-for-code-that-waits
    "No edit of others comes in between while code in a timer waits, with a position it has noted."
  (decent-notes-tests-with "one\ntwo\n"
    (let (done)
      (run-at-time
       0 nil
       (lambda ()
         (let ((place 5))
           (decent-notes-tests-other 'note/setText
                                     :id (decent-notes--note-id decent-notes--here)
                                     :text "zero\none\ntwo\n")
           (sleep-for 1)
           (goto-char place)
           (insert "FORMATTED ")
           (setq done t))))
      (decent-notes-tests-until done)
      (decent-notes-tests-until (equal (buffer-string) "zero\none\nFORMATTED two\n")))))

(decent-notes-tests-deftest pushes-wait-for-evil
    "Edits of others wait while evil has noted lines for which it will repeat what is typed."
  (defvar evil-state)
  (defvar evil-insert-vcount)
  (let ((evil-state nil) (evil-insert-vcount '(1 0 2)))
    (dolist (state '(insert replace))
      (decent-notes-tests-with "one\ntwo\n"
        (setq evil-state state)
        (decent-notes-tests-other 'note/setText :id (decent-notes--note-id decent-notes--here)
                                  :text "zero\none\ntwo\n")
        (decent-notes-tests-until decent-notes--deferred)
        (should (equal (buffer-string) "one\ntwo\n"))
        (should-error (decent-notes-undo) :type 'user-error)
        (setq evil-state 'normal)
        (decent-notes-tests-until (equal (buffer-string) "zero\none\ntwo\n"))))))

;;; A program that does not answer

(decent-notes-tests-deftest a-program-that-is-stopped
    "A program that is stopped is told of within three seconds, and ended when asked for."
  (decent-notes-tests-with "one\n"
    (let ((process decent-notes--process) (begun (float-time)))
      (decent-notes-undo-tests-stopped
        (decent-notes-tests-until (eq t decent-notes--silent))
        (should (> 3 (- (float-time) begun)))
        (should (equal (decent-notes-status) "not answering"))
        (should (string-search "it was stopped; M-x decent-notes-restart"
                               (decent-notes-tests-messages)))
        (insert "zero ")
        (decent-notes-restart)
        (decent-notes-tests-until (not (process-live-p process))))
      (decent-notes-tests-agree)
      (should (equal (decent-notes-status) "connected"))
      (should (equal (decent-notes-tests-theirs) "zero one\n")))))

(decent-notes-tests-deftest a-program-that-is-silent
    "A program that takes requests and answers none is told of within three seconds."
  (decent-notes-tests-with "one\n"
    (decent-notes--stop)
    (let ((decent-notes-program '("sleep" "1000")) (begun (float-time)))
      (decent-notes--start)
      (decent-notes-tests-until (eq t decent-notes--silent))
      (should (< 2 (- (float-time) begun) 3))
      (should (equal (decent-notes-status) "not answering")))
    (decent-notes-restart)
    (should-not decent-notes--silent)))

(decent-notes-tests-deftest a-request-that-takes-long
    "A program that answers other requests is not silent, however long one takes."
  (decent-notes-tests-with "one\n"
    (let ((request (list #'ignore)))
      (setq decent-notes--asked (list (cons request 0)))
      (decent-notes--watch-answers 0)
      (decent-notes--wait 7 (lambda () (eq t decent-notes--silent)))
      (should-not (eq t decent-notes--silent))
      (decent-notes--answered request))))

(decent-notes-tests-deftest changes-without-answers
    "The user is told why nothing more is sent, and what saving waits for."
  (decent-notes-tests-with "one\n"
    (decent-notes-undo-tests-stopped
      (dotimes (_ 60)
        (insert "x")
        (decent-notes--send-pending decent-notes--here))
      (should (string-search "51 changes have no answer" (decent-notes-tests-messages)))
      (let (shown)
        (cl-letf (((symbol-function 'decent-notes--show-wait) (lambda (what) (push what shown))))
          (run-at-time 1.5 nil (lambda () (setq quit-flag t)))
          (condition-case nil (decent-notes-save) (quit nil)))
        (should (member "the answers to 51 changes" shown))))))

;;; Texts that were not sent

(defun decent-notes-undo-tests-files (ending)
  "The files with ENDING of texts that were not sent."
  (directory-files (decent-notes--unsent-folder) t (concat ending "\\'")))

(defmacro decent-notes-undo-tests-in (&rest body)
  "Evaluate BODY with a folder of its own for texts that were not sent."
  (declare (indent 0) (debug t))
  `(let ((folder (file-name-as-directory (make-temp-file "decent-notes-tests" t))))
     (unwind-protect
         (cl-letf (((symbol-function 'decent-notes--unsent-folder) (lambda () folder)))
           ,@body)
       (delete-directory folder t))))

(decent-notes-tests-deftest a-text-without-an-answer-is-in-a-file
    "What is typed while the process is stopped or gone is in a file within a second, until it is not."
  (decent-notes-undo-tests-in
    (decent-notes-tests-with "one\n"
      (dotimes (_ 3)
        (insert "zero ")
        (decent-notes-tests-agree)
        (should-not (directory-files (decent-notes--unsent-folder) nil "json")))
      (decent-notes-undo-tests-stopped
        (dolist (word '("two " "three "))
          (insert word)
          (decent-notes--send-pending decent-notes--here)
          (decent-notes--wait 1 #'ignore)
          (let ((file (car (decent-notes-undo-tests-files "txt"))))
            (should (= #o600 (file-modes file)))
            (should (equal (buffer-string)
                           (with-temp-buffer (insert-file-contents file) (buffer-string)))))))
      (decent-notes-tests-agree)
      (should-not (decent-notes-undo-tests-files "\\(txt\\|json\\)"))
      (let ((decent-notes--restarts (make-list 5 (float-time))))
        (signal-process decent-notes--process 'KILL)
        (decent-notes-tests-until (not decent-notes--connection))
        (insert "four ")
        (decent-notes--wait 1 #'ignore)
        (should (= 1 (length (decent-notes-undo-tests-files "txt")))))
      (decent-notes-restart)
      (decent-notes-tests-agree)
      (should-not (decent-notes-undo-tests-files "\\(txt\\|json\\)")))))

(decent-notes-tests-deftest the-file-of-a-closed-note
    "The file of a note that was closed without an answer goes when the answer comes."
  (decent-notes-undo-tests-in
    (with-current-buffer (decent-notes-tests-open "one\n" "Closed")
      (decent-notes-undo-tests-stopped
        (insert "zero ")
        (kill-buffer)
        (should (= 1 (length (decent-notes-undo-tests-files "txt"))))))
    (with-temp-buffer
      (decent-notes-tests-until (not (decent-notes-undo-tests-files "txt")))
      (should (string-search "Closed was sent after all" (decent-notes-tests-messages))))))

(decent-notes-tests-deftest texts-of-editors-that-are-gone
    "A text that another editor has left is offered, and merged, made a note, or forgotten."
  (decent-notes-undo-tests-in
    (decent-notes-tests-with "one\ntwo\n"
      (let ((name (concat (decent-notes--unsent-folder) (decent-notes--note-id decent-notes--here)
                          "-20261127T101500-"))
            (gone (with-temp-buffer
                    (call-process "sh" nil t nil "-c" "echo $$")
                    (string-to-number (buffer-string))))
            answer)
        (cl-letf (((symbol-function 'read-multiple-choice)
                   (lambda (prompt choices)
                     (should (string-search "2026-11-27 10:15" prompt))
                     (assq answer choices)))
                  ((symbol-function 'yes-or-no-p) #'always))
          (cl-flet ((leave (process whole)
                      (let ((name (format "%s%d" name process)))
                        (decent-notes--write-unsent (concat name ".txt") "one typed\ntwo\n")
                        (when whole
                          (decent-notes--write-way
                           name (list :id (decent-notes--note-id decent-notes--here)
                                      :title "A note" :session "0123456789abcdef.1"
                                      :version 3 :rev 0 :baseText "one\ntwo\n"))))))
            ;; This Emacs is no editor that is gone, but it has no such file.
            (leave gone t)
            (decent-notes-tests-replace "two" "two theirs")
            (decent-notes--known-unsent #'decent-notes--tell-unsent)
            (decent-notes-tests-until
             (string-search "what was typed in \"A note\" could not be sent: M-x decent-notes-unsent"
                            (decent-notes-tests-messages)))
            (setq answer ?l)
            (decent-notes-unsent)
            (should (= 1 (length (decent-notes-undo-tests-files "json"))))
            (setq answer ?m)
            (decent-notes-unsent)
            (decent-notes-tests-until (equal (buffer-string) "one typed\ntwo theirs\n"))
            (should-not (decent-notes-undo-tests-files "\\(txt\\|json\\)"))
            (leave gone nil)
            (setq answer ?k)
            (decent-notes-unsent)
            (should-not (decent-notes-undo-tests-files "txt"))
            (should (seq-find (lambda (note) (string-suffix-p " (unsent)" (plist-get note :title)))
                              (decent-notes--all)))
            (leave gone t)
            (setq answer ?f)
            (decent-notes-unsent)
            (should-not (decent-notes-undo-tests-files "txt"))
            (should-error (decent-notes-unsent) :type 'user-error)))))))

(provide 'decent-notes-undo-tests)
;;; decent-notes-undo-tests.el ends here
