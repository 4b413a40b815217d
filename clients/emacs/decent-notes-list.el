;;; decent-notes-list.el --- The list of notes  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The list of the notes, and commands for the note of a line or a buffer.

;;; Code:

(require 'decent-notes-live)
(require 'tabulated-list)

;;; The list

(defvar-local decent-notes--query nil "The text that this list searches, if any.")
(defvar-local decent-notes--trash nil "Whether this list shows the trash.")

(defvar decent-notes-list-mode-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("RET" . decent-notes-list-open) ("n" . decent-notes-new)
                     ("d" . decent-notes-list-delete) ("u" . decent-notes-list-restore)
                     ("T" . decent-notes-list-toggle-trash)
                     ("K" . decent-notes-list-move-up) ("J" . decent-notes-list-move-down)
                     ("M-<up>" . decent-notes-list-move-up)
                     ("M-<down>" . decent-notes-list-move-down)
                     ("t" . decent-notes-tag) ("p" . decent-notes-list-cycle-priority)
                     ("r" . decent-notes-title) ("s" . decent-notes-search)
                     ("h" . decent-notes-history) ("R" . revert-buffer)
                     ("?" . describe-mode)))
      (define-key map (kbd key) command))
    map)
  "The keys of `decent-notes-list-mode'.")

(define-derived-mode decent-notes-list-mode tabulated-list-mode "Notes"
  "The notes of a notebook, in the order their owner has given them.
The list follows what others change.

\\{decent-notes-list-mode-map}"
  (setq tabulated-list-format [("Title" 40 nil) ("Tags" 24 nil) ("Priority" 8 nil)
                               ("" 0 nil)]
        tabulated-list-padding 1)
  (setq-local revert-buffer-function (lambda (&rest _) (decent-notes--refresh)))
  (tabulated-list-init-header))

