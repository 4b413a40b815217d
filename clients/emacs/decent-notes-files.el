;;; decent-notes-files.el --- Notes and files, and the trash  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; Notes out of files, and files out of notes.  Notes of the trash are forgotten
;; for good, never without a question.  All that may take long shows how far it
;; has got, and is given up by `C-g'.

;;; Code:

(require 'decent-notes-list)
(eval-when-compile (require 'subr-x))

;;; What takes long

(defconst decent-notes--some 64 "The requests that are under way at once.")

(defvar decent-notes--token 0 "The token of the last request that tells how far it has got.")
(defvar decent-notes--progress nil "What that request has told last.")

(defun decent-notes--on-progress (params)
  "Take what PARAMS, of $/progress, tell."
  (when (eql (plist-get params :token) decent-notes--token)
    (when-let ((message (plist-get (plist-get params :value) :message)))
      (setq decent-notes--progress message))))
(decent-notes--on '$/progress #'decent-notes--on-progress)

(defun decent-notes--wait-showing (what done)
  "Wait until the function DONE has a non-nil value; show WHAT, and how far it is.
Return nil if the user gives it up."
  (let ((reporter (make-progress-reporter (concat what "..."))))
    (condition-case nil
        (progn
          (while (not (decent-notes--wait 0.3 done))
            (progress-reporter-update reporter nil
                                      (concat decent-notes--progress " (C-g gives it up)")))
          (progress-reporter-done reporter)
          t)
      (quit nil))))

(defun decent-notes--work-on (what method params &optional reasons)
  "Return the result of METHOD with PARAMS, however long it takes; show WHAT.
REASONS is an alist of reasons of errors and values that are returned for them."
  (decent-notes--ensure)
  (cl-incf decent-notes--token)
  (setq decent-notes--progress nil)
  (let* (answered result problem
                  (request (decent-notes--request
                            method (append params (list :workDoneToken decent-notes--token))
                            (lambda (it) (setq answered t result it))
                            (lambda (it) (setq answered t problem it))))
                  (id (jsonrpc--next-request-id decent-notes--connection)))
    (unless (decent-notes--wait-showing what (lambda () answered))
      (decent-notes--take-back request)
      (decent-notes--notify '$/cancelRequest (list :id id))
      (message "%s...is being given up" what)
      (decent-notes--wait 5 (lambda () answered)))
    (let ((value (assoc (decent-notes--reason problem) reasons)))
      (cond (value (cdr value))
            ((or (not answered) (eql -32800 (plist-get problem :code)))
             (user-error "Given up; what was done by then stays"))
            (problem (user-error "%s" (decent-notes--cause problem)))
            (t result)))))

(defun decent-notes--work-on-each (what method ids)
  "Make the request METHOD for each of the notes IDS, some at once; show WHAT.
Return an alist of ids and errors, nil where there was none: without those that
were not asked for any more when the user gave it up, or the process had ended."
  (decent-notes--ensure)
  (let ((left ids) (count (length ids)) (under-way 0) (done 0) gone answers)
    (cl-labels ((answer (id problem)
                  (cl-decf under-way)
                  (cl-incf done)
                  (if (eql -1 (plist-get problem :code)) (setq gone t)
                    (push (cons id problem) answers)))
                (proceed ()
                  (while (and left (not gone) (< under-way decent-notes--some))
                    (let ((id (pop left)))
                      (cl-incf under-way)
                      (decent-notes--request method (list :id id)
                                             (lambda (_result) (answer id nil))
                                             (lambda (problem) (answer id problem)))))
                  (setq decent-notes--progress (format "%d of %d" done count))
                  (or gone (= done count))))
      (unless (decent-notes--wait-showing what #'proceed)
        (setq left nil)
        (decent-notes--wait 5 (lambda () (zerop under-way)))))
    answers))

;;; Files

(defun decent-notes--tell-counts (folder skipped &rest counts)
  "Tell COUNTS, numbers and words in turn, and list the SKIPPED files of FOLDER."
  (let ((words (string-join (cl-loop for (number word) on counts by #'cddr
                                     unless (zerop number)
                                     collect (format "%d %s" number word))
                            ", ")))
    (when (string-empty-p words) (setq words "there was no file"))
    (if (seq-empty-p skipped) (message "%s" words)
      (with-current-buffer (get-buffer-create "*decent-notes skipped*")
        (let ((inhibit-read-only t))
          (erase-buffer)
          (insert "Files that were left out, and why:\n\n")
          (seq-doseq (file skipped)
            (insert (expand-file-name (plist-get file :path) folder) ":1: "
                    (plist-get file :reason) "\n")))
        ;; The names are links, and `next-error' goes from one to the next.
        (compilation-mode)
        (setq default-directory folder)
        (goto-char (point-min))
        (display-buffer (current-buffer)))
      (message "%s; %d left out" words (length skipped)))))

