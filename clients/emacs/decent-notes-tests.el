;;; decent-notes-tests.el --- Tests of decent-notes.el  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; README.md says how to run these tests.  Each has a second process on the same
;; folder, which sees and does what another user would.

;;; Code:

(require 'ert)
(require 'decent-notes)
(require 'sort)

(defvar decent-notes-tests-program (or (getenv "DECENT_NOTES_COMMAND") "decent-notes"))
(defvar decent-notes-tests-other nil "The connection of the other process.")
(defvar decent-notes-tests-sent nil "The parameters of each note/change, the newest first.")

(setq decent-notes-program decent-notes-tests-program
      decent-notes-notebook (make-temp-file "decent-notes-tests" t)
      read-process-output-max 65536)
(add-hook 'kill-emacs-hook (lambda () (delete-directory decent-notes-notebook t)) 90)

(defun decent-notes-tests-record (_connection method params &rest _)
  "Remember PARAMS if METHOD is note/change."
  (when (eq method 'note/change) (push params decent-notes-tests-sent)))
(advice-add 'jsonrpc-async-request :before #'decent-notes-tests-record)

(defun decent-notes-tests-other (method &rest params)
  "The other process's result of METHOD with PARAMS."
  (unless (and decent-notes-tests-other (jsonrpc-running-p decent-notes-tests-other))
    (setq decent-notes-tests-other
          (decent-notes--make-connection
           :name "other"
           :process (lambda ()
                      (make-process
                       :name "other" :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t
                       :command (list decent-notes-tests-program
                                      "--notebook" decent-notes-notebook)
                       :stderr (get-buffer-create "*other stderr*")))))
    (jsonrpc-request decent-notes-tests-other 'initialize nil :timeout 30))
  (jsonrpc-request decent-notes-tests-other method params :timeout 30))

(defmacro decent-notes-tests-until (condition)
  "Wait until CONDITION is non-nil."
  `(or (decent-notes--wait 30 (lambda () ,condition))
       (ert-fail (list "not within 30 seconds" ',condition (buffer-string)))))

(defun decent-notes-tests-theirs ()
  "The text that the other process has of the note of this buffer."
  (plist-get (decent-notes-tests-other 'note/get :id (decent-notes--note-id decent-notes--here)) :text))

(defun decent-notes-tests-replace (old new)
  "Have the other process replace OLD by NEW, and wait until it is here."
  (let* ((id (decent-notes--note-id decent-notes--here))
         (got (decent-notes-tests-other 'note/get :id id))
         (text (plist-get got :text))
         (at (or (string-search old text) (ert-fail (list "the other process has no" old text)))))
    (decent-notes-tests-other
     'note/setText :id id :base (plist-get got :revision)
     :text (concat (substring text 0 at) new (substring text (+ at (length old)))))
    (decent-notes-tests-until (equal (buffer-string) (decent-notes-tests-theirs)))))

(defun decent-notes-tests-agree ()
  "Wait until the note is settled and the other process has its text."
  (decent-notes-tests-until
   (progn (decent-notes--pause)
          ;; The other process is asked only when nothing else is missing.
          (and (not (decent-notes--unsent-p decent-notes--here))
               (not (buffer-modified-p))
               (equal (save-restriction (widen) (decent-notes--text))
                      (decent-notes-tests-theirs))
               (not (buffer-modified-p))))))

(defun decent-notes-tests-wholes ()
  "The number of whole texts that were sent."
  (seq-count (lambda (params) (plist-member params :text)) decent-notes-tests-sent))

(defun decent-notes-tests-open (text &optional title)
  "Open a new note of the other process with TEXT and TITLE."
  (let ((id (plist-get (plist-get (decent-notes-tests-other
                                   'note/create :title (or title "A note") :text text)
                                  :note)
                       :id)))
    (decent-notes-tests-until
     (seq-find (lambda (note) (equal (plist-get note :id) id)) (decent-notes--all)))
    (prog1 (decent-notes-open id)
      (setq decent-notes-tests-sent nil))))

(defmacro decent-notes-tests-with (text &rest body)
  "Evaluate BODY in the buffer of a note that begins with TEXT."
  (declare (indent 1) (debug t))
  `(let (buffer)
     (unwind-protect
         (save-window-excursion
           (setq buffer (decent-notes-tests-open ,text))
           ,@body
           (when (buffer-live-p buffer)
             (with-current-buffer buffer (decent-notes-tests-agree))))
       (when (buffer-live-p buffer) (kill-buffer buffer)))))

(defmacro decent-notes-tests-deftest (name sentence &rest body)
  "Define the test NAME as BODY; SENTENCE is what it proves."
  (declare (indent 2) (doc-string 2) (debug t))
  `(ert-deftest ,(intern (format "decent-notes-tests-%s" name)) () ,sentence ,@body))

(defun decent-notes-tests-messages ()
  "The messages that the user was shown so far."
  (with-current-buffer (messages-buffer) (buffer-string)))

;;; The files

(decent-notes-tests-deftest files-compile-alone
    "Each file of the client compiles in an Emacs of its own without a warning."
  (let* ((folder (file-name-directory (locate-library "decent-notes-tests.el")))
         (target (make-temp-file "decent-notes-tests" t))
         (settings
          `(setq byte-compile-error-on-warn t
                 byte-compile-dest-file-function
                 (lambda (file)
                   (expand-file-name (concat (file-name-base file) ".elc") ,target)))))
    (unwind-protect
        (dolist (file (seq-remove (lambda (file) (string-suffix-p "-tests.el" file))
                                  (directory-files folder t "\\.el\\'")))
          (with-temp-buffer
            (should (equal (list (file-name-base file) 0 "")
                           (list (file-name-base file)
                                 (call-process (expand-file-name invocation-name
                                                                 invocation-directory)
                                               nil t nil "--batch" "-Q" "-L" folder
                                               "--eval" (prin1-to-string settings)
                                               "-f" "batch-byte-compile" file)
                                 (buffer-string))))))
      (delete-directory target t))))

;;; Texts

(decent-notes-tests-deftest texts-come-and-go-as-they-are
    "A text is shown and kept to the byte, whatever is in it."
  (dolist (text (list "" "\n" "a\n" "\n\r\n" "a\rb" "no end" "\ttabs\t\n" "é e\u0301 👩‍👩‍👧 😀\n"
                      "\u2028 \ufeff \x10ffff" (make-string 5000 ?x)))
    (decent-notes-tests-with text
      (should (equal (buffer-string) text))
      (should-not (buffer-modified-p))
      (goto-char (point-max))
      (insert "+😀\r")
      (decent-notes-tests-agree)
      (should (equal (decent-notes-tests-theirs) (concat text "+😀\r")))
      (erase-buffer)
      (decent-notes-tests-agree)
      (insert text)
      (decent-notes-tests-agree)
      (should (= 0 (decent-notes-tests-wholes))))))

(decent-notes-tests-deftest a-megabyte
    "A text of 1 MB is checked by its length, and by its hash when there is a pause."
  (let ((text (apply #'concat (make-list 20000 "fifty bytes, of which é and ✓ are five in each..\n"))))
    (decent-notes-tests-with text
      (should (equal (buffer-string) text))
      (goto-char 500000)
      (insert "here\nand there")
      (decent-notes--send-pending decent-notes--here)
      (let ((change (car decent-notes-tests-sent)))
        (should-not (plist-member change :sha256))
        (should (equal (plist-get change :bytes) (string-bytes (buffer-string))))
        (should (< (length (json-serialize change)) 1000)))
      (decent-notes-tests-agree)
      (should (plist-member (car decent-notes-tests-sent) :sha256))
      (decent-notes-tests-replace "here\nand" "now\nand")
      (should (= 0 (decent-notes-tests-wholes))))))

(decent-notes-tests-deftest nothing-is-sent-within-a-message
    "Timers that run while a long message is written send nothing, or an answer gets lost."
  (decent-notes-tests-with "one\n"
    (insert "zero\n")
    (let ((decent-notes--sending t))
      (decent-notes--send-cursor decent-notes--here)
      (decent-notes--pause)
      (decent-notes--work)
      (should-not decent-notes-tests-sent))
    (decent-notes-tests-agree)
    (should decent-notes-tests-sent)))

(decent-notes-tests-deftest what-is-no-unicode-stays-in-the-buffer
    "Bytes that are no text are told of and not sent, and everything is once they are gone."
  (dolist (bad (list (string #x3fffff) "\0" (string #xd800) (string #x110000)))
    (decent-notes-tests-with "a\n"
      (goto-char (point-max))
      (insert bad)
      (decent-notes--send-pending decent-notes--here)
      (should (string-search "no Unicode" (cdr (decent-notes--note-problem decent-notes--here))))
      (should (buffer-modified-p))
      (should-error (decent-notes-save) :type 'user-error)
      (insert "more")
      (should (equal (decent-notes-tests-theirs) "a\n"))
      (goto-char (point-max))
      (search-backward bad)
      (delete-char 1)
      (decent-notes-tests-agree)
      (should (equal (decent-notes-tests-theirs) "a\nmore")))))

;;; Editing

(decent-notes-tests-deftest commands-reach-the-other
    "The changes by commands of Emacs are sent as changed lines, without the whole text."
  (decent-notes-tests-with "the quick brown fox\njumps over\nthe lazy dog\n\nand so on and on\n"
    (pcase-dolist (`(,command ,text)
                   '(((progn (goto-char 1) (let ((fill-column 10)) (fill-paragraph)))
                      "the quick\nbrown fox\njumps over\nthe lazy\ndog\n\nand so on and on\n")
                     ((progn (goto-char 1)
                             (while (search-forward "on" nil t) (replace-match "ON")))
                      "the quick\nbrown fox\njumps over\nthe lazy\ndog\n\nand so ON and ON\n")
                     ((sort-lines nil 1 (point-max))
                      "\nand so ON and ON\nbrown fox\ndog\njumps over\nthe lazy\nthe quick\n")
                     ((progn (goto-char 3) (transpose-words 1) (transpose-lines 1))
                      "so and ON and ON\n\nbrown fox\ndog\njumps over\nthe lazy\nthe quick\n")
                     ((subst-char-in-region 1 (point-max) ?o ?0)
                      "s0 and ON and ON\n\nbr0wn f0x\nd0g\njumps 0ver\nthe lazy\nthe quick\n")
                     ((upcase-region 1 8)
                      "S0 AND ON and ON\n\nbr0wn f0x\nd0g\njumps 0ver\nthe lazy\nthe quick\n")
                     ((translate-region 1 8 (let ((table (make-string 256 0)))
                                              (dotimes (i 256 table)
                                                (aset table i (if (= i ?A) ?E i)))))
                      "S0 END ON and ON\n\nbr0wn f0x\nd0g\njumps 0ver\nthe lazy\nthe quick\n")
                     ((progn (kill-region 1 18) (goto-char (point-max)) (yank) (yank))
                      "\nbr0wn f0x\nd0g\njumps 0ver\nthe lazy\nthe quick\nS0 END ON and ON\nS0 END ON and ON\n")
                     ((replace-regexp-in-region "^S0.*\n" "" 1)
                      "\nbr0wn f0x\nd0g\njumps 0ver\nthe lazy\nthe quick\n")
                     ((combine-change-calls 1 (point-max)
                        (goto-char 2) (kill-line) (insert "x"))
                      "\nx\nd0g\njumps 0ver\nthe lazy\nthe quick\n")
                     ((indent-rigidly 1 (point-max) 2)
                      "\n  x\n  d0g\n  jumps 0ver\n  the lazy\n  the quick\n")
                     ((delete-region 1 (point-max)) "")))
      (eval command t)
      (should (equal (buffer-string) text))
      (decent-notes-tests-agree))
    (should (= 0 (decent-notes-tests-wholes)))))

(decent-notes-tests-deftest insertions-without-a-tick
    "Text that files and programs insert is sent, although Emacs does not count it as a change."
  (decent-notes-tests-with "one\n"
    (let ((file (make-temp-file "decent-notes-tests")))
      (write-region "file\n" nil file nil 'quiet)
      (insert-file-contents file)
      (decent-notes-tests-agree)
      (should (equal (decent-notes-tests-theirs) "file\none\n"))
      (delete-file file))
    (call-process "echo" nil t nil "program")
    (decent-notes-tests-agree)
    (should (equal (decent-notes-tests-theirs) "program\nfile\none\n"))
    (should (= 0 (decent-notes-tests-wholes)))))

(decent-notes-tests-deftest a-long-line
    "Of a line of 300 kB only what was changed is sent, for more than a pipe holds takes a while."
  (decent-notes-tests-with (concat "é\n" (make-string 300000 ?x) "\n")
    (goto-char 150000)
    (insert "here 😀")
    (decent-notes-tests-agree)
    (search-backward "e ")
    (delete-char 3)
    (insert "\n")
    (decent-notes-tests-agree)
    (goto-char 1)
    (upcase-word 1)
    (decent-notes-tests-agree)
    (should-not (seq-find (lambda (change) (> (length (json-serialize change)) 500))
                          decent-notes-tests-sent))))

(decent-notes-tests-deftest ten-thousand-lines
    "Ten thousand lines are yanked and come back by one undo."
  (decent-notes-tests-with "a\nb\n"
    (let ((lines (apply #'concat (make-list 10000 "one of ten thousand\n"))))
      (kill-new lines)
      (goto-char 3)
      (yank)
      (decent-notes-tests-agree)
      (should (= 1 (seq-count (lambda (change) (not (equal [] (plist-get change :lines))))
                              decent-notes-tests-sent)))
      (decent-notes-undo)
      (decent-notes-tests-until (equal (buffer-string) "a\nb\n")))))

(decent-notes-tests-deftest properties-are-no-text
    "Changes of text properties send nothing."
  (decent-notes-tests-with "one two\n"
    (font-lock-mode 1)
    (put-text-property 1 4 'face 'bold)
    (add-text-properties 1 3 '(invisible t))
    (decent-notes--pause)
    (should-not (decent-notes--unsent-p decent-notes--here))
    (should-not decent-notes-tests-sent)
    (set-buffer-modified-p nil)))

(decent-notes-tests-deftest changes-behind-the-hooks-heal
    "A change without hooks is found, alone and together with other changes."
  (decent-notes-tests-with "one\ntwo\nthree\n"
    (let ((inhibit-modification-hooks t)) (goto-char 1) (insert "zero\n"))
    (decent-notes-tests-agree)
    (should (= 1 (decent-notes-tests-wholes)))
    (let ((inhibit-modification-hooks t)) (goto-char 1) (delete-char 1) (insert "Z"))
    (goto-char (point-max))
    (insert "four\n")
    (decent-notes-tests-agree)
    (should (equal (decent-notes-tests-theirs) "Zero\none\ntwo\nthree\nfour\n"))
    (let ((inhibit-modification-hooks t)) (erase-buffer) (insert "a"))
    (decent-notes-tests-other 'note/append :id (decent-notes--note-id decent-notes--here) :text "end\n")
    ;; Where the pause that finds the change comes first, the other process appends to "a".
    (decent-notes-tests-until (member (decent-notes-tests-theirs) '("a\nend\n" "aend\n")))
    (decent-notes-tests-agree)))

(decent-notes-tests-deftest pushes-that-do-not-fit
    "A push that was made for another text is not applied, and the whole text is sent."
  (decent-notes-tests-with "one\ntwo\n"
    (let ((note decent-notes--here)
          (ranges [(:range (:start (:line 0 :character 0) :end (:line 0 :character 3))
                           :newText "ONE")])
          (sent 0))
      (dolist (wrong (list (list :sha256 (secure-hash 'sha256 "one\nTwo\n"))
                           (list :bytes 9 :lineCount 3) (list :bytes 8 :lineCount 4)))
        (decent-notes--take-push
         (append (list :attachment (decent-notes--note-attachment note)
                       :version (decent-notes--note-version note)
                       :rev (1+ (decent-notes--note-rev note)) :ranges ranges)
                 wrong))
        (should (equal (buffer-string) "one\ntwo\n"))
        (should (= (cl-incf sent) (decent-notes-tests-wholes)))
        (decent-notes-tests-agree)))
    ;; Of the same size, and taken for what was sent: only the hash tells.
    (let ((inhibit-modification-hooks t)) (goto-char 5) (delete-char 1) (insert "T"))
    (decent-notes--mark-sent decent-notes--here nil)
    (decent-notes-tests-other 'note/setText :id (decent-notes--note-id decent-notes--here)
                              :text "ONE\ntwo\n")
    (decent-notes-tests-until (equal (buffer-string) "ONE\nTwo\n"))
    (decent-notes-tests-agree)))

(decent-notes-tests-deftest refusals-before-the-whole-text
    "Two refused changes are mended by one whole text, without a word."
  (decent-notes-tests-with "one\ntwo\n"
    (let ((told (decent-notes-tests-messages)))
      ;; Taken for what was sent: no hash fits.
      (let ((inhibit-modification-hooks t)) (goto-char 5) (delete-char 1) (insert "T"))
      (decent-notes--mark-sent decent-notes--here nil)
      (dolist (letter '("a" "b"))
        (goto-char 4)
        (insert letter)
        (decent-notes--send-pending decent-notes--here))
      (should (= 2 (length decent-notes-tests-sent)))
      (decent-notes-tests-until (= (decent-notes--note-version decent-notes--here)
                                   (decent-notes--note-answered decent-notes--here)
                                   3))
      (should (decent-notes--settled-p decent-notes--here))
      (should (= 1 (decent-notes-tests-wholes)))
      (should (equal (decent-notes-tests-theirs) "oneba\nTwo\n"))
      (should (equal told (decent-notes-tests-messages))))))

(decent-notes-tests-deftest hooks-that-edit-during-a-push
    "A hook of others that edits while a push is applied does no harm."
  (decent-notes-tests-with "one\ntwo\n"
    (let* (done
           (hook (lambda (beg end _old)
                   (when (and (not done) (string-search "1" (buffer-substring beg end)))
                     (setq done t)
                     (save-excursion (goto-char 1) (insert "! "))))))
      (add-hook 'after-change-functions hook nil t)
      (decent-notes-tests-other 'note/setText :id (decent-notes--note-id decent-notes--here)
                               :text "one 1\ntwo 1\n")
      (decent-notes-tests-until (and done (equal (buffer-string) "! one 1\ntwo 1\n")))
      (remove-hook 'after-change-functions hook t))))

(decent-notes-tests-deftest narrowed-buffers
    "A narrowed buffer keeps and shows the whole note, and stays narrowed."
  (decent-notes-tests-with "one\ntwo\nthree\n"
    (narrow-to-region 5 8)
    (goto-char (point-max))
    (insert "!")
    (decent-notes-tests-agree)
    (should (equal (decent-notes-tests-theirs) "one\ntwo!\nthree\n"))
    (decent-notes-tests-other 'note/setText :id (decent-notes--note-id decent-notes--here)
                             :text "zero\none\ntwo?\nthree\nfour\n")
    (decent-notes-tests-until (equal (buffer-string) "two?"))
    (widen)
    (should (equal (buffer-string) "zero\none\ntwo?\nthree\nfour\n"))))

(decent-notes-tests-deftest indirect-buffers
    "Indirect buffers, cloned and plain, edit the note; killing one closes nothing."
  (decent-notes-tests-with "one\ntwo\n"
    (let ((clone (clone-indirect-buffer "clone" nil))
          (plain (make-indirect-buffer (current-buffer) "plain"))
          (note decent-notes--here))
      (with-current-buffer clone (goto-char 1) (insert "cloned ") (decent-notes--after-command))
      (decent-notes-tests-agree)
      (should (= 0 (decent-notes-tests-wholes)))
      (with-current-buffer plain (goto-char 1) (insert "plain "))
      (decent-notes-tests-agree)
      (decent-notes-tests-replace "two" "2")
      (should (equal (with-current-buffer plain (buffer-string)) "plain cloned one\n2\n"))
      (kill-buffer clone)
      (kill-buffer plain)
      (should (memq note decent-notes--notes))
      (goto-char 1)
      (insert "x"))))

(decent-notes-tests-deftest copies-of-the-buffer
    "A buffer made by `clone-buffer' is a copy, and no note."
  (decent-notes-tests-with "one\n"
    (emacs-lisp-mode)
    (with-current-buffer (clone-buffer "copy")
      (should-not decent-notes-note-mode)
      (insert "zero\n")
      (run-hooks 'post-command-hook)
      (kill-buffer))
    (decent-notes-tests-agree)
    (should-not decent-notes-tests-sent)))

(decent-notes-tests-deftest keyboard-macros
    "The changes of a keyboard macro are sent at its end, and are one step of undo."
  (decent-notes-tests-with (apply #'concat (make-list 100 "line\n"))
    (goto-char 1)
    (execute-kbd-macro (kbd "C-a x y C-e z C-n") 100)
    (decent-notes-tests-agree)
    (should (= 1 (length decent-notes-tests-sent)))
    (should (= 100 (how-many "^xylinez$" 1)))
    (execute-kbd-macro (kbd "M-< t o p C-/ M-> e n d"))
    (decent-notes-tests-agree)
    (decent-notes-tests-until (string-suffix-p "z\nend" (buffer-string)))
    (decent-notes-undo 2)
    (decent-notes-tests-until (= 100 (how-many "^line$" 1)))))

(decent-notes-tests-deftest other-major-modes
    "The note stays alive when the major mode changes."
  (decent-notes-tests-with "(one)\n"
    (dolist (mode '(emacs-lisp-mode fundamental-mode outline-mode text-mode))
      (funcall mode)
      (should decent-notes-note-mode)
      (should (eq (key-binding (kbd "C-x C-s")) #'save-buffer))
      (should (eq (key-binding (kbd "C-/")) #'decent-notes-undo))
      (should-not require-final-newline)
      (goto-char 2)
      (insert (format "%s " mode))
      (decent-notes-tests-agree))
    (decent-notes-tests-replace "one" "1")
    (should (= 0 (decent-notes-tests-wholes)))))

;;; Changes by others

(decent-notes-tests-deftest everything-stays-on-its-text
    "Point, mark, markers, overlays and registers stay on their text under edits of others."
  (decent-notes-tests-with "alpha\nbeta xx gamma\ndelta\nepsilon\n"
    (let ((marker (copy-marker 1)) (overlay (make-overlay 7 11)) (line (make-overlay 1 7)))
      (search-forward "gamma")
      (push-mark (match-beginning 0) t t)
      (search-forward "del")
      (set-marker marker (match-beginning 0))
      (point-to-register ?r)
      (kill-new "killed")
      (setq deactivate-mark nil)
      (cl-flet ((check ()
                  (should (looking-at "ta\n"))
                  (should (equal "del" (buffer-substring (point) (- (point) 3))))
                  (should mark-active)
                  (should-not deactivate-mark)
                  (should (save-excursion (goto-char (mark)) (looking-at "gamma")))
                  (should (save-excursion (goto-char marker) (looking-at "delta")))
                  (should (equal (point) (marker-position (get-register ?r))))
                  (should (equal "beta" (buffer-substring (overlay-start overlay)
                                                          (overlay-end overlay))))
                  (should (equal "killed" (current-kill 0 t)))))
        (decent-notes-tests-replace "alpha\n" "zero\nalpha\n") ; above
        (check)
        (should (equal "alpha\n" (buffer-substring (overlay-start line) (overlay-end line))))
        (decent-notes-tests-replace "beta" "inserted\nbeta") ; a line right above
        (check)
        (should (equal "alpha\n" (buffer-substring (overlay-start line) (overlay-end line))))
        (decent-notes-tests-replace "xx" "x and x") ; on the mark's line
        (check)
        (decent-notes-tests-replace "delta" "a delta!") ; around point, on its line
        (should (looking-at "ta!"))
        (should (save-excursion (goto-char marker) (looking-at "a delta")))
        (decent-notes-tests-replace "epsilon\n" "") ; below
        (should (looking-at "ta!"))
        (should (= 0 (decent-notes-tests-wholes)))))))

(decent-notes-tests-deftest point-at-a-line
    "Point at the beginning of a line goes with it; at the end it stays before what comes."
  (decent-notes-tests-with "one\ntwo"
    (goto-char 5)
    (decent-notes-tests-replace "two" "between\ntwo")
    (should (looking-at "two"))
    (goto-char (point-max))
    (decent-notes-tests-replace "two" "two and more\nand a line")
    (should (looking-at " and more"))
    (goto-char 1)
    (decent-notes-tests-replace "one" "zero\none")
    (should (looking-at "one"))))

(decent-notes-tests-deftest two-windows
    "Each window on a buffer keeps its place, its start included."
  (decent-notes-tests-with (mapconcat (lambda (i) (format "line %d\n" i))
                                      (number-sequence 1 300) "")
    (delete-other-windows)
    (let* ((this (selected-window)) (other (split-window nil nil 'right)))
      (set-window-buffer other (current-buffer))
      (goto-char 1)
      (search-forward "line 120")
      (set-window-start this (progn (search-forward "line 110" nil t)
                                    (line-beginning-position))
                        t)
      (goto-char 1)
      (search-forward "line 120")
      (let ((place (save-excursion (search-forward "line 250") (point))))
        (set-window-point other place)
        (set-window-start other (save-excursion (goto-char place) (line-beginning-position)) t))
      (let ((start (window-start other)))
        (decent-notes-tests-replace "line 7\n" "line 6½\nline 7\n")
        (should (= (window-start other) (+ start 8)))
        (should (save-excursion (goto-char (window-point other))
                                (looking-back "line 250" (line-beginning-position))))
        (should (looking-back "line 120" (line-beginning-position)))))))

(decent-notes-tests-deftest both-edit-at-once
    "While one types, the edits of the other come in, and nothing is lost or doubled."
  (decent-notes-tests-with "start\n"
    (let ((id (decent-notes--note-id decent-notes--here)) (words nil))
      (dotimes (i 60)
        (let ((mine (format "<m%d>" i)) (theirs (format "<t%d>" i)))
          (goto-char (if (zerop (% i 3)) (point-min) (point-max)))
          (insert mine (if (zerop (% i 5)) "\n" ""))
          (decent-notes--send-pending decent-notes--here)
          (jsonrpc-async-request decent-notes-tests-other 'note/append
                                 (list :id id :text (concat theirs "\n"))
                                 :success-fn #'ignore)
          (setq words (append (list mine theirs) words))
          (accept-process-output nil 0.005)))
      (decent-notes-tests-agree)
      (decent-notes-tests-until (seq-every-p (lambda (word) (string-search word (buffer-string)))
                                             words))
      (dolist (word words)
        (should (= 2 (length (split-string (buffer-string) (regexp-quote word))))))
      (should (= 0 (decent-notes-tests-wholes))))))

(decent-notes-tests-deftest pushes-wait-for-commands
    "A push waits where positions may have been noted: by a command, in isearch, in a minibuffer."
  (dolist (busy (list (lambda (wait) (let ((real-this-command 'query-replace)) (funcall wait)))
                      (lambda (wait)
                        (isearch-mode t)
                        (funcall wait)
                        (isearch-done))
                      (lambda (wait)
                        (with-selected-window (minibuffer-window) (funcall wait)))))
    (decent-notes-tests-with "one\n"
      (let ((note (current-buffer)))
        (funcall busy
                 (lambda ()
                   (with-current-buffer note
                     (decent-notes-tests-other 'note/setText :text "zero\none\n"
                                               :id (decent-notes--note-id decent-notes--here))
                     (decent-notes-tests-until decent-notes--deferred)
                     (decent-notes--wait 0.2 #'ignore)
                     (should (equal (buffer-string) "one\n"))))))
      (decent-notes-tests-until (equal (buffer-string) "zero\none\n")))))

(decent-notes-tests-deftest quitting-loses-no-push
    "A `quit' while a command waits, and a push is applied meanwhile, does not lose it."
  (decent-notes-tests-with "one\n"
    (let ((real-this-command 'some))
      (decent-notes-tests-other 'note/setText :id (decent-notes--note-id decent-notes--here)
                               :text "zero\none\n")
      (decent-notes-tests-until decent-notes--deferred))
    (let ((hook (lambda (&rest _) (setq quit-flag t))))
      (add-hook 'before-change-functions hook nil t)
      (condition-case nil (progn (decent-notes--work) (ignore)) (quit nil))
      (setq quit-flag nil)
      (remove-hook 'before-change-functions hook t))
    (should (equal (buffer-string) "zero\none\n"))))

(decent-notes-tests-deftest fields
    "Fields, which keep commands of Emacs from leaving them, keep out no push."
  (decent-notes-tests-with "one two three\n"
    (put-text-property 9 14 'field 'some)
    (decent-notes-tests-replace "three" "3")
    (should (= 0 (decent-notes-tests-wholes)))
    (set-buffer-modified-p nil)))

(decent-notes-tests-deftest the-base-follows-pushes
    "While the user does not type, the base is the text that the process has."
  (decent-notes-tests-with "one\n"
    (cl-letf (((symbol-function 'current-idle-time) (lambda () '(0 1))))
      (decent-notes-tests-replace "one" "two")
      (should (equal "two\n" (decent-notes--note-base decent-notes--here))))))

(decent-notes-tests-deftest presence
    "Other participants are shown where they are, and no longer when they leave."
  (decent-notes-tests-with "one\ntwo\n"
    (let* ((id (decent-notes--note-id decent-notes--here))
           (other (decent-notes--call 'note/open (list :id id :mode "edit"))))
      (decent-notes--send-cursor decent-notes--here)
      (decent-notes--notify 'initialized)
      (jsonrpc-notify decent-notes--connection 'note/cursor
                      (list :attachment (plist-get other :attachment) :version 0 :rev 0
                            :ranges [(:start (:line 1 :character 0) :end (:line 1 :character 2))]))
      ;; The other one has our name, which is the program's own choice.
      (decent-notes-tests-until (string-search "@" (decent-notes-status)))
      (should (equal '("tw" "o" "")
                     (mapcar (lambda (overlay)
                               (buffer-substring (overlay-start overlay) (overlay-end overlay)))
                             (sort (seq-filter (lambda (overlay)
                                                 (overlay-get overlay 'decent-notes-participant))
                                               (overlays-in 1 (point-max)))
                                   (lambda (a b) (< (overlay-start a) (overlay-start b)))))))
      (decent-notes--call 'note/close (list :attachment (plist-get other :attachment)))
      (decent-notes-tests-until (equal (decent-notes-status) "connected"))
      (should-not (overlays-in 1 (point-max)))
      ;; Places are those of the text without what is pending.
      (insert "zero\n")
      (decent-notes--take-presence
       (list :attachment (decent-notes--note-attachment decent-notes--here)
             :version (decent-notes--note-version decent-notes--here)
             :rev (decent-notes--note-rev decent-notes--here)
             :peers [(:name "Ana" :ranges [(:start (:line 1 :character 0)
                                            :end (:line 1 :character 0))])]))
      (should-not (overlays-in 1 (point-max))))))

;;; Undo

(decent-notes-tests-deftest undo-of-what-was-typed
    "Letters typed in a row are undone at once, also when a long text's hash came between."
  (dolist (text (list "" (make-string 300000 ?x)))
    (decent-notes-tests-with text
      (let ((real-last-command 'self-insert-command) (this-command 'self-insert-command))
        (dolist (letter '("a" "b" "c"))
          (insert letter)
          (decent-notes--send-pending decent-notes--here)
          (decent-notes-tests-agree)))
      (should (equal (decent-notes-tests-theirs) (concat "abc" text)))
      (decent-notes-undo)
      (decent-notes-tests-until (equal (buffer-string) text)))))

(decent-notes-tests-deftest undo-of-many-letters
    "Undo takes back as many letters that were typed in a row as Emacs's own does."
  (dolist (amalgamating-undo-limit '(1 3 20))
    (let* ((typed (make-string 25 ?x))
           (left (save-window-excursion
                   (with-temp-buffer
                     (switch-to-buffer (current-buffer))
                     (buffer-enable-undo)
                     (execute-kbd-macro typed)
                     (undo-boundary)
                     (undo 1)
                     (buffer-string)))))
      (should (< 0 (length left) 25))
      (decent-notes-tests-with ""
        (let ((real-last-command 'self-insert-command) (this-command 'self-insert-command))
          (dotimes (_ 25)
            (insert "x")
            (decent-notes--send-pending decent-notes--here)))
        (decent-notes-tests-agree)
        (decent-notes-undo)
        (decent-notes-tests-until (not (equal (buffer-string) typed)))
        (should (equal (buffer-string) left))))))

(decent-notes-tests-deftest undo-of-a-command-that-asks
    "All that one command does while it reads keys, as `query-replace' does, is one step of undo."
  (decent-notes-tests-with "x x x\n"
    (let ((real-this-command 'query-replace) (this-command 'query-replace))
      (while (search-forward "x" nil t)
        (replace-match "y")
        (decent-notes-tests-agree)))
    (decent-notes--after-command)
    (insert "more\n")
    (decent-notes-tests-agree)
    (decent-notes-undo)
    (decent-notes-tests-until (equal (buffer-string) "y y y\n"))
    (decent-notes-undo)
    (decent-notes-tests-until (equal (buffer-string) "x x x\n"))))

(decent-notes-tests-deftest undo-of-ones-own
    "Undo takes back one's own change and no other's, redo makes it again, point is there."
  (decent-notes-tests-with "one\ntwo\n"
    (goto-char 4)
    (insert " mine")
    (decent-notes-tests-agree)
    (decent-notes-tests-replace "two" "two theirs")
    (goto-char (point-max))
    (call-interactively (key-binding (kbd "C-/")))
    (decent-notes-tests-until (equal (buffer-string) "one\ntwo theirs\n"))
    (should (= (point) 4))
    (call-interactively (key-binding (kbd "C-M-_")))
    (decent-notes-tests-until (equal (buffer-string) "one mine\ntwo theirs\n"))
    (decent-notes-undo 2)
    (decent-notes-tests-until (equal (buffer-string) "one\ntwo theirs\n"))
    (decent-notes-tests-until (string-search "Nothing of yours left"
                                             (decent-notes-tests-messages)))))

(decent-notes-tests-deftest emacs-own-undo
    "With Emacs's own undo, positions in its list are right after edits of others."
  (let ((decent-notes-own-undo nil))
    (decent-notes-tests-with "one\ntwo\n"
      (should (eq (key-binding (kbd "C-/")) #'undo))
      (goto-char (point-max))
      (insert "mine")
      (undo-boundary)
      (decent-notes-tests-agree)
      (decent-notes-tests-replace "one" "the first")
      (undo-boundary)
      (setq last-command nil)
      (undo 1)
      (should (equal (buffer-string) "one\ntwo\nmine")) ; the last change, whose ever it was
      (setq last-command 'undo)
      (undo 1)
      (should (equal (buffer-string) "one\ntwo\n"))
      (decent-notes-tests-agree)
      (should (= 0 (decent-notes-tests-wholes))))))

;;; Keeping

(decent-notes-tests-deftest saving
    "Saving flushes, by whichever command; a buffer is modified until all is acknowledged."
  (decent-notes-tests-with "one"
    (goto-char (point-max))
    (insert " more")
    (should (buffer-modified-p))
    (decent-notes-save)
    (should-not (buffer-modified-p))
    (should (string-search "A note written" (decent-notes-tests-messages)))
    (insert "!")
    (save-buffer)
    (should-not buffer-file-name)
    (decent-notes-tests-agree)
    (should (equal (decent-notes-tests-theirs) "one more!"))))

(decent-notes-tests-deftest writing-to-a-file
    "`write-file' makes of the buffer one of that file, and the note stays as it was."
  (let ((folder (make-temp-file "decent-notes-tests" t)) id)
    (decent-notes-tests-with "one\n"
      (setq id (decent-notes--note-id decent-notes--here))
      (goto-char (point-max))
      (insert "two\n")
      (write-file (expand-file-name "copy.el" folder))
      (should-not decent-notes-note-mode)
      (should-not (decent-notes--find-note #'decent-notes--note-id id))
      (fundamental-mode)
      (should-not (local-variable-p 'revert-buffer-function))
      (insert "of the file only\n")
      (decent-notes--work)
      (run-hooks 'post-command-hook)
      (should (eq (key-binding (kbd "C-x C-s")) #'save-buffer))
      (save-buffer)
      (should (equal "one\ntwo\nof the file only\n"
                     (with-temp-buffer
                       (insert-file-contents (expand-file-name "copy.el" folder))
                       (buffer-string))))
      (should (equal "one\ntwo\n" (plist-get (decent-notes-tests-other 'note/get :id id) :text)))
      (kill-buffer))
    (delete-directory folder t)))

(decent-notes-tests-deftest auto-save
    "Auto-saving writes its file and changes nothing else."
  (decent-notes-tests-with "one\n"
    (let* ((default-directory (make-temp-file "decent-notes-tests" t))
           (auto-save-file-name-transforms nil))
      (auto-save-mode 1)
      (goto-char (point-max))
      (insert "two\n")
      (do-auto-save t t)
      (should (file-exists-p buffer-auto-save-file-name))
      (decent-notes-tests-agree)
      (should (= 1 (length decent-notes-tests-sent)))
      (auto-save-mode -1)
      (delete-directory default-directory t))))

(decent-notes-tests-deftest reverting
    "Reverting shows the note as it is, and discards only what could not be sent."
  (decent-notes-tests-with "one\ntwo\n"
    (goto-char 5)
    (insert "sent ")
    (revert-buffer nil t)
    (should (equal (buffer-string) "one\nsent two\n"))
    (should (looking-at "two"))
    (insert "\0")
    (revert-buffer nil t)
    (should (equal (buffer-string) "one\nsent two\n"))
    (insert "alive ")
    (decent-notes-tests-agree)
    (decent-notes-tests-replace "one" "1")))

(decent-notes-tests-deftest killing-a-buffer
    "Killing a buffer sends what is unsent and closes the attachment."
  (let (id)
    (decent-notes-tests-with "one\n"
      (setq id (decent-notes--note-id decent-notes--here))
      (goto-char (point-max))
      (insert "two\n")
      (kill-buffer)
      (should-not (seq-find (lambda (note) (equal id (decent-notes--note-id note)))
                            decent-notes--notes))
      (should (equal "one\ntwo\n" (plist-get (decent-notes--call 'note/get (list :id id))
                                             :text))))))

(decent-notes-tests-deftest unsent-text-goes-to-a-file
    "A buffer whose text could not be sent leaves it in a file that only its owner can read."
  (let* ((state (make-temp-file "decent-notes-tests" t))
         (process-environment (cons (concat "XDG_STATE_HOME=" state) process-environment)))
    (decent-notes-tests-with "one\n"
      (goto-char (point-max))
      (insert "two" (string #x3fffff))
      (kill-buffer)
      (let ((file (car (directory-files (concat state "/decent-notes/unsent") t "\\.txt\\'"))))
        (should (equal "one\ntwo\377" (with-temp-buffer
                                         (set-buffer-multibyte nil)
                                         (insert-file-contents-literally file)
                                         (buffer-string))))
        (should (= #o600 (file-modes file)))
        (should (= #o700 (file-modes (file-name-directory file))))))
    (delete-directory state t)))

;;; The process

(defun decent-notes-tests-kill ()
  "Kill our process as a crash would."
  (signal-process decent-notes--process 'KILL))

(decent-notes-tests-deftest killed-while-typing
    "When the process is killed, typing goes on; it is started again and nothing is lost."
  (let ((decent-notes--restarts nil))
    (decent-notes-tests-with "start\n"
      (let (words)
        (dotimes (i 40)
          (let ((word (format "<w%d>" i)))
            (push word words)
            (goto-char (if (zerop (% i 2)) (point-min) (point-max)))
            (insert word)
            (decent-notes--after-command)
            (when (memq i '(10 11 25)) (decent-notes-tests-kill))
            (when (= i 20)
              (decent-notes-tests-other 'note/append :text "theirs"
                                        :id (decent-notes--note-id decent-notes--here)))
            (decent-notes--wait 0.01 #'ignore)))
        (decent-notes-tests-agree)
        (dolist (word (cons "theirs" words))
          (should (= 2 (length (split-string (buffer-string) (regexp-quote word))))))
        (should (memq (length decent-notes--restarts) '(2 3)))))))

(decent-notes-tests-deftest a-process-that-does-not-answer
    "Only so much is sent to a process that does not answer, for a full pipe would stop Emacs."
  (decent-notes-tests-with "\n"
    (dotimes (_ 200)
      (insert "x")
      (decent-notes--after-command))
    (should (<= (length decent-notes-tests-sent) 51))
    (decent-notes--send-whole decent-notes--here)
    (should (<= (length decent-notes-tests-sent) 51))
    (decent-notes-tests-agree)
    (should (equal (decent-notes-tests-theirs) (concat (make-string 200 ?x) "\n")))))

(defmacro decent-notes-tests-stopped (&rest body)
  "Evaluate BODY while our process is stopped."
  (declare (indent 0) (debug t))
  `(let ((process decent-notes--process))
     (signal-process process 'STOP)
     (decent-notes-tests-until (eq (process-status process) 'stop))
     (unwind-protect (progn ,@body)
       (signal-process process 'CONT))))

(decent-notes-tests-deftest stopped-while-typing
    "Text typed while the process is stopped is sent by itself when it runs again."
  (decent-notes-tests-with "start\n"
    (dolist (count '(1 100)) ; that are more than are sent without an answer
      (let (typed)
        (decent-notes-tests-stopped
          (dotimes (i count)
            (goto-char (if (zerop (% i 2)) (point-min) (point-max)))
            (insert (car (push (format "<%d of %d>" i count) typed)))
            (decent-notes--after-command))
          (decent-notes-tests-other 'note/append :text "theirs"
                                    :id (decent-notes--note-id decent-notes--here))
          (should (buffer-modified-p)))
        ;; Nothing is done here, not even what a pause does.
        (decent-notes-tests-until
         (and (equal (buffer-string) (decent-notes-tests-theirs))
              (not (buffer-modified-p))))
        (dolist (word (cons "theirs" typed))
          (should (= 2 (length (split-string (buffer-string) (regexp-quote word))))))
        (decent-notes-tests-replace "theirs" "")))
    (should (= 0 (decent-notes-tests-wholes)))))

(decent-notes-tests-deftest states-while-stopped
    "The mode line says that the process does not answer as long as it is stopped."
  (decent-notes-tests-with "start\n"
    (let (updates)
      (cl-letf (((symbol-function 'force-mode-line-update) (lambda (&rest _) (push 1 updates))))
        (decent-notes-tests-stopped
          (should (equal (decent-notes-status) "not answering"))
          (decent-notes-tests-until updates)
          (setq updates nil))
        (decent-notes-tests-until (and updates (equal (decent-notes-status) "connected")))))))

(decent-notes-tests-deftest given-up-while-stopped
    "A command that got no answer from a stopped process is not carried out later."
  (decent-notes-tests-with "start\n"
    (decent-notes-tests-stopped
      (let ((wait (symbol-function 'decent-notes--wait)))
        (cl-letf (((symbol-function 'decent-notes--wait)
                   (lambda (_seconds done) (funcall wait 0.1 done))))
          (should-error (decent-notes-new "Given up") :type 'user-error)))
      (insert "mine\n")
      (decent-notes--after-command))
    (decent-notes-tests-agree)
    (should-not (seq-find (lambda (note) (equal "Given up" (plist-get note :title)))
                          (decent-notes--all)))))

(decent-notes-tests-deftest stopped-and-killed
    "Text for a process that is killed while it is stopped is not lost."
  (let ((decent-notes--restarts nil))
    (decent-notes-tests-with "start\n"
      (decent-notes-tests-stopped
        (insert "mine\n")
        (decent-notes--after-command)
        (should decent-notes--outbox)
        (decent-notes-tests-kill))
      (decent-notes-tests-agree)
      (should-not decent-notes--outbox)
      (should (equal (decent-notes-tests-theirs) "mine\nstart\n")))))

(decent-notes-tests-deftest killed-again-and-again
    "After five restarts in three minutes the process is started at the user's wish only."
  (let ((decent-notes--restarts nil))
    (decent-notes-tests-with "start\n"
      (dotimes (i 5)
        (decent-notes-tests-kill)
        (decent-notes-tests-until (and decent-notes--ready
                                       (= (1+ i) (length decent-notes--restarts)))))
      (decent-notes-tests-kill)
      (decent-notes-tests-until (not decent-notes--connection))
      (should (equal (decent-notes-status) "offline"))
      (goto-char (point-max))
      (insert "offline\n")
      (should (buffer-modified-p))
      (decent-notes-restart)
      (decent-notes-tests-agree)
      (should (equal (decent-notes-tests-theirs) "start\noffline\n")))))

(decent-notes-tests-deftest attachments-that-are-forgotten
    "A change that is answered by `reopen' opens the note again and loses nothing."
  (decent-notes-tests-with "start\n"
    (setf (decent-notes--note-rev decent-notes--here) 1000)
    (goto-char (point-max))
    (insert "mine\n")
    (decent-notes-tests-until (and (not (decent-notes--unsent-p decent-notes--here))
                                   (decent-notes--note-attachment decent-notes--here)))
    ;; The text that came back is the base for the next time.
    (should (equal "start\nmine\n" (decent-notes--note-base decent-notes--here)))
    (decent-notes-tests-agree)
    (should (equal (decent-notes-tests-theirs) "start\nmine\n"))))

(decent-notes-tests-deftest unsent-over-two-deaths
    "Text typed without a process is unsent until a process has acknowledged it."
  (decent-notes-tests-with "start\n"
    (let ((note decent-notes--here))
      (decent-notes--detach note)
      (insert "mine\n")
      (cl-letf (((symbol-function 'decent-notes--request) #'ignore))
        (decent-notes--resume note))
      (decent-notes--detach note)
      (should (decent-notes--unsent-p note))
      (decent-notes-restart)
      (decent-notes-tests-agree)
      (should (equal (decent-notes-tests-theirs) "mine\nstart\n")))))

(decent-notes-tests-deftest opening-again-on-saving
    "A note that could not be opened again is opened when it is saved."
  (decent-notes-tests-with "start\n"
    (let* ((note decent-notes--here) (id (decent-notes--note-id note)) (decent-notes--restarts nil))
      (setf (decent-notes--note-id note) "nowhere")
      (decent-notes-tests-kill)
      (decent-notes-tests-until (decent-notes--note-problem note))
      (setf (decent-notes--note-id note) id)
      (insert "mine\n")
      (decent-notes-save)
      (should (equal (decent-notes-tests-theirs) "mine\nstart\n")))))

(decent-notes-tests-deftest pushes-right-behind
    "A push right behind the answer that opens a note is applied."
  (decent-notes-tests-with "start\n"
    (let ((id (decent-notes--note-id decent-notes--here))
          (request (symbol-function 'decent-notes--request))
          (work (symbol-function 'decent-notes--work)))
      (kill-buffer)
      (cl-letf (((symbol-function 'decent-notes--request)
                 (lambda (method &rest arguments)
                   (apply request method arguments)
                   ;; Another change of this very process: its push comes at once.
                   (when (eq method 'note/open)
                     (funcall request 'note/append (list :id id :text "end\n")))))
                ;; It is there when the answer is dealt with.
                ((symbol-function 'decent-notes--work)
                 (lambda ()
                   (when (cdr decent-notes--queue) (funcall work)))))
        (decent-notes--visit (list :id id :title "A note")))
      (setq buffer (current-buffer))
      (decent-notes-tests-until (equal (buffer-string) "start\nend\n")))))

(decent-notes-tests-deftest no-program
    "Without the program, or with a folder that is none, there is one line about it."
  (dolist (case `(("decent-notes-missing" nil "Cannot start decent-notes-missing")
                  (,decent-notes-tests-program "/dev/null" "/dev/null")
                  (("sh" "-c" "echo went wrong >&2; exit 3") nil "went wrong")))
    (let ((decent-notes-program (car case)) (decent-notes-notebook (cadr case))
          decent-notes--connection decent-notes--process decent-notes--ready
          decent-notes--notes)
      (let ((problem (should-error (decent-notes) :type 'user-error)))
        (should (string-search (caddr case) (cadr problem)))
        (should-not (string-search "\n" (cadr problem)))
        (should-not decent-notes--ready)))))

;;; Commands

(decent-notes-tests-deftest modes-that-fail
    "A note lives, though its major mode, or one of the mode's hooks, fails."
  (let ((decent-notes-major-mode (lambda () (error "No such mode"))))
    (decent-notes-tests-with "one\n"
      (should decent-notes-note-mode)
      (insert "zero\n")
      (decent-notes-tests-agree)
      (should (equal (decent-notes-tests-theirs) "zero\none\n")))))

(decent-notes-tests-deftest windows-on-the-list
    "Changes by others scroll the list in no window, and point stays on its note in each."
  (dotimes (i 60) (decent-notes-tests-other 'note/create :title (format "N%d" (- 60 i))))
  (save-window-excursion
    (decent-notes)
    (decent-notes-tests-until (= 60 (how-many "^ N[0-9]" 1)))
    (delete-other-windows)
    (let ((windows (list (selected-window) (split-window nil nil 'right))) before)
      (cl-flet ((views () (mapcar (lambda (window)
                                    (goto-char (window-point window))
                                    (mapcar (lambda (place)
                                              (elt (tabulated-list-get-entry place) 0))
                                            (list (window-start window) (point))))
                                  windows)))
        (seq-do-indexed (lambda (window i)
                          (goto-char (point-min))
                          (forward-line (+ 10 (* 20 i)))
                          (set-window-start window (point) t)
                          (forward-line 2)
                          (set-window-point window (point)))
                        windows)
        (setq before (views))
        (decent-notes-tests-other 'note/create :title "New at the top")
        (decent-notes-tests-until (string-search "New at the top" (buffer-string)))
        (should (equal before (views)))
        ;; The first line of a window stays the first when it is printed again.
        (let ((title (car (nth 1 before))))
          (decent-notes-tests-other 'note/update :priority "high"
                                   :id (plist-get (tabulated-list-get-id
                                                   (window-start (nth 1 windows)))
                                                  :id))
          (decent-notes-tests-until (string-match-p (format "^ %s .*high" title) (buffer-string)))
          (should (equal before (views))))
        ;; So it does when the lines above it are, from below: none of them becomes the first.
        (dotimes (i 3)
          (let* ((place (save-excursion (goto-char (window-start (nth 1 windows)))
                                        (line-beginning-position (- i))))
                 (title (elt (tabulated-list-get-entry place) 0)))
            (decent-notes-tests-other 'note/update :priority "high"
                                     :id (plist-get (tabulated-list-get-id place) :id))
            (decent-notes-tests-until (string-match-p (format "^ %s .*high" title) (buffer-string)))
            (should (equal before (views)))))))
    (kill-buffer)))

(decent-notes-tests-deftest opening-by-title
    "Notes are opened by title and by id; what is unknown or not unique is an error."
  (decent-notes-tests-with "text"
    (let ((id (decent-notes--note-id decent-notes--here)))
      (decent-notes-tests-other 'note/create :title "Twice/said" :text "1")
      (decent-notes-tests-other 'note/create :title "Twice/said" :text "2")
      (decent-notes-tests-other 'note/update :id id :title "Only/once")
      (decent-notes-tests-until (equal (buffer-name) "Only/once"))
      (should (eq (current-buffer) (decent-notes-open "Only/once")))
      (should (eq (current-buffer) (decent-notes-open (concat "note://" id "/any"))))
      (should-error (decent-notes-open "nothing like it") :type 'user-error)
      (decent-notes-tests-until
       (= 2 (seq-count (lambda (note) (equal (plist-get note :title) "Twice/said"))
                       (decent-notes--all))))
      (should-error (decent-notes-open "Twice/said") :type 'user-error)
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (_prompt table &rest _)
                   (let ((names (all-completions "Twice" table)))
                     (should (= 2 (length names)))
                     (car names)))))
        (call-interactively #'decent-notes-open))
      (should (member (buffer-string) '("1" "2")))
      (kill-buffer))))

(decent-notes-tests-deftest commands-for-the-note
    "Title, tags, priority and history have commands in the buffer of a note."
  (decent-notes-tests-with "one\n"
    (let ((id (decent-notes--note-id decent-notes--here)))
      (cl-flet ((theirs (key) (plist-get (plist-get (decent-notes-tests-other 'note/get :id id)
                                                    :note)
                                         key)))
        (should-error (decent-notes-title "two\nlines") :type 'user-error)
        (decent-notes-title "New title")
        (should (equal (buffer-name) "New title"))
        (decent-notes-tests-until (equal (theirs :title) "New title"))
        (decent-notes-tag "home, with blank")
        (decent-notes-tests-until (equal (theirs :tags) ["home" "with blank"]))
        (decent-notes-tag "+work, -home")
        (decent-notes-tests-until (equal (theirs :tags) ["with blank" "work"]))
        (decent-notes-tag "")
        (decent-notes-tests-until (equal (theirs :tags) []))
        (decent-notes-priority "high")
        (decent-notes-tests-until (equal (theirs :priority) "high"))
        (should-error (decent-notes-priority "urgent") :type 'user-error)
        (goto-char (point-max))
        (insert "two\n")
        (decent-notes-tests-agree)
        (decent-notes-history)
        (should (= 2 (length tabulated-list-entries)))
        (goto-char (point-max))
        (forward-line -1)
        (decent-notes-history-show)
        (should (equal (buffer-string) "one\n"))
        (should buffer-read-only)
        (should-not decent-notes--here)
        (kill-buffer)
        (kill-buffer)))))

(provide 'decent-notes-tests)
;;; decent-notes-tests.el ends here
