;;; decent-notes-files-tests.el --- Tests of decent-notes-files.el  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Files in and out, notes that are forgotten for good, and very long messages.

;;; Code:

(require 'decent-notes-tests)

(defmacro decent-notes-files-tests-in (folder &rest body)
  "Evaluate BODY with FOLDER bound to a new folder, and without a list."
  (declare (indent 1) (debug t))
  `(let ((,folder (file-name-as-directory (make-temp-file "decent-notes-files" t))))
     (unwind-protect
         (save-window-excursion ,@body)
       (delete-directory ,folder t)
       (when (get-buffer "*decent-notes*") (kill-buffer "*decent-notes*"))
       (decent-notes-files-tests-clear))))

(defun decent-notes-files-tests-clear ()
  "Have the other process forget all notes."
  (dolist (trashed '(:json-false t))
    (seq-doseq (note (plist-get (decent-notes-tests-other 'notebook/list :trashed trashed) :notes))
      (let ((id (plist-get note :id)))
        (unless (eq trashed t) (decent-notes-tests-other 'note/delete :id id))
        (decent-notes-tests-other 'note/purge :id id)))))

(defun decent-notes-files-tests-write (text file)
  "Write TEXT to FILE, and make its folder."
  (make-directory (file-name-directory file) t)
  (let ((coding-system-for-write 'utf-8-unix)) (write-region text nil file nil 'quiet)))

(defun decent-notes-files-tests-column (column)
  "What COLUMN of the list has, from the top."
  (mapcar (lambda (entry) (aref (cadr entry) column)) (decent-notes--entries)))

(defun decent-notes-files-tests-last-message ()
  "What the user was told last."
  (with-current-buffer (messages-buffer)
    (goto-char (point-max))
    (forward-line -1)
    (buffer-substring (point) (line-end-position))))

(decent-notes-tests-deftest folders-come-and-go
    "A folder is imported, and exported; what is left out is listed with the reason."
  (decent-notes-files-tests-in folder
    (decent-notes-files-tests-write "first\n" (concat folder "in/one.md"))
    (decent-notes-files-tests-write "2" (concat folder "in/sub/two.txt"))
    (decent-notes-files-tests-write "a\0b" (concat folder "in/bad.md"))
    (decent-notes)
    (decent-notes-import (concat folder "in"))
    (should (equal (decent-notes-files-tests-last-message) "2 created; 1 left out"))
    (with-current-buffer "*decent-notes skipped*"
      (should (string-search (concat folder "in/bad.md:1: there is U+0000") (buffer-string))))
    (decent-notes-tests-until (equal (decent-notes-files-tests-column 0) '("one" "two")))
    (should (equal (decent-notes-files-tests-column 4) '("one.md" "sub/two.txt")))
    (let ((buffer (decent-notes-open "one")))
      (with-current-buffer buffer
        (should (string-search "one.md" (decent-notes--path-words)))
        (decent-notes-path)
        (should (equal (decent-notes-files-tests-last-message) "one.md"))
        (insert "the ")
        (decent-notes-tests-agree)
        (decent-notes-export (concat folder "in"))
        (should (equal (decent-notes-files-tests-last-message) "1 written, 1 unchanged")))
      (kill-buffer buffer))
    (with-temp-buffer
      (insert-file-contents (concat folder "in/one.md"))
      (should (equal (buffer-string) "the first\n")))
    ;; A folder with other files.
    (decent-notes-files-tests-write "mine" (concat folder "theirs/x"))
    (let (asked)
      (cl-letf (((symbol-function 'yes-or-no-p) (lambda (question) (push question asked) nil)))
        (should-error (decent-notes-export (concat folder "theirs")) :type 'user-error)
        (should-not (file-exists-p (concat folder "theirs/one.md"))))
      (cl-letf (((symbol-function 'yes-or-no-p) (lambda (question) (push question asked) t)))
        (decent-notes-export (concat folder "theirs"))
        (should (file-exists-p (concat folder "theirs/one.md"))))
      (should (equal 2 (length asked))))
    (should-error (decent-notes-import (concat folder "nowhere")) :type 'user-error)))

(decent-notes-tests-deftest imports-are-given-up
    "A quit gives up an import; what was done by then stays, and Emacs goes on."
  (decent-notes-files-tests-in folder
    (dotimes (i 4000)
      (decent-notes-files-tests-write (format "%d\n" i) (format "%s%02d/%d.md" folder (/ i 100) i)))
    (decent-notes)
    (let (quit-soon)
      (setq quit-soon (lambda (&rest _)
                        (when decent-notes--progress
                          (advice-remove 'decent-notes--on-progress quit-soon)
                          (setq quit-flag t))))
      (advice-add 'decent-notes--on-progress :after quit-soon)
      (unwind-protect
          (should (string-search "Given up"
                                 (cadr (should-error (decent-notes-import folder)
                                                     :type 'user-error))))
        (advice-remove 'decent-notes--on-progress quit-soon)))
    (let ((count (length (plist-get (decent-notes--call 'notebook/list nil) :notes))))
      (should (< 0 count 4000))
      (with-current-buffer "*decent-notes*"
        (decent-notes-tests-until
         (progn (decent-notes--catch-up)
                (= count (count-lines (point-min) (point-max)))))))))

(decent-notes-tests-deftest notes-are-forgotten-from-the-trash
    "Notes are forgotten from the trash only, after a question; the list shows what is so then."
  (decent-notes-files-tests-in _folder
    (let ((ids (mapcar (lambda (title)
                         (plist-get (plist-get (decent-notes-tests-other 'note/create :title title)
                                               :note)
                                    :id))
                       '("F" "E" "D" "C" "B" "A")))
          (answer nil) (during #'ignore) asked)
      (cl-letf (((symbol-function 'yes-or-no-p)
                 (lambda (question) (push question asked) (funcall during) answer)))
        (decent-notes)
        (goto-char (point-min))
        (should-error (decent-notes-purge) :type 'user-error)
        (should-not asked)
        (dolist (id ids) (decent-notes-tests-other 'note/delete :id id))
        (decent-notes-list-toggle-trash)
        (should (equal (decent-notes-files-tests-column 0) '("A" "B" "C" "D" "E" "F")))
        (goto-char (point-min))
        (decent-notes-purge)
        (should (equal asked '("Forget A for good, on all machines? ")))
        (should (equal (length (decent-notes--entries)) 6))
        (setq answer t)
        (decent-notes-purge)
        (should (equal (decent-notes-files-tests-column 0) '("B" "C" "D" "E" "F")))
        (should (equal (decent-notes-files-tests-last-message) "The note is forgotten for good"))
        ;; Those of the region.
        (goto-char (point-min))
        (let ((transient-mark-mode t))
          (push-mark (point) t t)
          (forward-line 2)
          (decent-notes-purge))
        (should (equal (car asked) "Forget 2 notes, B and C for good, on all machines? "))
        (should (equal (decent-notes-files-tests-column 0) '("D" "E" "F")))
        ;; Others restore one during the question, and forget one.
        (goto-char (point-min))
        (setq during (lambda () (decent-notes-tests-other 'note/restore :id (nth 2 ids))))
        (decent-notes-purge)
        (should (equal (decent-notes-files-tests-last-message)
                       "The note is not in the trash any more"))
        (should (equal (decent-notes-files-tests-column 0) '("E" "F")))
        (goto-char (point-min))
        (setq during (lambda () (decent-notes-tests-other 'note/purge :id (nth 1 ids))))
        (decent-notes-purge)
        (should (equal (decent-notes-files-tests-last-message) "The note is forgotten by others"))
        (should (equal (decent-notes-files-tests-column 0) '("F")))))))

(decent-notes-tests-deftest thousands-are-forgotten-at-once
    "A trash of thousands is emptied with some requests at once, and the list is read once."
  (decent-notes-files-tests-in folder
    ;; An export of Simplenote makes them by one request.
    (decent-notes-files-tests-write
     (format "{\"activeNotes\": [], \"trashedNotes\": [%s]}"
             (mapconcat (lambda (i) (format "{\"content\": \"N%d\"}" i)) (number-sequence 1 3000) ","))
     (concat folder "notes.json"))
    (decent-notes-tests-other 'notebook/import :path (concat folder "notes.json"))
    (let ((under-way 0) (most 0) (reads 0) asked)
      (cl-letf* ((request (symbol-function 'decent-notes--request))
                 (load (symbol-function 'decent-notes--load))
                 ((symbol-function 'yes-or-no-p) (lambda (question) (push question asked) t))
                 ((symbol-function 'decent-notes--load)
                  (lambda (&rest args) (cl-incf reads) (apply load args)))
                 ((symbol-function 'decent-notes--request)
                  (lambda (method params &optional success failure)
                    (if (not (eq method 'note/purge)) (funcall request method params success failure)
                      (setq most (max most (cl-incf under-way)))
                      (funcall request method params
                               (lambda (result) (cl-decf under-way) (funcall success result))
                               failure)))))
        (decent-notes)
        (decent-notes-list-toggle-trash)
        (decent-notes-tests-until (not (or decent-notes--loading decent-notes--stale)))
        (setq reads 0)
        (decent-notes-empty-trash)
        (should (string-search "Its 3000 notes" (car asked)))
        (should (equal (decent-notes-files-tests-last-message) "3000 forgotten for good"))
        (should (equal (buffer-string) ""))
        (should (equal most decent-notes--some))
        (should (equal reads 1))
        (should-error (decent-notes-empty-trash) :type 'user-error)))))

(decent-notes-tests-deftest forgotten-buffers
    "The buffer of a note that is forgotten says so, keeps its text, and can be written to a file."
  (decent-notes-files-tests-in folder
    (let* ((process-environment (cons (concat "XDG_STATE_HOME=" folder "state") process-environment))
           (buffer (decent-notes-tests-open "precious\n"))
           (id (decent-notes--note-id decent-notes--here)))
      (switch-to-buffer buffer)
      (decent-notes-tests-other 'note/delete :id id)
      (decent-notes-tests-other 'note/purge :id id)
      (decent-notes-tests-until (equal (decent-notes-status) "forgotten"))
      (should (string-search "was forgotten for good" (decent-notes-tests-messages)))
      (should (equal (buffer-string) "precious\n"))
      (should-not (buffer-modified-p))
      (should-error (insert "x") :type 'buffer-read-only)
      (should-error (decent-notes-save) :type 'user-error)
      (should-error (revert-buffer) :type 'user-error)
      (write-file (concat folder "kept"))
      (goto-char (point-max))
      (insert "more\n")
      (save-buffer)
      (should-not decent-notes-note-mode)
      (kill-buffer)
      (should-not (file-directory-p (concat folder "state/decent-notes/unsent")))
      ;; What was typed while the process did not run is in a file, too, if it was not taken.
      (setq buffer (decent-notes-tests-open "old")
            id (decent-notes--note-id decent-notes--here))
      (switch-to-buffer buffer)
      (decent-notes-tests-agree)
      (signal-process decent-notes--process 'STOP)
      (goto-char (point-max))
      (insert " and new")
      (decent-notes-tests-other 'note/delete :id id)
      (decent-notes-tests-other 'note/purge :id id)
      (signal-process decent-notes--process 'KILL)
      (decent-notes-tests-until (equal (decent-notes-status) "forgotten"))
      (should (equal (buffer-string) "old and new"))
      (let ((files (directory-files (concat folder "state/decent-notes/unsent") t "txt\\'")))
        (should (equal 1 (length files)))
        (with-temp-buffer
          (insert-file-contents (car files))
          (should (equal (buffer-string) "old and new"))))
      (kill-buffer buffer))))

(decent-notes-tests-deftest long-messages
    "A note of 40 MB is opened, and changed."
  (decent-notes-files-tests-in _folder
    (let* ((id (plist-get (plist-get (decent-notes-tests-other 'note/create :title "Long") :note) :id))
           (part (apply #'concat (make-list 160000 "fifty bytes, of which é and ✓ are five in each..\n")))
           (count (* 5 (length part)))
           buffer)
      ;; Messages, as who runs the tests may take long silence for the end.
      (dotimes (i 5)
        (decent-notes-tests-other 'note/append :id id :text part)
        (message "part %d of the text is there" (1+ i)))
      (setq buffer (decent-notes-open id))
      (message "the note is open")
      (with-current-buffer buffer
        (should (= (buffer-size) count))
        (goto-char (point-max))
        (insert "the end")
        (decent-notes-tests-until (progn (decent-notes--pause)
                                         (decent-notes--settled-p decent-notes--here)))
        (message "the change is answered")
        ;; To read the text there would take as long again.
        (should (equal (mapcar (lambda (note) (plist-get note :length))
                               (plist-get (decent-notes-tests-other 'notebook/list) :notes))
                       (list (position-bytes (buffer-size))))))
      (kill-buffer buffer))))

(decent-notes-tests-deftest broken-programs
    "A program that is none of ours is given up, and the user is told why."
  (dolist (script '("tr '\\0' a </dev/zero" "read line; echo 'Hello, who is there?'; exec cat >/dev/null"
                    "yes 'Header: line'" "printf 'Content-Length: 99999999999\\r\\n\\r\\n{'; exec sleep 100"))
    (decent-notes--stop)
    (let ((decent-notes-program (list "sh" "-c" script)))
      (dotimes (_ 2)
        (should (string-search "does not speak the protocol: "
                               (cadr (should-error (decent-notes) :type 'user-error))))
        (should-not decent-notes--connection)))))

(provide 'decent-notes-files-tests)
;;; decent-notes-files-tests.el ends here
