import Foundation
import TestSupport
import Testing

/// An editor that has a file open, and does what is typed, in a terminal; Emacs as it does without one. Its way to read and write files
/// is the one that it has with a user.
private final class OpenEditor {
  enum Kind: String, CaseIterable {
    case vimCopying = "Vim, backupcopy=yes"
    case vimRenaming = "Vim, backupcopy=no"
    case vimChoosing = "Vim, backupcopy=auto"
    case neovim = "Neovim"
    case recentNeovim = "a recent Neovim"
    case emacs = "Emacs"
    case emacsCopying = "Emacs, backup-by-copying"
    case emacsPrecious = "Emacs, file-precious-flag"

    var program: String? {
      switch self {
      case .vimCopying, .vimRenaming, .vimChoosing: tool("vim")
      case .neovim: tool("nvim")
      case .recentNeovim: ProcessInfo.processInfo.environment["DECENT_NOTES_NVIM"]
      case .emacs, .emacsCopying, .emacsPrecious: tool("emacs")
      }
    }

    var isEmacs: Bool { rawValue.hasPrefix("Emacs") }

    /// What it is told in the beginning.
    var setting: String {
      switch self {
      case .vimCopying: "set autoread backupcopy=yes"
      case .vimRenaming: "set autoread backupcopy=no"
      case .vimChoosing, .neovim, .recentNeovim: "set autoread backupcopy=auto"
      case .emacs: "(setq make-backup-files t)"
      case .emacsCopying: "(setq backup-by-copying t)"
      case .emacsPrecious: "(setq-default file-precious-flag t)"
      }
    }
  }

  private let kind: Kind
  private let process: Server
  private let folder: TemporaryFolder
  private let file: String
  private var commands = 0
  /// True if it may know the time of a file that it has not read.
  ///
  /// An editor looks at the time of what it has written after it has closed that. The mirror waits until the file has rested; but on a disk
  /// that is busy the calls between take longer now and then, and the editor sees the time of the file that has come instead of its own.
  private(set) var mayHaveLookedLate = false

  /// - Parameter wrapper: what is to start the program, with its arguments.
  init(_ kind: Kind, _ file: String, _ folder: TemporaryFolder, under wrapper: [String] = []) throws
  {
    (self.kind, self.folder, self.file) = (kind, folder, file)
    var words = wrapper + [kind.program!]
    if kind.isEmacs {
      words += [
        "-Q", "--batch", "--eval",
        "(let (line) (while (setq line (ignore-errors (read-string \"\")))"
          + " (eval (car (read-from-string line)) t)))",
      ]
    } else {
      words += ["-N", "-u", "NONE", "-i", "NONE", "--cmd", "set cmdheight=9", file]
    }
    process = try Server(
      nil, words,
      environment: ["HOME": folder.path, "XDG_STATE_HOME": folder("state"), "TERM": "dumb"],
      shell: kind.isEmacs
        ? "shift; exec \"$@\"" : "shift; exec script -qec \"$(printf \"'%s' \" \"$@\")\" /dev/null")
    try tell(kind.setting)
    if kind.isEmacs { try tell("(find-file \"\(file)\")") }
  }

  /// Says what it is to do, and waits until it has done that. Vim asks whether a newer file is to be overwritten, and doesn't write to one
  /// that it sees become another one (E949): then its user says it again.
  func tell(_ command: String) throws {
    commands += 1
    let done = folder("done-\(commands)")
    let line =
      kind.isEmacs
      ? "\(command)\n(write-region \"\" nil \"\(done)\" nil 'silent)\n"
      : ":\(command) | call writefile([], '\(done)')\r"
    try process.write(line)
    var screen = ""
    try waitUntil("\(kind.rawValue) does \(command): \(screen) \(process.errorText)") {
      screen += try process.takeOutput()
      if let question = screen.range(of: "(y/n)") {
        screen.removeSubrange(..<question.upperBound)
        try process.write("y")
      } else if let refusal = screen.range(of: "E949: ") {
        screen.removeSubrange(..<refusal.upperBound)
        try process.write(line)
      }
      return access(done, F_OK) == 0
    }
  }

