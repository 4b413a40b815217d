;;; decent-notes-commands-tests.el --- Tests of the commands about notes  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; History, matches, bookmarks, the desktop, names of files, capturing, messages.

;;; Code:

(require 'decent-notes-tests)
(require 'desktop)
(require 'org-capture)

(decent-notes-tests-deftest old-texts-of-open-notes
    "An old text comes back to an open note as a change that can be undone."
  (decent-notes-tests-with "one\n"
    (let ((note (current-buffer)))
      (goto-char (point-max))
      (insert "two\n")
      (decent-notes-tests-agree)
      (decent-notes-history)
      (should (string-match-p "\\`[-0-9]+ [0-9]+:[0-9]+:[0-9]+\\'" (aref (tabulated-list-get-entry) 0)))
      (goto-char (point-max))
      (forward-line -1)
      (cl-letf (((symbol-function 'y-or-n-p) #'always)) (decent-notes-history-restore))
      (should (eq note (current-buffer)))
      (should (equal (buffer-string) "one\n"))
      (decent-notes-tests-agree)
      (decent-notes-undo)
      (decent-notes-tests-until (equal (buffer-string) "one\ntwo\n")))))

(decent-notes-tests-deftest old-texts-of-closed-notes
    "An old text comes back to a note that is not open, and what others do meanwhile is kept."
  (let (id)
    (decent-notes-tests-with "one\n"
      (setq id (decent-notes--note-id decent-notes--here))
      (goto-char (point-max))
      (insert "two\n")
      (decent-notes-tests-agree))
    (cl-letf (((symbol-function 'decent-notes--this) (lambda () (decent-notes--summary id)))
              ((symbol-function 'y-or-n-p)
               (lambda (_prompt)
                 (decent-notes-tests-other 'note/setText :id id :text "0\none\ntwo\n")
                 (decent-notes-tests-until
                  (equal "0\none\ntwo\n"
                         (plist-get (decent-notes--call 'note/get (list :id id)) :text)))
                 t)))
      (decent-notes-history)
      (goto-char (point-max))
      (forward-line -1)
      (decent-notes-history-restore))
    (kill-buffer)
    (decent-notes-tests-until
     (equal "0\none\n" (plist-get (decent-notes-tests-other 'note/get :id id) :text)))))

(decent-notes-tests-deftest old-texts-that-are-shown
    "From an old text `q' leads back to the history, and `r' brings the text back, in any mode."
  (dolist (title '("old.org" "old.txt"))
    (let ((note (decent-notes-tests-open "* one\n" title)) history)
      (save-window-excursion
        (switch-to-buffer note)
        (goto-char (point-max))
        (insert "two\n")
        (decent-notes-tests-agree)
        (decent-notes-history)
        (setq history (current-buffer))
        (goto-char (point-max))
        (forward-line -1)
        (dotimes (_ 2) ; also when the buffer is there
          (execute-kbd-macro (kbd "RET"))
          (should (equal (buffer-string) "* one\n"))
          (should-not (eq (current-buffer) note))
          (execute-kbd-macro "q")
          (should (eq (current-buffer) history)))
        (execute-kbd-macro (kbd "RET"))
        (cl-letf (((symbol-function 'y-or-n-p) #'always)) (execute-kbd-macro "r"))
        (should (eq (window-buffer) note))
        (set-buffer note)
        (should (equal (buffer-string) "* one\n"))
        (decent-notes-tests-agree)
        ;; The same if the note is not open; asked for twice it does nothing more.
        (insert "three\n")
        (decent-notes-tests-agree)
        (let ((id (decent-notes--note-id decent-notes--here)))
          (kill-buffer note)
          (switch-to-buffer history)
          (revert-buffer)
          (goto-char (point-max))
          (forward-line -1)
          (dotimes (_ 2)
            (execute-kbd-macro (kbd "RET"))
            (cl-letf (((symbol-function 'y-or-n-p) #'always)) (execute-kbd-macro "r"))
            (should (eq (window-buffer) history))
            (decent-notes-tests-until
             (equal "* one\n" (plist-get (decent-notes-tests-other 'note/get :id id) :text)))))
        (kill-buffer history)))))

(decent-notes-tests-deftest matches
    "Each line with matches is once in the list; `next-error' and `previous-error' visit it."
  (save-window-excursion
    (let ((ids (mapcar (lambda (text)
                         (plist-get (plist-get (decent-notes-tests-other
                                                'note/create :title "Has it" :text text)
                                               :note)
                                    :id))
                       '("first\na néedle, a needle\n\nneedle" "no\n\n  Needle"))))
      (decent-notes-tests-until
       (= 2 (length (plist-get (decent-notes--call 'notebook/search '(:query "needle"))
                               :matches))))
      (decent-notes-grep "needle")
      (should (equal (buffer-string) "Has it:3:   Needle
Has it:2: a néedle, a needle
Has it:4: needle
"))
      (let (marked)
        (goto-char (point-min))
        (while (text-property-search-forward 'face 'match t)
          (push (line-number-at-pos) marked))
        (should (equal '(1 2 2 3) (reverse marked))))
      (goto-char (point-min))
      (let ((places (list (list (nth 1 ids) 3 2) (list (nth 0 ids) 2 2) (list (nth 0 ids) 4 0)))
            (where (lambda ()
                     (with-current-buffer (window-buffer)
                       (list (decent-notes--note-id decent-notes--here) (line-number-at-pos)
                             (current-column))))))
        (dolist (place places)
          (next-error)
          (should (equal place (funcall where))))
        (should-error (next-error) :type 'user-error)
        (previous-error 2)
        (should (equal (car places) (funcall where)))
        (next-error 1 t)
        (should (equal (car places) (funcall where))))
      (decent-notes-grep "no note has this")
      (should-error (next-error) :type 'user-error)
      (kill-buffer)
      (dolist (id ids)
        (kill-buffer (decent-notes--note-buffer (decent-notes--find-note #'decent-notes--note-id id)))
        (decent-notes-tests-other 'note/delete :id id)))))

(decent-notes-tests-deftest trash-and-today
    "Commands put the note of the buffer into the trash, and open that of the day."
  (decent-notes-tests-with "to go"
    (decent-notes-delete)
    (decent-notes-tests-until (decent-notes--note-trashed-p decent-notes--here))
    (insert "or not ")
    (decent-notes-tests-until (not (decent-notes--note-trashed-p decent-notes--here))))
  (let (buffers)
    (unwind-protect
        (save-window-excursion
          (dotimes (_ 2)
            (decent-notes-today)
            (cl-pushnew (current-buffer) buffers)
            (should (equal (decent-notes--note-title decent-notes--here)
                           (format-time-string "%Y-%m-%d")))))
      (should (= 1 (length buffers)))
      (mapc #'kill-buffer buffers))))

(decent-notes-tests-deftest bookmarks
    "A bookmark of a note opens it with point where it was, wherever that is now."
  (let (bookmark)
    (decent-notes-tests-with "one\ntwo\nthree\nand so on and on\n"
      (search-forward "two")
      (setq bookmark (bookmark-make-record))
      (decent-notes-tests-replace "one" "zero\none"))
    (should (equal (car bookmark) "A note"))
    (save-window-excursion
      (bookmark-jump bookmark #'switch-to-buffer)
      (should (equal (buffer-substring 1 (point)) "zero\none\ntwo"))
      (decent-notes-tests-agree)
      (kill-buffer))))

(decent-notes-tests-deftest desktops
    "The desktop brings back the open notes with point."
  (let ((folder (make-temp-file "decent-notes-tests" t)) id
        (desktop-save-hook '(decent-notes--save-desktop))
        (desktop-restore-frames nil)
        (inhibit-message t))
    (decent-notes-tests-with "one\ntwo\nthree\n"
      (setq id (decent-notes--note-id decent-notes--here))
      (search-forward "two")
      (desktop-save folder t))
    (should-not (decent-notes--find-note #'decent-notes--note-id id))
    (save-window-excursion
      (load (expand-file-name desktop-base-file-name folder) nil t)
      (with-current-buffer (decent-notes--note-buffer (decent-notes--find-note #'decent-notes--note-id id))
        (should (looking-back "two" 1))
        (kill-buffer)))
    (delete-directory folder t)))

(defun decent-notes-commands-tests-desktop ()
  "The bookmarks that a desktop would have now."
  (with-temp-buffer
    (decent-notes--save-desktop)
    (goto-char (point-min))
    (when (search-forward "restore-desktop '" nil t) (read (current-buffer)))))

(defmacro decent-notes-commands-tests-bad-start (&rest body)
  "Evaluate BODY with the bookmarks of a desktop of three notes, none of them open.
One has been removed for good."
  (declare (indent 0) (debug t))
  `(let* ((decent-notes--unrestored nil)
          (buffers (mapcar (lambda (title) (decent-notes-tests-open "one\n" title))
                           '("First" "Gone" "Last")))
          (bookmarks (progn (mapc (lambda (buffer) (with-current-buffer buffer (forward-char 2)))
                                  buffers)
                            (decent-notes-commands-tests-desktop))))
     (bookmark-prop-set (nth 1 bookmarks) 'note (concat "1-" (make-string 32 ?0)))
     (mapc #'kill-buffer buffers)
     (save-window-excursion ,@body)))

(decent-notes-tests-deftest desktops-after-bad-starts
    "Notes that a desktop could not open are in the next one; the rest is not tried in vain."
  (decent-notes-commands-tests-bad-start
    (should (equal (mapcar #'car bookmarks) '("First" "Gone" "Last")))
    (let ((tried 0) (call (symbol-function 'decent-notes--call)))
      (cl-letf (((symbol-function 'decent-notes--call)
                 (lambda (&rest arguments) (cl-incf tried) (apply call arguments))))
        (decent-notes--stop)
        (let ((decent-notes-program "decent-notes-not-on-the-path"))
          (decent-notes--restore-desktop bookmarks)
          (should (equal bookmarks (decent-notes-commands-tests-desktop)))
          (should (= tried 1))
          (should (string-match-p "^Decent Notes: notes not restored, but still in the desktop: 3; "
                                  (decent-notes-tests-messages)))))
      ;; The user does not want to wait.
      (cl-letf (((symbol-function 'decent-notes--ensure) (lambda () (signal 'quit nil))))
        (decent-notes--restore-desktop bookmarks))
      (should (equal bookmarks (decent-notes-commands-tests-desktop))))
    (decent-notes--restore-desktop bookmarks)
    (should (equal '("First" "Last") (mapcar #'car (decent-notes-commands-tests-desktop))))
    (should-not decent-notes--unrestored)
    (dolist (name '("First" "Last"))
      (with-current-buffer name
        (should (= (point) 3))
        (kill-buffer)))
    (should-not (decent-notes-commands-tests-desktop))))

(decent-notes-tests-deftest names-of-files
    "`find-file' with the address of a note opens the note, and no file is made."
  (decent-notes-tests-with "one\n"
    (let ((id (decent-notes--note-id decent-notes--here)) (note (current-buffer)))
      (switch-to-buffer "*scratch*")
      (dolist (name '("note://%s" "note://%s/Any title" "~/note://%s" "/tmp/note://%s/A note"))
        (let ((name (format name id)))
          (should (eq note (find-file (substitute-in-file-name name))))
          (should (eq note (find-file-noselect name)))
          (should-not buffer-file-name)))
      (should-error (find-file (concat "note://1-" (make-string 32 ?0))) :type 'user-error)
      (should-error (find-file "/tmp/note://1-0") :type 'user-error)
      (should-not (seq-find (lambda (buffer)
                              (string-search "note:" (or (buffer-file-name buffer) "")))
                            (buffer-list)))
      (switch-to-buffer note))))

(decent-notes-tests-deftest capturing
    "A note is made of the region, or an empty one, from anywhere."
  (save-window-excursion
    (with-temp-buffer
      (insert "Read this\nand that\n")
      (cl-letf (((symbol-function 'read-string)
                 (lambda (_prompt &optional _initial _history default) default))
                ((symbol-function 'use-region-p) #'always))
        (set-mark 1)
        (call-interactively #'decent-notes-capture)))
    (set-buffer (window-buffer))
    (should (equal (buffer-name) "Read this"))
    (should (equal (buffer-string) "Read this\nand that\n"))
    (decent-notes-tests-agree)
    (kill-buffer)
    (decent-notes-capture "Quick")
    (insert "typed")
    (decent-notes-tests-agree)
    (kill-buffer)))

(decent-notes-tests-deftest org-templates
    "A template of `org-capture' writes into a note."
  (save-window-excursion
    (let ((org-capture-templates
           '(("n" "Note" entry (function (lambda () (decent-notes-capture-at-end "inbox.org")))
              "* %?\n")))
          (bookmark-default-file (make-temp-name (concat temporary-file-directory "decent-notes-tests")))
          (bookmark-save-flag nil)
          (org-capture-bookmark t)
          buffer)
      (dolist (entry '("Buy milk" "Call Ann"))
        (org-capture nil "n")
        (insert entry)
        (org-capture-finalize))
      (setq buffer (get-buffer "inbox.org"))
      (with-current-buffer buffer
        (should (equal (buffer-string) "* Buy milk\n* Call Ann\n"))
        (decent-notes-tests-agree)
        (kill-buffer)))))

(decent-notes-tests-deftest full-disks
    "Of a full disk the cause is told within 80 columns, however long the path is."
  (decent-notes-tests-with "one\n"
    (let ((request (symbol-function 'decent-notes--request))
          (problem (list :code -32803
                         :message (format "write /home/%s/journal: No space left on device"
                                          (make-string 100 ?x))
                         :data '(:reason "diskFull"))))
      (cl-letf (((symbol-function 'decent-notes--request)
                 (lambda (method params &optional success failure)
                   (if (eq method 'note/change) (funcall failure problem)
                     (funcall request method params success failure)))))
        (insert "zero\n")
        (decent-notes--send-pending decent-notes--here)
        (should (string-match-p "^Decent Notes: No space left on device (write /home"
                                (decent-notes-tests-messages)))
        (let ((told (cadr (should-error (decent-notes-save) :type 'user-error))))
          (should (string-search "No space left on device" (substring told 0 79)))))
      (insert "more\n")
      (decent-notes-tests-agree))))

(decent-notes-tests-deftest full-disks-are-told-once
    "Of a full disk one message tells, though each names another file."
  (decent-notes-tests-with "one\n"
    (let ((request (symbol-function 'decent-notes--request))
          (told (lambda () (length (split-string (decent-notes-tests-messages) "temporary-"))))
          (count 0) before)
      (setq before (funcall told))
      (cl-letf (((symbol-function 'decent-notes--request)
                 (lambda (method params &optional success failure)
                   (if (eq method 'note/change)
                       (funcall failure
                                (list :code -32803 :data '(:reason "diskFull")
                                      :message (format "write /temporary-%d: No space left on device"
                                                       (cl-incf count))))
                     (funcall request method params success failure)))))
        (dotimes (_ 5)
          (insert "x")
          (decent-notes--send-pending decent-notes--here))
        (should (>= count 5))
        (should (= (funcall told) (1+ before)))
        ;; The message that the user asks for is that of the last time.
        (let ((told (cadr (should-error (decent-notes-save) :type 'user-error))))
          (should (string-search (format "temporary-%d" count) told))))
      (insert "more\n")
      (decent-notes-tests-agree))))

(provide 'decent-notes-commands-tests)
;;; decent-notes-commands-tests.el ends here
