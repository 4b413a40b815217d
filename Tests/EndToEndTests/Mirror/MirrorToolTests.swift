import Foundation
import TestSupport
import Testing

/// A program that puts a text into a file, in its own way.
private enum Writer: String, CaseIterable {
  case sed = "sed -i"
  case copy = "cp"
  case move = "mv"
  case append = "cat >>"
  case pandoc = "pandoc -o"
  case rsync = "rsync"
  case rsyncInPlace = "rsync --inplace"
  /// Empties the file, and writes it in pieces, as Obsidian does on some systems.
  case truncating = "a writer that truncates"

  var program: String? {
    switch self {
    case .sed: tool("sed")
    case .pandoc: tool("pandoc")
    case .rsync, .rsyncInPlace: tool("rsync")
    default: "/bin/sh"
    }
  }

  /// Writes a word behind another one into a text that was read earlier, and that to the file.
  func write(_ word: String, behind other: String, in text: String, to file: String) throws {
    let new = text.replacing(other, with: "\(other) \(word)")
    let scratch = TemporaryFolder()
    try new.write(toFile: scratch("a.md"), atomically: false, encoding: .utf8)
    switch self {
    case .sed: try shell("sed -i \"s/$3/& $4/\" \"$2\"", file, other, word)
    case .copy: try shell("cp \"$2\" \"$3\"", scratch("a.md"), file)
    case .move: try shell("mv \"$2\" \"$3\"", scratch("a.md"), file)
    case .append: try shell("printf '\\n%s\\n' \"$3\" >> \"$2\"", file, word)
    case .pandoc:
      try shell("pandoc -f markdown -t markdown -o \"$3\" \"$2\"", scratch("a.md"), file)
    case .rsync: try shell("rsync -a \"$2\" \"$3\"", scratch("a.md"), file)
    case .rsyncInPlace: try shell("rsync -a --inplace \"$2\" \"$3\"", scratch("a.md"), file)
    case .truncating: try truncate(file, Array(new.utf8))
    }
  }

  /// Longer between two pieces than a file that was closed rests before it is read.
  private func truncate(_ file: String, _ bytes: [UInt8]) throws {
    let descriptor = open(file, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure("\(file): \(errno)") }
    defer { close(descriptor) }
    for piece in [bytes[..<(bytes.count / 2)], bytes[(bytes.count / 2)...]] {
      pause(0.4)
      guard piece.withUnsafeBytes({ Foundation.write(descriptor, $0.baseAddress, $0.count) }) > 0
      else { throw Failure("\(file): \(errno)") }
    }
  }
}

@Suite(.waitingLong, .tags(.tool, .slow))
struct `Programs in a mirrored folder` {
  @Test(arguments: Writer.allCases.map(\.rawValue))
  func `What a program writes, and what others type meanwhile, is there once`(
    _ name: String
  ) throws {
    let writer = Writer(rawValue: name)!
    guard writer.program != nil else {
      #expect(!isContinuousIntegration, "\(name) is missing")
      return print("skipped: \(name) is missing")
    }
    let scene = try MirrorScene()

    // Both at the same time.
    var text = scene.fileText
    try scene.type(behind: "line8")
    try writer.write(scene.word("program"), behind: "line1", in: text, to: scene.file)
    try scene.check("\(name), at once")

    // The program has read the file before another one's text came into it.
    text = scene.fileText
    try scene.awaitFile(try scene.type(behind: "line4"))
    try writer.write(scene.word("program"), behind: "line3", in: text, to: scene.file)
    try scene.check("\(name), an old text")

    // While another one goes on typing.
    for line in [2, 6] {
      text = scene.fileText
      for _ in 0..<4 { try scene.type(behind: "line\(line + 1)") }
      try writer.write(scene.word("program"), behind: "line\(line)", in: text, to: scene.file)
      try scene.rest()
    }
    try scene.check("\(name), at the end")
    #expect(try scene.told() == [])

    // And out of the folder.
    if writer == .rsync {
      try shell("rsync -a \"$2/\" \"$3/\"", scene.files, scene.folder("out"))
      let out = try contents(of: URL(fileURLWithPath: scene.folder("out/a.md")))
      #expect(out == (try scene.noteText))
    }
  }

  @Test(
    .enabled(if: tool("nano") != nil && hasTool("script") || isContinuousIntegration, "no nano"))
  func `What nano writes over a newer file is there once, and what others type`() throws {
    let scene = try MirrorScene()
    for _ in 0..<2 {
      let nano = try Server(
        nil, [tool("nano")!, "--ignorercfiles", scene.file],
        environment: ["HOME": scene.folder.path, "TERM": "xterm"],
        shell: "shift; exec script -qec \"stty rows 24 cols 80; exec $*\" /dev/null")
      var screen = ""
      func look(for what: String) throws {
        try waitUntil("nano shows \(what): \(screen)") {
          screen += try nano.takeOutput()
          return screen.contains(what)
        }
        screen = ""
      }
      try look(for: "line9")
      try nano.write("\(scene.word("nano")) ")
      let typed = try scene.type(behind: "line8")
      try scene.awaitFile(typed)
      try nano.write("\u{13}")
      try look(for: "since you opened it")
      try nano.write("y")
      try look(for: "Wrote")
      try nano.write("\u{18}")
      try waitUntil("nano leaves") {
        _ = try nano.takeOutput()
        return !nano.isRunning
      }
      try scene.check("nano")
    }
    #expect(try scene.told() == [])
  }