;;;###autoload
(defun decent-notes-import (path)
  "Make a note of each Markdown, text and Org file in the folder PATH.
PATH may also be one file.  Again, this merges what has changed in the files."
  (interactive (list (read-file-name "Import from folder or file: " nil nil t)))
  (let* ((path (expand-file-name path))
         (result (decent-notes--work-on "Importing" 'notebook/import (list :path path))))
    (decent-notes--tell-counts (if (file-directory-p path) (file-name-as-directory path)
                                 (file-name-directory path))
                               (plist-get result :skipped)
                               (plist-get result :created) "created"
                               (plist-get result :updated) "updated"
                               (plist-get result :unchanged) "unchanged")))

;;;###autoload
(defun decent-notes-export (folder)
  "Write the notes as files into FOLDER.
They have the paths from which they were imported; the others are written under
their titles.  Again, this writes only what has changed.  If FOLDER has files
already that are none of this notebook, ask first."
  (interactive (list (read-directory-name "Export into folder: ")))
  (let* ((folder (file-name-as-directory (expand-file-name folder)))
         (params (list :path folder))
         (result (decent-notes--work-on "Exporting" 'notebook/export params
                                        '(("notEmpty" . other-files)))))
    (when (eq result 'other-files)
      (unless (yes-or-no-p (format "%s has other files; write beside them? "
                                   (abbreviate-file-name folder)))
        (user-error "Nothing was written"))
      (setq result (decent-notes--work-on "Exporting" 'notebook/export
                                          (append params (list :into t)))))
    (decent-notes--tell-counts folder (plist-get result :skipped)
                               (plist-get result :written) "written"
                               (plist-get result :removed) "removed"
                               (plist-get result :unchanged) "unchanged")))

;;; The trash

(defun decent-notes--forget (notes question)
  "Have NOTES forgotten for good, if the answer to QUESTION is yes.
The list is read again in any case: others may have restored or forgotten notes
while the question was waiting."
  (let ((ids (mapcar (lambda (note) (plist-get note :id)) notes))
        (wanted (yes-or-no-p question))
        answers)
    (unwind-protect
        (when wanted
          (setq answers (decent-notes--work-on-each "Forgetting" 'note/purge ids)))
      (decent-notes--read-again))
    (when wanted (decent-notes--tell-forgotten (length ids) answers))))

(defun decent-notes--tell-forgotten (count answers)
  "Tell what ANSWERS say of COUNT notes that were to be forgotten."
  (let* ((problems (mapcar #'cdr answers))
         (reasons (mapcar #'decent-notes--reason problems))
         (kinds (list (cons (seq-count #'null problems) "forgotten for good")
                      (cons (seq-count (lambda (it) (member it '("purged" "noSuchNote"))) reasons)
                            "forgotten by others")
                      (cons (seq-count (lambda (it) (equal it "notTrashed")) reasons)
                            "not in the trash any more")
                      (cons (- count (length answers)) "without an answer")))
         (others (- count (apply #'+ (mapcar #'car kinds)))))
    (message "%s" (string-join
                   (cl-loop for (number . words) in
                            (append kinds
                                    (list (cons others
                                                (format "refused: %s"
                                                        (plist-get (seq-find #'identity problems)
                                                                   :message)))))
                            unless (zerop number)
                            collect (if (= count 1) (concat "The note is " words)
                                      (format "%d %s" number words)))
                   ", "))))

;;;###autoload
(defun decent-notes-purge ()
  "Forget the note of this buffer or line for good, after a question.
That is so on all machines, and nothing undoes it.  The note must be in the
trash.  In the list these are all notes of the region, if it is active."
  (interactive)
  (let ((notes (decent-notes--selected)))
    (unless (seq-every-p (lambda (note) (eq t (plist-get note :trashed))) notes)
      (user-error "Only notes in the trash are forgotten"))
    (decent-notes--forget
     notes
     (format "Forget %s%s for good, on all machines? "
             (if (cdr notes) (format "%d notes, " (length notes)) "")
             (decent-notes--titles-of notes)))))

;;;###autoload
(defun decent-notes-empty-trash ()
  "Forget all notes of the trash for good, on all machines, after a question."
  (interactive)
  (let ((notes (append (plist-get (decent-notes--call 'notebook/list '(:trashed t)) :notes) nil)))
    (unless notes (user-error "The trash is empty"))
    (decent-notes--forget
     notes
     (format "Empty the trash?  Its %d notes, %s, are forgotten for good, on all machines. "
             (length notes) (decent-notes--titles-of notes)))))

(define-key decent-notes-list-mode-map "D" #'decent-notes-purge)
(define-key decent-notes-list-mode-map "E" #'decent-notes-empty-trash)

(provide 'decent-notes-files)
;;; decent-notes-files.el ends here
