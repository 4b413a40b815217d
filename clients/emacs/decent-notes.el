;;; decent-notes.el --- Notes edited here and elsewhere at once  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.2"))
;; Keywords: text, comm, convenience

;;; Commentary:

;; `M-x decent-notes' lists the notes of a notebook, `M-x decent-notes-open'
;; opens one.  A note is an ordinary buffer with any major mode.  What you type
;; in it is kept at once, and what other editors, programs and machines do to
;; the note appears in it as it happens.
;;
;; `decent-notes-live' has the process and the text of open notes; the rest is
;; built upon it: `decent-notes-list' and, upon that, `decent-notes-history',
;; `decent-notes-grep' and `decent-notes-places'.

;;; Code:

(require 'decent-notes-live)
(require 'decent-notes-list)
(require 'decent-notes-history)
(require 'decent-notes-grep)
(require 'decent-notes-places)

(provide 'decent-notes)
;;; decent-notes.el ends here
