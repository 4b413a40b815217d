import Bytes
import Foundation
import Notes
import ReplicatingTypes
import TestSupport

@testable import NoteStore

/// A notebook as a version of the program has written it, kept for ever in `Golden/<number>`: `notebook` is the folder,
/// `expected.txt` what it says.
struct GoldenNotebook {
  static let all = try! FileManager.default.contentsOfDirectory(atPath: folder.path)
    .compactMap(Int.init).sorted().map(GoldenNotebook.init)

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Golden")

  let number: Int
  private var folder: URL { Self.folder.appending(path: "\(number)") }

  /// All files, by their paths in the notebook's folder.
  var files: [String: [UInt8]] {
    get throws {
      let notebook = folder.appending(path: "notebook")
      var files: [String: [UInt8]] = [:]
      for path in try FileManager.default.subpathsOfDirectory(atPath: notebook.path) {
        let file = notebook.appending(path: path)
        guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile! else { continue }
        files[path] = Array(try Data(contentsOf: file))
      }
      return files
    }
  }

  var expected: String {
    get throws {
      try String(contentsOf: folder.appending(path: "expected.txt"), encoding: .utf8)
    }
  }

  /// Keeps what the present program writes, as one notebook more.
  static func record(_ files: [String: [UInt8]], _ expected: String) throws {
    let new = GoldenNotebook(number: (all.last?.number ?? 0) + 1)
    for (path, bytes) in files { write(bytes, to: "\(new.folder.path)/notebook/\(path)") }
    write(Array(expected.utf8), to: "\(new.folder.path)/expected.txt")
  }
}