  func type(_ word: String, behind other: String) throws {
    try tell(
      kind.isEmacs
        ? "(progn (set-visited-file-modtime) (goto-char (point-min)) (search-forward \"\(other)\")"
          + " (insert \" \(word)\"))"
        : "%s/\\<\(other)\\>/& \(word)/")
  }

  /// Writes its text, whatever is in the file by now.
  func save() throws {
    // The mirror may write the file at any moment, and then Emacs would ask.
    try tell(
      kind.isEmacs
        ? "(progn (require 'cl-lib) (cl-letf (((symbol-function 'verify-visited-file-modtime)"
          + " (lambda (&optional _) t))) (save-buffer)))"
        : "write!")
    mayHaveLookedLate = try contents(of: URL(fileURLWithPath: file)) != shown()
  }

  /// Its text.
  func shown() throws -> String {
    let path = folder("shown")
    try tell(
      kind.isEmacs
        ? "(write-region nil nil \"\(path)\" nil 'silent)"
        : "call writefile(getline(1, '$'), '\(path)')")
    return try contents(of: URL(fileURLWithPath: path))
  }

  /// Its text, after it has looked whether the file has changed; if it may have looked too late before, after it was told to read the file.
  func reloaded() throws -> String {
    try tell(kind.isEmacs ? "(revert-buffer t t)" : mayHaveLookedLate ? "edit!" : "checktime")
    return try shown()
  }

  func quit() throws {
    if kind.isEmacs { process.closeInput() } else { try process.write(":qall!\r") }
    try waitUntil("\(kind.rawValue) leaves") {
      _ = try process.takeOutput()
      return !process.isRunning
    }
  }
}

@Suite(.waitingLong, .tags(.editor, .slow))
struct `Editors in a mirrored folder` {
  @Test(arguments: OpenEditor.Kind.allCases.map(\.rawValue))
  func `What an editor saves over a newer file, and what others type, is there once`(
    _ name: String
  ) throws {
    let kind = OpenEditor.Kind(rawValue: name)!
    guard kind.program != nil else {
      #expect(!isContinuousIntegration, "\(name) is missing")
      return print("skipped: \(name) is missing")
    }
    let scene = try MirrorScene()
    let editor = try OpenEditor(kind, scene.file, scene.folder)

    // Both at the same time.
    try editor.type(scene.word("editor"), behind: "line1")
    try scene.type(behind: "line8")
    try editor.save()
    try scene.check("\(name), at once")
    #expect(try editor.reloaded() == scene.fileText)

    // The text of the editor is older than the file.
    try editor.type(scene.word("editor"), behind: "line3")
    try scene.awaitFile(try scene.type(behind: "line4"))
    try editor.save()
    try scene.check("\(name), an old text")
    #expect(try editor.reloaded() == scene.fileText)

    // While another one goes on typing; and again before the editor has looked at the file.
    for line in [2, 6] {
      try editor.type(scene.word("editor"), behind: "line\(line)")
      for _ in 0..<4 { try scene.type(behind: "line\(line + 1)") }
      try editor.save()
    }
    try scene.check("\(name), twice")
    #expect(try editor.reloaded() == scene.fileText)
    try editor.quit()
    try scene.check("\(name), at the end")
    #expect(try scene.told() == [])
  }
  @Test func `An editor that looks too late at what it has written takes away nothing`() throws {
    guard let strace = tool("strace"), OpenEditor.Kind.neovim.program != nil else {
      #expect(!isContinuousIntegration, "strace or Neovim is missing")
      return print("skipped: strace or Neovim is missing")
    }
    let scene = try MirrorScene()
    // Its first call on a file that it has closed is a `chmod`; then it looks at the time.
    let slow = [
      strace, "-f", "-o", "/dev/null", "-e", "trace=chmod", "-e", "inject=chmod:delay_exit=1000000",
    ]
    let editor = try OpenEditor(.neovim, scene.file, scene.folder, under: slow)
    for round in 1...3 {
      try editor.type(scene.word("editor"), behind: "line\(round)")
      try scene.awaitFile(try scene.type(behind: "line\(round + 4)"))
      try editor.save()
      try scene.check("round \(round)")
      // It does not know that there is more in the file.
      #expect(editor.mayHaveLookedLate)
      try editor.tell("checktime")
      #expect(try editor.shown() != scene.fileText)
    }
    #expect(try editor.reloaded() == scene.fileText)
    try editor.quit()
  }
}
