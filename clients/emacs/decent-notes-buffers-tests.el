;;; decent-notes-buffers-tests.el --- Tests of the buffers of notes  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Names, modes and states of buffers, and point in them.

;;; Code:

(require 'decent-notes-tests)

(defun decent-notes-buffers-tests-title (title)
  "Have the other process give the note of this buffer TITLE."
  (decent-notes-tests-other 'note/update :id (decent-notes--note-id decent-notes--here) :title title)
  (decent-notes-tests-until (equal title (decent-notes--note-title decent-notes--here))))

(decent-notes-tests-deftest buffers-are-called-by-titles
    "A buffer has the title of its note as its name, unless Emacs takes such a name for its own."
  (pcase-dolist (`(,title ,name) '(("Plain" "Plain") ("With/slash and é" "With/slash and é")
                                   ("*Help*" "|*Help*") (" hidden" "| hidden")
                                   ("" "(untitled)") ("a\tb" "a b")))
    (let ((buffers (mapcar (lambda (text) (decent-notes-tests-open text title)) '("1" "2"))))
      (should (equal (mapcar #'buffer-name buffers) (list name (concat name "<2>"))))
      (with-current-buffer (cadr buffers)
        (decent-notes-buffers-tests-title "Renamed")
        (should (equal (buffer-name) "Renamed"))
        (decent-notes-buffers-tests-title title)
        (should (equal (buffer-name) (concat name "<2>"))))
      (mapc #'kill-buffer buffers))))

(decent-notes-tests-deftest modes-by-title
    "The title chooses the major mode, as the name of a file does, and a new title another one."
  (pcase-dolist (`(,title ,mode) '(("journal.org" org-mode) ("a script.PY" python-mode)
                                   ("Makefile" makefile-gmake-mode) ("x.conf" conf-unix-mode)
                                   ("Shopping" text-mode) ("Version 1.2" text-mode)
                                   ("photo.png" text-mode) ("notes.zip" text-mode)
                                   ("letter.pdf" text-mode)))
    (let ((buffer (decent-notes-tests-open "x = 1\n" title)))
      (should (equal (list title mode) (list title major-mode)))
      (kill-buffer buffer)))
  (let ((decent-notes-major-mode #'outline-mode))
    (decent-notes-tests-with "one\n"
      (should (eq major-mode 'outline-mode))
      (decent-notes-buffers-tests-title "b.org")
      (should (eq major-mode 'org-mode))
      (insert "here ")
      (decent-notes-tests-agree)
      (decent-notes-tests-replace "one" "1")
      ;; A mode that was chosen by hand stays.
      (fundamental-mode)
      (decent-notes-buffers-tests-title "c.org")
      (should (eq major-mode 'fundamental-mode))
      (decent-notes-buffers-tests-title "c")
      (should (eq major-mode 'outline-mode)))))

(decent-notes-tests-deftest editing-in-major-modes
    "In every mode typing, the edits of others and undo go together."
  (dolist (title '("a.org" "a.md" "a.py" "a.el" "a.txt" "a.html"))
    (let ((buffer (decent-notes-tests-open "* one\n- two\n" title)))
      (font-lock-mode 1)
      (goto-char (point-max))
      (execute-kbd-macro "three")
      (decent-notes--after-command)
      (decent-notes-tests-agree)
      (decent-notes-tests-replace "two" "2\n- and more")
      (goto-char (line-end-position))
      (call-interactively #'newline)
      (decent-notes--after-command)
      (execute-kbd-macro "four")
      (decent-notes--after-command)
      (decent-notes-tests-agree)
      (should (string-match-p "\\`\\* one\n- 2\n- and more\nthree\n *four\\'" (buffer-string)))
      (decent-notes-undo 3)
      (decent-notes-tests-until (equal (buffer-string) "* one\n- 2\n- and more\n"))
      (decent-notes-tests-agree)
      (should (equal 0 (decent-notes-tests-wholes)))
      (kill-buffer buffer))))

(decent-notes-tests-deftest saving-runs-hooks
    "A note that is saved runs what users hang on saving, as a file does."
  (decent-notes-tests-with "one  \ntwo\n"
    (let* ((ran nil)
           (before-save-hook (list #'delete-trailing-whitespace (lambda () (push 'before ran))))
           (after-save-hook (list (lambda () (push (list 'after (buffer-string)) ran)))))
      ;; As a file that nobody has changed.
      (save-buffer)
      (should-not ran)
      (goto-char (point-max))
      (insert "three \t")
      (narrow-to-region (point) (point))
      (call-interactively #'save-buffer)
      (should (equal ran '((after "") before)))
      (widen)
      (should (equal (buffer-string) "one\ntwo\nthree"))
      (should (equal (decent-notes-tests-theirs) "one\ntwo\nthree"))
      (save-buffer)
      (should (equal (length ran) 2))
      ;; From a buffer that shows a part of it, and by Lisp.
      (with-current-buffer (make-indirect-buffer buffer "part")
        (insert "x")
        (basic-save-buffer)
        (kill-buffer))
      (should (equal (length ran) 4))
      (insert "y")
      (decent-notes-save)
      (should (equal (length ran) 6))
      ;; An error of a hook keeps nothing from being saved.
      (setq before-save-hook (list (lambda () (error "No"))))
      (insert "z")
      (let ((debug-on-error nil)) (save-buffer))
      (should (equal (decent-notes-tests-theirs) (buffer-string))))))

(decent-notes-tests-deftest notes-in-the-trash
    "The mode line says that the note was trashed, and one message; also when it is back."
  (decent-notes-tests-with "one\n"
    (let ((id (decent-notes--note-id decent-notes--here)))
      (decent-notes-tests-other 'note/delete :id id)
      (decent-notes-tests-until (equal (decent-notes-status) "in the trash"))
      (should (string-search "A note is in the trash now; what you type takes it out\n"
                             (decent-notes-tests-messages)))
      (decent-notes-tests-other 'note/restore :id id)
      (decent-notes-tests-until (equal (decent-notes-status) "connected"))
      (should (string-search "A note is out of the trash\n" (decent-notes-tests-messages)))
      (decent-notes-tests-other 'note/delete :id id)
      (decent-notes-tests-until (equal (decent-notes-status) "in the trash"))
      (insert "zero\n")
      (decent-notes-tests-until (equal (decent-notes-status) "connected")))))

(decent-notes-tests-deftest undo-after-reverting
    "Text typed before `revert-buffer' can be undone after it."
  (decent-notes-tests-with "one\n"
    (insert "mine\n")
    (decent-notes-tests-agree)
    (decent-notes-tests-replace "one" "1")
    (revert-buffer nil t)
    (should (equal (buffer-string) "mine\n1\n"))
    (should (= 0 (decent-notes-tests-wholes)))
    (decent-notes-undo)
    (decent-notes-tests-until (equal (buffer-string) "1\n"))
    (decent-notes-redo)
    (decent-notes-tests-until (equal (buffer-string) "mine\n1\n"))))

(decent-notes-tests-deftest line-breaks-where-point-is
    "Line breaks of others at the end of the line take point to no other line, in no window."
  (dolist (append '(t nil))
    (dolist (rest '("" "\nbelow"))
      (unless (and append (not (string-empty-p rest)))
        (decent-notes-tests-with (concat "alpha" rest)
          (delete-other-windows)
          (let ((other (split-window)))
            (set-window-buffer other (current-buffer))
            (goto-char (point-min))
            (end-of-line)
            (insert " typing")
            (set-window-point other (point))
            (decent-notes-tests-agree)
            (if append
                (decent-notes-tests-other 'note/append :id (decent-notes--note-id decent-notes--here)
                                         :text "\nfrom cron\n")
              (decent-notes-tests-replace "typing" "typing\n"))
            (decent-notes-tests-until (equal (buffer-string) (decent-notes-tests-theirs)))
            (should (= (window-point other) (point)))
            (insert " more")
            (decent-notes-tests-agree)
            (should (equal (buffer-string)
                           (if append "alpha typing more\nfrom cron\n"
                             (concat "alpha typing more\n" rest))))
            (should (= (count-lines 1 (window-point other)) 1))))))))

(provide 'decent-notes-buffers-tests)
;;; decent-notes-buffers-tests.el ends here
