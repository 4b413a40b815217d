;;; decent-notes-history.el --- The history of a note  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; The history of a note, and its text at a time of the past.

;;; Code:

(require 'decent-notes-list)
(eval-when-compile (require 'subr-x))

(defvar-local decent-notes--of nil "The summary of the note whose history this is.")
(defvar-local decent-notes--present nil
  "The revision of the notebook when this history was shown.")

(defvar decent-notes-history-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'decent-notes-history-show)
    (define-key map "r" #'decent-notes-history-restore)
    (define-key map "j" #'next-line)
    (define-key map "k" #'previous-line)
    (define-key map "?" #'decent-notes-history-help)
    map)
  "The keys of `decent-notes-history-mode'.")

(decent-notes--keep-keys 'decent-notes-history-mode)

(define-derived-mode decent-notes-history-mode tabulated-list-mode "History"
  "The changes of a note, the newest first.
Each line stands for what one person did with it until they saved or paused,
or removed much.

\\{decent-notes-history-mode-map}"
  (setq tabulated-list-padding 1
        tabulated-list-use-header-line nil
        header-line-format
        (substitute-command-keys "\\<decent-notes-history-mode-map>\
\\[decent-notes-history-show] shows the text of then, \\[decent-notes-history-restore] \
brings it back, \\[quit-window] leaves"))
  (setq-local revert-buffer-function (lambda (&rest _) (decent-notes--show-history))))

(defun decent-notes-history-help ()
  "Show the keys of the history."
  (interactive)
  (with-help-window (help-buffer)
    (princ (substitute-command-keys "\\<decent-notes-history-mode-map>\
The history of a note

\\[decent-notes-history-show]	show the text as it was then
\\[decent-notes-history-restore]	bring that text back
\\[revert-buffer]	read the history anew
\\[quit-window]	leave
"))))

(defun decent-notes-history ()
  "Show the history of the note of this buffer or line."
  (interactive)
  (let ((note (decent-notes--this)))
    (pop-to-buffer-same-window
     (get-buffer-create (format "*history of %s*" (decent-notes--title-of note))))
    (decent-notes-history-mode)
    (setq decent-notes--of note)
    (decent-notes--show-history)))

(define-key decent-notes-list-mode-map "h" #'decent-notes-history)

(defun decent-notes--show-history ()
  "Show the history of the note of this buffer as it is now."
  (let* ((present (plist-get (decent-notes--call 'notebook/status nil) :revision))
         (entries (plist-get (decent-notes--call
                              'note/history
                              (list :id (plist-get decent-notes--of :id) :limit 1000))
                             :entries)))
    (setq decent-notes--present present
          tabulated-list-format [("Time" 20 nil) ("Inserted" 10 nil) ("Deleted" 10 nil)
                                 ("What" 20 nil) ("By" 0 nil)]
          tabulated-list-entries
          (seq-map (lambda (entry)
                     (list (plist-get entry :revision)
                           (vector (decent-notes--local-time (plist-get entry :time)
                                                             "%Y-%m-%d %H:%M:%S")
                                   (format "%d" (plist-get entry :inserted))
                                   (format "%d" (plist-get entry :deleted))
                                   (string-join (plist-get entry :what) ", ")
                                   (or (plist-get (plist-get entry :author) :name)
                                       (truncate-string-to-width (plist-get entry :replica) 6)))))
                   entries))
    (tabulated-list-init-header)
    (tabulated-list-print t)
    ;; Above the entries stand the names of the columns.
    (while (not (or (tabulated-list-get-id) (eobp))) (forward-line))))

(defun decent-notes--then ()
  "The text at this line's revision."
  (plist-get (decent-notes--call
              'note/get (list :id (plist-get decent-notes--of :id)
                              :revision (or (tabulated-list-get-id)
                                            (user-error "There is nothing on this line"))))
             :text))

(defvar-local decent-notes--from nil
  "The history of which this text is, and its line there.")

(defvar decent-notes-then-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map "q" #'quit-window)
    (define-key map "r" #'decent-notes-then-restore)
    map)
  "The keys of `decent-notes-then-mode'.")

(define-minor-mode decent-notes-then-mode
  "The mode of the buffers that show the text of a note as it was.

\\{decent-notes-then-mode-map}"
  :lighter " Then"
  :keymap decent-notes-then-mode-map
  (when (bound-and-true-p evil-local-mode) (evil-emacs-state))
  (setq buffer-read-only t))
(declare-function evil-emacs-state "ext:evil-states")

(defun decent-notes-history-show ()
  "Show the text as it was then."
  (interactive)
  (let ((text (decent-notes--then))
        (title (plist-get decent-notes--of :title))
        (from (list (current-buffer) (tabulated-list-get-id)))
        (name (format "*%s at %s*" (decent-notes--title-of decent-notes--of)
                      (aref (tabulated-list-get-entry) 0))))
    (pop-to-buffer-same-window (get-buffer-create name))
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (string-replace "\r\n" "\n" text)))
    (goto-char (point-min))
    (decent-notes--set-mode title)
    (setq decent-notes--from from)
    (decent-notes-then-mode)
    (set-buffer-modified-p nil)
    (message "%s" (substitute-command-keys
                   "\\<decent-notes-then-mode-map>\\[quit-window]: back to the history, \
\\[decent-notes-then-restore]: bring this text back"))))

(defun decent-notes-then-restore ()
  "Make the text of the note the one in this buffer."
  (interactive)
  (pcase-let ((`(,history ,revision) decent-notes--from))
    (unless (buffer-live-p history) (user-error "The history of the note was closed"))
    (when-let ((buffer (with-current-buffer history
                         (goto-char (point-min))
                         (while (not (or (eobp) (equal revision (tabulated-list-get-id))))
                           (forward-line))
                         (decent-notes--restore))))
      (pop-to-buffer-same-window buffer))))

(defun decent-notes-history-restore ()
  "Make the text of the note what it was then.
If the note is open, that is a change of its buffer like any other, and can be
undone.  Else what others have done since the history was shown is kept."
  (interactive)
  (when-let ((buffer (decent-notes--restore)))
    (pop-to-buffer-same-window buffer)))

(defun decent-notes--restore ()
  "Make the text of the note what it was at this line, if the user agrees.
Return the buffer of the note, or this one if the note is not open."
  (let ((text (decent-notes--then))
        (id (plist-get decent-notes--of :id))
        (time (aref (tabulated-list-get-entry) 0)))
    (when (y-or-n-p (format "Bring back the text of %s? " time))
      (let ((note (decent-notes--find-note #'decent-notes--note-id id)))
        (if (not note)
            (progn
              (decent-notes--call 'note/setText
                                  (list :id id :text text :base decent-notes--present))
              (decent-notes--report-changes (list (list :id id :what '("text"))))
              ;; The next change is based on the notebook as it is now.
              (decent-notes--show-history))
          (decent-notes--in-whole note
            (with-temp-buffer
              (insert (if (eq t (decent-notes--note-hides-returns note))
                          (string-replace "\r\n" "\n" text)
                        text))
              (let ((source (current-buffer)))
                (with-current-buffer (decent-notes--note-buffer note)
                  (let ((inhibit-read-only t))
                    (undo-boundary)
                    (replace-buffer-contents source 1)
                    (undo-boundary)))))
            (decent-notes--send-pending note)))
        (message "The text is that of %s" time)
        (if note (decent-notes--note-buffer note) (current-buffer))))))

(provide 'decent-notes-history)
;;; decent-notes-history.el ends here