  @Test
  func `A line that a program has read and deletes stays deleted, and an unread one stays`() throws
  {
    let scene = try MirrorScene()
    for round in 1...2 {
      let old = scene.fileText
      let typed = try scene.type(behind: "line5")
      try scene.rest()
      // The text is older than what was typed.
      let word = scene.word("old")
      try Data(old.replacing("line1", with: "line1 \(word)").utf8)
        .write(to: URL(fileURLWithPath: scene.file))
      try scene.check("an older text, \(round)")
      #expect(try scene.told() == [])
      let new = scene.fileText.replacing(" \(typed)", with: "")
      try Data(new.utf8).write(to: URL(fileURLWithPath: scene.file), options: .atomic)
      scene.expect(typed, false)
      try scene.check("a deletion, \(round)")
      try scene.awaitTold("a.md was saved without what had come into it a moment ago: \"\(typed)\"")
    }
  }

  @Test(.enabled(if: hasTool("git") || isContinuousIntegration, "git is missing"))
  func `A checkout and a stash change the note, and what others type meanwhile stays`() throws {
    let scene = try MirrorScene()
    func git(_ arguments: String) throws {
      try shell(
        "cd \"$2\" && git -c user.name=a -c user.email=a@localhost \(arguments) >/dev/null 2>&1",
        scene.files)
    }
    try git("init -q -b first")
    try git("add a.md")
    try git("commit -qm first")
    try git("checkout -q -b second")
    let branch = scene.word("branch")
    try shell("sed -i \"s/line1/& $3/\" \"$2\"", scene.file, branch)
    try scene.check("a branch")
    try git("commit -qam second")

    // The branch's word goes away; the other one's comes at that moment.
    try git("checkout -q first")
    scene.expect(branch, false)
    let typed = try scene.type(behind: "line8")
    try scene.check("checkout")
    // And comes back, in a file that has not what was typed.
    try git("commit -qam typed")
    try git("checkout -q second")
    scene.expect(branch, true)
    try scene.check("checkout, back")

    let stashed = scene.word("stashed")
    try shell("sed -i \"s/line3/& $3/\" \"$2\"", scene.file, stashed)
    try scene.check("before the stash")
    try git("stash -q")
    for word in [typed, stashed] { scene.expect(word, false) }
    try scene.type(behind: "line5")
    try scene.check("stash")
    try git("commit -qam meanwhile")
    try git("stash pop -q")
    for word in [typed, stashed] { scene.expect(word, true) }
    try scene.check("stash pop")
    #expect(try scene.told() == [])
  }

  @Test(.enabled(if: hasTool("syncthing") || isContinuousIntegration, "syncthing is missing"))
  func `What Syncthing brings into the folder and takes out of it is there once`() throws {
    let folders = TemporaryFolder()
    let other = folders("other")
    let engines = [
      try Syncthing(folders("files"), home: folders("home0")),
      try Syncthing(other, home: folders("home1")),
    ]
    for engine in engines { try engine.configure(engines) }
    let scene = try MirrorScene(files: folders("files"))
    for engine in engines { try engine.start() }
    defer { for engine in engines { engine.stop() } }
    func there() -> String {
      (try? String(contentsOfFile: other + "/a.md", encoding: .utf8)) ?? "(no file)"
    }
    func converge() throws {
      try waitUntil(
        "both have the same: \(there())\n\(engines.map(\.log).joined(separator: "\n"))",
        within: 4 * patience, every: 0.05
      ) {
        try scene.mirror.receiveAvailable()
        return there() == scene.fileText && scene.objections(to: there()).isEmpty
      }
    }
    try converge()
    for line in 1...3 {
      // One there, and one here as soon as that has come.
      let word = scene.word("there")
      try shell("sed -i \"s/$3/& $4/\" \"$2\"", other + "/a.md", "line\(line)", word)
      try waitUntil("\(word) comes here", within: 4 * patience, every: 0.02) {
        try scene.mirror.receiveAvailable()
        return scene.fileText.contains(word)
      }
      for _ in 0..<3 { try scene.type(behind: "line\(line + 4)") }
      try converge()
      try scene.check("Syncthing")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: other)
    #expect(!names.contains { $0.contains("sync-conflict") }, "\(names)")
    #expect(try scene.told() == [])
  }
}
