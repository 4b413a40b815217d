;;; decent-notes-unsent.el --- Files of texts that were not sent  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; A text that the process does not have is in two files, so that this or another
;; editor can bring it into its note when Emacs is gone: NAME.txt is the text
;; alone, NAME.json what note/open needs to resume, and the title.  NAME is
;; ID-TIME-PROCESS.  The clients for Vim and Neovim write the same.
;;
;; This file knows nothing of buffers.

;;; Code:

(require 'jsonrpc)
(require 'seq)
(eval-when-compile (require 'subr-x))

(defun decent-notes--unsent-folder ()
  "The folder of the files."
  (expand-file-name "decent-notes/unsent/" (or (getenv "XDG_STATE_HOME") "~/.local/state")))

(defun decent-notes--unsent-name (id)
  "A name for the files of the note ID, without the ending, that none have."
  (let ((time (current-time)) name)
    (while (progn
             (setq name (expand-file-name
                         (format "%s-%s-%d" (replace-regexp-in-string "[^[:alnum:]_-]" "_" id)
                                 (format-time-string "%Y%m%dT%H%M%S" time) (emacs-pid))
                         (decent-notes--unsent-folder))
                   time (time-add time 1))
             (file-exists-p (concat name ".txt"))))
    name))

(defun decent-notes--write-unsent (file text)
  "Write TEXT to FILE, which only the user can read.
Whatever happens meanwhile, FILE has the old text or the new one."
  (let ((coding-system-for-write 'utf-8-unix)
        (write-region-inhibit-fsync t)
        ;; An Emacs that is killed meanwhile would leave the lock.
        create-lockfiles
        (new (concat file ".new"))
        write-region-annotate-functions write-region-post-annotation-function)
    (with-file-modes #o700 (make-directory (file-name-directory file) t))
    (with-file-modes #o600 (write-region text nil new nil 'quiet))
    (rename-file new file t)))

(defun decent-notes--write-way (name way)
  "Write WAY, what note/open needs to resume with the text of NAME, and the title."
  (decent-notes--write-unsent (concat name ".json")
                              (jsonrpc--json-encode (append (list :pid (emacs-pid)) way))))

(defun decent-notes--remove-unsent (name)
  "Remove the files of NAME, also those that an Emacs was killed over."
  (dolist (ending '(".json.new" ".json" ".txt.new" ".txt"))
    (ignore-errors (delete-file (concat name ending)))))

(defun decent-notes--editor-p (process)
  "Return non-nil if PROCESS, a number, is that of an editor.
Another program may have got the number of one that is gone.  One that has
ended may still be listed, as long as its parent has not waited for it."
  (let* ((attributes (process-attributes process))
         (command (alist-get 'comm attributes))
         (case-fold-search t))
    (and command (not (equal (alist-get 'state attributes) "Z"))
         (string-match-p "vi\\|emacs" command))))

(defun decent-notes--read-unsent (file)
  "What is known of FILE, a text that was not sent: a property list.
It has the `:name' of the files, the `:id' and the `:title' of the note, the
`:time' and the `:process' of the editor, nil if unknown, and `:resume', what
note/open needs to resume, nil without that."
  (let ((name (file-name-sans-extension file)))
    (when (string-match
           (concat "\\([^/]+\\)-\\([0-9]\\{8\\}T[0-9]\\{4\\}\\)[0-9.Z]*"
                   "\\(?:-\\([0-9]+\\)\\)?\\'")
           name)
      (let* ((id (match-string 1 name))
             (time (match-string 2 name))
             (process (match-string 3 name))
             (way (ignore-errors
                    (with-temp-buffer
                      (let ((coding-system-for-read 'utf-8-unix))
                        (insert-file-contents (concat name ".json")))
                      (jsonrpc--json-read))))
             (title (plist-get way :title)))
        (list :name name :id id :title (if (stringp title) title id)
              :time (replace-regexp-in-string
                     "\\(....\\)\\(..\\)\\(..\\)T\\(..\\)\\(..\\)" "\\1-\\2-\\3 \\4:\\5" time)
              :process (and process (string-to-number process))
              :resume (when (and (stringp (plist-get way :session))
                                 (stringp (plist-get way :baseText))
                                 (natnump (plist-get way :version))
                                 (natnump (plist-get way :rev)))
                        (list :session (plist-get way :session)
                              :version (plist-get way :version) :rev (plist-get way :rev)
                              :hidesReturns (if (eq t (plist-get way :hidesReturns)) t :json-false)
                              :baseText (plist-get way :baseText))))))))

(defun decent-notes--unsent-text (unsent)
  "The text of UNSENT, which `decent-notes--read-unsent' has returned."
  (with-temp-buffer
    (let ((coding-system-for-read 'utf-8-unix))
      (insert-file-contents (concat (plist-get unsent :name) ".txt")))
    (buffer-string)))

(defun decent-notes--left-unsent (shown)
  "The texts of editors that are gone, and those of this one but for SHOWN.
SHOWN are names of files.  The oldest comes first."
  (let ((folder (decent-notes--unsent-folder)))
    (when (file-directory-p folder)
      (sort (seq-remove
             (lambda (unsent)
               (let ((process (plist-get unsent :process)))
                 (if (eql process (emacs-pid)) (member (plist-get unsent :name) shown)
                   (and process (decent-notes--editor-p process)))))
             (delq nil (mapcar #'decent-notes--read-unsent
                               (directory-files folder t "\\.txt\\'"))))
            (lambda (a b) (string< (plist-get a :time) (plist-get b :time)))))))

(provide 'decent-notes-unsent)
;;; decent-notes-unsent.el ends here
