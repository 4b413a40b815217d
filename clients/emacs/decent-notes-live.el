;;; decent-notes-live.el --- Text that changes on both sides at once  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; Open notes: what the user types goes to the server as note/change, what
;; others do comes back as note/edit.  The server merges.  The client's side is
;; a few fields for each buffer.  clients/README.md of the project has the table
;; of them, the states, and the transitions.
;;
;; Two rules keep it simple:
;;
;; - Typing never waits for an answer.
;; - Not each change is recorded, but which text is pending: two numbers for each
;;   buffer, how many characters at its beginning and at its end are as they
;;   were.  If Emacs reports a change wrongly or not at all, the hash that goes
;;   with each change does not fit, and the whole text is sent instead.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'decent-notes-participants)
(require 'decent-notes-process)
(require 'decent-notes-unsent)
(eval-when-compile (require 'subr-x))

(cl-defstruct (decent-notes--note (:copier nil) (:predicate nil)
                                  (:constructor decent-notes--make-note))
  "An open note.  Names that begin with `decent-notes--note-' are its slots only.

Slots of all clients, see clients/README.md of the project: `id', `buffer',
`attachment', `opening-p', `version', `rev', `answered', `whole',
`needs-whole-p', `pending-head' and `pending-tail', `line-count', `base',
`problem' (the reason and the message), `resume-token', `hides-returns' (t or
`:json-false'), `jumping-p', `participants'.

Slots of this client:
`title'         the note's title
`trashed-p'     non-nil if the note is in the trash
`forgotten-p'   non-nil if the note was forgotten for good
`path'          the path of its file, nil if it has none
`size'          how many characters the text had when it was sent last
`tick'          `buffer-chars-modified-tick' of the last change that was recorded
`base-tick'     the same when `base' was set
`kept-tick'     the same when the user was told of a file with the text
`keep-timer'    the timer after which the text is in a file if there is no answer
`kept'          the name of this file, see `decent-notes--unsent-name'
`kept-way'      what the file beside it has, see `decent-notes--write-way'
`keep-problem'  why the text could not be written to a file
`unhashed-p'    non-nil if the last change had no hash
`letters'       how many letters were typed in a row, as one step of undo; 0 if
                the next one begins another
`half-sent-p'   non-nil if the present step of undo has sent a change
`stuck-told-p'  non-nil if the user was told that too many changes have no answer
`cursor-timer'  the timer that will send the place of point"
  id title trashed-p forgotten-p path buffer attachment resume-token opening-p (hides-returns :json-false)
  (version 0) (rev 0) (answered 0) (whole 0)
  pending-head pending-tail line-count size tick needs-whole-p problem base base-tick unhashed-p
  (letters 0) half-sent-p jumping-p stuck-told-p cursor-timer (participants "") kept-tick
  keep-timer kept kept-way keep-problem)

(defvar decent-notes--notes nil "The open notes.")
(defvar decent-notes--idle-timer nil "The timer for what can wait until the user pauses.")

(defvar decent-notes--change-functions nil
  "Functions that are called when notes were changed, here or by others.
The argument is a list of changes, each with `:id' and `:what' as in
notebook/didChange, or t if anything may be different.")

(defvar decent-notes--forgotten-functions nil
  "Functions that are called with a note that was forgotten for good.")

(defun decent-notes--report-changes (changed)
  "Call `decent-notes--change-functions' with CHANGED."
  (run-hook-with-args 'decent-notes--change-functions changed))

(defun decent-notes--find-note (part value)
  "Return the open note for which the function PART has VALUE."
  (seq-find (lambda (note) (equal (funcall part note) value)) decent-notes--notes))

;;; The states of evil

(defun decent-notes--inserting-p ()
  "Return non-nil if all that is typed now is one step of undo for evil."
  (and (memq (bound-and-true-p evil-state) '(insert replace))
       (not (eq t (bound-and-true-p evil-want-fine-undo)))))

(defvar evil-temporary-undo)

(defun decent-notes--forget-paste ()
  "Have evil forget where it has pasted: a position there is not right any more."
  (when (boundp 'evil-temporary-undo) (setq evil-temporary-undo nil)))

(defun decent-notes--repeating-p ()
  "Return non-nil while evil remembers places in this buffer by their numbers.
These are the lines for which it will repeat an insertion, and replaced letters."
  (pcase (bound-and-true-p evil-state)
    ('insert (bound-and-true-p evil-insert-vcount))
    ('replace t)))

;;; The buffer of a note

(defvar-local decent-notes--here nil "The note of this buffer.")
(put 'decent-notes--here 'permanent-local t)

(defconst decent-notes--largest-hashed (* 256 1024)
  "The length in bytes up to which a text is sent with its hash.")

(defmacro decent-notes--in-whole (note &rest body)
  "Evaluate BODY in the buffer of NOTE without its narrowing.
Do nothing if there is no buffer, or if its narrowing cannot be undone now, as
with long lines in hooks of Emacs 29: it is tried again later."
  (declare (indent 1) (debug t))
  `(when (buffer-live-p (decent-notes--note-buffer ,note))
     (with-current-buffer (decent-notes--note-buffer ,note)
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

;;; Input methods

;; An input method inserts letters that it will replace, and waits for keys below
;; the command loop.  What it has found is inserted at the end of the conversion,
;; by Hangul at once, else by commands, one for each character.

(defvar decent-notes--converting nil
  "The buffer in which an input method waits for the end of a conversion, or nil.")

(defvar decent-notes--converted-p nil
  "Non-nil if commands insert the characters of a conversion now.")

(defvar decent-notes--settling-p nil
  "Non-nil while all is sent as it is: a buffer is saved or closed, or Emacs ends.")

(defun decent-notes--convert (function &rest arguments)
  "Call FUNCTION, an input method, with ARGUMENTS, and send its result alone."
  (let ((note decent-notes--here) (size (buffer-size)) events)
    (when note (decent-notes--send-pending note))
    (let ((decent-notes--converting (current-buffer)))
      (setq events (apply function arguments)))
    (when note
      ;; Quail reports none of its changes, and has taken all of them back.
      (when (and (= size (buffer-size)) (not (decent-notes--note-pending-head note)))
        (setf (decent-notes--note-tick note) (buffer-chars-modified-tick)))
      (setq decent-notes--converted-p (cdr events))
      (unless (and events (null (cdr events))) (setf (decent-notes--note-letters note) 0))
      (decent-notes--enqueue (lambda () (decent-notes--send-unsent note))))
    events))

(defun decent-notes--watch-conversions ()
  "Notice the conversions of the input method of this buffer."
  (when (local-variable-p 'input-method-function)
    (add-function :around (local 'input-method-function) #'decent-notes--convert)))
(put 'decent-notes--watch-conversions 'permanent-local-hook t)

(defun decent-notes--converting-p (note)
  "Return non-nil while an input method has letters in NOTE that it will replace.
SKK returns to the command loop meanwhile."
  (let ((buffer (decent-notes--note-buffer note)))
    (and (buffer-live-p buffer)
         (not decent-notes--settling-p)
         (or (eq buffer decent-notes--converting)
             (with-current-buffer buffer (bound-and-true-p skk-henkan-mode))))))

(defun decent-notes--send-converted (note)
  "Send the conversion that was inserted in NOTE as one step of undo.
Return non-nil if more of its characters are to come."
  (when decent-notes--converted-p
    (unless (setq decent-notes--converted-p unread-post-input-method-events)
      (decent-notes--send-pending note)
      (setf (decent-notes--note-letters note) 0))
    decent-notes--converted-p))

;;; Own changes

(defun decent-notes--record-change (beg end old)
  "Record that OLD characters became those between BEG and END."
  (when-let ((note decent-notes--here))
    ;; The tick stays the same at changes of text properties, and at insertions by
    ;; `insert-file-contents' and `call-process'.
    (unless (and (= old (- end beg))
                 (eql (buffer-chars-modified-tick) (decent-notes--note-tick note)))
      (unless (decent-notes--note-pending-head note)
        ;; A change may be made outside of commands: it is sent soon in any case.
        (decent-notes--enqueue (lambda () (decent-notes--send-pending note))))
      (let ((after (- (1+ (buffer-size)) end)))
        (setf (decent-notes--note-pending-head note)
              (min (1- beg) (or (decent-notes--note-pending-head note) (1- beg)))
              (decent-notes--note-pending-tail note)
              (min after (or (decent-notes--note-pending-tail note) after)))
        (decent-notes--keep-soon note)))
    (setf (decent-notes--note-tick note) (buffer-chars-modified-tick))))
(put 'decent-notes--record-change 'permanent-local-hook t)

(defun decent-notes--after-command ()
  "Send what is pending after a command, and the place of point.
What a keyboard macro does is sent when it is over, as one change."
  (when-let ((note (and (not executing-kbd-macro) decent-notes--here)))
    (unless (decent-notes--send-converted note) (decent-notes--send-pending note))
    (unless (decent-notes--inserting-p) (setf (decent-notes--note-half-sent-p note) nil))
    (decent-notes--cursor-moved note)))
(put 'decent-notes--after-command 'permanent-local-hook t)

(defun decent-notes--send-pending (note)
  "Send what is pending in NOTE.
If many changes have not been answered, it is sent when they are."
  (decent-notes--in-whole note
    (let ((missed (not (eql (buffer-chars-modified-tick) (decent-notes--note-tick note)))))
      (when (or missed (decent-notes--note-pending-head note))
        (cond ((not (decent-notes--note-attachment note)))
              ((decent-notes--converting-p note))
              ((decent-notes--stuck-p note) (decent-notes--tell-stuck note))
              (t (setf (decent-notes--note-stuck-told-p note) nil)
                 (decent-notes--send-text
                  note (or missed (decent-notes--note-needs-whole-p note)))))
        (decent-notes--show-modified note)))))

(defun decent-notes--send-whole (note)
  "Send the whole text of NOTE."
  ;; As if a change had not been reported.
  (setf (decent-notes--note-tick note) nil)
  (decent-notes--send-pending note))

(defun decent-notes--stuck-p (note)
  "Return non-nil if the server is far behind with NOTE.
The process may not be reading.  Once the pipe to it is full, Emacs would hang,
even at \\[keyboard-quit]."
  (> (- (decent-notes--note-version note) (decent-notes--note-answered note)) 50))

(defun decent-notes--tell-stuck (note)
  "Tell once that nothing more of NOTE is sent before there are answers, and why."
  (unless (decent-notes--note-stuck-told-p note)
    (setf (decent-notes--note-stuck-told-p note) t)
    (decent-notes--tell
     "%d changes have no answer: what you type stays here until there is one; if none comes, %s"
     (- (decent-notes--note-version note) (decent-notes--note-answered note))
     decent-notes--help)))

(defun decent-notes--send-unsent (note)
  "Send all of NOTE that the process lacks.  Resume NOTE if it is detached.
Without a process nothing is sent."
  (cond ((not (decent-notes--note-attachment note))
         (when (and decent-notes--ready (not (decent-notes--note-opening-p note))
                    (not (decent-notes--converting-p note)))
           (decent-notes--resume note)))
        ((decent-notes--note-needs-whole-p note) (decent-notes--send-whole note))
        (t (decent-notes--send-pending note))))

(defun decent-notes--send-text (note whole)
  "Send what is pending in NOTE, or its WHOLE text."
  (let* ((beg (if whole 1 (1+ (decent-notes--note-pending-head note))))
         (end (if whole (point-max) (- (point-max) (decent-notes--note-pending-tail note))))
         (text (decent-notes--text beg end)))
    (if (decent-notes--refuse note text)
        (decent-notes--mark-sent note t)
      (let ((change (if whole (list :text text)
                      (decent-notes--replacement note beg end text))))
        (decent-notes--mark-sent note nil)
        (decent-notes--send-change note
                                   (append change
                                           (when (decent-notes--same-step-p note) '(:sameStep t)))
                                   (<= (decent-notes--bytes) decent-notes--largest-hashed))
        (when whole (setf (decent-notes--note-whole note) (decent-notes--note-version note)))))))

(defun decent-notes--replacement (note beg end text)
  "Return what is pending in NOTE as a part of note/change.
It has become TEXT, which is in the buffer from BEG to END."
  (let* ((start (decent-notes--position beg))
         (line (plist-get start :line))
         (column (plist-get start :character))
         (after (- (line-number-at-pos (point-max)) (line-number-at-pos end)))
         (last (- (decent-notes--note-line-count note) after 1))
         (size (- (decent-notes--note-size note) (1- beg) (decent-notes--note-pending-tail note))))
    (if (= line last)
        ;; The old text was within one line, which may be a long one.
        (let ((stop (list :line line :character (+ column size))))
          (list :ranges (vector (list :range (list :start start :end stop) :newText text))))
      ;; It is not known in which column the old text ended.
      (let ((lines (decent-notes--text (- beg column)
                                       (save-excursion (goto-char end) (line-end-position)))))
        (list :lines (vector (vector line (1+ last) (vconcat (split-string lines "\n")))))))))

(defun decent-notes--same-step-p (note)
  "Return non-nil if this change of NOTE and the one before are one step of undo.
As in Emacs itself, a step is all that one command does, or letters typed in a
row: the first, and up to `amalgamating-undo-limit' more.  With evil it is all
that is done until Insert state ends, as for its users."
  (let ((is-letter (and this-command (eq this-command real-last-command)
                        (string-suffix-p "self-insert-command" (format "%s" this-command))))
        (goes-on (and real-this-command (decent-notes--note-half-sent-p note))))
    (setf (decent-notes--note-half-sent-p note) (and real-this-command t))
    (unless goes-on
      (setf (decent-notes--note-letters note)
            (if (and is-letter (<= 1 (decent-notes--note-letters note) amalgamating-undo-limit))
                (1+ (decent-notes--note-letters note))
              1)))
    (or goes-on (> (decent-notes--note-letters note) 1))))

(defun decent-notes--refuse (note text)
  "Return non-nil if TEXT, of NOTE, cannot be sent; the user is told."
  (when-let ((index (string-match-p "[^\x01-\ud7ff\ue000-\x10ffff]" text)))
    (decent-notes--set-problem
     note (format "this is no Unicode text, and is kept in the buffer only: %s"
                  (single-key-description (aref text index))))))

(defun decent-notes--set-problem (note message &optional reason)
  "The text of NOTE could not be sent because of MESSAGE; return t.
The user is told once, and once only for the same REASON: the message may name
another temporary file each time."
  (let ((old (decent-notes--note-problem note)))
    (setf (decent-notes--note-needs-whole-p note) t
          (decent-notes--note-problem note) (cons (or reason message) message))
    (unless (equal (car old) (or reason message)) (decent-notes--tell "%s" message)))
  t)

(defun decent-notes--mark-sent (note needs-whole)
  "Nothing is pending in NOTE any more.
If NEEDS-WHOLE, the next change has to be the whole text."
  (setf (decent-notes--note-pending-head note) nil
        (decent-notes--note-pending-tail note) nil
        (decent-notes--note-line-count note) (line-number-at-pos (point-max))
        (decent-notes--note-size note) (buffer-size)
        (decent-notes--note-tick note) (buffer-chars-modified-tick)
        (decent-notes--note-needs-whole-p note) needs-whole))

(defun decent-notes--send-change (note change hashed)
  "Send CHANGE of NOTE, with the hash of the text if HASHED, else its length."
  (let ((attachment (decent-notes--note-attachment note))
        (version (cl-incf (decent-notes--note-version note))))
    (setf (decent-notes--note-unhashed-p note) (not hashed))
    (decent-notes--request
     'note/change
     (append (list :attachment attachment :version version :rev (decent-notes--note-rev note))
             change
             (if hashed (list :sha256 (decent-notes--hash))
               (list :bytes (decent-notes--bytes) :lineCount (decent-notes--note-line-count note))))
     (lambda (_result) (decent-notes--take-answer note attachment version nil))
     (lambda (problem) (decent-notes--take-answer note attachment version problem)))))

(defun decent-notes--take-answer (note attachment version problem)
  "The server has answered the change VERSION of NOTE with ATTACHMENT.
PROBLEM is the error, nil if the change was made."
  (let ((code (plist-get problem :code)))
    ;; -1 is the end of the process, which detaches the note.
    (when (and (eql attachment (decent-notes--note-attachment note)) (not (eql code -1)))
      (setf (decent-notes--note-answered note) version)
      (cond ((not problem)
             (unless (decent-notes--note-needs-whole-p note)
               (setf (decent-notes--note-problem note) nil))
             (when (= version (decent-notes--note-version note))
               (decent-notes--report-changes
                (list (list :id (decent-notes--note-id note) :what '("text"))))))
            ;; The whole text was sent after this change.
            ((< version (decent-notes--note-whole note)))
            ((equal (decent-notes--reason problem) "purged")
             (run-hook-with-args 'decent-notes--forgotten-functions note))
            ((equal (decent-notes--reason problem) "reopen")
             (decent-notes--detach note)
             (decent-notes--resume note))
            ((and (eql code -32801) (> version (decent-notes--note-whole note)))
             (decent-notes--send-whole note))
            (t (decent-notes--set-problem note (decent-notes--cause problem)
                                          (decent-notes--reason problem))))
      (decent-notes--send-pending note)
      (decent-notes--show-modified note))))

(defun decent-notes--unsent-p (note)
  "Return t if the server lacks something of NOTE, as far as it has answered."
  (and (or (decent-notes--note-pending-head note) (decent-notes--note-needs-whole-p note)
           (< (decent-notes--note-answered note) (decent-notes--note-version note)))
       t))

(defun decent-notes--settled-p (note)
  "Return t if the server has everything that was done in NOTE."
  (and (decent-notes--note-attachment note) (not (decent-notes--unsent-p note))))

(defun decent-notes--under-way-p (note)
  "Return non-nil if an answer is expected that may settle NOTE."
  (and decent-notes--connection
       (decent-notes--unsent-p note)
       (not (and (decent-notes--note-problem note)
                 (not (decent-notes--note-opening-p note))
                 (= (decent-notes--note-answered note) (decent-notes--note-version note))))))

(defun decent-notes--show-modified (note)
  "Show the buffer of NOTE as modified as long as NOTE is not settled."
  (when (buffer-live-p (decent-notes--note-buffer note))
    (with-current-buffer (decent-notes--note-buffer note)
      (let ((modified (not (or (decent-notes--note-forgotten-p note)
                               (decent-notes--settled-p note)))))
        (unless (eq modified (buffer-modified-p))
          (set-buffer-modified-p modified)))))
  (cond ((decent-notes--settled-p note) (decent-notes--drop-file note))
        ((decent-notes--unsent-p note) (decent-notes--keep-soon note))))

;;; The file of a text without an answer

(defun decent-notes--keep-soon (note)
  "Have the text of NOTE in a file within a second, if it has no answer by then."
  (unless (or (decent-notes--note-keep-timer note) (decent-notes--note-forgotten-p note))
    (setf (decent-notes--note-keep-timer note)
          ;; A change that comes right after this is found at the second look.
          (run-at-time (if (decent-notes--note-kept note) 0.9 0.4)
                       nil #'decent-notes--keep-unanswered note
                       (if (decent-notes--note-pending-head note)
                           (1+ (decent-notes--note-version note))
                         (decent-notes--note-version note))))))

(defun decent-notes--keep-unanswered (note version)
  "Write the text of NOTE to a file if VERSION has no answer."
  (setf (decent-notes--note-keep-timer note) nil)
  (when (and (buffer-live-p (decent-notes--note-buffer note))
             (not (decent-notes--note-forgotten-p note))
             (decent-notes--unsent-p note))
    (if (and (decent-notes--note-attachment note)
             (not (decent-notes--note-needs-whole-p note))
             (<= version (decent-notes--note-answered note)))
        (decent-notes--keep-soon note)
      (condition-case problem (decent-notes--keep note)
        (error
         (let ((message (error-message-string problem)))
           (unless (equal message (decent-notes--note-keep-problem note))
             (setf (decent-notes--note-keep-problem note) message)
             (decent-notes--tell "what has no answer is in no file, either: %s" message))))))))

(defun decent-notes--keep (note)
  "Write the text of NOTE to a file, and return its name."
  (decent-notes--in-whole note
    (let ((name (or (decent-notes--note-kept note)
                    (setf (decent-notes--note-kept note)
                          (decent-notes--unsent-name (decent-notes--note-id note)))))
          (way (list :id (decent-notes--note-id note) :title (decent-notes--note-title note)
                     :session (decent-notes--note-resume-token note)
                     :version (decent-notes--note-version note)
                     :rev (decent-notes--note-rev note)
                     :hidesReturns (decent-notes--note-hides-returns note)
                     :baseText (decent-notes--note-base note))))
      (decent-notes--write-unsent (concat name ".txt") (decent-notes--text))
      (unless (equal way (decent-notes--note-kept-way note))
        (decent-notes--write-way name way)
        (setf (decent-notes--note-kept-way note) way))
      (concat name ".txt"))))

(defun decent-notes--drop-file (note)
  "Remove the file of NOTE, whose text the process has."
  (when-let ((name (decent-notes--note-kept note)))
    (decent-notes--remove-unsent name)
    (setf (decent-notes--note-kept note) nil
          (decent-notes--note-kept-way note) nil)
    (unless (buffer-live-p (decent-notes--note-buffer note))
      (decent-notes--tell "%s was sent after all, and its file is gone"
                          (decent-notes--note-title note)))))

(defun decent-notes--shown-unsent ()
  "The names of the files of open notes."
  (delq nil (mapcar #'decent-notes--note-kept decent-notes--notes)))

;;; Pushes

(defvar decent-notes--undone nil
  "The note of which a step is being undone or made again, else nil.")

(defun decent-notes--positions-noted-p (note)
  "Return non-nil while positions are remembered which must not shift in NOTE.
Commands remember positions, `query-replace' among them, and so does what reads
their arguments in the minibuffer, isearch, for going back, and evil.  So does
Lisp code that waits in a timer or for another program."
  (or real-this-command
      (decent-notes--converting-p note)
      (minibufferp (window-buffer))
      (buffer-local-value 'isearch-mode (window-buffer))
      (seq-some (lambda (buffer)
                  (and (buffer-live-p buffer)
                       (with-current-buffer buffer (decent-notes--repeating-p))))
                (list (window-buffer) (decent-notes--note-buffer note)))
      (decent-notes--interrupting-p)))

(defun decent-notes--take-push (push)
  "Apply PUSH, the parameters of note/edit.
If it does not fit, send the whole text."
  (when-let ((note (decent-notes--find-note #'decent-notes--note-attachment
                                            (plist-get push :attachment))))
    (decent-notes--send-pending note)
    (decent-notes--in-whole note
      (when (eql (plist-get push :version) (decent-notes--note-version note))
        (if (not (decent-notes--fits-p push))
            (decent-notes--send-whole note)
          (decent-notes--apply-edits note (if-let ((lines (plist-get push :lines)))
                                              (decent-notes--edits-of-lines lines)
                                            (decent-notes--edits (plist-get push :ranges))))
          (setf (decent-notes--note-rev note) (plist-get push :rev))
          (decent-notes--show-modified note)
          (decent-notes--cursor-moved note)
          ;; Where the user does nothing there may be no other pause for hours.
          (when (current-idle-time) (decent-notes--keep-base note)))))))

(defun decent-notes--apply-edits (note edits)
  "Make EDITS, the last one first, in NOTE.  This is no change of the user's."
  (let* ((inhibit-read-only t) deactivate-mark
         (beg (or (car (car (last edits))) 1))
         (end (or (cadr (car edits)) 1))
         (size (buffer-size))
         (at-top (seq-filter (lambda (window) (= (window-start window) (point-min)))
                             (get-buffer-window-list nil nil t))))
    (undo-boundary)
    (decent-notes--forget-paste)
    (let ((decent-notes--here nil))
      ;; Hooks of others, which may edit, run after all edits, when positions are right.
      (combine-change-calls beg end
        (pcase-dolist (`(,beg ,end ,text) edits)
          (setq size (+ size (length text) (- beg end)))
          (decent-notes--replace beg end text))))
    (undo-boundary)
    (decent-notes--mark-sent note nil)
    ;; Such a hook has edited without a report.
    (unless (= size (buffer-size)) (setf (decent-notes--note-tick note) nil))
    ;; A window that shows the beginning also shows what is inserted before it.
    (dolist (window at-top) (set-window-start window (point-min) t))
    ;; The user has undone something, and is to see it.
    (when (decent-notes--note-jumping-p note)
      (setf (decent-notes--note-jumping-p note) nil)
      (goto-char (+ beg (length (nth 2 (car (last edits))))))
      (when-let ((window (get-buffer-window))) (set-window-point window (point))))))

(defun decent-notes--fits-p (push)
  "Return non-nil if PUSH was made for the text of the buffer."
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
                       ;; Ranges are in ascending order: no line is passed twice.
                       (forward-line (- (plist-get position :line) at))
                       (setq at (plist-get position :line))
                       (+ (point) (plist-get position :character))))
        (seq-doseq (edit ranges)
          (let ((range (plist-get edit :range)))
            (push (list (place (plist-get range :start)) (place (plist-get range :end))
                        (plist-get edit :newText))
                  edits))))
      edits)))

(defun decent-notes--edits-of-lines (pieces)
  "The edits of PIECES, lines of which each becomes one, the last one first."
  (save-excursion
    (goto-char (point-min))
    (let ((at 0) edits)
      (cl-flet ((go (line) (forward-line (- line at)) (setq at line)))
        (mapc (lambda (piece)
                (go (aref piece 0))
                (mapc (lambda (line)
                        (when-let ((edit (decent-notes--difference
                                          (point) (line-end-position) line)))
                          (push edit edits))
                        (go (1+ at)))
                      (aref piece 2)))
              pieces))
      edits)))

(defun decent-notes--difference (beg end text)
  "Return the edit by which BEG to END become TEXT, or nil if they are that.
What is equal at both ends is left out."
  (let* ((old (buffer-substring-no-properties beg end))
         (mismatch (compare-strings old nil nil text nil nil)))
    (unless (eq t mismatch)
      (let* ((head (1- (abs mismatch)))
             (low 0)
             (high (- (min (length old) (length text)) head)))
        (while (< low high)
          (let ((middle (/ (+ low high 1) 2)))
            (if (eq t (compare-strings old (- (length old) middle) nil
                                       text (- (length text) middle) nil))
                (setq low middle)
              (setq high (1- middle)))))
        (list (+ beg head) (- end low) (substring text head (- (length text) low)))))))

(defun decent-notes--replace (beg end text)
  "Replace BEG to END by TEXT; markers and overlays stay on their text.
What is at BEG stays before TEXT, but if TEXT is whole lines inserted at the
beginning of a line, it stays with that line."
  (save-excursion
    (goto-char beg)
    (if (not (and (= beg end) (bolp) (string-suffix-p "\n" text)))
        (unless (equal text "") (insert text))
      ;; The overlays that end here end with the line before.
      (let ((ending (seq-filter (lambda (overlay) (= (overlay-end overlay) beg))
                                (overlays-in (max (1- beg) (point-min)) beg))))
        (insert-before-markers text)
        (dolist (overlay ending)
          (move-overlay overlay (min beg (overlay-start overlay)) beg))))
    ;; The old text is deleted last, so that markers behind it stay behind the new text.
    (when (< beg end)
      (delete-region (+ beg (length text)) (+ end (length text))))))

(defun decent-notes--pause ()
  "The user pauses: send hashes that were left out, and set the bases of notes."
  (dolist (note (unless decent-notes--sending decent-notes--notes))
    (decent-notes--send-pending note)
    (when (and (decent-notes--note-attachment note) (not (decent-notes--converting-p note)))
      (decent-notes--in-whole note
        (cond ((decent-notes--unsent-p note))
              ((decent-notes--note-unhashed-p note)
               (decent-notes--send-change note '(:lines [] :sameStep t) t))
              ((decent-notes--keep-base note)))))))

(defun decent-notes--keep-base (note)
  "Set the base of NOTE to its text, if the process has it."
  (unless (or (decent-notes--unsent-p note)
              (eql (decent-notes--note-base-tick note) (decent-notes--note-tick note)))
    (setf (decent-notes--note-base note) (decent-notes--text)
          (decent-notes--note-base-tick note) (decent-notes--note-tick note))))

;;; Participants

(defun decent-notes--position (place)
  "Return PLACE as a position of the protocol."
  (save-excursion
    (goto-char place)
    (forward-line 0)
    (list :line (1- (line-number-at-pos)) :character (- place (point)))))

(defun decent-notes--cursor-moved (note)
  "Send the place of point in NOTE in a tenth of a second."
  (unless (decent-notes--note-cursor-timer note)
    (setf (decent-notes--note-cursor-timer note)
          (run-at-time 0.1 nil #'decent-notes--send-cursor note))))

(defun decent-notes--send-cursor (note)
  "Send the place of point in NOTE now."
  (setf (decent-notes--note-cursor-timer note) nil)
  (unless decent-notes--sending (decent-notes--send-pending note))
  (decent-notes--in-whole note
    (unless (or (not (decent-notes--note-attachment note)) (decent-notes--stuck-p note)
                decent-notes--sending (decent-notes--stopped-p)
                (decent-notes--converting-p note))
      (let ((end (decent-notes--position (point))))
        (decent-notes--notify
         'note/cursor
         (list :attachment (decent-notes--note-attachment note)
               :version (decent-notes--note-version note) :rev (decent-notes--note-rev note)
               :ranges (vector (list :start (if mark-active
                                                (decent-notes--position (mark))
                                              end)
                                     :end end))))))))

(defun decent-notes--take-presence (presence)
  "Show the participants of PRESENCE, the parameters of note/presence.
Do nothing if their places are those of another version of the text.  Where
nobody is left there are none."
  (when-let ((note (decent-notes--find-note #'decent-notes--note-attachment
                                            (plist-get presence :attachment))))
    (let ((participants (append (plist-get presence :peers) nil)))
      (when (or (null participants)
                (and (not (decent-notes--note-pending-head note))
                     (eql (decent-notes--note-version note) (plist-get presence :version))
                     (eql (decent-notes--note-rev note) (plist-get presence :rev))))
        (decent-notes--set-participants note participants)))))

(defun decent-notes--set-participants (note participants)
  "PARTICIPANTS, as note/presence names them, are in NOTE."
  (setf (decent-notes--note-participants note) (decent-notes--names participants))
  (decent-notes--in-whole note
    (decent-notes--show-participants participants)
    (force-mode-line-update)))

;;; Without the process, and back

(defun decent-notes--detach (note)
  "Detach NOTE, which has lost its attachment.
Versions without an answer count as not sent."
  (setf (decent-notes--note-needs-whole-p note) (decent-notes--unsent-p note)
        (decent-notes--note-attachment note) nil
        (decent-notes--note-opening-p note) nil
        (decent-notes--note-answered note) (decent-notes--note-version note))
  (decent-notes--set-participants note nil)
  (decent-notes--show-modified note))

(defun decent-notes--dos-p ()
  "Return non-nil if the lines of this buffer end as in a DOS file."
  (eql 1 (coding-system-eol-type buffer-file-coding-system)))

(defun decent-notes--show-line-ends (note)
  "Say in the mode line whether NOTE is a DOS file."
  (when (buffer-live-p (decent-notes--note-buffer note))
    (with-current-buffer (decent-notes--note-buffer note)
      (setq buffer-file-coding-system
            (coding-system-change-eol-conversion
             (or buffer-file-coding-system 'utf-8)
             (if (eq t (decent-notes--note-hides-returns note)) 'dos 'unix))))))

(defun decent-notes--with-returns (text dos)
  "Return TEXT, with the lines of a DOS file if DOS is non-nil."
  (if dos (string-replace "\n" "\r\n" text) text))

(defun decent-notes--convert-line-ends (note)
  "Give the lines of NOTE the ends that the user has set for its buffer."
  (with-current-buffer (decent-notes--note-buffer note)
    (unless (or (not (decent-notes--note-attachment note))
                (eq (decent-notes--dos-p) (eq t (decent-notes--note-hides-returns note))))
      (decent-notes--send-pending note)
      (decent-notes--detach note)
      (decent-notes--resume note t)
      (decent-notes--wait 5 (lambda () (not (decent-notes--note-opening-p note)))))))

(defun decent-notes--resume (note &optional converts)
  "Open NOTE, which is detached, again, with the text of this moment.
If CONVERTS, its lines get the ends of a file of its buffer."
  (decent-notes--in-whole note
    (let* ((text (decent-notes--text))
           (base (decent-notes--note-base note))
           (hides (eq t (decent-notes--note-hides-returns note)))
           (dos (if converts (decent-notes--dos-p) hides))
           (was-unsent (decent-notes--unsent-p note)))
      (if (decent-notes--refuse note text)
          (decent-notes--mark-sent note t)
        ;; Text typed before the answer comes is the next change.
        (decent-notes--mark-sent note was-unsent)
        (setf (decent-notes--note-opening-p note) t)
        (decent-notes--request
         'note/open
         (list :id (decent-notes--note-id note) :mode "edit" :push "ranges"
               :hidesReturns (or dos :json-false)
               :resume (list :session (decent-notes--note-resume-token note)
                             :version (decent-notes--note-version note)
                             :rev (decent-notes--note-rev note)
                             :hidesReturns (or (and hides (not converts)) :json-false)
                             :text (decent-notes--with-returns text (and converts dos))
                             :baseText (decent-notes--with-returns base (and converts hides))))
         (lambda (result)
           (setf (decent-notes--note-needs-whole-p note) nil
                 (decent-notes--note-problem note) nil
                 (decent-notes--note-base note) text
                 (decent-notes--note-base-tick note) nil)
           (decent-notes--attach note result)
           (when (equal (plist-get result :resumed) "conflict")
             (decent-notes--tell "%s: what was here is now the note %s"
                                 (buffer-name (decent-notes--note-buffer note))
                                 (plist-get result :copy)))
           (decent-notes--send-pending note))
         (lambda (problem)
           (unless (eql (plist-get problem :code) -1)
             (setf (decent-notes--note-opening-p note) nil)
             (if (equal (decent-notes--reason problem) "purged")
                 (run-hook-with-args 'decent-notes--forgotten-functions note)
               (decent-notes--set-problem note (decent-notes--cause problem)
                                          (decent-notes--reason problem)))
             (decent-notes--show-modified note))))))))

(defun decent-notes--attach (note result)
  "Take over RESULT, the answer to note/open, into NOTE."
  (setf (decent-notes--note-opening-p note) nil
        (decent-notes--note-attachment note) (plist-get result :attachment)
        (decent-notes--note-resume-token note) (plist-get result :session)
        (decent-notes--note-rev note) (plist-get result :rev)
        (decent-notes--note-hides-returns note) (or (plist-get result :hidesReturns) :json-false))
  (decent-notes--show-line-ends note)
  (decent-notes--watch-for-pauses)
  (decent-notes--show-modified note)
  (decent-notes--cursor-moved note))

;;; Leaving

(defun decent-notes--keep-in-file (note)
  "Write the text of NOTE, which could not be sent, to a file, and tell which.
Return its name."
  (when-let ((file (decent-notes--keep note)))
    (decent-notes--tell "unsent text is kept in %s" file)
    file))

(defun decent-notes--settle (notes seconds)
  "Send all of NOTES that the process lacks, and wait for the answers.
Wait at most SECONDS.  Return the notes of which it still lacks something."
  (let ((decent-notes--settling-p t))
    (mapc #'decent-notes--send-pending notes))
  (when (seq-some #'decent-notes--unsent-p notes)
    (ignore-errors (decent-notes--ensure))
    (let ((decent-notes--settling-p t))
      (mapc #'decent-notes--send-unsent notes))
    (let ((done (lambda () (not (seq-some #'decent-notes--under-way-p notes))))
          (deadline (+ (float-time) seconds)))
      (while (not (or (decent-notes--wait (min 0.5 seconds) done)
                      (< deadline (float-time))))
        (decent-notes--show-wait (decent-notes--missing notes)))))
  (seq-filter #'decent-notes--unsent-p notes))

(defun decent-notes--missing (notes)
  "Return which answers NOTES lack, as some words."
  (let ((count (apply #'+ (mapcar (lambda (note)
                                    (- (decent-notes--note-version note)
                                       (decent-notes--note-answered note)))
                                  notes))))
    (cond ((seq-find (lambda (note) (not (decent-notes--note-attachment note))) notes)
           "the program to open the note again")
          ((= count 1) "the answer to a change")
          (t (format "the answers to %d changes" count)))))

(defun decent-notes--close ()
  "Close the note of a buffer that is about to be killed."
  (when-let ((note decent-notes--here))
    (when (and (eq (current-buffer) (decent-notes--note-buffer note))
               (not (decent-notes--note-forgotten-p note)))
      (mapc #'decent-notes--keep-in-file (decent-notes--settle (list note) 5))
      (setq decent-notes--notes (delq note decent-notes--notes))
      (when (decent-notes--note-attachment note)
        (decent-notes--request 'note/close
                               (list :attachment (decent-notes--note-attachment note)))))))
(put 'decent-notes--close 'permanent-local-hook t)

(defun decent-notes--keep-in-files ()
  "Send what is unsent; write to files what cannot be sent.  Return their names."
  (delq nil
        (mapcar (lambda (note)
                  (unless (eql (decent-notes--note-kept-tick note) (decent-notes--note-tick note))
                    (setf (decent-notes--note-kept-tick note) (decent-notes--note-tick note))
                    (decent-notes--keep-in-file note)))
                (decent-notes--settle decent-notes--notes 5))))

(defun decent-notes--may-quit ()
  "Return non-nil if Emacs may end: nothing is unsent, or the user agrees."
  (let ((files (decent-notes--keep-in-files)))
    (or (not files)
        (yes-or-no-p (format "Text that could not be sent is kept in %s; quit? "
                             (string-join files ", "))))))

(defun decent-notes--watch-for-pauses ()
  "Begin to look for pauses and for the end of Emacs, unless done before."
  (unless decent-notes--idle-timer
    (setq decent-notes--idle-timer (run-with-idle-timer 0.5 t #'decent-notes--pause))
    (add-hook 'kill-emacs-query-functions #'decent-notes--may-quit)))

(defun decent-notes--send-all-unsent ()
  "Send all that the process lacks."
  (mapc #'decent-notes--send-unsent decent-notes--notes))

;;; Reports of the process

(defun decent-notes--on-edit (push)
  "Apply PUSH, the parameters of note/edit, as soon as positions may shift.
The effect of an undo is applied at once: the next key is for the text with it."
  (when-let ((note (decent-notes--find-note #'decent-notes--note-attachment
                                            (plist-get push :attachment))))
    (if (and (not (eq note decent-notes--undone)) (decent-notes--positions-noted-p note))
        'later
      (decent-notes--take-push push)
      nil)))

(defun decent-notes--on-change (params)
  "Others have changed the notes of PARAMS, of notebook/didChange."
  (decent-notes--report-changes (plist-get params :changed)))

(defun decent-notes--on-closed (params)
  "The attachment of PARAMS, of note/closed, has ended: its note was forgotten."
  (when-let ((note (decent-notes--find-note #'decent-notes--note-attachment
                                            (plist-get params :attachment))))
    (run-hook-with-args 'decent-notes--forgotten-functions note)))

(defun decent-notes--on-message (params)
  "Send what was refused if PARAMS, of window/showMessage, are good news."
  ;; The disk may take changes again.
  (when (eql (plist-get params :type) 3) (decent-notes--send-all-unsent)))

(defun decent-notes--on-ready ()
  "A process was initialized: send what is unsent, and show what is new."
  (decent-notes--send-all-unsent)
  (decent-notes--report-changes t))

(defun decent-notes--on-lost ()
  "The process has ended: detach all notes."
  (mapc #'decent-notes--detach decent-notes--notes))

(defun decent-notes--on-continued ()
  "The process was continued: send the places of point."
  (mapc #'decent-notes--cursor-moved decent-notes--notes))

(defun decent-notes--any-p ()
  "Return non-nil if a note is open."
  decent-notes--notes)

(decent-notes--on 'note/edit #'decent-notes--on-edit)
(decent-notes--on 'note/closed #'decent-notes--on-closed)
(decent-notes--on 'note/presence #'decent-notes--take-presence)
(decent-notes--on 'notebook/didChange #'decent-notes--on-change)
(decent-notes--on 'window/showMessage #'decent-notes--on-message)
(add-hook 'decent-notes--ready-hook #'decent-notes--on-ready)
(add-hook 'decent-notes--lost-hook #'decent-notes--on-lost)
(add-hook 'decent-notes--continued-hook #'decent-notes--on-continued)
(add-hook 'decent-notes--quit-hook #'decent-notes--keep-in-files)
(add-hook 'decent-notes--needed-functions #'decent-notes--any-p)

(provide 'decent-notes-live)
;;; decent-notes-live.el ends here
