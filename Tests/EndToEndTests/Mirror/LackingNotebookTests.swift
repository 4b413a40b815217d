import Foundation
import TestSupport
import Testing

/// A notebook of three sessions with ten notes each, whose files are in two folders: one is mirrored, into the other one notes are exported.
private final class Scene {
  let dn = Commands()
  let folders: [String]
  /// How commands are started.
  let shell: String

  /// - Parameter isRefusable: whether modes may refuse something to the commands.
  init(notes: Int = 10, isRefusable: Bool = false) throws {
    folders = [dn.folder("vault"), dn.folder("out")]
    shell = isRefusable ? "setpriv --inh-caps=-all --bounding-set=-all \"$@\"" : "\"$@\""
    for session in 1...3 {
      // A process that serves a client begins a session of its own.
      var lines = [#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#]
      for number in 0..<notes {
        lines.append(
          #"{"jsonrpc":"2.0","id":1,"method":"note/create","params":{"title":"n\#(session)-\#(number)","#
            + #""text":"text of \#(session)-\#(number)\n"}}"#)
      }
      lines.append(#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#)
      let served = try dn.run(
        ["--framing", "lines"], input: Array((lines.joined(separator: "\n") + "\n").utf8))
      guard served.output.contains(#""id":2,"result":null"#) else { throw Failure(served.errors) }
    }
    try settle()
  }

  var vault: String { folders[0] }
  var out: String { folders[1] }

  func run(_ words: String...) throws -> Ran {
    try dn.run(words, shell: shell)
  }

  /// Makes files and notes equal.
  func settle() throws {
    for words in [["mirror", "--once", vault], ["export", out]] {
      let ran = try dn.run(words, shell: shell)
      guard ran.status == 0 else { throw Failure("\(words): \(ran.errors)") }
    }
  }

  /// The files that are the user's, by their paths.
  var files: [String: Data] {
    var files: [String: Data] = [:]
    for folder in folders {
      for name in (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
      where !name.hasPrefix(".decent-") {
        files["\(folder)/\(name)"] = FileManager.default.contents(atPath: "\(folder)/\(name)")
      }
    }
    return files
  }

  /// Names of files that were there and are not, or have other bytes.
  func harmed(since before: [String: Data]) -> [String] {
    let now = files
    return before.filter { now[$0.key] != $0.value }.keys.sorted()
  }

  /// The files of the sessions, the oldest first.
  var logs: [String] {
    get throws {
      let folder = dn.notebook + "/log"
      return try FileManager.default.subpathsOfDirectory(atPath: folder)
        .map { "\(folder)/\($0)" }.filter { $0.hasSuffix(".seg") }
        .sorted { try modified($0) < modified($1) }
    }
  }

  private func modified(_ path: String) throws -> Date {
    try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as! Date
  }

  func zero(_ path: String, at offset: Int, _ count: Int = 512) throws {
    var bytes = FileManager.default.contents(atPath: path)!
    let range = min(offset, bytes.count)..<min(offset + count, bytes.count)
    bytes.replaceSubrange(range, with: Data(count: range.count))
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  /// Puts a copy of a folder in its place.
  func replace(_ path: String, by copy: String) throws {
    try TestSupport.shell("rm -rf \"$2\" && cp -a \"$3\" \"$2\"", path, copy)
  }

  func copy(_ path: String, to copy: String) throws { try replace(copy, by: path) }

  func append(_ text: String, to file: String) throws {
    let old = try contents(of: URL(fileURLWithPath: file))
    try (old + text).write(toFile: file, atomically: false, encoding: .utf8)
  }
}

@Suite(.waitingLong, .tags(.slow))
struct `Files of a notebook that lacks something` {
  /// What happens to the notebook.
  enum Harm: String, CaseIterable {
    case oneSector = "one zeroed sector in the oldest log"
    case allLogs = "all logs are damaged"
    case noLogs = "the folder of the logs is gone"
  }

  @Test(arguments: Harm.allCases.map(\.rawValue))
  func `A damaged notebook removes no file, and what it lacks is a note again`(_ harm: String)
    throws
  {
    let scene = try Scene()
    let (files, titles) = (scene.files, try Set(scene.run("list").fields.map { $0[1] }))
    #expect(files.count == 60 && titles.count == 30)
    let logs = try scene.logs
    #expect(logs.count >= 3)
    switch Harm(rawValue: harm)! {
    case .oneSector: try scene.zero(logs[0], at: 600)
    case .allLogs: for log in logs { try scene.zero(log, at: 0, 4096) }
    case .noLogs: try FileManager.default.removeItem(atPath: scene.dn.notebook + "/log")
    }
    #expect(try scene.run("list").lines.count < 30)
    let exported = try scene.run("export", scene.out)
    #expect(exported.status == 5 && exported.output.hasSuffix("0 removed\n"), "\(exported.errors)")
    #expect(scene.harmed(since: files) == [])
    let mirrored = try scene.run("mirror", "--once", scene.vault)
    #expect(mirrored.status == 5 && mirrored.errors.contains("became new notes"))
    #expect(scene.harmed(since: files) == [] && scene.files.count == 60)
    #expect(try Set(scene.run("list").fields.map { $0[1] }) == titles)
  }

  @Test(.enabled(if: canDropCapabilities || isContinuousIntegration, "setpriv is missing"))
  func `Files of notes that can't be read at present wait for them, and no note is there twice`()
    throws
  {
    let scene = try Scene(isRefusable: true)
    let before = scene.files
    let session = try scene.logs[1].split(separator: "/").dropLast().joined(separator: "/")
    #expect(chmod("/" + session, 0) == 0)
    let edited = scene.vault + "/n2-4.md"
    try scene.append("an edit\n", to: edited)
    try "new\n".write(toFile: scene.vault + "/new.md", atomically: false, encoding: .utf8)
    let mirrored = try scene.run("mirror", "--once", scene.vault)
    #expect(
      mirrored.status == 5 && mirrored.errors.contains("files stay as they are"), "\(mirrored)")
    for words in [["export", scene.out], ["import", scene.out]] {
      let ran = try scene.dn.run(words, shell: scene.shell)
      #expect(ran.status == 5 && ran.errors.contains("Permission denied"), "\(ran)")
    }
    #expect(scene.harmed(since: before) == [edited])
    #expect(try scene.run("show", "new").output == "new\n")
    #expect(chmod("/" + session, 0o700) == 0)
    #expect(try scene.run("mirror", "--once", scene.vault).status == 0)
    #expect(try scene.run("list").lines.count == 31)
    #expect(try scene.run("show", "n2-4").output == "text of 2-4\nan edit\n")
    #expect(scene.harmed(since: before) == [edited])
  }

  @Test(arguments: [true, false])
  func `A notebook from a backup gets what files have got since`(_ isStateOlder: Bool) throws {
    let scene = try Scene()
    let folder = scene.dn.folder
    try scene.copy(scene.dn.notebook, to: folder("backup"))
    try scene.copy(folder("state"), to: folder("state-backup"))
    // Since then: a note from an editor, one of a file, an edit here and there, a note that came back from the trash.
    _ = try scene.run("new", "--text", "made\n", "made")
    _ = try scene.run("append", "n1-1", "in the note")
    try scene.append("in the file\n", to: scene.vault + "/n1-2.md")
    try "came\n".write(toFile: scene.vault + "/came.md", atomically: false, encoding: .utf8)
    try scene.settle()
    let files = scene.files
    #expect(files.count == 64)
    try scene.replace(scene.dn.notebook, by: folder("backup"))
    if isStateOlder { try scene.replace(folder("state"), by: folder("state-backup")) }
    #expect(try scene.run("list").lines.count == 30)

    let exported = try scene.run("export", scene.out)
    #expect(exported.status == (isStateOlder ? 1 : 5), "\(exported)")
    #expect(scene.harmed(since: files) == [])
    let mirrored = try scene.run("mirror", "--once", scene.vault)
    #expect(mirrored.status == (isStateOlder ? 0 : 5), "\(mirrored)")
    if !isStateOlder { #expect(mirrored.errors.contains("2 became new notes")) }
    #expect(scene.harmed(since: files) == [] && scene.files.count == 64)
    #expect(try scene.run("list").lines.count == 32)
    for (title, text) in [
      ("made", "made\n"), ("came", "came\n"), ("n1-1", "text of 1-1\nin the note\n"),
      ("n1-2", "text of 1-2\nin the file\n"),
    ] {
      #expect(try scene.run("show", title).output == text)
    }
    // From now on all is as ever; where it was known that there was more, when that is given up.
    if !isStateOlder { _ = try scene.run("check", "--repair") }
    try scene.settle()
    _ = try scene.run("trash", "made")
    try scene.settle()
    #expect(scene.files.count == 62)
  }

  @Test func `An import into a notebook from a backup takes what files have got since`() throws {
    let scene = try Scene(notes: 2)
    try scene.copy(scene.dn.notebook, to: scene.dn.folder("backup"))
    _ = try scene.run("append", "n1-1", "later")
    _ = try scene.run("new", "--text", "made\n", "made")
    try scene.settle()
    try scene.replace(scene.dn.notebook, by: scene.dn.folder("backup"))
    // What was written here since then stays, too.
    _ = try scene.run("new", "n9")
    let imported = try scene.run("import", scene.out)
    #expect(imported.status == 5 && imported.output.contains("1 created, 1 updated"), "\(imported)")
    #expect(try scene.run("show", "n1-1").output == "text of 1-1\nlater\n")
    #expect(try scene.run("show", "made").output == "made\n")
    _ = try scene.run("check", "--repair")
    let again = try scene.run("import", scene.out)
    #expect(again.status == 0 && again.output.contains("0 created, 0 updated"), "\(again)")
  }

  /// Sectors zeroed, files removed, cut and made unreadable, and older copies of the whole, then every verb.
  @Test(arguments: 1...UInt64(2 * seedFactor))
  func `Whatever happens to a notebook, no verb takes a file away or sets it back`(_ seed: UInt64)
    throws
  {
    var random = SplitMix64(seed: seed)
    let scene = try Scene(notes: 3, isRefusable: canDropCapabilities)
    let (folder, notebook) = (scene.dn.folder, scene.dn.notebook)
    _ = try scene.run("sync", folder("peer"))
    try scene.copy(notebook, to: folder("backup"))
    try scene.copy(folder("state"), to: folder("state-backup"))
    func live() throws {
      let number = random.below(100)
      _ = try scene.run("append", "n\(1 + random.below(3))-\(random.below(3))", "note \(number)")
      try scene.append("file \(number)\n", to: scene.vault + "/n\(1 + random.below(3))-1.md")
      _ = try scene.run("new", "m\(number)")
      _ = try scene.run("trash", "n1-2")
      try scene.settle()
      _ = try scene.run("restore", "n1-2")
      try scene.settle()
    }
    try live()
    let before = scene.files
    var log: [String] = []
    for _ in 0..<scaled(3, 12) {
      var refused: String?
      let files = try FileManager.default.subpathsOfDirectory(atPath: notebook).sorted()
        .map { "\(notebook)/\($0)" }.filter { $0.hasSuffix(".seg") || $0.hasSuffix(".snap") }
      let file = files.isEmpty ? nil : random.pick(files)
      switch random.below(6) {
      case 0:
        if let file { try scene.zero(file, at: random.below(1200)) }
        log.append("a sector of \(file ?? "") is zeroed")
      case 1:
        if let file { try FileManager.default.removeItem(atPath: file) }
        log.append("\(file ?? "") is removed")
      case 2:
        if let file { _ = truncate(file, off_t(random.below(1000))) }
        log.append("\(file ?? "") is cut")
      case 3:
        refused = file.map { String($0[..<$0.lastIndex(of: "/")!]) }
        if let refused { _ = chmod(refused, 0) }
        log.append("\(refused ?? "") may not be read")
      default:
        try scene.replace(notebook, by: folder("backup"))
        let isStateOlder = random.chance(50)
        if isStateOlder { try scene.replace(folder("state"), by: folder("state-backup")) }
        log.append("an older copy is put in place, \(isStateOlder)")
      }
      for _ in 0..<4 {
        let verb = random.pick([
          ["mirror", "--once", scene.vault], ["mirror", "--once", scene.vault],
          ["export", scene.out], ["import", scene.out], ["import", scene.vault], ["list"],
          ["check"],
          ["check", "--repair"], ["compact"], ["sync", folder("peer")], ["show", "n1-1"],
          ["search", "text"],
        ])
        let ran = try scene.dn.run(verb, shell: scene.shell)
        log.append("\(verb): \(ran.status) \(ran.output) \(ran.errors)")
        let harmed = scene.harmed(since: before)
        let now = harmed.map {
          "\(String(decoding: before[$0]!, as: UTF8.self)) | \((try? contents(of: URL(fileURLWithPath: $0))) ?? "(gone)")"
        }
        #expect(harmed == [], "\(at(seed)): \(log.joined(separator: "\n")) \(now)")
        if !harmed.isEmpty { return }
      }
      if let refused { _ = chmod(refused, 0o700) }
    }
  }
}
