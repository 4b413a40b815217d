import Foundation
import JSONRPC
import TestSupport
import Testing

/// A process that mirrors a folder, another client of the same notebook, and a note that both have, with its file.
///
/// Every word is there once: those that the note begins with, those that the client types, and those that a program writes into the file.
final class MirrorScene {
  static let lines = (0..<10).map { "line\($0)" }

  let folder = TemporaryFolder()
  private(set) var mirror: Server
  let client: Server
  let note: JSON
  /// Where the files are, and the note's file.
  let files: String
  let file: String
  private var expected = Set(MirrorScene.lines)
  private var lastWord = 0

  /// - Parameters:
  ///   - files: where the files are to be; nil for a folder of the scene's own.
  ///   - shell: how the mirror is started, as for a `Server`.
  init(files: String? = nil, shell: String? = nil) throws {
    self.files = files ?? folder("files")
    file = self.files + "/a.md"
    client = try serve(folder("notes"), environment: ["XDG_STATE_HOME": folder("state")])
    let text = Self.lines.joined(separator: "\n\n") + "\n"
    let created = try client.call("note/create", ["title": "a", "text": .string(text)])
    note = .raw(created["note"]!["id"]!.written)
    mirror = try Self.mirror(folder, self.files, shell)
    try rest()
  }

  private static func mirror(
    _ folder: TemporaryFolder, _ files: String, _ shell: String?
  ) throws -> Server {
    let server = try Server(
      folder("notes"), ["--mirror", files], environment: ["XDG_STATE_HOME": folder("state")],
      shell: shell)
    try server.initialize()
    return server
  }

  /// Kills the mirror, does something, and starts another one.
  func restart(shell: String? = nil, _ meanwhile: () throws -> Void = {}) throws {
    try mirror.killNow()
    try meanwhile()
    mirror = try Self.mirror(folder, files, shell)
  }

  // MARK: - Words

  /// A word that nobody has typed, which is to be there in the end.
  func word(_ author: String) -> String {
    lastWord += 1
    let word = "\(author)\(lastWord)word"
    expected.insert(word)
    return word
  }

  /// A word is not to be there any more, or again.
  func expect(_ word: String, _ isExpected: Bool) {
    if isExpected { expected.insert(word) } else { expected.remove(word) }
  }

  /// The client types a word behind another one; whether that is answered is not waited for.
  @discardableResult
  func type(behind other: String) throws -> String {
    let got = try client.call("note/get", ["id": note])
    let word = word("client")
    let text = got["text"]!.string!.replacing(other, with: "\(other) \(word)")
    _ = try client.post(
      "note/setText",
      ["id": note, "text": .string(text), "base": .raw(got["revision"]!.written)])
    return word
  }

  var noteText: String {
    get throws { try client.call("note/get", ["id": note])["text"]!.string! }
  }

  var fileText: String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "(no file)" }

  // MARK: - Waiting

  /// Waits until the file has a word.
  func awaitFile(_ word: String) throws {
    try waitUntil("\(word) is in the file: \(fileText)") {
      try mirror.receiveAvailable()
      return fileText.contains(word)
    }
  }

  /// Waits until everything was read and written.
  func rest() throws {
    try mirror.awaitRevision(of: client)
    try mirror.call("notebook/mirror")
    try client.awaitRevision(of: mirror)
  }

  /// Waits for rest; then file and note have to be equal, with each word once and no other, and nothing of ours may be left in the folder.
  func check(_ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation) throws {
    try rest()
    let (text, fileText) = (try noteText, self.fileText)
    #expect(text == fileText, comment, sourceLocation: sourceLocation)
    let objections = objections(to: text)
    #expect(objections.isEmpty, comment, sourceLocation: sourceLocation)
    let list = try client.call("notebook/list")["notes"]!.array!
    #expect(list.count == 1, comment, sourceLocation: sourceLocation)
    let leftovers = try leftovers
    #expect(leftovers.isEmpty, comment, sourceLocation: sourceLocation)
  }

  /// What speaks against the words of a text.
  func objections(to text: String) -> [String] {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    let found = words.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    return expected.filter { found[$0] != 1 }.map { "\($0) is there \(found[$0] ?? 0) times" }
      + found.keys.filter { !expected.contains($0) }.map { "\($0) is there" }
  }

  /// Files of ours that are not complete.
  var leftovers: [String] {
    get throws {
      try FileManager.default.subpathsOfDirectory(atPath: files)
        .filter { $0.contains(".decent-") && $0.hasSuffix(".tmp") }
    }
  }

  /// What the user of the mirror was told since the last call.
  func told() throws -> [String] {
    try mirror.receiveAvailable()
    defer { mirror.notifications.removeAll { $0["method"]?.string == "window/showMessage" } }
    return mirror.notifications.filter { $0["method"]?.string == "window/showMessage" }
      .compactMap { $0["params"]?["message"]?.string }
  }

  /// Waits until the user was told something.
  func awaitTold(_ part: String) throws {
    var all: [String] = []
    try waitUntil("“\(part)” is told, and not \(all)", within: 2 * patience) {
      all += try told()
      return all.contains { $0.contains(part) }
    }
  }
}