;;;###autoload
(defun decent-notes ()
  "List the notes."
  (interactive)
  (decent-notes--ensure)
  (pop-to-buffer-same-window (get-buffer-create "*decent-notes*"))
  (unless (derived-mode-p 'decent-notes-list-mode) (decent-notes-list-mode))
  (decent-notes--refresh))

(defun decent-notes--refresh (&optional later)
  "Show in this list what is so now, or LATER, when the answer comes."
  (let ((buffer (current-buffer)))
    (funcall (if later #'decent-notes--request #'decent-notes--call)
             (if decent-notes--query 'notebook/search 'notebook/list)
             (if decent-notes--query (list :query decent-notes--query)
               (list :trashed (if decent-notes--trash t :json-false)))
             (lambda (result)
               (when (buffer-live-p buffer)
                 (with-current-buffer buffer
                   (decent-notes--show-list (or (plist-get result :matches)
                                                (plist-get result :notes)))))))))

(defun decent-notes--show-list (items)
  "Show ITEMS, notes or matches, with point left on its note."
  (setq tabulated-list-entries
        (seq-map (lambda (item)
                   (let ((note (or (plist-get item :note) item)))
                     (list note
                           (vector (decent-notes--title-of note)
                                   (string-join (plist-get note :tags) ", ")
                                   (plist-get note :priority)
                                   (or (plist-get item :snippet) "")))))
                 items)
        mode-name (cond (decent-notes--query (format "Notes with %S" decent-notes--query))
                        (decent-notes--trash "Notes in the trash")
                        (t "Notes")))
  (force-mode-line-update)
  ;; Printing moves point and the view, of each window that shows the list.
  (let ((places (mapcar #'decent-notes--place (append (get-buffer-window-list nil nil t)
                                                      '(nil)))))
    (tabulated-list-print)
    (dolist (place places) (apply #'decent-notes--go-back place))))

(defun decent-notes--place (window)
  "Where WINDOW, or without it the buffer, is, as `decent-notes--go-back' takes it."
  (save-excursion
    (when window (goto-char (window-point window)))
    (list window (plist-get (tabulated-list-get-id) :id) (1- (line-number-at-pos))
          (if window (1- (line-number-at-pos (window-start window))) 0))))

(defun decent-notes--go-back (window id line top)
  "Go to the note ID, or if it is gone to LINE; line TOP comes first in WINDOW."
  (goto-char (point-min))
  (when window (set-window-start window (line-beginning-position (1+ top)) t))
  (while (not (or (eobp) (equal id (plist-get (tabulated-list-get-id) :id))))
    (forward-line 1))
  (when (eobp)
    (goto-char (point-min))
    (forward-line line)
    (when (eobp) (forward-line -1)))
  (when window (set-window-point window (point))))

(defun decent-notes--title-of (summary)
  "The title in SUMMARY as it is shown."
  (let ((title (plist-get summary :title)))
    (if (string-empty-p title) "(untitled)" title)))

(defun decent-notes--did-change (params)
  "Show what others did, by the PARAMS of notebook/didChange."
  (when-let ((buffer (get-buffer "*decent-notes*")))
    (with-current-buffer buffer
      (decent-notes--refresh t)))
  (when (seq-some (lambda (change) (seq-contains-p (plist-get change :what) "title"))
                  (plist-get params :changed))
    (decent-notes--request
     'notebook/list nil
     (lambda (result) (seq-do #'decent-notes--retitle (plist-get result :notes))))))

(defun decent-notes--retitle (summary)
  "Name the buffer of the note in SUMMARY by its title."
  (let ((note (decent-notes--with #'decent-notes--id (plist-get summary :id)))
        (title (plist-get summary :title)))
    (when (and note (not (equal (decent-notes--title note) title)))
      (setf (decent-notes--title note) title)
      (with-current-buffer (decent-notes--buffer note)
        (rename-buffer (decent-notes--name (decent-notes--id note) title) t)))))

(defun decent-notes--all ()
  "The summaries of all notes."
  (append (plist-get (decent-notes--call 'notebook/list nil) :notes) nil))

(defun decent-notes--read-note (prompt)
  "Ask with PROMPT for a note, and return its summary."
  (let* ((notes (decent-notes--all))
         (titles (mapcar #'decent-notes--title-of notes))
         (table (mapcar (lambda (note)
                          (let ((title (decent-notes--title-of note)))
                            ;; Notes with one title are told apart by their ids.
                            (cons (if (cdr (seq-filter (apply-partially #'equal title) titles))
                                      (format "%s <%s>" title (plist-get note :id))
                                    title)
                                  note)))
                        notes))
         (completion-extra-properties
          (list :annotation-function
                (lambda (name)
                  (concat "  " (string-join
                                (plist-get (cdr (assoc name table)) :tags) ", ")))))
         (name (decent-notes--complete #'completing-read prompt table)))
    (or (cdr (assoc name table)) (decent-notes--find name notes))))

(defun decent-notes--complete (function &rest arguments)
  "Call FUNCTION, a reader with completion, with ARGUMENTS.
A space is a space, since titles and tags have them."
  (minibuffer-with-setup-hook
      (lambda ()
        (use-local-map (copy-keymap (current-local-map)))
        (local-set-key " " #'self-insert-command))
    (apply function arguments)))

(defun decent-notes--find (name notes)
  "The summary in NOTES of the note with NAME: an id, note://id or a title."
  (let* ((id (if (string-match "\\`note://\\([^/]+\\)" name) (match-string 1 name) name))
         (same (seq-filter (lambda (note) (equal (plist-get note :title) name)) notes)))
    (cond ((seq-find (lambda (note) (equal (plist-get note :id) id)) notes))
          ((cdr same) (user-error "%d notes are called %S" (length same) name))
          (same (car same))
          (t (user-error "There is no note called %S" name)))))

;;;###autoload
(defun decent-notes-open (note)
  "Open NOTE, a title or an id, and return its buffer."
  (interactive (list (decent-notes--read-note "Note: ")))
  (let ((summary (if (stringp note) (decent-notes--find note (decent-notes--all)) note)))
    (decent-notes--visit (plist-get summary :id) (plist-get summary :title))))

;;;###autoload
(defun decent-notes-new (title)
  "Make a note with TITLE, and open it."
  (interactive "sTitle: ")
  (let ((note (plist-get (decent-notes--call 'note/create (list :title title)) :note)))
    (decent-notes--visit (plist-get note :id) title)))

(defun decent-notes--this ()
  "The summary of the note of this buffer or line, else of one asked for."
  (cond (decent-notes--here
         (plist-get (decent-notes--call 'note/get
                                        (list :id (decent-notes--id decent-notes--here)))
                    :note))
        ((derived-mode-p 'decent-notes-list-mode)
         (or (tabulated-list-get-id) (user-error "There is no note on this line")))
        (t (decent-notes--read-note "Note: "))))

(defun decent-notes--act (method &rest params)
  "Call METHOD with PARAMS, and show what is so then."
  (let ((result (decent-notes--call method params)))
    (when-let ((buffer (get-buffer "*decent-notes*")))
      (with-current-buffer buffer (decent-notes--refresh)))
    (when-let ((note (plist-get result :note))) (decent-notes--retitle note))
    result))

(defun decent-notes-title (title)
  "Give the note of this buffer or line TITLE."
  (interactive (list nil))
  (let ((note (decent-notes--this)))
    (decent-notes--act 'note/update :id (plist-get note :id)
                       :title (or title
                                  (read-string "Title: " (plist-get note :title))))))

(defun decent-notes--words (line)
  "The tags that LINE has, between commas."
  (split-string line "," t "[ \t]+"))

(defun decent-notes-tag (tags)
  "Set the tags of the note of this buffer or line: TAGS, between commas.
If each begins with + or -, they are added or removed."
  (interactive (list nil))
  (let* ((note (decent-notes--this))
         (before (append (plist-get note :tags) nil))
         (after (decent-notes--words
                 (or tags
                     (string-join
                      (decent-notes--complete
                       #'completing-read-multiple "Tags: "
                       (seq-uniq (append before decent-notes--suggested-tags
                                         (seq-mapcat (lambda (other)
                                                       (append (plist-get other :tags) nil))
                                                     (decent-notes--all))))
                       nil nil (string-join before ", "))
                      ","))))
         (signed (lambda (sign)
                   (mapcar (lambda (tag) (substring tag 1))
                           (seq-filter (apply-partially #'string-prefix-p sign) after))))
         (relative (and after (seq-every-p (lambda (tag) (string-match-p "\\`[+-]." tag))
                                           after))))
    ;; Only what was changed is said: somebody else may change tags, too.
    (decent-notes--act
     'note/update :id (plist-get note :id)
     :tags (list :add (vconcat (if relative (funcall signed "+")
                                 (seq-difference after before)))
                 :remove (vconcat (if relative (funcall signed "-")
                                    (seq-difference before after)))))))

(defun decent-notes-priority (priority)
  "Give the note of this buffer or line PRIORITY."
  (interactive (list nil))
  (let ((note (decent-notes--this)))
    (decent-notes--act 'note/update :id (plist-get note :id)
                       :priority (or priority
                                     (completing-read "Priority: " '("low" "normal" "high")
                                                      nil t)))))

(defun decent-notes-search (text)
  "List the notes that have TEXT in their title or text; all if it is empty."
  (interactive "sNotes with: ")
  (decent-notes)
  (setq decent-notes--query (if (string-empty-p text) nil text)
        decent-notes--trash nil)
  (decent-notes--refresh))

(defun decent-notes-list-open ()
  "Open the note on this line."
  (interactive)
  (decent-notes-open (decent-notes--this)))

(defun decent-notes-list-delete ()
  "Put the note on this line into the trash."
  (interactive)
  (decent-notes--act 'note/delete :id (plist-get (decent-notes--this) :id)))

(defun decent-notes-list-restore ()
  "Take the note on this line out of the trash."
  (interactive)
  (decent-notes--act 'note/restore :id (plist-get (decent-notes--this) :id)))

(defun decent-notes-list-toggle-trash ()
  "Show the trash, or the notes again."
  (interactive)
  (setq decent-notes--trash (not decent-notes--trash) decent-notes--query nil)
  (decent-notes--refresh))

(defun decent-notes-list-move-up ()
  "Move the note on this line up."
  (interactive)
  (decent-notes--move -1 :before))

(defun decent-notes-list-move-down ()
  "Move the note on this line down."
  (interactive)
  (decent-notes--move 1 :after))

(defun decent-notes--move (lines side)
  "Move the note on this line to the SIDE of the one so many LINES on."
  (let ((note (decent-notes--this))
        (other (save-excursion
                 (and (zerop (forward-line lines)) (tabulated-list-get-id)))))
    (unless other (user-error "The note is at the end of the list"))
    (decent-notes--act 'note/move :id (plist-get note :id) side (plist-get other :id))))

(defun decent-notes-list-cycle-priority ()
  "Give the note on this line the next priority."
  (interactive)
  (let ((note (decent-notes--this)))
    (decent-notes--act 'note/update :id (plist-get note :id)
                       :priority (cdr (assoc (plist-get note :priority)
                                             '(("low" . "normal") ("normal" . "high")
                                               ("high" . "low")))))))

(provide 'decent-notes-list)
;;; decent-notes-list.el ends here
