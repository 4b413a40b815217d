;;; decent-notes.el --- Notes edited here and elsewhere at once  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.2"))
;; Keywords: text, comm, convenience

;;; Commentary:

;; `M-x decent-notes' lists the notes of a notebook, `M-x decent-notes-open'
;; opens one.  A note is an ordinary buffer with any major mode.  What you type
;; in it is kept at once, and what other editors, programs and machines do to
;; the note appears in it as it happens.
;;
;; The parts, each of which uses only those before it:
;;
;; - `decent-notes-process': the process, and JSON-RPC;
;; - `decent-notes-unsent': the files of texts that were not sent;
;; - `decent-notes-participants': the cursors and the names of others;
;; - `decent-notes-live': open notes, the client's side of the protocol;
;; - `decent-notes-buffers': the buffer of a note as a user meets it;
;; - `decent-notes-list': the list, and commands for the note of a line or buffer;
;; - `decent-notes-files': import and export, and notes forgotten for good;
;; - `decent-notes-peers': links with other notebooks;
;; - `decent-notes-history', `decent-notes-grep', `decent-notes-links',
;;   `decent-notes-places': the history, the matches of a search, links between
;;   notes, ways to a note from elsewhere in Emacs, and texts that were not sent.

;;; Code:

(require 'decent-notes-process)
(require 'decent-notes-unsent)
(require 'decent-notes-participants)
(require 'decent-notes-live)
(require 'decent-notes-buffers)
(require 'decent-notes-list)
(require 'decent-notes-files)
(require 'decent-notes-peers)
(require 'decent-notes-history)
(require 'decent-notes-grep)
(require 'decent-notes-links)
(require 'decent-notes-places)

(provide 'decent-notes)
;;; decent-notes.el ends here
