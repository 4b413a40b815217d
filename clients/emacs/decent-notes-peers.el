;;; decent-notes-peers.el --- Links with other notebooks  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; Links with peers: other notebooks with which changes are exchanged all the
;; time, and who has which note open there.

;;; Code:

(require 'decent-notes-files)
(eval-when-compile (require 'subr-x))

(defvar decent-notes--links nil
  "The addresses of the peers to which a link was begun here.
Another process begins them again.")

(defun decent-notes--peer-state (peer)
  "Return the state of PEER, of notebook/status, as some words."
  (cond ((eq t (plist-get peer :live)) "linked")
        ((plist-get peer :failure))
        ((plist-get peer :reached)
         (format-time-string "reached %Y-%m-%d %H:%M" (date-to-time (plist-get peer :reached))))
        (t "not reached")))

(defun decent-notes--peers ()
  "The states of the peers, by their addresses."
  (mapcar (lambda (peer) (cons (plist-get peer :peer) (decent-notes--peer-state peer)))
          (plist-get (decent-notes--call 'notebook/status nil) :peers)))

(defun decent-notes--read-peer (prompt peers)
  "Read the address of a peer with PROMPT.  PEERS and folders are completed."
  (let* ((map (make-sparse-keymap))
         (completion-extra-properties
          (list :annotation-function
                (lambda (address)
                  (when-let ((state (cdr (assoc address peers)))) (concat "  " state))))))
    (set-keymap-parent map minibuffer-local-completion-map)
    ;; A command has blanks.
    (define-key map " " #'self-insert-command)
    (let ((minibuffer-local-completion-map map))
      (completing-read prompt (completion-table-in-turn peers #'completion-file-name-table)))))

(defun decent-notes--peer-address (peer)
  "Return PEER as it is sent: a folder is named from the root."
  (if (or (string-match-p "\\`\\(?:~\\|\\.\\.?\\)?/" peer) (file-directory-p peer))
      (directory-file-name (expand-file-name peer))
    peer))

;;;###autoload
(defun decent-notes-sync (peer)
  "Link this notebook with PEER: exchange what is new, and go on with that.
What is typed here and there is then seen at once in both, with cursors and
names, as long as Emacs runs or until `decent-notes-sync-end'.  PEER is a
folder, a command that speaks the protocol, as \"ssh home decent-notes\", or a
remote of rclone, as \"rclone:cloud:Notes\"."
  (interactive (list (decent-notes--read-peer "Link to folder or command: " (decent-notes--peers))))
  (when (string-blank-p peer) (user-error "No peer was named"))
  (let* ((address (decent-notes--peer-address peer))
         (result (decent-notes--work-on "Exchanging changes" 'notebook/sync
                                        (list :peer address :stay t))))
    (cl-pushnew address decent-notes--links :test #'equal)
    (message "Linked to %s: sent %d bytes, received %d" address
             (plist-get result :sent) (plist-get result :received))))

(defun decent-notes-sync-end (peer)
  "End the link to PEER: exchange nothing more with it."
  (interactive (list (decent-notes--read-peer "End the link to: " (decent-notes--peers))))
  (decent-notes--ensure)
  (let ((address (decent-notes--peer-address peer)))
    (setq decent-notes--links (delete address decent-notes--links))
    (decent-notes--request
     'notebook/sync (list :peer address :stay :json-false)
     ;; There is a last exchange.
     (lambda (_result) (decent-notes--tell "no link to %s any more" address))
     (lambda (problem)
       (if (equal (decent-notes--reason problem) "peerUnreachable")
           (decent-notes--tell "no link to %s any more; it was out of reach" address)
         (decent-notes--tell "%s" (decent-notes--cause problem)))))))

(defun decent-notes-peers ()
  "Show the peers: which are linked, when the others were reached, or why not."
  (interactive)
  (message "%s" (mapconcat (lambda (peer) (concat (car peer) "  " (cdr peer)))
                           (or (decent-notes--peers) '(("There are no peers" . "")))
                           "\n")))

(defun decent-notes--begin-links ()
  "Begin the links again, in the place of a process that has died."
  (dolist (address decent-notes--links)
    (decent-notes--request
     'notebook/sync (list :peer address :stay t) nil
     (lambda (problem)
       (when (and (member address decent-notes--links) (not (eql -1 (plist-get problem :code))))
         (setq decent-notes--links (delete address decent-notes--links))
         (decent-notes--tell "no link to %s any more: %s" address
                             (decent-notes--cause problem)))))))
(add-hook 'decent-notes--ready-hook #'decent-notes--begin-links)

(provide 'decent-notes-peers)
;;; decent-notes-peers.el ends here
