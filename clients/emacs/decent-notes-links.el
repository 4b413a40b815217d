;;; decent-notes-links.el --- Links between notes  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; In a note `M-.' (`xref-find-definitions') opens the note that the link at
;; point leads to, `M-?' lists the links to that one, and completion at point
;; knows titles behind "[[" and tags behind "#".  `M-x decent-notes-backlinks'
;; lists the links that lead to a note.

;;; Code:

(require 'xref)
(require 'decent-notes-grep)
(eval-when-compile (require 'subr-x))

(defcustom decent-notes-complete-links t
  "Non-nil means that titles behind \"[[\" and tags behind \"#\" are completed."
  :type 'boolean
  :group 'decent-notes)

;;; Places in notes

(cl-defstruct (decent-notes--location (:constructor decent-notes--make-location)
                                      (:copier nil))
  "A place in a note, or a heading of it."
  summary (line 0) (character 0) heading)

(cl-defmethod xref-location-group ((location decent-notes--location))
  "The title of the note of LOCATION."
  (decent-notes--title-of (decent-notes--location-summary location)))

(cl-defmethod xref-location-line ((location decent-notes--location))
  "The number of the line of LOCATION."
  (1+ (decent-notes--location-line location)))

(cl-defmethod xref-location-marker ((location decent-notes--location))
  "Where LOCATION is; its note is opened if need be."
  (with-current-buffer (decent-notes--buffer-for (decent-notes--location-summary location))
    (copy-marker
     (or (decent-notes--heading-place (decent-notes--location-heading location))
         (decent-notes--place-at (decent-notes--location-line location)
                                 (decent-notes--location-character location))))))

(defun decent-notes--heading-place (heading)
  "Where the line of HEADING begins in this buffer; nil if it has none."
  (when heading
    (save-restriction
      (widen)
      (save-excursion
        (goto-char (point-min))
        (let ((case-fold-search t))
          (when (re-search-forward
                 (format "^\\(?:#+\\|\\*+\\)[ \t]+%s[ \t#]*$" (regexp-quote heading)) nil t)
            (match-beginning 0)))))))

;;; Following links

(defun decent-notes--link-at-point ()
  "The link at point, as note/links has it; nil if there is none."
  (when-let ((note decent-notes--here))
    ;; The program knows the text as it is here when it has answered.
    (decent-notes--settle (list note) 1)
    (let ((place (save-restriction (widen) (decent-notes--position (point)))))
      (seq-find (lambda (link)
                  (let ((range (plist-get link :range)))
                    (and (not (decent-notes--precedes-p place (plist-get range :start)))
                         (decent-notes--precedes-p place (plist-get range :end)))))
                (plist-get (decent-notes--call 'note/links (list :id (decent-notes--note-id note)))
                           :links)))))

(defun decent-notes--precedes-p (a b)
  "Return non-nil if the position A comes before B."
  (or (< (plist-get a :line) (plist-get b :line))
      (and (= (plist-get a :line) (plist-get b :line))
           (< (plist-get a :character) (plist-get b :character)))))

(defun decent-notes--xref-backend ()
  "The backend for xref in notes, but for programs with no link at point."
  (when (and decent-notes--here
             (or (derived-mode-p 'text-mode) (decent-notes--link-at-point)))
    'decent-notes))

(cl-defmethod xref-backend-identifier-at-point ((_backend (eql 'decent-notes)))
  "What the link at point names."
  (when-let ((link (decent-notes--link-at-point)))
    (propertize (plist-get link :target) 'decent-notes-link link)))

(cl-defmethod xref-backend-identifier-completion-table ((_backend (eql 'decent-notes)))
  "The titles and aliases of all notes."
  (decent-notes--completion-table "link" (make-hash-table :test #'equal)))

(cl-defmethod xref-backend-definitions ((_backend (eql 'decent-notes)) identifier)
  "The notes that IDENTIFIER may mean."
  (let ((heading (plist-get (decent-notes--link-of identifier) :heading)))
    (mapcar (lambda (summary)
              (xref-make (decent-notes--title-of summary)
                         (decent-notes--make-location :summary summary :heading heading)))
            (decent-notes--meant identifier))))

(cl-defmethod xref-backend-references ((_backend (eql 'decent-notes)) identifier)
  "The links to the notes that IDENTIFIER may mean."
  (seq-mapcat (lambda (summary) (decent-notes--links-to (plist-get summary :id)))
              (decent-notes--meant identifier)))

(defun decent-notes--link-of (identifier)
  "The link in a text of which IDENTIFIER is the name, if it is of one."
  (get-text-property 0 'decent-notes-link identifier))

(defun decent-notes--meant (identifier)
  "The summaries of the notes that IDENTIFIER may mean."
  (if-let ((id (plist-get (decent-notes--link-of identifier) :id)))
      (list (decent-notes--summary id))
    (append (plist-get (decent-notes--call 'notebook/resolve
                                           (list :text (substring-no-properties identifier)))
                       :candidates)
            nil)))

(defun decent-notes-follow-link ()
  "Open the note that the link at point leads to."
  (interactive)
  (let ((xref-prompt-for-identifier nil)) (call-interactively #'xref-find-definitions)))

(defun decent-notes--follow-known-link ()
  "Follow the link at point, if it leads to a note; else return nil.
For `org-open-at-point-functions'."
  (when (plist-get (decent-notes--link-at-point) :id)
    (decent-notes-follow-link)
    t))
(add-hook 'org-open-at-point-functions #'decent-notes--follow-known-link)

(defun decent-notes--in-brackets-p ()
  "Return non-nil if point is in something like a link to a note."
  (let ((place (point)) found)
    (save-match-data
      (save-excursion
        (beginning-of-line)
        (while (and (not found)
                    (re-search-forward "\\[\\[[^][\n]+\\]\\]" (line-end-position) t))
          (setq found (and (<= (match-beginning 0) place) (< place (match-end 0)))))))
    found))

(define-key decent-notes-note-mode-map [remap markdown-follow-thing-at-point]
  '(menu-item "" decent-notes-follow-link
              :filter (lambda (command) (and (decent-notes--in-brackets-p) command))))

;;; Links that lead here

(defun decent-notes--links-to (id)
  "The links that lead to the note ID, as items of xref."
  (let* ((found (append (plist-get (decent-notes--call 'note/backlinks
                                                       (list :id id :limit
                                                             decent-notes--most-matches))
                                   :backlinks)
                        nil))
         (texts (decent-notes--texts (mapcar (lambda (it) (plist-get it :note)) found))))
    (seq-mapcat
     (lambda (it)
       (let* ((summary (plist-get it :note))
              (lines (vconcat (split-string (gethash (plist-get summary :id) texts "") "\n")))
              (ranges (append (plist-get it :ranges) nil)))
         (mapcar (lambda (range)
                   (let* ((start (plist-get range :start)) (line (plist-get start :line)))
                     (xref-make (or (and ranges (ignore-errors (aref lines line)))
                                    (plist-get it :context))
                                (decent-notes--make-location
                                 :summary summary :line line
                                 :character (plist-get start :character)))))
                 ;; Of a link in the header of a file the text has no place.
                 (or ranges '((:start (:line 0 :character 0)))))))
     found)))

;;;###autoload
(defun decent-notes-backlinks (id)
  "List the links that lead to the note ID, with the lines that they stand in.
Interactively it is the note of this buffer, or of this line of the list, else
one that you are asked for."
  (interactive (list (plist-get (decent-notes--this) :id)))
  (let ((links (decent-notes--links-to id)))
    (unless links (user-error "No note links to this one"))
    (funcall xref-show-xrefs-function (lambda () links)
             (list (cons 'window (selected-window)) (cons 'display-action nil)))))

;;; Completion

(defun decent-notes--completion-table (kind targets)
  "A completion table of names of KIND, \"link\" or \"tag\".
Of each name, what is to stand in a link is put into the hash table TARGETS."
  (completion-table-case-fold
   (completion-table-dynamic
    (lambda (prefix)
      (mapcar (lambda (it)
                (let* ((label (plist-get it :label))
                       (target (or (plist-get it :target) label))
                       (name (if (equal label target) label
                               ;; Perhaps two notes have it.
                               (format "%s <%s>" label (substring (plist-get it :id) 0 8)))))
                  (puthash name target targets)
                  name))
              (plist-get (decent-notes--call 'notebook/complete
                                             (list :prefix prefix :kind kind :limit 100))
                         :results))))))

(defun decent-notes--completion-start ()
  "Where the name that is completed at point begins, and its kind, as a cons.
Nil where none is: neither behind \"[[\", nor in a word that begins with \"#\"."
  (when (and decent-notes--here decent-notes-complete-links)
    (save-match-data
      (let ((line (line-beginning-position)))
        (cond ((looking-back "\\[\\[\\([^][|#\n]*\\)" line) (cons (match-beginning 1) "link"))
              ((looking-back "\\(?:^\\|[ \t]\\)#\\([^# \t\n]*\\)" line)
               (cons (match-beginning 1) "tag")))))))

(defun decent-notes--complete-at-point ()
  "Complete a name behind \"[[\", or a tag behind a \"#\" that begins a word.
For `completion-at-point-functions'."
  (pcase-let ((targets (make-hash-table :test #'equal))
              (`(,start . ,kind) (decent-notes--completion-start)))
    (when start
      (append
       (list start (point) (decent-notes--completion-table kind targets) :exclusive 'no)
       (when (equal kind "link")
         (list :exit-function
               (lambda (name status)
                 (when (eq status 'finished)
                   (decent-notes--finish-link name (gethash name targets))))))))))

;; Text modes have other commands on the keys of completion.
(dolist (command '(ispell-complete-word flyspell-auto-correct-word))
  (define-key decent-notes-note-mode-map (vector 'remap command)
    '(menu-item "" completion-at-point
                :filter (lambda (command) (and (decent-notes--completion-start) command)))))

(defun decent-notes--finish-link (name target)
  "Put TARGET in the place of NAME before point, and close the link."
  (when target
    (unless (equal name target)
      (delete-char (- (length name)))
      (insert target))
    (if (looking-at-p "\\]\\]") (forward-char 2) (insert "]]"))))

(defun decent-notes--prepare-links ()
  "Have links followed and completed in this buffer, of a note."
  (add-hook 'xref-backend-functions #'decent-notes--xref-backend nil t)
  (add-hook 'completion-at-point-functions #'decent-notes--complete-at-point nil t))
(add-hook 'decent-notes--prepare-functions #'decent-notes--prepare-links)

(provide 'decent-notes-links)
;;; decent-notes-links.el ends here
