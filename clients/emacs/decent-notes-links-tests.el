;;; decent-notes-links-tests.el --- Tests of links between notes  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Links followed, listed and completed.

;;; Code:

(require 'decent-notes-tests)

(defun decent-notes-links-tests-note (title text)
  "Have the other process make a note with TITLE and TEXT; return its id."
  (let ((id (plist-get (plist-get (decent-notes-tests-other 'note/create :title title :text text)
                                  :note)
                       :id)))
    (decent-notes-tests-until (ignore-errors (decent-notes--summary id)))
    id))

(defun decent-notes-links-tests-follow ()
  "Do what `M-.' does."
  (let ((this-command 'xref-find-definitions)) (call-interactively this-command)))

(defmacro decent-notes-links-tests-leaving (&rest body)
  "Evaluate BODY, which may open notes, and kill the buffers of these."
  (declare (indent 0) (debug t))
  `(let ((before decent-notes--notes))
     (unwind-protect (save-window-excursion ,@body)
       (dolist (note (seq-difference decent-notes--notes before #'eq))
         (kill-buffer (decent-notes--note-buffer note))))))

(decent-notes-tests-deftest links-are-followed
    "`M-.' opens the note that the link at point leads to, at the heading."
  (decent-notes-links-tests-leaving
    (let ((sea (decent-notes-links-tests-note "Links sea" "# Now\nfish\n## Later #\nsalt")))
      (decent-notes-tests-with "é [[links SEA]] and [[Links sea#later|x]]\n[[links nothing]]\n"
        (let ((buffer (current-buffer)))
          (search-forward "SE")
          (decent-notes-links-tests-follow)
          (should (equal sea (decent-notes--note-id decent-notes--here)))
          (should (= (point) (point-min)))
          (switch-to-buffer buffer)
          (search-forward "|")
          (decent-notes-links-tests-follow)
          (should (equal sea (decent-notes--note-id decent-notes--here)))
          (should (looking-at-p "## Later"))
          (switch-to-buffer buffer)
          (search-forward "noth")
          (should-error (decent-notes-links-tests-follow))
          (should-not (progn (goto-char (point-min)) (decent-notes--link-at-point))))))))

(decent-notes-tests-deftest links-in-org-mode
    "`C-c C-o' in Org mode opens the note that a link leads to, and what Org knows."
  (require 'org)
  (decent-notes-links-tests-leaving
    (let ((lake (decent-notes-links-tests-note "Links lake" "perch\n")))
      (decent-notes-tests-with "* Fish\n[[links lake]]\n[[*Fish]]\n"
        (let ((buffer (current-buffer)))
          (org-mode)
          (search-forward "links l")
          (call-interactively (key-binding (kbd "C-c C-o")))
          (should (equal lake (decent-notes--note-id decent-notes--here)))
          (switch-to-buffer buffer)
          (goto-char (point-max))
          (search-backward "*Fish")
          (call-interactively (key-binding (kbd "C-c C-o")))
          (should (eq (current-buffer) buffer))
          (should (= (point) (point-min))))))))

(decent-notes-tests-deftest completing-by-the-key
    "`C-M-i' completes titles and tags in text modes, where it corrects words otherwise."
  (decent-notes-links-tests-note "Links completed" "")
  (decent-notes-tests-with "a word [[Links compl"
    (text-mode)
    (goto-char (point-max))
    (should (eq (key-binding (kbd "C-M-i")) #'completion-at-point))
    (call-interactively (key-binding (kbd "C-M-i")))
    (should (equal (buffer-string) "a word [[Links completed]]"))
    (search-backward "ord")
    (should (eq (key-binding (kbd "C-M-i")) #'ispell-complete-word))
    (let (decent-notes-complete-links)
      (goto-char (point-max))
      (should (eq (key-binding (kbd "C-M-i")) #'ispell-complete-word)))))

(decent-notes-tests-deftest notes-opened-from-afar
    "Commands of a note that was opened from a buffer of another machine begin at home."
  (with-temp-buffer
    (setq default-directory "/ssh:nowhere.invalid:/tmp/")
    (decent-notes-tests-with "text"
      (should (equal default-directory (expand-file-name "~/"))))))

(decent-notes-tests-deftest links-that-may-mean-several
    "Where several notes may be meant, xref has all of them."
  (decent-notes-links-tests-note "Links twin" "first")
  (decent-notes-links-tests-note "links twin" "second")
  (decent-notes-tests-with "[[LINKS TWIN]]"
    (goto-char 5)
    (let ((found (xref-backend-definitions 'decent-notes
                                           (xref-backend-identifier-at-point 'decent-notes))))
      (should (equal '("Links twin" "links twin")
                     (sort (mapcar (lambda (item) (xref-location-group (xref-item-location item)))
                                   found)
                           #'string<))))))

(decent-notes-tests-deftest backlinks-are-listed
    "`decent-notes-backlinks' lists the lines of links, and `M-?' those to the one at point."
  (decent-notes-links-tests-leaving
    (let ((target (decent-notes-links-tests-note "Links target" "x")) items)
      (decent-notes-links-tests-note "Links one" "a\nsee [[links target]]")
      (let ((xref-show-xrefs-function (lambda (fetcher _alist) (setq items (funcall fetcher)))))
        (decent-notes-backlinks target)
        (should (equal '("see [[links target]]") (mapcar #'xref-item-summary items)))
        (let ((marker (xref-location-marker (xref-item-location (car items)))))
          (should (= 2 (xref-location-line (xref-item-location (car items)))))
          (with-current-buffer (marker-buffer marker)
            (goto-char marker)
            (should (looking-at-p "\\[\\[links target"))
            (forward-char 3)
            (setq items nil)
            (xref-find-references (xref-backend-identifier-at-point 'decent-notes))
            (should (= 1 (length items)))))
        (should-error (decent-notes-backlinks
                       (decent-notes-links-tests-note "Links to nowhere" ""))
                      :type 'user-error)))))

(decent-notes-tests-deftest a-backlink-in-a-header-is-listed
    "A link in the header of a file is listed at the beginning of its note."
  (decent-notes-links-tests-leaving
    (let ((target (decent-notes-links-tests-note "Headed target" "x"))
          (file (make-temp-file "headed" nil ".md" "---\nup: \"[[Headed target]]\"\n---\ntext\n"))
          items)
      (unwind-protect (decent-notes-tests-other 'notebook/import :path file)
        (delete-file file))
      (let ((xref-show-xrefs-function (lambda (fetcher _alist) (setq items (funcall fetcher)))))
        (decent-notes-backlinks target))
      (should (equal '("up: \"[[Headed target]]\"") (mapcar #'xref-item-summary items)))
      (should (= 1 (xref-location-line (xref-item-location (car items))))))))

(decent-notes-tests-deftest names-are-completed
    "Completion at point knows titles behind \"[[\" and tags behind \"#\"."
  (decent-notes-links-tests-note "Completed by a link" "")
  (let ((twin (decent-notes-links-tests-note "Complete twin" ""))
        (completion-styles '(basic)))
    (decent-notes-links-tests-note "complete twin" "")
    (decent-notes-tests-other 'note/update :id twin :tags ["completed-tag"])
    (decent-notes-tests-until
     (plist-get (decent-notes--summary twin) :tags))
    (decent-notes-tests-with "x\n"
      (goto-char (point-max))
      (insert "[[COMPLETED BY")
      (completion-at-point)
      (should (equal "x\n[[Completed by a link]]" (buffer-string)))
      (insert " #completed-")
      (completion-at-point)
      (should (equal "x\n[[Completed by a link]] #completed-tag" (buffer-string)))
      (insert (format "\n[[Complete twin <%s" (substring twin 0 4)))
      (delete-region (line-beginning-position) (point))
      ;; Two notes have this title: the link gets the id.
      (insert "[[complete tw")
      (pcase-let ((`(,start ,end ,table . ,plist) (decent-notes--complete-at-point)))
        (let* ((names (all-completions (buffer-substring start end) table))
               (name (seq-find (lambda (name) (string-search (substring twin 0 8) name)) names)))
          (should (= 2 (length names)))
          (delete-region start end)
          (insert name)
          (funcall (plist-get plist :exit-function) name 'finished)
          (should (equal (format "[[%s|Complete twin]]" twin)
                         (buffer-substring (line-beginning-position) (point))))))
      ;; Brackets that are there are not doubled.
      (insert "\n[[completed by]]")
      (backward-char 2)
      (completion-at-point)
      (should (equal "[[Completed by a link]]"
                     (buffer-substring (line-beginning-position) (line-end-position))))
      (insert "\nplain")
      (should-not (decent-notes--complete-at-point)))))

(decent-notes-tests-deftest links-follow-a-new-title
    "A new title goes into the links to the note, the user is told into how many, and undo takes it back."
  (let ((sea (decent-notes-links-tests-note "Links tide" "fish")))
    (decent-notes-links-tests-note "Links shore" "[[Links tide]] and [[links tide|x]]")
    (decent-notes-tests-with "see [[Links tide]]\n"
      (with-current-buffer (decent-notes-open sea)
        (decent-notes-title "Links ebb")
        (should (string-search "Renamed; links were changed in 2 notes\n"
                               (decent-notes-tests-messages)))
        (should (equal (buffer-name) "Links ebb")))
      (decent-notes-tests-until (equal (buffer-string) "see [[Links ebb]]\n"))
      (decent-notes-undo)
      (should (equal (buffer-string) "see [[Links tide]]\n"))
      (decent-notes-title "Another title")
      (should (string-search "Renamed; no links were changed\n" (decent-notes-tests-messages)))
      (should (equal (decent-notes--renamed-words
                      '(:updated [1] :ambiguous [1 2] :more :json-false))
                     (concat "Renamed; links were changed in 1 note; "
                             "links in 2 notes may mean another note as well, and stay"))))
    (kill-buffer (decent-notes-open sea))))

(provide 'decent-notes-links-tests)
;;; decent-notes-links-tests.el ends here
