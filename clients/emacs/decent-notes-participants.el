;;; decent-notes-participants.el --- Who else is in a text  -*- lexical-binding: t; -*-

;; Copyright (c) 2026 The Decent Notes authors
;; SPDX-License-Identifier: MIT

;; Author: The Decent Notes authors
;; Package: decent-notes
;; Keywords: text, comm, convenience

;;; Commentary:

;; Shows the other participants in a buffer: their selections, their cursors,
;; and their names beside these.  This file knows nothing of notes.

;;; Code:

(require 'cl-lib)
(require 'seq)
(eval-when-compile (require 'subr-x))

(defface decent-notes-participant '((t :inherit highlight))
  "What others have selected."
  :group 'decent-notes)
(define-obsolete-face-alias 'decent-notes-peer 'decent-notes-participant "0.1.0")

(defconst decent-notes--participant-faces
  (seq-map-indexed
   (lambda (color index)
     (let ((face (intern (format "decent-notes-participant-%d" index))))
       (custom-declare-face
        face `((((min-colors 88)) :foreground "#ffffff" :background ,color) (t :inverse-video t))
        (format "Cursors and names of others whose colour is %d or %d." index (+ index 8))
        :group 'decent-notes)
       face))
   ;; Dark enough for white letters, light enough beside black.
   '("#d70000" "#005fd7" "#008700" "#875faf" "#af5f00" "#007a7a" "#d70087" "#5f5f87"))
  "The faces of the cursors and names of others.")

(defconst decent-notes--most-participants 32
  "More participants are not shown in the text: somebody may tell of thousands.")

;;; Names

(defconst decent-notes--hidden-characters
  '((#xad . #xad) (#x34f . #x34f) (#x600 . #x605) (#x61c . #x61c) (#x6dd . #x6dd) (#x70f . #x70f)
    (#x890 . #x891) (#x8e2 . #x8e2) (#x115f . #x1160) (#x17b4 . #x17b5) (#x180b . #x180f)
    (#x200b . #x200f) (#x202a . #x202e) (#x2060 . #x206f) (#x3164 . #x3164) (#xfdd0 . #xfdef)
    (#xfe00 . #xfe0f) (#xfeff . #xfeff) (#xffa0 . #xffa0) (#xfff0 . #xfffb) (#xfffe . #xffff)
    (#x110bd . #x110bd) (#x110cd . #x110cd) (#x13430 . #x1343f) (#x1bca0 . #x1bca3)
    (#x1d173 . #x1d17a) (#xe0000 . #xe0fff))
  "Characters that are not seen, or change how others are seen, or are none.")

(defconst decent-notes--blank-characters
  '((0 . #x20) (#x7f . #xa0) (#x1680 . #x1680) (#x2000 . #x200a) (#x2028 . #x2029)
    (#x202f . #x202f) (#x205f . #x205f) (#x2800 . #x2800) (#x3000 . #x3000))
  "Control characters, blanks and ends of lines.")

(defconst decent-notes--character-kinds
  (let ((kinds (make-char-table 'decent-notes--character-kinds)))
    (dolist (range decent-notes--hidden-characters kinds)
      (set-char-table-range kinds range 'hidden))
    (dolist (range decent-notes--blank-characters kinds)
      (set-char-table-range kinds range 'blank)))
  "What characters are in names, where they are not as any other.")

(defconst decent-notes--name-width 20
  "The columns of a name.")

(defun decent-notes--clean-name (name)
  "Return NAME as it may be shown anywhere, whatever is in it.
It is one line of a few columns, and empty if nothing of it can be seen."
  (let ((letters nil) (columns 0) (accents 0) (place 0))
    ;; What follows is left out, were it only a blank.
    (while (and (< place (length name)) (<= columns (1+ decent-notes--name-width)))
      (let* ((char (aref name place))
             (kind (aref decent-notes--character-kinds char))
             (beginning (memq (car letters) '(nil ?\s))))
        (cond ((eq kind 'blank)
               (unless beginning
                 (push ?\s letters)
                 (setq columns (1+ columns))))
              ((eq kind 'hidden))
              ((< 0 (char-width char))
               ;; The mode line takes "%" for the beginning of a construct.
               (push (if (eql char ?%) ?％ char) letters)
               (setq columns (+ columns (char-width (car letters))) accents 0))
              ;; More accents on one letter would cover other lines.
              ((and (not beginning) (< accents 2))
               (push char letters)
               (setq accents (1+ accents)))))
      (setq place (1+ place)))
    (when (eql (car letters) ?\s)
      (pop letters)
      (setq columns (1- columns)))
    (when (< decent-notes--name-width columns)
      (while (<= decent-notes--name-width columns)
        (setq columns (- columns (char-width (pop letters)))))
      (push ?… letters))
    (apply #'string (nreverse letters))))

(defvar decent-notes--shown-names (make-hash-table :test #'equal)
  "Names as they are shown, by those that were given.")

(defun decent-notes--name-of (participant)
  "The name of PARTICIPANT as it is shown; empty if there is none."
  (let ((name (or (plist-get participant :name) "")))
    (when (< 2000 (hash-table-count decent-notes--shown-names))
      (clrhash decent-notes--shown-names))
    (or (gethash name decent-notes--shown-names)
        (puthash name (decent-notes--clean-name name) decent-notes--shown-names))))

(defun decent-notes--names (participants)
  "Say who PARTICIPANTS are, for the mode line.
These are three names, and how many there are besides; empty if there are none."
  (let ((names nil) (others 0)
        (met (make-hash-table :test #'equal))) ; somebody may have several windows
    (seq-doseq (participant participants)
      (let ((name (or (plist-get participant :name) "")))
        (unless (gethash name met)
          ;; Of very many names most are only counted.
          (let ((text (if (or (nthcdr 2 names)
                              (<= decent-notes--most-participants (hash-table-count met)))
                          ""
                        (decent-notes--name-of participant))))
            (unless (string-empty-p name) (puthash name t met))
            (cond ((string-empty-p text) (setq others (1+ others)))
                  ((not (member text names)) (push text names)))))))
    (cond (names
           (concat (mapconcat #'bidi-string-mark-left-to-right (nreverse names) ", ")
                   (when (< 0 others) (format " +%d" others))))
          ((= others 0) "")
          ((= others 1) "1 other")
          (t (format "%d others" others)))))

;;; Cursors

(defun decent-notes--show-participants (participants)
  "Show where PARTICIPANTS are, as note/presence names them, and no others."
  (remove-overlays nil nil 'decent-notes-participant t)
  (let ((columns (decent-notes--columns))
        (room (make-hash-table))) ; by the ends of lines that have a name
    (dolist (participant (seq-take participants decent-notes--most-participants))
      (let ((name (decent-notes--name-of participant))
            (face (nth (mod (or (plist-get participant :color) 0)
                            (length decent-notes--participant-faces))
                       decent-notes--participant-faces)))
        (seq-doseq (range (plist-get participant :ranges))
          (let ((start (decent-notes--place (plist-get range :start)))
                (end (decent-notes--place (plist-get range :end))))
            (unless (= start end)
              (overlay-put (decent-notes--overlay start end) 'face 'decent-notes-participant))
            (decent-notes--show-cursor end face name columns room)
            (setq name ""))))))) ; it is beside the first cursor

(defun decent-notes--columns ()
  "The columns that lines have in all windows of this buffer."
  (let ((windows (get-buffer-window-list nil nil t)))
    (if windows (apply #'min (mapcar #'window-max-chars-per-line windows)) (frame-width))))

(defun decent-notes--place (position)
  "Return POSITION of the protocol as one of this buffer."
  (save-excursion
    (goto-char (point-min))
    (forward-line (plist-get position :line))
    (min (point-max) (+ (point) (plist-get position :character)))))

(defun decent-notes--overlay (beg end)
  "Make an overlay of BEG to END; an empty one stays behind what is typed there."
  (let ((overlay (make-overlay beg end nil (= beg end) (= beg end))))
    (overlay-put overlay 'decent-notes-participant t)
    overlay))

(defun decent-notes--at-line-end-p (place)
  "Return non-nil if PLACE is the end of a line."
  (memq (char-after place) '(nil ?\n)))

(defun decent-notes--show-cursor (place face name columns room)
  "Show a cursor at PLACE with FACE, and NAME beside it if that is not empty.
COLUMNS and ROOM are for `decent-notes--show-name'."
  (if (not (decent-notes--at-line-end-p place))
      (let ((overlay (decent-notes--overlay place (1+ place))))
        (overlay-put overlay 'face face)
        (overlay-put overlay 'priority 1) ; it is seen in selections
        (unless (string-empty-p name)
          (decent-notes--show-name place face name columns room)))
    (let ((left (- (decent-notes--room place columns room) (string-width name) 1)))
      (overlay-put (decent-notes--overlay place place) 'after-string
                   ;; Our own cursor, at this place, stays before it.
                   (concat (propertize " " 'face face 'cursor t)
                           ;; A line may have names enough.
                           (unless (and (< left 0) (gethash place room))
                             (propertize name 'face face))))
      (puthash place left room))))

(defconst decent-notes--unspaced
  "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff"
  "The scripts that are written without blanks, for `skip-chars-forward'.
These are Thai, Lao, Burmese, Khmer, Chinese and Japanese.")

(defun decent-notes--show-name (place face name columns room)
  "Show NAME with FACE beside the cursor at PLACE.
It is behind the line, and in one that is wider than COLUMNS behind the word,
because the end may be far away.  ROOM has the columns that are left in lines,
by their ends."
  (let* ((end (save-excursion (goto-char place) (line-end-position)))
         (left (- (decent-notes--room end columns room) (string-width name) 1))
         (behind (if (<= 0 left) end
                   (save-excursion
                     (goto-char place)
                     (when (= 0 (skip-chars-forward decent-notes--unspaced (1+ place)))
                       (forward-char)
                       (skip-chars-forward (concat "^ \t\n" decent-notes--unspaced)
                                           (+ place 13)))
                     (point))))
         (at-end (= behind end)))
    (when at-end (puthash end left room))
    (overlay-put (decent-notes--overlay behind behind) 'after-string
                 (concat (propertize " " 'face (unless at-end face) 'cursor at-end)
                         (propertize name 'face face)))))

(defun decent-notes--room (end columns room)
  "Return how many of COLUMNS are left behind the line that ends at END.
ROOM has those of lines that have a name."
  (or (gethash end room)
      (let ((beg (save-excursion (goto-char end) (line-beginning-position))))
        ;; To measure a long line takes time.
        (- columns (if (< (- end beg) columns) (string-width (buffer-substring beg end))
                     (- end beg))))))

(provide 'decent-notes-participants)
;;; decent-notes-participants.el ends here
