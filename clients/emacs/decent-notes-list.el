;;; decent-notes-list.el --- The list of notes  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; The list of the notes, and commands for the note of a line or a buffer.

;;; Code:

(require 'decent-notes-buffers)
(require 'tabulated-list)

;;; The list

(defvar-local decent-notes--query nil "The text that this list searches, if any.")
(defvar-local decent-notes--trash nil "Non-nil if this list shows the trash.")
(defvar-local decent-notes--tag nil "The tag that the notes of this list have, if any.")
(defvar-local decent-notes--shown nil
  "The summaries of the notes of this list, by id.
Each is `eq' to the `tabulated-list-id' of its line.")
(defvar-local decent-notes--stale t
  "The changes that this list does not show yet, or t to read it anew.")
(defvar-local decent-notes--loading nil
  "The place of the next note while the list is being read, else nil.")

(defconst decent-notes--page 100
  "The number of notes in one answer; to show them takes some 20 ms.")

(defvar decent-notes-list-mode-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("RET" . decent-notes-list-open) ("c" . decent-notes-new)
                     ("n" . next-line) ("p" . previous-line)
                     ("j" . next-line) ("k" . previous-line)
                     ("d" . decent-notes-delete) ("u" . decent-notes-list-restore)
                     ("T" . decent-notes-list-toggle-trash)
                     ("K" . decent-notes-list-move-up) ("J" . decent-notes-list-move-down)
                     ("M-<up>" . decent-notes-list-move-up)
                     ("M-<down>" . decent-notes-list-move-down)
                     ("t" . decent-notes-tag) ("!" . decent-notes-list-cycle-priority)
                     ("r" . decent-notes-title) ("s" . decent-notes-search)
                     ("/" . decent-notes-list-filter)
                     ("S" . decent-notes-list-sort) ("o" . decent-notes-list-unsort)
                     ("R" . revert-buffer)
                     ("?" . decent-notes-list-help)))
      (define-key map (kbd key) command))
    map)
  "The keys of `decent-notes-list-mode'.")

