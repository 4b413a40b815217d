;;; decent-notes-grep.el --- The matches of a search  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; `M-x decent-notes-grep' lists the lines of all notes that have a text, for
;; `next-error' and `previous-error' to visit.

;;; Code:

(require 'decent-notes-list)

(defconst decent-notes--most-matches 200
  "The number of notes that a search lists at most.")

(defvar-local decent-notes--pattern nil "The text whose matches these are.")
(defvar-local decent-notes--visited nil "Non-nil if a match was visited.")

(defvar decent-notes-grep-mode-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("RET" . decent-notes-grep-visit) ("n" . next-error-no-select)
                     ("p" . previous-error-no-select)
                     ("j" . next-error-no-select) ("k" . previous-error-no-select)))
      (define-key map (kbd key) command))
    map)
  "The keys of `decent-notes-grep-mode'.")

(decent-notes--keep-keys 'decent-notes-grep-mode)

(define-derived-mode decent-notes-grep-mode special-mode "Notes-Grep"
  "The lines of notes that have a text.
\\[next-error] and \\[previous-error] visit them from anywhere.

\\{decent-notes-grep-mode-map}"
  (setq-local next-error-function #'decent-notes--next-match
              revert-buffer-function (lambda (&rest _) (decent-notes--list-matches))
              truncate-lines t))

;;;###autoload
(defun decent-notes-grep (text)
  "List the lines of all notes that have TEXT; neither case nor accents count."
  (interactive "sLines with: ")
  (when (string-empty-p text) (user-error "There is nothing to look for"))
  (pop-to-buffer (get-buffer-create "*decent-notes grep*"))
  (decent-notes-grep-mode)
  (setq decent-notes--pattern text
        next-error-last-buffer (current-buffer))
  (decent-notes--list-matches))

(defun decent-notes--list-matches ()
  "List the matches there are now."
  (let* ((result (decent-notes--call 'notebook/search
                                     (list :query decent-notes--pattern :mode "text"
                                           :limit decent-notes--most-matches)))
         (matches (append (plist-get result :matches) nil))
         (texts (decent-notes--texts (mapcar (lambda (match) (plist-get match :note)) matches)))
         (inhibit-read-only t))
    (erase-buffer)
    (dolist (match matches)
      (let* ((note (plist-get match :note))
             (lines (vconcat (split-string (gethash (plist-get note :id) texts "") "\n")))
             (ranges (plist-get match :ranges)))
        (pcase-dolist (`(,line . ,ranges)
                       (seq-group-by (lambda (range) (plist-get (plist-get range :start) :line))
                                     (if (seq-empty-p ranges)
                                         ;; It is the title that has the text.
                                         '((:start (:line 0 :character 0)))
                                       ranges)))
          (let ((content (concat (ignore-errors (aref lines line))))
                (from (plist-get (plist-get (car ranges) :start) :character))
                (beg (point)))
            (dolist (range ranges)
              (let ((end (plist-get range :end)))
                (when (and end (<= (plist-get end :line) line)
                           (<= (plist-get end :character) (length content)))
                  (add-face-text-property (plist-get (plist-get range :start) :character)
                                          (plist-get end :character) 'match nil content))))
            (insert (propertize (decent-notes--title-of note) 'face 'font-lock-function-name-face)
                    (format ":%d: " (1+ line)) content "\n")
            (put-text-property beg (point) 'decent-notes-match (list note line from))))))
    (when (seq-empty-p matches) (insert "No note has this text.\n"))
    (when (eq t (plist-get result :more))
      (insert (format "Only the first %d notes are listed.\n" decent-notes--most-matches)))
    (goto-char (point-min))
    (setq decent-notes--visited nil)
    (set-buffer-modified-p nil)))

(defun decent-notes--texts (notes)
  "The texts of NOTES by their ids; asked for all at once."
  (let ((texts (make-hash-table :test #'equal)) (left (length notes)))
    (dolist (note notes)
      (decent-notes--request 'note/get (list :id (plist-get note :id))
                             (lambda (result)
                               (cl-decf left)
                               (puthash (plist-get note :id) (plist-get result :text) texts))
                             (lambda (_problem) (cl-decf left))))
    (unless (decent-notes--wait 10 (lambda () (= 0 left)))
      (user-error "No answer to note/get within 10 seconds; %s" decent-notes--help))
    texts))

(defun decent-notes--next-match (count &optional reset)
  "Visit the match COUNT lines on; if RESET is non-nil, from the first one."
  (when reset (setq decent-notes--visited nil))
  (let ((place (save-excursion
                 (if reset (goto-char (point-min)) (forward-line 0))
                 ;; As long as no match was visited, the one at point is the next.
                 (forward-line (if (and (not decent-notes--visited) (> count 0)) (1- count) count))
                 (and (get-text-property (point) 'decent-notes-match) (point)))))
    (unless (and place (or decent-notes--visited (> count 0)
                           (/= place (line-beginning-position))))
      (user-error "There are no more matches"))
    (goto-char place)
    (decent-notes-grep-visit)))

(defun decent-notes-grep-visit ()
  "Show in another window the note of this line, with point at the match."
  (interactive)
  (pcase-let ((`(,note ,line ,character)
               (or (get-text-property (line-beginning-position) 'decent-notes-match)
                   (user-error "There is no match on this line")))
              (place (line-beginning-position)))
    (setq decent-notes--visited t)
    (dolist (window (get-buffer-window-list nil nil t)) (set-window-point window place))
    ;; The window that shows the matches must go on showing them.
    (when-let ((window (get-buffer-window))) (select-window window))
    (pop-to-buffer (decent-notes--buffer-for note)
                   (when (get-buffer-window) '(nil (inhibit-same-window . t))))
    (unless (<= (point-min) (decent-notes--place-at line character) (point-max)) (widen))
    (goto-char (decent-notes--place-at line character))
    (run-hooks 'next-error-hook)))

(defun decent-notes--place-at (line character)
  "Where LINE and CHARACTER, from 0, are in this buffer; if it has none, near it."
  (save-restriction
    (widen)
    (save-excursion
      (goto-char (point-min))
      (forward-line line)
      (min (+ (point) character) (line-end-position)))))

(provide 'decent-notes-grep)
;;; decent-notes-grep.el ends here
