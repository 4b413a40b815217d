;;; decent-notes-history.el --- What happened to a note  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The history of a note, and its text of then.

;;; Code:

(require 'decent-notes-list)

(defvar-local decent-notes--of nil "The summary of the note whose history this is.")

(defvar decent-notes-history-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'decent-notes-history-show)
    (define-key map "?" #'describe-mode)
    map)
  "The keys of `decent-notes-history-mode'.")

(define-derived-mode decent-notes-history-mode tabulated-list-mode "History"
  "What happened to the text of a note, the newest first.

\\{decent-notes-history-mode-map}"
  (setq tabulated-list-format [("Time" 24 nil) ("Inserted" 10 nil) ("Deleted" 10 nil)
                               ("By" 0 nil)]
        tabulated-list-padding 1)
  (setq-local revert-buffer-function (lambda (&rest _) (decent-notes--show-history)))
  (tabulated-list-init-header))

(defun decent-notes-history ()
  "Show what happened to the text of the note of this buffer or line."
  (interactive)
  (let ((note (decent-notes--this)))
    (pop-to-buffer-same-window
     (get-buffer-create (format "*history of %s*" (decent-notes--title-of note))))
    (decent-notes-history-mode)
    (setq decent-notes--of note)
    (decent-notes--show-history)))

(defun decent-notes--show-history ()
  "Show the history of the note of this buffer as it is now."
  (setq tabulated-list-entries
        (seq-map (lambda (entry)
                   (list (plist-get entry :revision)
                         (vector (plist-get entry :time)
                                 (format "%d" (plist-get entry :inserted))
                                 (format "%d" (plist-get entry :deleted))
                                 (plist-get entry :replica))))
                 (plist-get (decent-notes--call
                             'note/history
                             (list :id (plist-get decent-notes--of :id) :limit 1000))
                            :entries)))
  (tabulated-list-print t))

(defun decent-notes-history-show ()
  "Show the text as it was then."
  (interactive)
  (let* ((time (aref (or (tabulated-list-get-entry)
                         (user-error "There is nothing on this line"))
                     0))
         (result (decent-notes--call
                  'note/get (list :id (plist-get decent-notes--of :id)
                                  :revision (tabulated-list-get-id))))
         (name (format "*%s at %s*" (decent-notes--title-of decent-notes--of) time)))
    (pop-to-buffer-same-window (get-buffer-create name))
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (plist-get result :text)))
    (goto-char (point-min))
    (funcall decent-notes-major-mode)
    (setq buffer-read-only t)
    (set-buffer-modified-p nil)))

(provide 'decent-notes-history)
;;; decent-notes-history.el ends here