extension NoteStore {
  /// Everything that it says of its notes, for people to read.
  func account() throws -> String {
    var lines = ["notebook \(identity!)"]
    for change in notebook.version.changes.sorted(by: { $0.replica < $1.replica }) {
      lines.append("session \(change.replica) with \(change.number) changes")
      for (first, author) in try authors(of: change) {
        lines.append("  from change \(first) on by \(author.name) with \(author.program)")
      }
    }
    var notes: [NoteSummary] = []
    try openOrder()
    try notebook.forEachSummary {
      notes.append($0)
      return true
    }
    for note in notes {
      lines.append("")
      lines.append("note \(note.id.creation.number) of \(note.id.creation.replica)")
      lines.append("  title \(note.title.debugDescription)")
      lines.append("  tags \(note.tags.map(\.name))")
      lines.append("  priority \(note.priority.name)\(note.isTrashed ? ", in the trash" : "")")
      lines.append("  created \(note.created), modified \(note.modified), \(note.length) bytes")
      lines.append("  text \(try self.note(note.id)!.text.string.debugDescription)")
      let past = try past(of: note.id)
      let all = Array(described(past.map { $0.debugDescription }).utf8)
      lines.append("  past \(past.count) states, \(SHA256.hexDigest(of: all))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The authors of a session with this last change, each with the first of its changes.
  private func authors(of last: ChangeID) throws -> [(first: UInt64, author: Author)] {
    var authors: [(first: UInt64, author: Author)] = []
    for number in 1...last.number {
      let change = ChangeID(replica: last.replica, number: number)
      guard let author = try notebook.author(of: change), author != authors.last?.author else {
        continue
      }
      authors.append((number, author))
    }
    return authors
  }

  /// What a note was for the author of each change: title, tags, priority, whether it was in the trash, and text.
  private func past(of id: NoteID) throws -> [String] {
    var states: [String] = []
    for last in notebook.version.changes.sorted(by: { $0.replica < $1.replica }) {
      for number in 1...last.number {
        let change = ChangeID(replica: last.replica, number: number)
        guard let version = try notebook.version(of: [change]),
          let (note, text) = try notebook.note(id, at: version)
        else { continue }
        let tags = described(note.tags.values.sorted().map { $0.name.debugDescription })
        let bytes = described(text.map { bytesInWords[Int($0)] })
        states.append(
          "\(note.title.value) \(tags) \(note.priority.value) \(note.isTrashed) \(bytes)")
      }
    }
    return states
  }
}

private let bytesInWords = (0..<256).map { "\($0)" }

/// The description of an array of elements that are described so; its own would take much longer.
private func described(_ elements: [String]) -> String {
  var text = "["
  var isFirst = true
  for element in elements {
    if !isFirst { text += ", " }
    isFirst = false
    text += element
  }
  return text + "]"
}

/// What is done to make a golden notebook: all kinds of changes, in several sessions, some of them at the same time; files of
/// every kind. The same each time, to the byte.
final class GoldenScenario {
  private static let path = "/home/notes"
  private let disk = MemoryDisk()
  private var lastIdentity: UInt64 = 0
  private var clock: Int64 = 1_767_225_600_000
  /// The author of the changes in each store.
  private var authors: [ObjectIdentifier: Author] = [:]

  /// The files in the notebook's folder, after everything was done.
  static func files() throws -> [String: [UInt8]] {
    let scenario = GoldenScenario()
    try scenario.run()
    return scenario.disk.files(below: path)
  }

  private func open(_ disk: MemoryDisk? = nil) throws -> NoteStore {
    try NoteStore(path: Self.path, on: disk ?? self.disk) {
      self.lastIdentity += 1
      // In no order, and with all digits.
      let digest = SHA256.hexDigest(of: Array("\(self.lastIdentity)".utf8))
      return Identifier(digest.prefix(32))!
    }
  }

  /// Some time passes with each change: as between keys, or for minutes.
  private func tick(_ milliseconds: Int64 = 137) -> Int64 {
    clock += milliseconds
    return clock
  }

  private func complete(_ store: NoteStore) {
    store.folder.seal()
    for _ in 0..<3 {
      disk.performSyncs()
      _ = store.takeSyncResult()
    }
  }

  // MARK: - What a client can ask for

  private func commit(
    _ operations: [Change.Operation], as session: ReplicaID? = nil, at time: Int64,
    isImport: Bool = false, request: RequestMark? = nil, in store: NoteStore
  ) throws {
    try store.commit(
      operations, as: session, at: time, by: authors[ObjectIdentifier(store)], isImport: isImport,
      request: request)
  }

  private func make(_ operations: [Note.Operation], of id: NoteID, in store: NoteStore) throws {
    try commit(operations.map { .edit(id, $0) }, at: tick(), in: store)
  }

  private func create(
    _ title: String, _ text: String, at index: Int, importing isImport: Bool = false,
    request: RequestMark? = nil, in store: NoteStore
  ) throws -> NoteID {
    let id = NoteID(creation: store.notebook.next(by: try store.nextSession()))
    try store.openOrder()
    let time = tick(60_000)
    var operations: [Change.Operation] = [
      .create, .place(store.notebook.placement(of: id, at: index)),
      .edit(id, .title(ReplicatingRegister("").assignment(of: title, at: time))),
    ]
    if !text.isEmpty {
      operations.append(.edit(id, .text(.insert(Array(text.utf8), after: nil, before: nil))))
    }
    try commit(
      operations, as: id.creation.replica, at: time, isImport: isImport, request: request,
      in: store)
    return id
  }

  /// Replaces what is between two pieces of a text, in one change.
  private func edit(
    _ id: NoteID, _ range: Range<Int>, _ text: String, in store: NoteStore
  ) throws {
    let edit = Edit(range: range, replacement: Array(text.utf8))
    try commit(try store.operations(for: [edit], in: id, nil), at: tick(), in: store)
  }

  private func type(_ text: String, at place: Int, of id: NoteID, in store: NoteStore) throws {
    var place = place
    for character in text {
      try edit(id, place..<place, String(character), in: store)
      place += character.utf8.count
    }
  }

  private func setTitle(_ title: String, of id: NoteID, in store: NoteStore) throws {
    let assignment = try store.note(id)!.title.assignment(of: title, at: tick())
    try make([.title(assignment)], of: id, in: store)
  }

  private func setPriority(_ priority: Priority, of id: NoteID, in store: NoteStore) throws {
    let assignment = try store.note(id)!.priority.assignment(of: priority, at: tick())
    try make([.priority(assignment)], of: id, in: store)
  }

  private func setTags(_ tags: String..., of id: NoteID, in store: NoteStore) throws {
    let wanted = Set(tags.map { Notes.Tag($0) })
    try make(try store.note(id)!.operations(settingTags: wanted), of: id, in: store)
  }

  private func move(_ id: NoteID, to index: Int, in store: NoteStore) throws {
    try store.openOrder()
    try commit([.place(store.notebook.placement(of: id, at: index))], at: tick(), in: store)
  }

  // MARK: - What is done

  private func run() throws {
    disk.put([], at: "/home/.profile")
    let ana = try open()
    authors[ObjectIdentifier(ana)] = Author(name: "Ana", program: "Vim")
    let garden = try create("Garden", "Plant the beans.\n", at: 0, in: ana)
    try type("Water them.", at: 17, of: garden, in: ana)
    let empty = try create("", "", at: 1, in: ana)
    complete(ana)
    var words = SplitMix64(seed: 1)
    let poem = (0..<700).map { _ in ["la", "li", "lu", "🎶", "\n"][words.below(5)] }
    let song = try create("Söng — «до»", poem.joined(separator: " "), at: 0, in: ana)
    let old = try create("Old", "No more.", at: 3, in: ana)
    let shopping = try create("Shopping", "milk\nbread\n", at: 2, in: ana)
    try setTags("music", "à faire", "🎶", of: song, in: ana)
    try setTags("music", "🎶", of: song, in: ana)
    try setPriority(.high, of: song, in: ana)
    try setPriority(.low, of: shopping, in: ana)
    complete(ana)

    // Both know the same, and then neither sees what the other does.
    let ben = try open()
    authors[ObjectIdentifier(ben)] = Author(name: "Bén Жук", program: "Emacs")
    try setTitle("The garden", of: garden, in: ana)
    try setTitle("Our garden", of: garden, in: ben)
    try edit(garden, 10..<15, "peas", in: ana)
    try edit(garden, 6..<15, "two rows of beans", in: ben)
    try type("eggs\n", at: 5, of: shopping, in: ana)
    try type("salt\n", at: 5, of: shopping, in: ben)
    try setTags("music", of: song, in: ben)
    try setTags("music", "🎶", "évening", of: song, in: ana)
    try make([try ana.note(old)!.deletion], of: old, in: ana)
    try make([try ana.note(empty)!.deletion], of: empty, in: ana)
    try edit(empty, 0..<0, "Not empty any more.", in: ben)
    try move(song, to: 3, in: ana)
    try move(song, to: 1, in: ben)
    try move(shopping, to: 0, in: ben)
    complete(ben)
    _ = ana.rescan()
    _ = ben.rescan()

    authors[ObjectIdentifier(ana)] = Author(name: "Ana", program: "decent-notes call")
    // A deletion, undone: the same text again, as an insertion.
    try edit(shopping, 0..<5, "", in: ben)
    try edit(shopping, 0..<0, "milk\n", in: ben)
    try make([try ben.note(shopping)!.deletion], of: shopping, in: ben)
    try make([.restore], of: shopping, in: ben)
    complete(ben)
    _ = ana.rescan()
    complete(ana)
    ana.snapshots.enough = (1, 1)
    try fold(in: ana)

    // From another machine, that came by without the folder.
    let elsewhere = MemoryDisk()
    elsewhere.put([], at: "/home/.profile")
    let cleo = try open(elsewhere)
    authors[ObjectIdentifier(cleo)] = Author(name: "cleo@laptop", program: "decent-notes import")
    _ = try cleo.merge(ana.notebook.changes(since: Version()).encoded(of: ana.identity!))
    let request = RequestMark(key: Identifier(high: 3, low: 4), kind: 1, place: 200)
    let letter = try create(
      "Letter", "Dear Ana,\r\n", at: 0, importing: true, request: request, in: cleo)
    try edit(song, 0..<2, "LA", in: cleo)
    let news = cleo.notebook.changes(since: ana.notebook.version)
    _ = try ana.merge(news.encoded(of: cleo.identity!))
    try type("dear Ben,", at: 5, of: letter, in: ana)
    complete(ana)
    _ = ben.rescan()
    try fold(in: ana)

    // Another machine had given the notebook another name before they met. Then two go on, and stop in the midst of it.
    let other = Identifier(high: 1, low: 2)
    disk.put(
      NotebookFile.encoded(other),
      at: "\(Self.path)/decent.sync-conflict-20260101-120000-ABCDEFG.json")
    try setTitle("Letter to Ana", of: letter, in: ben)
    try type("Yours,\n", at: 5, of: letter, in: ben)
    let dan = try open()
    try type("More: ", at: 0, of: garden, in: dan)
    let name = "log/\(try dan.nextSession())/0"
    let copy = disk.files(below: Self.path)["\(name).open"]!
    disk.put(copy, at: "\(Self.path)/\(name).sync-conflict-20260101-120001-ABCDEFG.open")
    try make([try dan.note(letter)!.deletion], of: letter, in: dan)
    try type("much more. ", at: 6, of: garden, in: dan)
  }

  /// Folds what is complete and not folded, but no snapshot.
  private func fold(in store: NoteStore) throws {
    store.compaction = Compaction(isForced: false, unfolded: (0, 0))
    while store.compaction != nil {
      store.proceedCompacting()
      disk.performSyncs()
      _ = store.takeSyncResult()
    }
  }
}
