import Foundation
import JSONRPC
import TestSupport
import Testing

/// Emacs in a terminal, with our client, next to a process that is somebody else on the same folder.
final class EmacsSession {
  static let folder = projectFolder.path + "/clients/emacs"

  /// The files of the client's own tests.
  static func tests() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix("-tests.el") }.sorted()
  }

  private static let elpa = "/usr/share/emacs/site-lisp/elpa"

  /// Whether Debian's packages of evil and undo-tree are there.
  static let hasEvil = ["evil-", "undo-tree-"].allSatisfy { package in
    (try? FileManager.default.contentsOfDirectory(atPath: elpa))?
      .contains { $0.hasPrefix(package) } == true
  }

  /// Lets Emacs find Debian's packages.
  static let packages =
    "(setq load-path (append (file-expand-wildcards \"\(elpa)/*\") load-path))"
  /// Turns evil on.
  static let evil =
    "(let ((gc-cons-threshold most-positive-fixnum)) (require 'evil)) (evil-mode 1)"

  let folder: TemporaryFolder
  let peer: Server
  let emacs: Terminal

  /// - Parameter start: what Emacs evaluates first.
  init(_ notes: [(title: String, text: String)], start: String) throws {
    folder = TemporaryFolder()
    peer = try Server(folder("notes"))
    try peer.initialize()
    for note in notes.reversed() {
      try peer.call("note/create", ["title": .string(note.title), "text": .string(note.text)])
    }
    emacs = try Self.emacs(in: folder, start: start)
  }

  /// Another Emacs, after the first.
  func again(start: String) throws -> Terminal { try Self.emacs(in: folder, start: start) }

  private static func emacs(in folder: TemporaryFolder, start: String) throws -> Terminal {
    // F5 is the accident, F6 says where point is, F7 which processes these are.
    let settings = """
      (progn (menu-bar-mode -1)
        ;; Emacs 28 suggests a shorter name of a command in a timer, which loses keys that are typed meanwhile.
        (setq decent-notes-notebook "\(folder("notes"))" suggest-key-bindings nil)
        (global-set-key (kbd "<f5>") (lambda () (interactive)
          (signal-process decent-notes--process 'KILL)))
        (global-set-key (kbd "<f6>") (lambda () (interactive)
          (message "before <%s>" (buffer-substring (point) (line-end-position)))))
        (global-set-key (kbd "<f7>") (lambda () (interactive)
          (message "processes %d %d." (emacs-pid) (process-id decent-notes--process))))
        \(start))
      """
    // Each test has a home of its own, in which nothing is compiled yet: that would take the processor for a minute.
    let compiling = quoted("(setq native-comp-deferred-compilation nil)")
    let loading = "-L \(quoted(Self.folder)) -l decent-notes"
    return try Terminal(
      "exec emacs -nw -Q --eval \(compiling) \(loading) --eval \(quoted(settings))",
      columns: 100, environment: ["XDG_STATE_HOME": folder("state"), "HOME": folder.path])
  }

  convenience init(_ text: String) throws {
    try self.init([("Note", text)], start: "(decent-notes-open \"Note\")")
    try emacs.wait("the note is open") { $0.contains { $0.contains("Note[connected]") } }
  }

  func note(_ title: String = "Note") throws -> JSONValue? {
    try peer.call("notebook/list")["notes"]?.array?.first { $0["title"]?.string == title }
  }

  /// The peer's text of a note.
  func text(_ title: String = "Note") throws -> String? {
    guard let id = try note(title)?["id"]?.string else { return nil }
    return try peer.call("note/get", ["id": .string(id)])["text"]?.string
  }

  /// Waits until the peer has what it should; the failure tells the note `title`.
  func wait(_ what: String, in title: String = "Note", until isMet: () throws -> Bool) throws {
    try waitUntil(
      "\(what); the note is \(try text(title) ?? "missing")\n"
        + (try emacs.screen().joined(separator: "\n")),
      every: 0.02, isMet)
  }

  /// Waits until the note of the peer is `text`.
  func wait(for text: String, in title: String = "Note") throws {
    try wait("the text \(text.prefix(200))", in: title) { try self.text(title) == text }
  }

  func append(_ text: String) throws {
    try peer.call("note/append", ["id": .string(note()!["id"]!.string!), "text": .string(text)])
  }

  /// Replaces the first `old` in the note of the peer.
  func replace(_ old: String, _ new: String) throws {
    let id = JSON.string(try note()!["id"]!.string!)
    let got = try peer.call("note/get", ["id": id])
    var text = got["text"]!.string!
    text.replaceSubrange(text.range(of: old)!, with: new)
    try peer.call(
      "note/setText",
      ["id": id, "text": .string(text), "base": .string(got["revision"]!.string!)])
  }

  /// The processes of Emacs and of its server.
  func processes() throws -> (emacs: pid_t, server: pid_t) {
    try emacs.press("F7")
    var numbers: [pid_t] = []
    try emacs.wait("the processes") {
      guard let line = $0.last, line.hasPrefix("processes "), line.hasSuffix(".") else {
        return false
      }
      numbers = line.dropLast().split(separator: " ").compactMap { pid_t($0) }
      return numbers.count == 2
    }
    return (numbers[0], numbers[1])
  }

  /// Leaves Emacs with C-x C-c.
  func quit() throws {
    try emacs.press("C-x", "C-c")
    try emacs.waitForEnd()
  }
}
