;;; decent-notes-list-tests.el --- Tests of decent-notes-list.el  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The work of the list is counted in requests and in printed lines.

;;; Code:

(require 'decent-notes-tests)

(defvar decent-notes-list-tests-asked nil "The methods asked for, the newest first.")
(defvar decent-notes-list-tests-printed 0 "The number of lines of the list that were printed.")

(advice-add 'jsonrpc-async-request :before
            (lambda (_connection method &rest _) (push method decent-notes-list-tests-asked)))
(advice-add 'decent-notes--print :before
            (lambda (&rest _) (cl-incf decent-notes-list-tests-printed)))

(defun decent-notes-list-tests-titles ()
  "The titles in the list, from the top."
  (mapcar (lambda (entry) (aref (cadr entry) 0)) (decent-notes--entries)))

(defun decent-notes-list-tests-theirs ()
  "The titles that the other process lists, as they are shown."
  (seq-map (lambda (note) (aref (cadr (decent-notes--row note)) 0))
           (plist-get (decent-notes-tests-other 'notebook/list) :notes)))

(defun decent-notes-list-tests-idle ()
  "Return non-nil if the list has nothing more to do."
  (not (or decent-notes--stale decent-notes--loading decent-notes--list-timer)))

(defun decent-notes-list-tests-create (count prefix)
  "Make COUNT notes called PREFIX and a number elsewhere; return their ids."
  (let (ids)
    (dotimes (i count)
      (push (plist-get (plist-get (decent-notes-tests-other
                                   'note/create :title (format "%s%03d" prefix (- count i)))
                                  :note)
                       :id)
            ids))
    ids))

(defun decent-notes-list-tests-settle (ids)
  "Wait for the notes IDS in the list, and for all that was done before."
  (decent-notes-tests-other 'note/update :id (car (last ids)) :priority "low")
  (decent-notes-tests-until
   (equal "low" (plist-get (gethash (car (last ids)) decent-notes--shown) :priority)))
  (decent-notes-tests-until (decent-notes-list-tests-idle))
  ;; The list still expects two answers, one after the other.
  (dotimes (_ 2) (decent-notes--call 'notebook/status nil))
  (should (seq-every-p (lambda (id) (gethash id decent-notes--shown)) ids)))

(defmacro decent-notes-list-tests-with (count &rest body)
  "Evaluate BODY in the list of COUNT notes and what is there from before.
The ids of the notes are in IDS."
  (declare (indent 1) (debug t))
  `(let ((ids (decent-notes-list-tests-create ,count "N")) list)
     (save-window-excursion
       (unwind-protect
           (progn
             (decent-notes)
             (setq list (current-buffer))
             (decent-notes-list-tests-settle ids)
             ,@body)
         (when (buffer-live-p list) (kill-buffer list))
         (dolist (id ids) (decent-notes-tests-other 'note/delete :id id))))))

(decent-notes-tests-deftest hidden-lists-do-nothing
    "While the list is hidden, what others do is noted down only; then it catches up."
  (decent-notes-list-tests-with 30
    (switch-to-buffer "*scratch*")
    (setq decent-notes-list-tests-asked nil decent-notes-list-tests-printed 0)
    (dotimes (i 10)
                                  (decent-notes-tests-other 'note/update :id (nth i ids) :title (format "Again %d" i)))
    (decent-notes-tests-until
     (and (not decent-notes--list-timer)
          (<= 10 (length (buffer-local-value 'decent-notes--stale list)))))
    (should-not decent-notes-list-tests-asked)
    (should (= 0 decent-notes-list-tests-printed))
    (decent-notes)
    (should (equal "Again 9" (nth 9 (decent-notes-list-tests-titles))))
    (should (equal decent-notes-list-tests-asked (make-list 10 'note/get)))
    (should (= 10 decent-notes-list-tests-printed))
    ;; An hour of typing takes no more memory.
    (switch-to-buffer "*scratch*")
    (dotimes (i 1000)
                                  (decent-notes--report-changes (list (list :id (nth (mod i 3) ids) :what ["text"]))))
    (should (= 3 (length (buffer-local-value 'decent-notes--stale list))))))

(decent-notes-tests-deftest visible-lists-print-what-was-changed
    "In a list that is shown, only the lines of the notes that others changed are printed."
  (decent-notes-list-tests-with 150
    (setq decent-notes-list-tests-asked nil decent-notes-list-tests-printed 0)
                                (decent-notes-tests-other 'note/append :id (nth 100 ids) :text "x")
                                (decent-notes-tests-other 'note/update :id (nth 50 ids) :title "Other")
    (decent-notes-tests-until (equal "Other" (nth 50 (decent-notes-list-tests-titles))))
    (decent-notes-tests-until (decent-notes-list-tests-idle))
    (should (<= decent-notes-list-tests-printed 3))
    (should-not (memq 'notebook/list decent-notes-list-tests-asked))
    ;; New ones, moved ones and ones that go and come are put where they belong.
                                (decent-notes-tests-other 'note/create :title "New")
                                (decent-notes-tests-other 'note/move :id (nth 10 ids) :index 5)
                                (decent-notes-tests-other 'note/delete :id (nth 20 ids))
                                (decent-notes-tests-other 'note/move :id (nth 0 ids) :index 150)
    (decent-notes-tests-until
     (equal (decent-notes-list-tests-titles) (decent-notes-list-tests-theirs)))
                                (decent-notes-tests-other 'note/restore :id (nth 20 ids))
    (decent-notes-tests-until
     (and (decent-notes-list-tests-idle)
          (equal (decent-notes-list-tests-titles) (decent-notes-list-tests-theirs))))
    (should (<= decent-notes-list-tests-printed 12))))

(decent-notes-tests-deftest many-notes-changed-at-once
    "When others change many notes, the list is read in pieces, and lines stay that are right."
  (decent-notes-list-tests-with 250
    (setq decent-notes-list-tests-asked nil decent-notes-list-tests-printed 0)
    (forward-line 200)
    (let ((at-point (aref (tabulated-list-get-entry) 0)))
      (dotimes (i 30)
                                    (decent-notes-tests-other 'note/update :id (nth (* 3 i) ids) :priority "high"))
      (decent-notes-tests-until
       (and (decent-notes-list-tests-idle)
            (equal "high" (plist-get (gethash (nth 87 ids) decent-notes--shown) :priority))))
      (should (equal at-point (aref (tabulated-list-get-entry) 0))))
    (should (<= decent-notes-list-tests-printed 60))
    (should (equal (decent-notes-list-tests-titles) (decent-notes-list-tests-theirs)))))

(decent-notes-tests-deftest sorted-lists
    "A list is sorted by time, by priority and by title, stays so, and can be as it was."
  (decent-notes-list-tests-with 12
    (let ((before (decent-notes-list-tests-titles)) (id (nth 7 ids)))
      (cl-flet ((sort-by (name)
                  (tabulated-list-sort (seq-position (mapcar #'car tabulated-list-format) name)))
                (first () (car (decent-notes-list-tests-titles))))
        (sort-by "Modified")
        (sort-by "Modified") ; the other way round: the newest first
                                    (decent-notes-tests-other 'note/append :id id :text "x")
        (decent-notes-tests-until (equal "N008" (first)))
        (should-error (decent-notes-list-move-down) :type 'user-error)
        (sort-by "Priority")
        (goto-char (point-max))
                                    (decent-notes-tests-other 'note/update :id (nth 3 ids) :priority "high")
        (decent-notes-tests-until (equal "N004" (first)))
        (sort-by "Title")
        (should (equal (decent-notes-list-tests-titles)
                       (sort (copy-sequence before)
                             (lambda (a b) (string< (downcase a) (downcase b))))))
                                    (decent-notes-tests-other 'note/update :id id :title " 0")
        (decent-notes-tests-until (equal " 0" (first)))
        ;; Before the titles there is no column: the title's is meant.
        (dolist (place (list (point-min) (point-max)))
          (setq tabulated-list-sort-key nil)
          (goto-char place)
          (call-interactively (key-binding "S"))
          (should (equal '("Title") tabulated-list-sort-key)))
        (goto-char (point-min))
        (search-forward "normal")
        (backward-char)
        (call-interactively (key-binding "S"))
        (should (equal '("Priority") tabulated-list-sort-key))
        (decent-notes-list-unsort)
        (decent-notes-tests-until (decent-notes-list-tests-idle))
        (should (equal (decent-notes-list-tests-titles)
                       (mapcar (lambda (title) (if (equal title "N008") " 0" title)) before)))))))

(decent-notes-tests-deftest lists-of-a-tag
    "A list of the notes with a tag follows what comes to have it, and what has it no more."
  (decent-notes-list-tests-with 5
                                (decent-notes-tests-other 'note/update :id (nth 1 ids) :tags ["one tag"])
                                (decent-notes-tests-other 'note/update :id (nth 3 ids) :tags ["one tag"])
    (decent-notes-tests-until
     (progn (decent-notes-list-filter "one tag")
            (equal '("N002" "N004") (decent-notes-list-tests-titles))))
    (should (equal mode-name "Notes tagged one tag"))
                                (decent-notes-tests-other 'note/update :id (nth 2 ids) :tags ["one tag"])
                                (decent-notes-tests-other 'note/update :id (nth 3 ids) :tags [])
    (decent-notes-tests-until (equal '("N002" "N003") (decent-notes-list-tests-titles)))
    (decent-notes-list-filter "")
    (decent-notes-tests-until (< 4 (length (decent-notes-list-tests-titles))))))

(defun decent-notes-list-tests-reading-one-of (count)
  "The processor's time, in seconds, that reading the name of one of COUNT notes takes.
Garbage is collected before and afterwards: how long that takes depends on what
other tests have left."
  (garbage-collect)
  (let* ((gc-cons-threshold most-positive-fixnum)
         (begin (get-internal-run-time)))
    (cl-letf (((symbol-function 'decent-notes--all)
               (lambda ()
                 (mapcar (lambda (i) (list :id (format "%d" i) :title (format "N%d" (/ i 2))))
                         (number-sequence 0 count))))
              ((symbol-function 'completing-read)
               (lambda (_prompt table &rest _)
                 (should (= 2 (length (all-completions "N77 " table))))
                 (format "N%d" (/ count 2)))))
      (should (equal (format "%d" count) (plist-get (decent-notes--read-note "Note: ") :id))))
    (float-time (time-subtract (get-internal-run-time) begin))))

(decent-notes-tests-deftest reading-one-of-twenty-thousand
    "With 20 times as many notes a name takes some 20 times as long to read, and not 400 times."
  (cl-flet ((least (count)
                   (apply #'min (mapcar (lambda (_) (decent-notes-list-tests-reading-one-of count))
                                        '(1 2 3)))))
    (should (< (least 20000) (* 60 (least 1000))))))

(decent-notes-tests-deftest deleting-the-note-meant
    "The note at point is trashed, and no other, whatever others do to the list."
  (decent-notes-list-tests-with 9
    (goto-char (decent-notes--line-of (nth 4 ids)))
                                (decent-notes-tests-other 'note/create :title "Above")
                                (decent-notes-tests-other 'note/delete :id (nth 3 ids))
    (decent-notes-tests-until (and (string-search "Above" (buffer-string))
                                   (not (string-search "N004" (buffer-string)))))
    (decent-notes-delete)
    (should (string-search "In the trash: N005\n" (decent-notes-tests-messages)))
    (cl-flet ((trashed ()
                (seq-sort #'string<
                          (seq-filter (apply-partially #'string-prefix-p "N")
                                      (seq-map #'decent-notes--title-of
                                               (seq-filter
                                                (lambda (note) (member (plist-get note :id) ids))
                                                                                   (plist-get (decent-notes-tests-other
                                                            'notebook/list :trashed t)
                                                           :notes)))))))
      (decent-notes-tests-until (equal '("N004" "N005") (trashed)))
      (should (equal "N006" (aref (tabulated-list-get-entry) 0)))
      (goto-char (point-max))
      (should-error (decent-notes-delete) :type 'user-error)
      (should (equal '("N004" "N005") (trashed))))))

(decent-notes-tests-deftest list-keeps-what-is-selected
    "No note comes or goes in an active region; keys act on all its notes, and name them."
  (decent-notes-list-tests-with 7
    (let ((transient-mark-mode t) (shown (decent-notes-list-tests-titles)) new)
      (cl-flet ((select (title lines)
                  (goto-char (decent-notes--line-of (nth (1- title) ids)))
                  (push-mark (point) t t)
                  (forward-line lines)
                  (setq deactivate-mark nil))
                (other (id) (plist-get (decent-notes-tests-other 'note/get :id id) :note)))
        (select 2 2)
        ;; The mark is at the beginning of a line, where the line of another note would come in.
        (setq new (list (plist-get (plist-get (decent-notes-tests-other
                                               'note/create :title "New1" :after (nth 0 ids))
                                              :note)
                                   :id)
                        (plist-get (plist-get (decent-notes-tests-other
                                               'note/create :title "New2" :after (nth 1 ids))
                                              :note)
                                   :id)))
        (decent-notes-tests-other 'note/delete :id (nth 4 ids))
        (decent-notes-tests-until (eql 3 (length decent-notes--stale)))
        (decent-notes--wait 1 #'ignore)
        (should (equal shown (decent-notes-list-tests-titles)))
        (decent-notes-delete)
        (should (string-search "In the trash: N002 and N003\n" (decent-notes-tests-messages)))
        (should (equal '(nil t t nil)
                       (mapcar (lambda (id) (eq t (plist-get (other id) :trashed)))
                               (seq-take ids 4))))
        (decent-notes-tests-until (equal '("N001" "New1" "New2" "N004" "N006" "N007")
                                         (seq-take (decent-notes-list-tests-titles) 6)))
        (select 4 3)
        (decent-notes-tag "+together")
        (select 4 3)
        (decent-notes-list-cycle-priority)
        (select 4 3)
        (should-error (decent-notes-title "Both") :type 'user-error)
        (should (equal '((("together") "high") (("together") "high"))
                       (mapcar (lambda (index)
                                 (let ((note (other (nth index ids))))
                                   (list (append (plist-get note :tags) nil)
                                         (plist-get note :priority))))
                               '(3 5))))
        (setq ids (append new ids))))))

(decent-notes-tests-deftest list-prompts-name-and-keep-their-notes
    "A prompt names the note it was begun with, and keeps it if that note leaves the list meanwhile."
  (decent-notes-list-tests-with 3
    (dolist (case (list (list #'decent-notes-title #'read-string "Title of N001: " "N001 etc")
                        (list #'decent-notes-priority #'completing-read "Priority of N001: " "low")
                        (list #'decent-notes-tag #'completing-read-multiple "Tags of N001: "
                              '("far"))))
      (pcase-let ((`(,command ,reader ,question ,answer) case))
        (goto-char (decent-notes--line-of (car ids)))
        (cl-letf (((symbol-function reader)
                   (lambda (prompt &rest _)
                     (should (equal prompt question))
                     (decent-notes-tests-other 'note/delete :id (car ids))
                     (decent-notes-tests-until (not (decent-notes--line-of (car ids))))
                     answer)))
          (funcall command nil))
        (decent-notes-tests-other 'note/restore :id (car ids))
        (decent-notes-tests-other 'note/update :id (car ids) :title "N001")
        (decent-notes-tests-until
         (equal "N001" (plist-get (gethash (car ids) decent-notes--shown) :title)))))
    (let ((note (plist-get (decent-notes-tests-other 'note/get :id (car ids)) :note)))
      (should (equal "low" (plist-get note :priority)))
      (should (equal ["far"] (plist-get note :tags))))))

(provide 'decent-notes-list-tests)
;;; decent-notes-list-tests.el ends here