(decent-notes--keep-keys 'decent-notes-list-mode)

(define-derived-mode decent-notes-list-mode tabulated-list-mode "Notes"
  "The notes of a notebook, in the order their owner has given them.
The list follows what others change.  \\[decent-notes-list-sort] sorts it by the
column at point, \\[decent-notes-list-unsort] no more.

\\{decent-notes-list-mode-map}"
  (setq tabulated-list-format
        (vector (list "Title" 40 (decent-notes--by (lambda (note)
                                                     (downcase (decent-notes--title-of note)))))
                (list "Tags" 20 (decent-notes--by (lambda (note)
                                                    (string-join (plist-get note :tags) ","))))
                (list "Priority" 8 (decent-notes--by (lambda (note)
                                                       (pcase (plist-get note :priority)
                                                         ("high" "0") ("normal" "1") (_ "2")))))
                (list "Modified" 16 (decent-notes--by (lambda (note)
                                                        (plist-get note :modified))))
                '("File" 0 nil))
        tabulated-list-padding 1
        tabulated-list-entries #'decent-notes--entries
        tabulated-list-printer #'decent-notes--print
        decent-notes--shown (make-hash-table :test #'equal))
  (setq-local revert-buffer-function (lambda (&rest _) (decent-notes--load t)))
  (add-hook 'window-buffer-change-functions #'decent-notes--list-displayed nil t)
  (add-hook 'deactivate-mark-hook #'decent-notes--list-displayed nil t)
  (add-hook 'decent-notes--change-functions #'decent-notes--list-changed)
  (tabulated-list-init-header))

(defun decent-notes--by (key)
  "A predicate for entries of the list that compares what KEY has of their notes."
  (lambda (a b) (string< (funcall key (car a)) (funcall key (car b)))))

(defun decent-notes--list-buffer ()
  "The buffer of the list, if there is one."
  (get-buffer "*decent-notes*"))

;;;###autoload
(defun decent-notes ()
  "List the notes."
  (interactive)
  (decent-notes--ensure)
  (pop-to-buffer-same-window (get-buffer-create "*decent-notes*"))
  (unless (derived-mode-p 'decent-notes-list-mode) (decent-notes-list-mode))
  (decent-notes--catch-up t))

(defun decent-notes-list-help ()
  "Show the keys of the list."
  (interactive)
  (with-help-window (help-buffer)
    (princ (substitute-command-keys "\\<decent-notes-list-mode-map>\
The list of notes

\\[decent-notes-list-open]	open the note
\\[decent-notes-new]	make a note
\\[decent-notes-title]	give it another title
\\[decent-notes-tag]	set its tags, or with +one, -other add and remove some
\\[decent-notes-list-cycle-priority]	give it the next priority
\\[decent-notes-list-move-up] \\[decent-notes-list-move-down]	move it up, down
\\[decent-notes-delete]	put it into the trash
\\[decent-notes-list-toggle-trash]	show the trash, or the notes again
\\[decent-notes-list-restore]	take it out of the trash
\\[decent-notes-purge]	in the trash: forget it for good, after a question
\\[decent-notes-empty-trash]	forget all that is in the trash, after a question
\\[decent-notes-history]	show its history

Where the region is active, tags, priority, trash and purging are for all its notes.

\\[decent-notes-search]	show the notes with a text; with none all notes
\\[decent-notes-list-filter]	show the notes with a tag; with none all notes
\\[decent-notes-list-sort]	sort by the column at point; once more: the other way round
\\[decent-notes-list-unsort]	sort no more: the notebook's own order
\\[revert-buffer]	read the list anew
\\[quit-window]	leave
"))))

;;; Following changes

(defun decent-notes--list-changed (changed)
  "Record CHANGED, and show it soon if the list is visible.
See `decent-notes--change-functions' for CHANGED."
  (when-let ((buffer (decent-notes--list-buffer)))
    (with-current-buffer buffer
      (if (eq changed t) (setq decent-notes--stale t)
        (seq-doseq (change changed)
          (unless (or (eq decent-notes--stale t) (member change decent-notes--stale))
            (push change decent-notes--stale))))
      ;; After many changes the whole list is read again.
      (when (and (consp decent-notes--stale) (nthcdr 100 decent-notes--stale))
        (setq decent-notes--stale t))
      (decent-notes--list-displayed))))

(defvar decent-notes--list-timer nil "The timer that will show what was changed.")

(defun decent-notes--list-displayed (&rest _)
  "Show soon what was changed, if anything was."
  (when (and (not decent-notes--list-timer)
             (decent-notes--list-buffer)
             (buffer-local-value 'decent-notes--stale (decent-notes--list-buffer)))
    ;; A user who types changes a note many times a second.
    (setq decent-notes--list-timer
          (run-at-time 0.3 nil (lambda ()
                                 (setq decent-notes--list-timer nil)
                                 (decent-notes--enqueue #'decent-notes--list-follow))))))

(defun decent-notes--list-follow ()
  "Have the list catch up, if there is a window with it."
  (when-let ((buffer (decent-notes--list-buffer)))
    (when (and decent-notes--ready (get-buffer-window buffer 'visible))
      (with-current-buffer buffer
        (unless (or decent-notes--loading (region-active-p)) (decent-notes--catch-up))))))

(defun decent-notes--in-list (buffer now function)
  "Call FUNCTION in the list BUFFER, if it is live.
Unless NOW, return `later' while its region is active: no note comes or goes
among those that are shown as selected."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (if (and (not now) (region-active-p)) 'later
        (funcall function)
        nil))))

(defun decent-notes--catch-up (&optional now)
  "Show in this list what was changed; wait for answers if NOW."
  (let ((changes decent-notes--stale))
    (cond ((null changes))
          ((or (eq changes t) decent-notes--query
               (nthcdr 20 (seq-uniq (mapcar (lambda (change) (plist-get change :id)) changes))))
           (decent-notes--load now))
          (t (setq decent-notes--stale nil)
             (pcase-dolist (`(,id . ,changes)
                            (seq-group-by (lambda (change) (plist-get change :id))
                                          (reverse changes)))
               (decent-notes--renew
                id (seq-mapcat (lambda (change) (append (plist-get change :what) nil)) changes)
                now))))))

(defun decent-notes--scope ()
  "The notes of this list, as parameters of notebook/list."
  (append (list :trashed (if decent-notes--trash t :json-false))
          (when decent-notes--tag (list :tags (vector decent-notes--tag)))))

(defun decent-notes--renew (id what &optional now)
  "Show the note ID, of which WHAT was changed, in this list as it is now.
Wait for answers if NOW."
  (let ((buffer (current-buffer))
        (ask (if now #'decent-notes--call #'decent-notes--request)))
    (cl-macrolet ((taking (result &rest body)
                    `(lambda (,result)
                       (decent-notes--in-list buffer now (lambda () ,@body)))))
      (funcall
       ask 'note/get (list :id id)
       (taking result
         (let ((summary (plist-get result :note)))
           (cond ((not (and (eq (eq t (plist-get summary :trashed)) decent-notes--trash)
                            (or (not decent-notes--tag)
                                (seq-contains-p (plist-get summary :tags) decent-notes--tag))))
                  (decent-notes--remove id))
                 ((or tabulated-list-sort-key
                      (and (gethash id decent-notes--shown)
                           (not (seq-intersection what '("created" "position" "trashed")))))
                  (decent-notes--put summary nil))
                 (t
                  ;; The server names the note behind it.
                  (funcall
                   ask 'notebook/list (append (list :after id :limit 1) (decent-notes--scope))
                   (taking result
                     (let* ((next (ignore-errors (elt (plist-get result :notes) 0)))
                            (place (if next (decent-notes--line-of (plist-get next :id))
                                     (point-max))))
                       (if place (decent-notes--put summary place)
                         (decent-notes--list-changed t)))))))))))))

(defun decent-notes--load (&optional now)
  "Read this list again; wait for its first notes if NOW.
Lines that are right are not touched."
  (let ((buffer (current-buffer))
        (place (copy-marker (point-min)))
        (seen (make-hash-table :test #'equal)))
    (setq decent-notes--loading place
          decent-notes--stale nil)
    (cl-labels
        ((ask (now after)
           (let ((method (if decent-notes--query 'notebook/search 'notebook/list))
                 (params (if decent-notes--query (list :query decent-notes--query :limit 500)
                           (append (list :limit decent-notes--page)
                                   (when after (list :after after))
                                   (decent-notes--scope)))))
             (if now (decent-notes--call method params (within now #'take))
               (decent-notes--request method params (within now #'take)
                                      (within now #'give-up)))))
         (within (now function)
           (lambda (result)
             (decent-notes--in-list
              buffer now
              (lambda ()
                ;; The list may have to show something else by now.
                (when (eq place decent-notes--loading) (funcall function result))))))
         (give-up (_problem) (setq decent-notes--loading nil decent-notes--stale t))
         (take (result)
           (decent-notes--name-list (eq t (plist-get result :more)))
           (seq-doseq (item (or (plist-get result :matches) (plist-get result :notes)))
             (let ((summary (if decent-notes--query
                                (append (list :snippet (plist-get item :snippet))
                                        (plist-get item :note))
                              item)))
               (puthash (plist-get summary :id) t seen)
               (decent-notes--put-next summary place)))
           (if-let ((next (plist-get result :next)))
               (ask nil next)
             (setq decent-notes--loading nil)
             (set-marker place nil)
             (dolist (id (seq-remove (lambda (id) (gethash id seen))
                                     (hash-table-keys decent-notes--shown)))
               (decent-notes--remove id))
             (when (hash-table-empty-p decent-notes--shown) (decent-notes--name-list nil))
             (decent-notes--list-displayed))))
      (condition-case problem (ask now nil)
        (error (give-up nil)
               (signal (car problem) (cdr problem)))))))

(defun decent-notes--name-list (more)
  "Say in the mode line which notes these are, and whether there are MORE."
  (setq mode-name (concat (cond (decent-notes--query (format "Notes with %S" decent-notes--query))
                                (decent-notes--trash "Notes in the trash")
                                (t "Notes"))
                          (when decent-notes--tag (format " tagged %s" decent-notes--tag))
                          (cond (more ", the first 500")
                                ((or decent-notes--loading
                                     (not (hash-table-empty-p decent-notes--shown)))
                                 nil)
                                (decent-notes--query ": nothing found")
                                ((or decent-notes--tag decent-notes--trash) ": none")
                                (t ": none; c makes one"))))
  (force-mode-line-update))

;;; Its lines

(defun decent-notes--row (summary)
  "The line of the note of SUMMARY, as `tabulated-list-entries' has it."
  (list summary
        (vector (replace-regexp-in-string "[[:cntrl:]]" " " (decent-notes--title-of summary))
                (string-join (plist-get summary :tags) ", ")
                (plist-get summary :priority)
                (decent-notes--local-time (plist-get summary :modified))
                (replace-regexp-in-string
                 "[[:cntrl:]]" " "
                 (string-join (delq nil (list (plist-get summary :path)
                                              (plist-get summary :snippet)))
                              "  ")))))

(defun decent-notes--local-time (time &optional format)
  "TIME of the protocol, in UTC, as one of here, in FORMAT."
  (cl-flet ((part (from to) (string-to-number (substring time from to))))
    (format-time-string (or format "%Y-%m-%d %H:%M")
                        (encode-time (list (part 17 19) (part 14 16) (part 11 13) (part 8 10)
                                           (part 5 7) (part 0 4) nil nil 0)))))

(defun decent-notes--print (summary columns)
  "Insert the line of SUMMARY with COLUMNS, as `tabulated-list-printer' does.
It makes a tenth of the objects that `tabulated-list-mode' makes: the more there
are, the longer each collection of garbage takes."
  (let ((inhibit-read-only t) (beg (point)))
    (insert (make-string tabulated-list-padding ?\s))
    (seq-mapn (lambda (format text)
                (pcase-let ((`(,name ,width) (seq-take format 2))
                            (from (point)))
                  (insert (if (zerop width) text
                            (concat (truncate-string-to-width text width 0 ?\s t) " ")))
                  (put-text-property from (point) 'tabulated-list-column-name name)))
              tabulated-list-format columns)
    (insert "\n")
    (add-text-properties beg (point) (list 'tabulated-list-id summary
                                           'tabulated-list-entry columns))))

(defun decent-notes--entries ()
  "The contents of the lines in order, as `tabulated-list-entries' has them."
  (let (entries)
    (save-excursion
      (goto-char (point-min))
      (while (not (eobp))
        (push (list (tabulated-list-get-id) (tabulated-list-get-entry)) entries)
        (forward-line 1)))
    (nreverse entries)))

(defun decent-notes--line-of (id)
  "Where the line of the note ID begins; nil if there is none."
  (when-let ((summary (gethash id decent-notes--shown)))
    (text-property-any (point-min) (point-max) 'tabulated-list-id summary)))

(defun decent-notes--put-next (summary place)
  "Show SUMMARY as what comes next in a list being read, and move the marker PLACE."
  (let ((id (plist-get summary :id)))
    (unless (equal summary (gethash id decent-notes--shown))
      (decent-notes--put summary (unless tabulated-list-sort-key (marker-position place))))
    (unless tabulated-list-sort-key
      (unless (eq (get-text-property place 'tabulated-list-id) (gethash id decent-notes--shown))
        (decent-notes--put summary (marker-position place)))
      (set-marker place (save-excursion
                          (goto-char place)
                          (line-beginning-position 2))))))

(defun decent-notes--points ()
  "The points of this buffer and its windows: nil or the window, and where."
  (cons (list nil (point))
        (mapcar (lambda (window) (list window (window-point window)))
                (get-buffer-window-list nil nil t))))

(defun decent-notes--set-point (window place)
  "Set the point of WINDOW, or without it that of the buffer, to PLACE."
  (if window (set-window-point window place) (goto-char place)))

(defun decent-notes--put (summary place)
  "Show the note of SUMMARY before the line at PLACE, or where it belongs.
That is its old line, or in a sorted list its place in the order.  The points on
its line move along; all other points, and the windows, stay where they are."
  (let* ((id (plist-get summary :id))
         (entry (decent-notes--row summary))
         (old (decent-notes--line-of id))
         (place (copy-marker (or place old (point-max))))
         riders below)
    (when old
      (let ((end (save-excursion (goto-char old) (line-beginning-position 2))))
        (setq below (decent-notes--windows-from end))
        (pcase-dolist (`(,window ,point) (decent-notes--points))
          (when (and (<= old point) (< point end))
            (push (list window (- point old)) riders)))
        (when (= place old) (set-marker place end))
        (with-silent-modifications (delete-region old end))))
    (when tabulated-list-sort-key (set-marker place (decent-notes--sorted-place entry)))
    (puthash id summary decent-notes--shown)
    (let* ((beg (marker-position place))
           (behind (when (< beg (point-max))
                     (seq-filter (lambda (point) (= beg (cadr point))) (decent-notes--points))))
           ;; A line that comes in above the first line of a window, or is printed
           ;; again there, must not become the first.
           (tops (cond ((eql beg old) below)
                       ((> beg (point-min)) (decent-notes--windows-from beg))))
           (end (save-excursion
                  (goto-char beg)
                  (with-silent-modifications (apply tabulated-list-printer entry))
                  (point))))
      (pcase-dolist (`(,window ,_) behind) (decent-notes--set-point window end))
      (dolist (window tops) (set-window-start window end t))
      (pcase-dolist (`(,window ,offset) riders)
        (decent-notes--set-point window (min (+ beg offset) (1- end)))))
    (set-marker place nil)))

(defun decent-notes--windows-from (place)
  "Return the windows in which the line at PLACE is the first."
  (seq-filter (lambda (window) (= place (window-start window)))
              (get-buffer-window-list nil nil t)))

(defun decent-notes--sorted-place (entry)
  "Where in this list, which is sorted, ENTRY belongs."
  (pcase-let* ((`(,name . ,flip) tabulated-list-sort-key)
               (before-p (nth 2 (seq-find (lambda (column) (equal (car column) name))
                                          tabulated-list-format)))
               (low (point-min)) (high (point-max)))
    (save-excursion
      (while (< low high)
        (goto-char (/ (+ low high) 2))
        (forward-line 0)
        (let ((other (list (tabulated-list-get-id) (tabulated-list-get-entry))))
          (if (if flip (funcall before-p entry other) (funcall before-p other entry))
              (setq low (line-beginning-position 2))
            (setq high (point))))))
    low))

(defun decent-notes--remove (id)
  "Show the note ID no more."
  (when-let ((beg (decent-notes--line-of id)))
    (save-excursion
      (goto-char beg)
      (with-silent-modifications (delete-region beg (line-beginning-position 2))))
    ;; There is no note behind the last line.
    (pcase-dolist (`(,window ,point) (decent-notes--points))
      (when (and (= point (point-max)) (> point (point-min)))
        (decent-notes--set-point window (save-excursion
                                          (goto-char point)
                                          (line-beginning-position 0))))))
  (remhash id decent-notes--shown))

(defun decent-notes--title-of (summary)
  "The title in SUMMARY as it is shown."
  (let ((title (plist-get summary :title)))
    (if (string-empty-p title) "(untitled)" title)))

;;; Notes

(defun decent-notes--all ()
  "The summaries of all notes."
  (append (plist-get (decent-notes--call 'notebook/list nil) :notes) nil))

(defun decent-notes--read-note (prompt)
  "Ask with PROMPT for a note, and return its summary."
  (let* ((notes (decent-notes--all))
         (counts (make-hash-table :test #'equal))
         (table (make-hash-table :test #'equal)))
    (dolist (note notes) (cl-incf (gethash (decent-notes--title-of note) counts 0)))
    (dolist (note notes)
      (let ((title (decent-notes--title-of note)))
        ;; Notes with one title are told apart by their ids.
        (puthash (if (= 1 (gethash title counts)) title
                   (format "%s <%s>" title (plist-get note :id)))
                 note table)))
    (let* ((completion-extra-properties
            (list :annotation-function
                  (lambda (name)
                    (concat "  " (string-join (plist-get (gethash name table) :tags) ", ")))))
           (name (decent-notes--complete #'completing-read prompt table)))
      (or (gethash name table) (decent-notes--find name notes)))))

(defun decent-notes--complete (function &rest arguments)
  "Call FUNCTION, a reader with completion, with ARGUMENTS.
A space is a space, since titles and tags have them."
  (minibuffer-with-setup-hook
      (lambda ()
        (use-local-map (copy-keymap (current-local-map)))
        (local-set-key " " #'self-insert-command))
    (apply function arguments)))

(defun decent-notes--find (name &optional notes)
  "The summary of the note with NAME: its id, its address or its title.
NOTES are the summaries of all notes, if they are known."
  (let ((name (string-remove-prefix "note://" name)))
    (if (string-match "\\`\\([0-9]+-[0-9a-f]\\{32\\}\\)\\(?:/.*\\)?\\'" name)
        (decent-notes--summary (match-string 1 name))
      (let ((same (seq-filter (lambda (note) (equal (plist-get note :title) name))
                              (or notes (decent-notes--all)))))
        (cond ((cdr same) (user-error "%d notes are called %S" (length same) name))
              (same (car same))
              (t (user-error "There is no note called %S" name)))))))

;;;###autoload
(defun decent-notes-open (note)
  "Open NOTE, a title or an id, and return its buffer."
  (interactive (list (decent-notes--read-note "Note: ")))
  (decent-notes--visit (if (stringp note) (decent-notes--find note) note)))

;;;###autoload
(defun decent-notes-new (title)
  "Make a note with TITLE, and open it."
  (interactive "sTitle: ")
  (decent-notes--visit (decent-notes--create :title title)))

(defun decent-notes--create (&rest params)
  "Make a note by PARAMS, and return its summary."
  (let ((note (plist-get (decent-notes--call 'note/create params) :note)))
    (decent-notes--report-changes (list (list :id (plist-get note :id) :what '("created"))))
    note))

(defun decent-notes-path ()
  "Show the path of the file of the note of this buffer or line.
It is relative to the folder from which the note was imported."
  (interactive)
  (message "%s" (or (plist-get (decent-notes--this) :path) "This note has no file")))

(defun decent-notes--read-again ()
  "Read the list again, if there is one, and wait for its first notes."
  (when-let ((buffer (decent-notes--list-buffer)))
    (with-current-buffer buffer (decent-notes--load t))))

(defun decent-notes--this ()
  "The summary of the note of this buffer or line, else of one asked for."
  (cond (decent-notes--here (decent-notes--summary (decent-notes--note-id decent-notes--here)))
        ((derived-mode-p 'decent-notes-list-mode)
         (or (tabulated-list-get-id) (user-error "There is no note on this line")))
        (t (decent-notes--read-note "Note: "))))

(defun decent-notes--selected ()
  "The summaries of the notes of the lines in the region, or that of this note."
  (if (not (and (derived-mode-p 'decent-notes-list-mode) (use-region-p)))
      (list (decent-notes--this))
    (let ((end (region-end)) notes)
      (save-excursion
        (goto-char (region-beginning))
        (forward-line 0)
        (while (and (< (point) end) (not (eobp)))
          (when-let ((note (tabulated-list-get-id))) (push note notes))
          (forward-line 1)))
      (deactivate-mark)
      (or (nreverse notes) (user-error "There is no note on these lines")))))

(defun decent-notes--this-one ()
  "The summary of the note of this buffer or line, which must be the only one."
  (let ((notes (decent-notes--selected)))
    (when (cdr notes) (user-error "This is done with one note, and not with %d" (length notes)))
    (car notes)))

(defun decent-notes--titles-of (notes)
  "The titles of NOTES as some words; of more than three how many there are."
  (let ((titles (mapcar #'decent-notes--title-of (seq-take notes 3)))
        (others (- (length notes) 3)))
    (cond ((< 0 others) (format "%s and %d other%s" (string-join titles ", ") others
                                (if (= others 1) "" "s")))
          ((cdr titles) (concat (string-join (butlast titles) ", ") " and " (car (last titles))))
          (t (car titles)))))

(defun decent-notes--act-on (notes method what &rest params)
  "Call METHOD, of which WHAT is the effect, with each of NOTES and PARAMS.
If that fails for some, the others are done all the same."
  (let (failures)
    (dolist (note notes)
      (condition-case problem
          (apply #'decent-notes--act method (plist-get note :id) what params)
        (user-error (push problem failures))))
    (when failures
      (signal 'user-error
              (list (if (cdr notes)
                        (format "Not done with %d of %d: %s" (length failures) (length notes)
                                (error-message-string (car failures)))
                      (cadar failures)))))))

(defun decent-notes--act (method id what &rest params)
  "Call METHOD, of which WHAT is the effect, with the note ID and PARAMS.
Show what is so then."
  (let ((result (decent-notes--call method (append (list :id id) params))))
    (when-let ((note (decent-notes--find-note #'decent-notes--note-id id))
               (summary (plist-get result :note)))
      (decent-notes--show-summary note summary))
    (decent-notes--report-changes (list (list :id id :what (list what))))
    (when-let ((buffer (decent-notes--list-buffer)))
      ;; The next key is for the list as it is then.
      (when (get-buffer-window buffer 'visible)
        (with-current-buffer buffer (decent-notes--catch-up t))))
    result))

(defun decent-notes-title (title)
  "Give the note of this buffer or line TITLE, also in the links that lead to it."
  (interactive (list nil))
  (let* ((note (decent-notes--this-one))
         (title (or title (read-string (format "Title of %s: " (decent-notes--title-of note))
                                       (plist-get note :title)))))
    (message "%s" (decent-notes--renamed-words
                   (decent-notes--act 'note/rename (plist-get note :id) "title" :title title)))))

(defun decent-notes--renamed-words (result)
  "Return what RESULT, of note/rename, has changed, as some words."
  (cl-flet ((notes (count more) (format "%d%s note%s" count (if more " or more" "")
                                        (if (and (= count 1) (not more)) "" "s"))))
    (let ((changed (length (plist-get result :updated)))
          (left (length (plist-get result :ambiguous)))
          (more (eq t (plist-get result :more))))
      (concat "Renamed"
              (if (zerop changed) "; no links were changed"
                (format "; links were changed in %s" (notes changed more)))
              (unless (zerop left)
                (format "; links in %s may mean another note as well, and stay"
                        (notes left more)))))))

(defun decent-notes--words (line)
  "The tags that LINE has, between commas."
  (split-string line "," t "[ \t]+"))

(defun decent-notes-tag (tags)
  "Set the tags of the note of this buffer or line: TAGS, between commas.
If each begins with + or -, they are added or removed.  In the list these are
all notes of the region, if it is active; then a tag that all of them have is
removed if it is not among TAGS."
  (interactive (list nil))
  (let* ((notes (decent-notes--selected))
         (before (seq-reduce (lambda (tags note)
                               (seq-intersection tags (append (plist-get note :tags) nil)))
                             (cdr notes) (append (plist-get (car notes) :tags) nil)))
         (after (decent-notes--words
                 (or tags
                     (string-join
                      (decent-notes--complete
                       #'completing-read-multiple
                       (format "Tags of %s: " (decent-notes--titles-of notes))
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
    ;; Only the difference is sent: others may change tags at the same time.
    (decent-notes--act-on
     notes 'note/update "tags"
     :tags (list :add (vconcat (if relative (funcall signed "+")
                                 (seq-difference after before)))
                 :remove (vconcat (if relative (funcall signed "-")
                                    (seq-difference before after)))))))

(defun decent-notes-priority (priority)
  "Give the note of this buffer or line PRIORITY.
In the list these are all notes of the region, if it is active."
  (interactive (list nil))
  (let ((notes (decent-notes--selected)))
    (decent-notes--act-on notes 'note/update "priority"
                          :priority (or priority
                                        (completing-read
                                         (format "Priority of %s: "
                                                 (decent-notes--titles-of notes))
                                         '("low" "normal" "high") nil t)))))

(defun decent-notes-search (text)
  "List the notes that have TEXT in their title or text; all if it is empty.
All words of TEXT must be there, in any order.  Among them may be \"a phrase\",
-not, title:word, tag:home and is:trashed."
  (interactive "sNotes with: ")
  (decent-notes)
  (decent-notes--show :query (unless (string-empty-p text) text)))

(defun decent-notes-list-open ()
  "Open the note on this line."
  (interactive)
  (decent-notes-open (decent-notes--this)))

;;;###autoload
(defun decent-notes-delete ()
  "Put the note of this buffer or line, or those of the region, into the trash."
  (interactive)
  (let ((notes (decent-notes--selected)))
    (decent-notes--act-on notes 'note/delete "trashed")
    (message "In the trash: %s" (decent-notes--titles-of notes))))

;;;###autoload
(defun decent-notes-today ()
  "Open the note of this day; one is made if there is none."
  (interactive)
  (decent-notes--ensure)
  (let ((id (decent-notes--say "daily")) summary)
    ;; Another process has made it: it is here in a moment.
    (decent-notes--wait
     5 (lambda ()
         (setq summary (ignore-errors
                         (elt (plist-get (decent-notes--call 'notebook/find
                                                             (list :name id :limit 1))
                                         :notes)
                              0)))))
    (unless summary (user-error "The note of this day, %s, is not here yet" id))
    (decent-notes--visit summary)))

(defun decent-notes-list-restore ()
  "Take the note on this line, or the notes of the region, out of the trash."
  (interactive)
  (let ((notes (decent-notes--selected)))
    (decent-notes--act-on notes 'note/restore "trashed")
    (message "Out of the trash: %s" (decent-notes--titles-of notes))))

(defun decent-notes-list-toggle-trash ()
  "Show the trash, or the notes again."
  (interactive)
  (decent-notes--show :trash (not decent-notes--trash)))

(defun decent-notes-list-filter (tag)
  "List the notes that have TAG; all if it is empty."
  (interactive
   (list (decent-notes--complete
          #'completing-read "Notes tagged: "
          (seq-uniq (seq-mapcat (lambda (note) (append (plist-get note :tags) nil))
                                (decent-notes--all))))))
  (decent-notes--show :tag (unless (string-empty-p tag) tag)))

(cl-defun decent-notes--show (&key query trash tag)
  "List the notes with the text QUERY, those in the TRASH, or those with TAG."
  (setq decent-notes--query query decent-notes--trash trash decent-notes--tag tag)
  (decent-notes--load t))

(defun decent-notes-list-sort (&optional column)
  "Sort the list by the column at point, or by COLUMN, a number.
Where there is no column, as before the titles, that is by the title."
  (interactive "P")
  (tabulated-list-sort
   (cond (column (prefix-numeric-value column))
         ((not (get-text-property (point) 'tabulated-list-column-name)) 0))))

(defun decent-notes-list-unsort ()
  "Show the notes in the notebook's own order again."
  (interactive)
  (setq tabulated-list-sort-key nil)
  (tabulated-list-init-header)
  (decent-notes--load t))

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
  (let ((note (decent-notes--this-one))
        (other (save-excursion
                 (and (zerop (forward-line lines)) (tabulated-list-get-id)))))
    (when tabulated-list-sort-key
      (user-error "The list is sorted; %s shows the notebook's own order"
                  (substitute-command-keys "\\[decent-notes-list-unsort]")))
    (unless other (user-error "The note is at the end of the list"))
    (decent-notes--act 'note/move (plist-get note :id) "position" side (plist-get other :id))))

(defun decent-notes-list-cycle-priority ()
  "Give the note on this line, or those of the region, the priority after its own."
  (interactive)
  (let ((notes (decent-notes--selected)))
    (decent-notes--act-on notes 'note/update "priority"
                          :priority (cdr (assoc (plist-get (car notes) :priority)
                                                '(("low" . "normal") ("normal" . "high")
                                                  ("high" . "low")))))))

(provide 'decent-notes-list)
;;; decent-notes-list.el ends here
