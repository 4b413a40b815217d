;;; decent-notes-buffers.el --- The buffers of notes  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; The buffer of a note as a user meets it: its name and major mode, opening,
;; saving, reverting, undo and redo, bookmarks, and leaving.

;;; Code:

(require 'bookmark)
(require 'cl-lib)
(require 'seq)
(require 'decent-notes-live)
(eval-when-compile (require 'subr-x))

(defcustom decent-notes-major-mode #'text-mode
  "The major mode of notes whose title names none.
A title names one as the name of a file does, by `auto-mode-alist': the
note \"journal.org\" is opened in Org mode."
  :type '(choice (function-item text-mode) (function-item markdown-mode)
                 (function-item org-mode) function)
  :group 'decent-notes)

(defcustom decent-notes-own-undo t
  "Non-nil means that all undo commands take back one's own changes only.
If nil they are Emacs's own, which knows nothing of others: it takes
back whatever came last.  Set it before notes are opened."
  :type 'boolean
  :group 'decent-notes)

;;; Keys under evil

(declare-function evil-set-initial-state "ext:evil-core")

(defun decent-notes--keep-keys (mode)
  "Have the keys of MODE work under evil.
Such a mode has those of Emacs, and j and k besides."
  (with-eval-after-load 'evil (evil-set-initial-state mode 'emacs)))

;;; The mode

(defvar-local decent-notes--saved-tick nil "The text's tick when it was last saved.")
(put 'decent-notes--saved-tick 'permanent-local t)

(defvar decent-notes--prepare-functions nil
  "Functions that are called in the buffer of a note when it has a major mode.")

(defvar decent-notes-note-mode-map
  (let ((map (make-sparse-keymap)))
    (dolist (command '(undo undo-only advertised-undo))
      (define-key map (vector 'remap command)
        '(menu-item "" decent-notes-undo
                    :filter (lambda (undo) (and decent-notes-own-undo undo)))))
    (define-key map [remap undo-redo]
      '(menu-item "" decent-notes-redo
                  :filter (lambda (redo) (and decent-notes-own-undo redo))))
    ;; Emacs's items are disabled where it has no list of changes.
    (define-key map [menu-bar edit undo]
      '(menu-item "Undo" decent-notes-undo :help "Take back your own last change"
                  :filter (lambda (undo) (if decent-notes-own-undo undo #'undo))))
    (define-key map [menu-bar edit undo-redo]
      '(menu-item "Redo" decent-notes-redo :help "Make again what you took back"
                  :filter (lambda (redo) (if decent-notes-own-undo redo #'undo-redo))))
    map)
  "The keys of `decent-notes-note-mode'.")

(define-minor-mode decent-notes-note-mode
  "Live text in a buffer with a note.
Whatever is done to the text of the buffer is done to the note, at once,
and whatever others do to the note appears here.  It is on as long as the
buffer shows the note, whatever its major mode: until `write-file' makes
it a buffer of a file.
\\<decent-notes-note-mode-map>
\\[save-buffer] waits until everything is on disk, and runs
`before-save-hook' and `after-save-hook'.  The undo keys take back your own
changes only, see `decent-notes-own-undo'.  The buffer is shown
as modified as long as something in it has not been kept.

The mode line shows the path of the note's file, if it has one, under the
mouse; `decent-notes-path' shows it, too.

`decent-notes-title', `decent-notes-tag', `decent-notes-priority' and
`decent-notes-history' are commands for the note of the buffer.
`decent-notes-purge' forgets a note that is in the trash for good."
  :lighter (:eval (propertize (format " Note[%s]" (decent-notes-status))
                              'help-echo (decent-notes--path-words)))
  :keymap decent-notes-note-mode-map
  ;; Not for users: without its hooks a buffer would only pretend to be a note.
  (unless decent-notes--here
    (setq decent-notes-note-mode nil)
    (user-error "This buffer shows no note"))
  (setq decent-notes-note-mode t)
  (add-hook 'post-command-hook #'decent-notes--after-command nil t)
  (add-hook 'kill-buffer-hook #'decent-notes--close nil t)
  (add-hook 'kill-buffer-hook #'decent-notes--save-place nil t)
  (add-hook 'after-set-visited-file-name-hook #'decent-notes--leave nil t)
  (add-hook 'after-change-major-mode-hook #'decent-notes--major-mode nil t)
  (decent-notes--major-mode))
(put 'decent-notes-note-mode 'permanent-local t)

(defun decent-notes--major-mode ()
  "Set again what major modes forget, or set otherwise."
  ;; A change of the major mode keeps this hook, but until something sets it or
  ;; the buffer is left, Emacs 28 runs the hook without its local part.
  (add-hook 'after-change-functions #'decent-notes--record-change nil t)
  (add-hook 'input-method-activate-hook #'decent-notes--watch-conversions nil t)
  (decent-notes--watch-conversions)
  ;; A copy of the buffer is no note.
  (add-hook 'clone-buffer-hook
            (lambda ()
              (setq decent-notes--here nil decent-notes-note-mode nil)
              (buffer-enable-undo))
            nil t)
  ;; Emacs's list of changes has those of others, too: a command that knows only
  ;; this list says that there is none.
  (when decent-notes-own-undo (setq buffer-undo-list t))
  (setq-local require-final-newline nil
              revert-buffer-function #'decent-notes--revert
              bookmark-make-record-function #'decent-notes--bookmark
              ;; Where \\[list-buffers] has the names of files.
              list-buffers-directory (when decent-notes--here
                                       (decent-notes--address-of decent-notes--here)))
  (run-hooks 'decent-notes--prepare-functions))
(put 'decent-notes--major-mode 'permanent-local-hook t)

(defun decent-notes--address-of (note)
  "Return the address of NOTE."
  (concat "note://" (decent-notes--note-id note)))

(defun decent-notes--bookmark ()
  "A bookmark of this place, for `bookmark-make-record-function'."
  (cons (decent-notes--note-title decent-notes--here)
        (append (list (cons 'note (decent-notes--note-id decent-notes--here))
                      (cons 'handler 'decent-notes-bookmark-jump)
                      (cons 'location (decent-notes--address-of decent-notes--here)))
                (bookmark-make-record-default 'no-file))))

;;;###autoload
(defun decent-notes-bookmark-jump (bookmark)
  "Go to the place in a note that BOOKMARK is of."
  (let ((buffer (decent-notes--buffer-for
                 (decent-notes--summary (bookmark-prop-get bookmark 'note)))))
    (bookmark-default-handler
     (cons "" (cons (cons 'buffer buffer) (bookmark-get-bookmark-record bookmark))))))

(defun decent-notes-status ()
  "Return the state of the note, or who else is in it, as some words.
It is \"not answering\" while the process is stopped or silent."
  (cond ((and decent-notes--here (decent-notes--note-forgotten-p decent-notes--here))
         "forgotten")
        ((or (decent-notes--stopped-p) (eq decent-notes--silent t)) "not answering")
        ((not (and decent-notes--here (decent-notes--note-attachment decent-notes--here)))
         "offline")
        ((decent-notes--note-trashed-p decent-notes--here) "in the trash")
        ((string-empty-p (decent-notes--note-participants decent-notes--here)) "connected")
        (t (decent-notes--note-participants decent-notes--here))))

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
    ;; A title that ends with a number has a date or a version; it is no manual page.
    (unless (string-match-p "[0-9]\\'" title)
      (or (let (case-fold-search) (find))
          (let ((case-fold-search t)) (and auto-mode-case-fold (find)))))))

(defun decent-notes--set-mode (title)
  "Turn on the major mode for a note with TITLE."
  ;; Whatever goes wrong in a mode or its hooks, the note has to live.
  (condition-case problem (funcall (decent-notes--mode title))
    (error (decent-notes--tell "%s" (error-message-string problem)))))

(defun decent-notes--buffers-changed (changed)
  "Ask for the summaries of open notes that CHANGED are about.
See `decent-notes--change-functions' for CHANGED."
  (dolist (note decent-notes--notes)
    (when (or (eq changed t)
              (seq-some (lambda (change)
                          (and (equal (plist-get change :id) (decent-notes--note-id note))
                               ;; Any change takes a note out of the trash.
                               (or (decent-notes--note-trashed-p note)
                                   (seq-intersection (plist-get change :what)
                                                     '("title" "trashed" "path")))))
                        changed))
      (decent-notes--ask-summary note))))
(add-hook 'decent-notes--change-functions #'decent-notes--buffers-changed)

(defun decent-notes--ask-summary (note)
  "Ask for the title and the path of NOTE, and for whether it is in the trash."
  (decent-notes--request 'note/get (list :id (decent-notes--note-id note))
                         (lambda (result)
                           (decent-notes--show-summary note (plist-get result :note)))))

(defun decent-notes--show-summary (note summary)
  "Take over the SUMMARY of NOTE, and show what is different."
  (let ((old (decent-notes--note-title note))
        (title (plist-get summary :title))
        (trashed (eq t (plist-get summary :trashed))))
    (setf (decent-notes--note-path note) (plist-get summary :path))
    (unless (equal old title)
      (setf (decent-notes--note-title note) title)
      (when (buffer-live-p (decent-notes--note-buffer note))
        (with-current-buffer (decent-notes--note-buffer note)
          (rename-buffer (decent-notes--name title) t)
          ;; If the name says nothing new, it is the user who chose the mode.
          (unless (eq (decent-notes--mode old) (decent-notes--mode title))
            (decent-notes--set-mode title)))))
    (unless (eq trashed (decent-notes--note-trashed-p note))
      (setf (decent-notes--note-trashed-p note) trashed)
      (decent-notes--tell (if trashed "%s is in the trash now; what you type takes it out"
                            "%s is out of the trash")
                          (decent-notes--name title))
      (force-mode-line-update t))))

(defun decent-notes--path-words ()
  "Where the file of this buffer's note is, as some words."
  (if-let ((path (and decent-notes--here (decent-notes--note-path decent-notes--here))))
      (format "Its file is %s, in the folder that it was imported from" path)
    "It has no file"))

(defun decent-notes--show-forgotten (note)
  "Tell that NOTE was forgotten for good.
Its buffer keeps the text, which cannot be changed any more.  What was typed and
not taken is written to a file besides."
  (unless (decent-notes--note-forgotten-p note)
    (let ((unsent (decent-notes--unsent-p note)))
      (setq decent-notes--notes (delq note decent-notes--notes))
      (decent-notes--set-participants note nil)
      (setf (decent-notes--note-forgotten-p note) t
            (decent-notes--note-attachment note) nil) ; answers to come are nobody's
      (decent-notes--in-whole note
        (setq buffer-read-only t)
        (set-buffer-modified-p nil)
        (force-mode-line-update))
      (decent-notes--tell "%s was forgotten for good; C-x C-w keeps its text"
                          (decent-notes--name (decent-notes--note-title note)))
      (when unsent (decent-notes--keep-in-file note)))))
(add-hook 'decent-notes--forgotten-functions #'decent-notes--show-forgotten)

(defun decent-notes--assert-not-forgotten ()
  "Signal an error if the note of this buffer was forgotten."
  (when (and decent-notes--here (decent-notes--note-forgotten-p decent-notes--here))
    (user-error "This note was forgotten for good; C-x C-w keeps its text")))

(defun decent-notes--buffer-for (summary)
  "The buffer of the note of SUMMARY, which is opened if need be."
  (let* ((id (plist-get summary :id))
         (title (plist-get summary :title))
         (note (decent-notes--find-note #'decent-notes--note-id id)))
    (unless note
      (decent-notes--call
       'note/open (list :id id :mode "edit" :push "rangesOrLines" :hidesReturns t)
       (lambda (result)
         (setq note (decent-notes--make-note
                     :id id :title title :trashed-p (eq t (plist-get summary :trashed))
                     :path (plist-get summary :path)
                     :buffer (generate-new-buffer (decent-notes--name title))))
         (decent-notes--show-text note result)
         (push note decent-notes--notes))))
    (decent-notes--note-buffer note)))

(defun decent-notes--visit (summary)
  "Show the note of SUMMARY, and return its buffer."
  (pop-to-buffer-same-window (decent-notes--buffer-for summary)))

(defun decent-notes--summary (id)
  "The summary of the note ID."
  (plist-get (decent-notes--call 'note/get (list :id id)) :note))

(defun decent-notes--show-text (note result)
  "Show NOTE with the text of RESULT, of note/open."
  (with-current-buffer (decent-notes--note-buffer note)
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
        (setf (decent-notes--note-base note) text
              (decent-notes--note-version note) (plist-get result :version)
              (decent-notes--note-answered note) (plist-get result :version)
              (decent-notes--note-whole note) 0
              (decent-notes--note-problem note) nil)
        (decent-notes--mark-sent note nil)
        (setf (decent-notes--note-base-tick note) (decent-notes--note-tick note)))
      (setq decent-notes--here note)
      (when fresh
        (setq buffer-undo-list nil
              default-directory (decent-notes--home)
              decent-notes--saved-tick (buffer-chars-modified-tick))
        (goto-char (point-min))
        (decent-notes--set-mode (decent-notes--note-title note))
        (decent-notes-note-mode)
        (decent-notes--as-file #'save-place-find-file-hook)))
    (decent-notes--attach note result)))

(declare-function save-place-find-file-hook "saveplace")
(declare-function save-place-to-alist "saveplace")

(defun decent-notes--as-file (function)
  "Call FUNCTION of `save-place-mode' as if the note of this buffer were a file.
The name is of a kind of which Emacs never asks whether there is such a file."
  (when (and decent-notes--here (bound-and-true-p save-place-mode))
    (let ((buffer-file-name (concat "/note:" (decent-notes--note-id decent-notes--here))))
      (with-demoted-errors "%S" (funcall function)))))

(defun decent-notes--save-place ()
  "Remember the place of point in the note of this buffer, as in a file."
  (decent-notes--as-file #'save-place-to-alist))
(put 'decent-notes--save-place 'permanent-local-hook t)

(defun decent-notes--save-places ()
  "Remember the places of point in all notes."
  (dolist (note decent-notes--notes)
    (when (buffer-live-p (decent-notes--note-buffer note))
      (with-current-buffer (decent-notes--note-buffer note) (decent-notes--save-place)))))
;; Emacs writes its file of places in this hook.
(add-hook 'kill-emacs-hook #'decent-notes--save-places -90)

(defun decent-notes--revert (_ignore-auto no-confirm)
  "Show the note as the process has it.
Ask first if text would be lost, unless NO-CONFIRM."
  (decent-notes--assert-not-forgotten)
  (let ((note decent-notes--here))
    (decent-notes--ensure)
    (cond
     ((not (decent-notes--settle (list note) 5))
      ;; The hash tells if the text is not what the process takes it for; what was
      ;; dropped comes again; and what can be undone stays so.
      (unless (decent-notes--wait 5 (lambda () (decent-notes--note-attachment note)))
        (user-error "The note cannot be opened: %s" (cdr (decent-notes--note-problem note))))
      (decent-notes--send-change note '(:lines [] :sameStep t) t)
      (decent-notes--settle (list note) 5))
     ((or no-confirm (yes-or-no-p "Discard what could not be sent? "))
      (decent-notes--call
       'note/open (list :id (decent-notes--note-id note) :mode "edit" :push "rangesOrLines" :hidesReturns t)
       (lambda (result)
         (when-let ((old (decent-notes--note-attachment note)))
           (decent-notes--request 'note/close (list :attachment old)))
         (decent-notes--show-text note result)))))))

(defun decent-notes--leave ()
  "Leave the note if the buffer visits a file now, as by `write-file'."
  (when-let ((note (and buffer-file-name decent-notes--here)))
    (decent-notes--close)
    (decent-notes--set-participants note nil)
    (setf (decent-notes--note-buffer note) nil)
    (when (decent-notes--note-forgotten-p note) (setq buffer-read-only nil))
    (setq decent-notes--here nil decent-notes-note-mode nil)
    (buffer-enable-undo)
    (remove-hook 'after-change-major-mode-hook #'decent-notes--major-mode t)
    (kill-local-variable 'require-final-newline)
    (kill-local-variable 'revert-buffer-function)
    (kill-local-variable 'bookmark-make-record-function)
    (kill-local-variable 'list-buffers-directory)))
(put 'decent-notes--leave 'permanent-local-hook t)

(defun decent-notes--saved-p ()
  "Return non-nil if the text of this buffer is as it was when it was last saved."
  (eql decent-notes--saved-tick (buffer-chars-modified-tick)))

(defun decent-notes-save ()
  "Wait until this note, and all else in the notebook, is on disk.
If its text is another than when it was last saved, run `before-save-hook'
before and `after-save-hook' afterwards, as for a file.  All commands that save
the buffer's file do this in a note."
  (interactive)
  (decent-notes--assert-not-forgotten)
  (let ((note (or decent-notes--here (user-error "This buffer shows no note")))
        (changed (not (decent-notes--saved-p))))
    (decent-notes--ensure)
    (when changed
      (save-restriction
        (widen)
        (save-excursion (with-demoted-errors "%S" (run-hooks 'before-save-hook)))))
    (decent-notes--convert-line-ends note)
    (when (decent-notes--settle (list note) 10)
      (user-error "Not written: %s" (decent-notes--hindrance note)))
    (decent-notes--call 'notebook/flush (list :attachment (decent-notes--note-attachment note))
                        nil "everything to be on disk")
    (setq decent-notes--saved-tick (buffer-chars-modified-tick))
    (when changed (run-hooks 'after-save-hook))
    (message "%s written" (buffer-name (decent-notes--note-buffer note)))))

(defun decent-notes--save-instead (function &rest arguments)
  "Save the note of this buffer or its base, if there is one.
Else call FUNCTION with ARGUMENTS."
  (if (buffer-local-value 'decent-notes--here (or (buffer-base-buffer) (current-buffer)))
      (with-current-buffer (or (buffer-base-buffer) (current-buffer)) (decent-notes-save))
    (apply function arguments)))
(advice-add 'basic-save-buffer :around #'decent-notes--save-instead)

(defun decent-notes--evil-write (function &optional beg end type file &rest more)
  "Do in a note what FUNCTION, `evil-write', does in a file.
Without FILE the note is saved; a part of it, from BEG to END, is none.  With
FILE the whole of it, or that part, goes there, and the buffer goes on showing
the note.  TYPE and MORE are the other arguments of `evil-write'."
  (cond ((not decent-notes--here) (apply function beg end type file more))
        ((not (string-empty-p (or file "")))
         (if (or beg (string-match-p "\\`\\(?:!\\|>>\\)" file))
             (apply function (or beg (point-min)) (or end (point-max)) type file more)
           (write-region nil nil file nil nil nil (not (car more)))))
        ((and beg (not (and (= beg (point-min)) (= end (point-max)))))
         (user-error "A note is saved as a whole; with a name a part of it goes to a file"))
        (t (decent-notes-save))))
(advice-add 'evil-write :around #'decent-notes--evil-write)

(defun decent-notes--save-before (&rest _)
  "Save the note of this buffer if it is another than was saved."
  (when (and decent-notes--here (not (decent-notes--saved-p))) (decent-notes-save)))
;; They write buffers that are modified, which a note is only as long as it is not kept.
(advice-add 'evil-update :before #'decent-notes--save-before)
(advice-add 'evil-save-modified-and-close :before #'decent-notes--save-before)

;;; Undo

(defun decent-notes-undo (&optional count)
  "Take back your own last change of this note, or COUNT of them.
That is the last one wherever it is, also if the region is active."
  (interactive "*p")
  (decent-notes--undo 'note/undo (or count 1)))

(defun decent-notes-redo (&optional count)
  "Make again what `decent-notes-undo' took back, COUNT times."
  (interactive "*p")
  (decent-notes--undo 'note/redo (or count 1)))

(defun decent-notes--undo (method count)
  "Have the process carry out METHOD, COUNT times, and wait for the effect."
  (let ((note (or decent-notes--here (user-error "This buffer shows no note")))
        (words (substring (symbol-name method) 5))
        (done 0) problem requests)
    (when (decent-notes--repeating-p)
      (user-error "What is being inserted has to be complete before you can %s" words))
    (decent-notes--await-sent note words)
    (dotimes (_ count)
      (push (decent-notes--request
             method (list :attachment (decent-notes--note-attachment note))
             (lambda (result)
               (when (eq t (plist-get result :done))
                 (cl-incf done)
                 (setf (decent-notes--note-jumping-p note) (and decent-notes--undone t))))
             (lambda (it) (setq problem it)))
            requests))
    (unwind-protect
        ;; The effects come as pushes, before the answer to a request behind them.
        (let ((decent-notes--undone note))
          (decent-notes--call 'notebook/find (list :name (decent-notes--note-id note) :limit 1)
                              nil words))
      (setf (decent-notes--note-jumping-p note) nil)
      ;; What is given up must not be done later.
      (mapc #'decent-notes--take-back requests))
    (cond (problem (user-error "%s" (decent-notes--cause problem)))
          ((< done count)
           ;; A keyboard macro ends here; keys that were typed by hand go on.
           (funcall (if executing-kbd-macro #'user-error #'message)
                    "Nothing of yours left to %s" words))
          ((use-region-p)
           (message "Your last change, wherever it was: a note has no %s in the region" words)))))

(defun decent-notes--await-sent (note words)
  "Wait until all of NOTE was sent, or signal an error with WORDS.
An undo would take back something else than the user's last change."
  (decent-notes--assert-not-forgotten)
  (decent-notes--send-pending note)
  (unless (decent-notes--sent-p note)
    (decent-notes--ensure)
    (decent-notes--settle (list note) 10)
    (decent-notes--wait 5 (lambda () (or (decent-notes--sent-p note)
                                         (decent-notes--note-problem note))))
    (unless (decent-notes--sent-p note)
      (user-error "There can be no %s before all is sent: %s" words
                  (decent-notes--hindrance note)))))

(defun decent-notes--hindrance (note)
  "Return why NOTE was not sent or not answered, as some words."
  (or (cdr (decent-notes--note-problem note))
      (concat "the program does not answer; " decent-notes--help)))

(defun decent-notes--sent-p (note)
  "Return non-nil if all of NOTE was sent to the process."
  (and (decent-notes--note-attachment note)
       (not (decent-notes--note-pending-head note))
       (not (decent-notes--note-needs-whole-p note))))

(defconst decent-notes--undo-commands
  '((undo . decent-notes-undo) (undo-only . decent-notes-undo) (undo-redo . decent-notes-redo)
    (evil-undo . decent-notes-undo) (evil-redo . decent-notes-redo)
    (undo-tree-undo . decent-notes-undo) (undo-tree-redo . decent-notes-redo)
    (undo-fu-only-undo . decent-notes-undo) (undo-fu-only-redo . decent-notes-redo))
  "Commands that undo and redo, and what they do in notes instead.")

(defun decent-notes--instead (command own)
  "Have OWN done instead of COMMAND in notes, if `decent-notes-own-undo' is set.
Key maps are not enough: evil and others call such commands from their own."
  (advice-add
   command :around
   (lambda (function &rest arguments)
     (if (and decent-notes--here decent-notes-own-undo
              ;; Emacs's own are also called for a list of changes that was just made.
              (or (eq buffer-undo-list t) (not (memq command '(undo undo-only undo-redo)))))
         (funcall own (if (numberp (car arguments)) (car arguments) 1))
       (apply function arguments)))
   '((name . decent-notes--instead))))

(pcase-dolist (`(,command . ,own) decent-notes--undo-commands)
  (decent-notes--instead command own))

(provide 'decent-notes-buffers)
;;; decent-notes-buffers.el ends here
