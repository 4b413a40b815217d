;;; decent-notes-places.el --- Ways to a note from elsewhere in Emacs  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; Names of files that are those of notes, bookmarks, the desktop, capturing, and
;; texts that were not sent.

;;; Code:

(require 'decent-notes-list)

;;; Names of files

(defconst decent-notes--address "note://.*\\'"
  "Matches the address of a note at the end of a file name.")

(defun decent-notes--handle-name (operation &rest arguments)
  "Do OPERATION with ARGUMENTS for a name that is the address of a note.
For `find-file' it is a directory: of these, others may make buffers."
  (let ((name (car arguments)))
    (pcase operation
      ((or 'expand-file-name 'substitute-in-file-name 'file-truename 'abbreviate-file-name)
       (if (string-match decent-notes--address name) (substring name (match-beginning 0)) name))
      ((or 'file-exists-p 'file-directory-p) t)
      ((or 'file-remote-p 'file-name-all-completions 'file-attributes) nil)
      (_ (let ((inhibit-file-name-handlers
                (cons #'decent-notes--handle-name
                      (and (eq inhibit-file-name-operation operation)
                           inhibit-file-name-handlers)))
               (inhibit-file-name-operation operation))
           (apply operation arguments))))))

(add-to-list 'file-name-handler-alist
             (cons decent-notes--address #'decent-notes--handle-name))

(defun decent-notes--find-address (name)
  "The buffer of the note whose address is NAME, nil if that is none."
  (when (string-match decent-notes--address name)
    (decent-notes--buffer-for (decent-notes--find (match-string 0 name)))))

(add-hook 'find-directory-functions #'decent-notes--find-address)

;;; The desktop

(defvar decent-notes--unrestored nil
  "The bookmarks of a desktop whose notes could not be opened.
The next desktop has them again: one bad start must not lose them.")
(defvar desktop-globals-to-clear)
(with-eval-after-load 'desktop
  (add-to-list 'desktop-globals-to-clear 'decent-notes--unrestored))

(defun decent-notes--save-desktop ()
  "Add to the desktop, the file in this buffer, what opens the open notes again."
  (when-let ((bookmarks
              (append
               (delq nil (mapcar (lambda (note)
                                   (when (buffer-live-p (decent-notes--note-buffer note))
                                     (with-current-buffer (decent-notes--note-buffer note)
                                       (decent-notes--bookmark))))
                                 (reverse decent-notes--notes)))
               (seq-remove (lambda (bookmark)
                             (decent-notes--find-note #'decent-notes--note-id
                                                 (bookmark-prop-get bookmark 'note)))
                           decent-notes--unrestored))))
    (insert (format "(when (require 'decent-notes nil t)\n  (decent-notes--restore-desktop '%S))\n"
                    bookmarks))))

(defun decent-notes--restore-desktop (bookmarks)
  "Open the notes of BOOKMARKS, each with point where it was.
If the program is missing or does not answer, or the user quits, the others
are not tried: each would take as long."
  (setq decent-notes--unrestored bookmarks)
  (let (given-up)
    (dolist (bookmark bookmarks)
      (unless given-up
        (condition-case problem
            (progn (save-current-buffer (decent-notes-bookmark-jump bookmark))
                   (setq decent-notes--unrestored (remq bookmark decent-notes--unrestored)))
          ((error quit)
           (let ((refusal (decent-notes--refusal problem)))
             (setq given-up (not refusal))
             (when (equal "noSuchNote" (decent-notes--reason refusal))
               (setq decent-notes--unrestored (remq bookmark decent-notes--unrestored)))
             (if refusal
                 (decent-notes--tell "%s is not restored: %s" (car bookmark)
                                     (error-message-string problem))
               (decent-notes--tell "notes not restored, but still in the desktop: %d; %s"
                                   (length decent-notes--unrestored)
                                   (error-message-string problem))))))))))

(add-hook 'desktop-save-hook #'decent-notes--save-desktop)

;;; Capturing

;;;###autoload
(defun decent-notes-capture (title &optional text)
  "Make a note with TITLE, of TEXT, and show it in another window.
Interactively the text is that of the region, if it is active."
  (interactive
   (let ((text (when (use-region-p)
                 (buffer-substring-no-properties (region-beginning) (region-end)))))
     (list (if text
               (let ((first (string-trim (or (car (split-string text "\n" t "[ \t]+")) ""))))
                 (read-string (format-prompt "Title" first) nil nil first))
             (read-string "Title: "))
           text)))
  (let ((note (decent-notes--create :title title :text (or text ""))))
    (deactivate-mark)
    (pop-to-buffer (decent-notes--buffer-for note))))

;;;###autoload
(defun decent-notes-capture-at-end (title)
  "Go to the end of the note with TITLE, a new one if there is none.
This is for `org-capture-templates', as (function FUNCTION)."
  (let ((note (or (seq-find (lambda (note) (equal title (plist-get note :title)))
                            (decent-notes--all))
                  (decent-notes--create :title title))))
    (set-buffer (decent-notes--buffer-for note))
    (widen)
    (goto-char (point-max))))

;;; Texts that were not sent

(defvar decent-notes--offered nil "Non-nil if this Emacs has looked for unsent texts.")

(defun decent-notes--offer-unsent ()
  "Tell which texts could not be sent before their editors ended."
  (unless decent-notes--offered
    (setq decent-notes--offered t)
    ;; Emacs has a message of its own when it has started.
    (run-with-idle-timer 1 nil #'decent-notes--known-unsent #'decent-notes--tell-unsent)))

(defun decent-notes--known-unsent (function)
  "Call FUNCTION with the unsent texts whose notes are in this notebook.
It is called when the process has said so, and not at all without any texts."
  (let* ((texts (decent-notes--left-unsent (decent-notes--shown-unsent)))
         (left (length texts))
         known)
    (dolist (text texts)
      (cl-flet ((take (result)
                  (unless (seq-empty-p (plist-get result :notes)) (push text known))
                  (when (zerop (cl-decf left)) (funcall function (nreverse known)))))
        (decent-notes--request 'notebook/find (list :name (plist-get text :id) :limit 1)
                               #'take (lambda (_problem) (take nil)))))
    texts))

(defun decent-notes--tell-unsent (texts)
  "Tell of TEXTS, which could not be sent."
  (when texts
    (decent-notes--tell "what was typed in %s could not be sent: M-x decent-notes-unsent"
                        (if (cdr texts) (format "%d notes" (length texts))
                          (format "\"%s\"" (plist-get (car texts) :title))))))

;;;###autoload
(defun decent-notes-unsent ()
  "Ask what to do with each text that could not be sent before its editor ended.
It can be merged into its note, as if the editor were still there."
  (interactive)
  (decent-notes--ensure)
  (let (answered texts)
    (when (decent-notes--known-unsent (lambda (known) (setq answered t texts known)))
      (decent-notes--wait 10 (lambda () answered)))
    (unless texts (user-error "There is no text that could not be sent"))
    (dolist (unsent texts) (decent-notes--decide unsent))))

(defun decent-notes--decide (unsent)
  "Ask what to do with UNSENT, a text that could not be sent, and do it."
  (let ((text (decent-notes--unsent-text unsent))
        (title (plist-get unsent :title))
        (buffer (generate-new-buffer "*decent-notes unsent*")))
    (save-window-excursion
      (with-current-buffer buffer
        (insert text)
        (goto-char (point-min)))
      (display-buffer buffer)
      (pcase (car (read-multiple-choice
                   (format "%s, of %s" title (plist-get unsent :time))
                   (append (when (plist-get unsent :resume) '((?m "merge into the note")))
                           '((?k "keep as a new note") (?f "forget") (?l "later")))))
        (?m (decent-notes--merge-unsent unsent text))
        (?k (decent-notes--create :title (concat title " (unsent)") :text text)
            (decent-notes--remove-unsent (plist-get unsent :name)))
        (?f (when (yes-or-no-p (format "Forget this text of %s for good? " title))
              (decent-notes--remove-unsent (plist-get unsent :name))))))
    (kill-buffer buffer)))

(defun decent-notes--merge-unsent (unsent text)
  "Merge TEXT of UNSENT, which could not be sent, into its note."
  (let ((id (plist-get unsent :id)))
    (decent-notes--call
     'note/open (list :id id :mode "edit" :push "ranges"
                      :resume (append (plist-get unsent :resume) (list :text text)))
     (lambda (result)
       (decent-notes--request 'note/close (list :attachment (plist-get result :attachment)))))
    (decent-notes--call 'notebook/flush nil nil "everything to be on disk")
    (decent-notes--remove-unsent (plist-get unsent :name))
    (decent-notes--report-changes (list (list :id id :what '("text"))))
    (message "Merged into %s" (plist-get unsent :title))))

(add-hook 'decent-notes--ready-hook #'decent-notes--offer-unsent t)

(provide 'decent-notes-places)
;;; decent-notes-places.el ends here
