;;; decent-notes-participants-tests.el --- Tests of names and links  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The names of others, and links with other notebooks.

;;; Code:

(require 'decent-notes-tests)

(defun decent-notes-participants-tests-at (line column name &optional color)
  "A participant with NAME and COLOR whose cursor is at LINE and COLUMN."
  (let ((place (list :line line :character column)))
    (list :name name :color (or color 0) :ranges (vector (list :start place :end place)))))

(defun decent-notes-participants-tests-shown ()
  "What overlays show: the text before it in the buffer, the text and its face."
  (mapcar (lambda (overlay)
            (let ((text (overlay-get overlay 'after-string)))
              (list (buffer-substring-no-properties (point-min) (overlay-end overlay))
                    (substring-no-properties text)
                    (get-text-property (1- (length text)) 'face text))))
          (sort (seq-filter (lambda (overlay) (overlay-get overlay 'after-string))
                            (overlays-in (point-min) (point-max)))
                (lambda (a b) (< (overlay-end a) (overlay-end b))))))

(decent-notes-tests-deftest names-beside-cursors
    "A name is behind the line, in a long line behind the word, and in no way part of the text."
  (with-temp-buffer
    (let ((long (mapconcat #'identity (make-list 100 "word") " ")))
      (insert "milk\n\n" long)
      (buffer-enable-undo)
      (set-buffer-modified-p nil)
      (decent-notes--show-participants
       (list (decent-notes-participants-tests-at 0 1 "Ana" 1)
             (decent-notes-participants-tests-at 1 0 "Ben" 10)
             (decent-notes-participants-tests-at 2 6 "Cleo" 7)))
      (should (equal (decent-notes-participants-tests-shown)
                     '(("milk" " Ana" decent-notes-participant-1)
                       ("milk\n" " Ben" decent-notes-participant-2)
                       ("milk\n\nword word" " Cleo" decent-notes-participant-7))))
      ;; The cell of a cursor in a line.
      (should (seq-find (lambda (overlay)
                          (eq (overlay-get overlay 'face) 'decent-notes-participant-1))
                        (overlays-at 2)))
      (should (equal (buffer-string) (concat "milk\n\n" long)))
      (should-not (or (buffer-modified-p) buffer-undo-list))
      ;; Text that is typed at the end of a line comes before the name.
      (goto-char 5)
      (insert " x")
      (should (equal (caar (decent-notes-participants-tests-shown)) "milk x"))
      (decent-notes--show-participants nil)
      (should-not (overlays-in 1 (point-max))))))

(decent-notes-tests-deftest names-in-texts-without-blanks
    "In a long line without blanks between words, a name is right behind its cursor."
  (pcase-dolist (`(,word ,column ,before) '(("日本語" 2 "日本語") ("ภาษา" 0 "ภ") ("日本API" 2 "日本API")
                                            ("한국어 " 0 "한국어")))
    (with-temp-buffer
      (insert (mapconcat #'identity (make-list 100 word) ""))
      (decent-notes--show-participants
       (list (decent-notes-participants-tests-at 0 column "Ana" 1)))
      (should (equal (decent-notes-participants-tests-shown)
                     (list (list before " Ana" 'decent-notes-participant-1)))))))

(decent-notes-tests-deftest many-participants
    "Of very many participants the first are shown in the text, as names as far as there is room."
  (with-temp-buffer
    (insert "text")
    (let ((all (mapcar (lambda (number)
                         (decent-notes-participants-tests-at 0 4 (format "N%d" number)))
                       (number-sequence 1 1000)))
          (clean (symbol-function 'decent-notes--clean-name))
          (cleaned 0))
      ;; Of the others not even the names are looked at.
      (cl-letf (((symbol-function 'decent-notes--clean-name)
                 (lambda (name) (cl-incf cleaned) (funcall clean name))))
        (decent-notes--names (mapcar (lambda (number) (list :name (format "\u200b%d" number)))
                                     (number-sequence 1 1000)))
        (should (= 3 cleaned))
        (decent-notes--names (mapcar (lambda (number) (list :name (make-string number ?\u200b)))
                                     (number-sequence 1 100)))
        (should (= 35 cleaned)))
      (decent-notes--show-participants all)
      (should (= 32 (length (overlays-in 1 (point-max)))))
      (should (> 100 (apply #'+ (mapcar (lambda (shown) (length (cadr shown)))
                                        (decent-notes-participants-tests-shown)))))
      (should (equal (decent-notes--names all) "N1, N2, N3 +997")))))

(decent-notes-tests-deftest names-in-the-mode-line
    "The mode line has three names, each once, and how many there are besides."
  (pcase-dolist (`(,names ,words) '((() "") (("") "1 other") (("" "\u200b") "2 others")
                                    (("Ana") "Ana") (("Ana" "Ana" "Ben") "Ana, Ben")
                                    (("A" "B" "C" "D" "") "A, B, C +2")
                                    (("Ana" "") "Ana +1")))
    (should (equal words (decent-notes--names (mapcar (lambda (name) (list :name name)) names)))))
  ;; A name written from right to left does not turn round the text beside it.
  (should (string-suffix-p "\u200e" (decent-notes--names '((:name "שלום")))))
  (with-temp-buffer
    (let ((decent-notes--here (decent-notes--make-note :attachment 1))
          (decent-notes-note-mode t))
      (setf (decent-notes--note-participants decent-notes--here)
            (decent-notes--names '((:name "%b%n 100%"))))
      (should (equal (decent-notes-status) "％b％n 100％")))))

(decent-notes-tests-deftest the-own-name
    "Others see `decent-notes-name', and what the program takes without it."
  (pcase-dolist (`(,name ,seen) '(("Ana" "\\`Ana\\'") (nil "@")))
    (let ((decent-notes-name name))
      (decent-notes-restart)
      (decent-notes-tests-with "text\n"
        (decent-notes-tests-other 'note/open :id (decent-notes--note-id decent-notes--here)
                                  :mode "edit")
        (let (names)
          (cl-letf (((symbol-function 'decent-notes-participants-tests-take)
                     (lambda (_connection method params)
                       (when (eq method 'note/presence)
                         (setq names (mapcar (lambda (peer) (plist-get peer :name))
                                             (plist-get params :peers)))))))
            (oset decent-notes-tests-other -notification-dispatcher
                  #'decent-notes-participants-tests-take)
            (decent-notes--send-cursor decent-notes--here)
            (decent-notes-tests-until names)
            (should (string-match-p seen (car names)))
            (oset decent-notes-tests-other -notification-dispatcher #'ignore)))))))

(decent-notes-tests-deftest links
    "A link to a folder begins, is seen, outlives the process, and ends; errors are told."
  (let* ((folder (make-temp-file "decent-notes-peer" t))
         (decent-notes--restarts nil)
         (decent-notes--links nil)
         there)
    (unwind-protect
        (decent-notes-tests-with "text\n"
          (cl-flet ((at-peer ()
                      (with-temp-buffer
                        (call-process decent-notes-tests-program nil t nil "--notebook" folder
                                      "call" "notebook/search" "{\"query\": \"link\"}")
                        (buffer-string))))
            (decent-notes-sync (concat folder "/"))
            (setq there (list (cons folder "linked")))
            (should (equal (decent-notes--peers) there))
            (goto-char (point-max))
            (insert "through the link")
            (decent-notes-tests-agree)
            (decent-notes-tests-until (string-search "through the link" (at-peer)))
            (let ((process decent-notes--process))
              (signal-process process 'KILL)
              (decent-notes-tests-until
               (and decent-notes--ready (not (eq process decent-notes--process)))))
            (decent-notes-tests-until (equal (decent-notes--peers) there))
            (decent-notes-sync-end folder)
            (decent-notes-tests-until (string-search (format "no link to %s any more" folder)
                                                     (decent-notes-tests-messages)))
            (should (string-prefix-p "reached 20" (cdar (decent-notes--peers))))
            (should-not decent-notes--links)
            (should (string-search
                     "can't be started"
                     (cadr (should-error (decent-notes-sync "no-such-program --notebook x")
                                         :type 'user-error))))
            (should-error (decent-notes-sync " ") :type 'user-error)
            (should-not decent-notes--links)))
      (delete-directory folder t))))

(provide 'decent-notes-participants-tests)
;;; decent-notes-participants-tests.el ends here
