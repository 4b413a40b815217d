import Foundation
import JSONRPC
import NoteFiles
import Notes
import NotesServer
import ReplicatingTypes

/// A small notebook in a folder in memory, and what it is made of as bytes.
struct Sample {
  private let folder: String
  private let book: NoteBook
  /// The path of its log below the folder, and the log's header.
  private let log: String
  private let header: [UInt8]
  /// The parts of its archive that end with a checksum.
  private let sealedRanges: Set<Range<Int>>
  private(set) var inputs: [Kind: [[UInt8]]] = [:]

  /// In memory where there is such a folder.
  private static let scratch =
    (FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory())
    + "/decent-notes-fuzz-\(getpid())"

  private static let notebook = Identifier(high: 1, low: 1)
  private static let requests: [String] = [
    #""method":"initialize","params":{"participant":{"name":"Ana"},"initializationOptions":{}}"#,
    #""method":"note/create","params":{"title":"one","text":"a\nb c\n","tags":["x","y"]}"#,
    #""method":"note/open","params":{"id":"ID","mode":"edit","push":"ranges"}"#,
    #""method":"note/change","params":{"attachment":1,"version":1,"rev":0,"lines":[[0,1,["a","q"]]]}"#,
    #""method":"note/change","params":{"attachment":1,"version":2,"rev":0,"ranges":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"newText":"zz"}]}"#,
    #""method":"note/undo","params":{"attachment":1}"#,
    #""method":"note/setText","params":{"id":"ID","text":"other"}"#,
    #""method":"note/update","params":{"id":"ID","title":"t","tags":["x"],"priority":"high"}"#,
    #""method":"note/move","params":{"id":"ID","index":0}"#,
    #""method":"note/delete","params":{"id":"ID"}"#,
    #""method":"note/restore","params":{"id":"ID"}"#,
    #""method":"note/history","params":{"id":"ID"}"#,
    #""method":"note/restoreVersion","params":{"id":"ID","revision":"REVISION"}"#,
    #""method":"note/setText","params":{"id":"ID","text":"[[t]] [[one|x]] `[[t]]` [y](a.md) [[ID#h]]\n```\n[[t]]"}"#,
    #""method":"note/rename","params":{"id":"ID","title":"new"}"#,
    #""method":"note/merge","params":{"id":"ID","from":"ID"}"#,
    #""method":"note/links","params":{"id":"ID"}"#,
    #""method":"note/backlinks","params":{"id":"ID"}"#,
    #""method":"notebook/resolve","params":{"text":"new#x"}"#,
    #""method":"notebook/complete","params":{"kind":"link","prefix":"n"}"#,
    #""method":"notebook/list","params":{"limit":1,"sort":"title"}"#,
    #""method":"notebook/list","params":{"after":"title/ID/REVISION/a"}"#,
    #""method":"notebook/search","params":{"query":"b -x \"c d\" tag:x title:t is:trashed"}"#,
    #""method":"notebook/log","params":{"limit":3}"#,
    #""method":"notebook/changes","params":{}"#,
    #""method":"notebook/status""#,
    #""method":"shutdown""#,
  ]

  init() {
    folder = Self.scratch
    // A notebook that two machines have written.
    let one = Self.session("\(folder)/sample", 0, Self.requests)
    let merge = #""method":"notebook/merge","params":{"changes":"\#(one.changes)"}"#
    let two = Self.session(
      "\(folder)/other", 100, [Self.requests[0], merge] + Self.requests.dropFirst(2))
    let purge = #""method":"note/purge","params":{"id":"ID"}"#
    let three = Self.session(
      "\(folder)/third", 200,
      [Self.requests[0], merge, Self.requests[9], purge] + Self.requests.suffix(4))
    let paths = FileManager.default.subpaths(atPath: "\(folder)/sample") ?? []
    log = paths.first { $0.hasPrefix("log/") && $0.contains(".") } ?? ""
    let bytes = [UInt8](FileManager.default.contents(atPath: "\(folder)/sample/\(log)") ?? Data())
    precondition(bytes.count > Log.headerSize, "no log has been written: \(paths)")
    header = Array(bytes[..<Log.headerSize])
    var book = NoteBook()
    let changes = [one, two, three].map { [UInt8](Data(base64Encoded: $0.changes) ?? Data()) }
    do {
      for set in changes { _ = try book.merge(foreign: ChangeSet.decode(set).changes) }
    } catch {
      fatalError("the sample is refused: \(error)")
    }
    self.book = book
    inputs[.changes] = changes.map { Array($0.dropFirst(5).dropLast(4)) }
    inputs[.log] = [Log.unsealed(bytes)]
    inputs[.messages] = [one, two, three].map(\.messages)
    inputs[.packed] = [(try? book.packed(of: Self.notebook)) ?? []]
    var writer = ArchiveWriter(&book, appendix: [])
    var archive: [UInt8] = []
    while let piece = try? writer.next() { archive += piece }
    inputs[.archive] = [archive]
    inputs[.file] = [
      "a.md\n---\ntitle: One\ntags: [a, b]\ndate: 2026-01-01T00:00:00Z\n---\n# Head\ntext",
      "a.org\n#+title: One\n#+filetags: :a:b:\n* Head\n", "notes.json\n{\"activeNotes\":[]}",
    ].map { Array($0.utf8) }
    inputs[.text] = [3, 70].map { textChanges($0).encoded() }
    sealedRanges = Self.sealedRanges(archive)
  }

  /// The identifier of the note that is created first: every process here makes the same identifiers.
  private static let noteID: String = {
    var server = Self.server(scratch + "/first")
    var answer = ""
    for request in requests.prefix(2) {
      server.receive(Array(#"{"jsonrpc":"2.0","id":1,\#(request)}"#.utf8)[...] + [0x0A])
      answer = String(decoding: server.outbox.unsent, as: UTF8.self)
      server.outbox.removeFirst(server.outbox.count)
    }
    return answer.components(separatedBy: #""note":{"id":""#).last!.components(separatedBy: "\"")[0]
  }()

  /// Puts the identifier of the note in the place of `ID`.
  private static func naming(_ message: [UInt8]) -> [UInt8] {
    let text = String(decoding: message, as: UTF8.self)
    let named = text.replacingOccurrences(of: "\"ID\"", with: "\"\(noteID)\"")
    let revision = "\(noteID.dropFirst(2)).1"
    return Array(named.replacingOccurrences(of: "REVISION", with: revision).utf8)
  }

  /// A process that gets requests; returns what it was sent, and what it answers to `notebook/changes`.
  private static func session(
    _ folder: String, _ identifiers: UInt64, _ requests: [String]
  ) -> (messages: [UInt8], changes: String) {
    var server = server(folder, identifiers)
    var (messages, changes): ([UInt8], String) = ([], "")
    for (number, request) in requests.enumerated() {
      let line = Array(#"{"jsonrpc":"2.0","id":\#(number),\#(request)}"#.utf8) + [0x0A]
      messages += line
      server.receive(naming(line)[...])
      for answer in server.outbox.unsent.split(separator: 0x0A) {
        let result = (try? JSONValue(parsing: Array(answer)))?["result"]
        changes = result?["changes"]?.string ?? changes
      }
      server.outbox.removeFirst(server.outbox.count)
    }
    return (messages, changes)
  }

  private static func server(_ folder: String, _ identifiers: UInt64 = 0) -> NotesServer {
    var time: Int64 = 1_767_225_600_000
    var next = identifiers
    let environment = NotesServer.Environment(
      folder: folder, framing: .lines,
      now: {
        time += 1000
        return time
      },
      makeIdentifier: {
        next += 1
        return Identifier(high: next, low: next << 32)
      })
    return NotesServer(environment)
  }

  /// The blocks of an archive that a reader asks for.
  private static func sealedRanges(_ bytes: [UInt8]) -> Set<Range<Int>> {
    final class Reads: @unchecked Sendable { var ranges: Set<Range<Int>> = [] }
    let reads = Reads()
    readAll(bytes.count) { range in
      reads.ranges.insert(range)
      return Array(bytes[range])
    }
    return reads.ranges.filter { isBlock(bytes[$0]) }
  }

  // MARK: - What is fed

  /// Changes of another machine: refused, and nothing has changed, or taken, and then they can be told on.
  func feedChanges(_ body: [UInt8]) {
    let bytes = Container.header(.changes) + containerBlock(body)
    guard let (_, changes) = try? ChangeSet.decode(bytes) else { return }
    for before in [book, NoteBook()] {
      var merged = before
      do { _ = try merged.merge(foreign: changes) } catch {
        precondition(merged == before, "a set that was refused has changed something")
        continue
      }
      var notes: [NoteID] = []
      try? merged.forEachSummary { summary in
        notes.append(summary.id)
        return true
      }
      for note in notes { _ = try? merged.note(note)?.text.utf8 }
      let told = merged.changes(since: Version()).encoded(of: Self.notebook)
      var other = NoteBook()
      do { _ = try other.merge(foreign: ChangeSet.decode(told).changes) } catch {
        fatalError("accepted, and refused elsewhere: \(error)")
      }
      precondition(other == merged, "two notebooks with the same changes differ")
    }
  }

  func feedArchive(_ bytes: [UInt8]) {
    let ranges = sealedRanges
    Self.readAll(bytes.count) { range in
      if range == 0..<Container.headerSize { return Container.header(.archive) }
      var piece = Array(bytes[range])
      // The head is where the footer says, wherever that is.
      let isHead = range.upperBound == bytes.count - 16
      if isHead || ranges.contains(range), piece.count >= Container.prefixSize {
        seal(&piece, 0..<piece.count)
      }
      return piece
    }
  }

  /// Asks for everything that an archive has.
  private static func readAll(_ size: Int, _ read: @escaping @Sendable (Range<Int>) -> [UInt8]) {
    let source: NotebookArchive.Source = { range throws(ArchiveFailure) in
      guard range.lowerBound >= 0, range.upperBound <= size else {
        throw ArchiveFailure(reason: "outside of the file")
      }
      return read(range)
    }
    guard let archive = try? NotebookArchive(size: size, source: source) else { return }
    var book = NoteBook(archive)
    var notes: [NoteID] = []
    try? book.forEachSummary { summary in
      notes.append(summary.id)
      return notes.count < 100
    }
    for note in notes { _ = try? book.note(note)?.text.utf8 }
    try? book.openOrder()
    _ = try? book.changes(since: Version(), limit: .max)
    for change in book.version.changes.prefix(20) {
      guard let past = try? book.version(of: [change]), let note = notes.first else { continue }
      _ = try? book.note(note, at: past)
    }
    _ = try? book.packed(of: notebook)
  }

  /// A log in a folder, for a process that starts.
  func feedLog(_ records: [UInt8]) {
    let folder = "\(self.folder)/log"
    try? FileManager.default.removeItem(atPath: folder)
    let path = "\(folder)/\(log)"
    let parent = (path as NSString).deletingLastPathComponent
    try? FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    try? FileManager.default.copyItem(
      atPath: "\(self.folder)/sample/decent.json", toPath: "\(folder)/decent.json")
    let bytes = Log.sealed(header, records)
    try? Data(bytes).write(to: URL(fileURLWithPath: path))
    ask(folder, Self.reading)
  }

  /// The messages of a client, in lines.
  func feedMessages(_ bytes: [UInt8]) {
    let folder = "\(self.folder)/messages"
    try? FileManager.default.removeItem(atPath: folder)
    ask(folder, [Self.naming(bytes)])
  }

  private static let reading = requests.enumerated().compactMap { number, request -> [UInt8]? in
    let isReading = ["initialize", "history", "list", "log", "changes", "status", "search"]
      .contains { request.contains($0) }
    return isReading
      ? Array(#"{"jsonrpc":"2.0","id":\#(number),\#(request)}"#.utf8) + [0x0A] : nil
  }

  private func ask(_ folder: String, _ messages: [[UInt8]]) {
    var server = Self.server(folder)
    for message in messages {
      server.receive(message[...])
      server.outbox.removeFirst(server.outbox.count)
    }
    var instant = ContinuousClock.now
    for _ in 0..<4 {
      server.advance(to: instant)
      server.outbox.removeFirst(server.outbox.count)
      instant += .seconds(1)
    }
  }
}

func containerBlock(_ content: [UInt8]) -> [UInt8] {
  var writer = ByteWriter()
  writer.block(content)
  return writer.bytes
}

/// Makes the block that has a part of bytes right, whatever its content is.
func seal(_ bytes: inout [UInt8], _ block: Range<Int>) {
  let content = Array(bytes[block].dropFirst(Container.prefixSize))
  bytes.replaceSubrange(block, with: containerBlock(content))
}

func isBlock(_ bytes: ArraySlice<UInt8>) -> Bool {
  bytes.elementsEqual(containerBlock(Array(bytes.dropFirst(Container.prefixSize))))
}

/// A file of packed changes. Its directory and the blocks that this names get their checksums.
func feedPacked(_ bytes: [UInt8]) {
  guard bytes.count >= 16 else { return }
  let footer = bytes.count - 16
  var start = 0
  for index in (0..<8).reversed() { start = (start & 0xFFFFFF) << 8 | Int(bytes[footer + index]) }
  var file = bytes
  if start + Container.prefixSize <= footer { seal(&file, start..<footer) }
  guard let packed = try? PackedChanges(file) else { return }
  for (replica, _) in packed.ranges.prefix(100) {
    for block in packed.blocks(of: replica).prefix(100) {
      var piece = Array(file[block.bytes])
      guard piece.count >= Container.prefixSize else { continue }
      seal(&piece, 0..<piece.count)
      _ = try? packed.decode(block, piece[...]).numbers
    }
  }
}

/// A file of notes: its name stands in the first line.
func feedFile(_ bytes: [UInt8]) {
  guard let end = bytes.firstIndex(of: 0x0A) else { return }
  let path = String(decoding: bytes[..<end], as: UTF8.self)
  guard
    let content = try? FileContent(
      reading: Array(bytes[(end + 1)...]), path: path, limit: 1 << 20, zone: { _ in 0 })
  else { return }
  _ = content.file
}

/// Changes of `steps` steps, far apart.
private func textChanges(_ steps: Int) -> ReplicatingText.Changes {
  var alice = Replica(id: ReplicaID(high: 0, low: 1))
  var bob = Replica(id: ReplicaID(high: 0, low: 2))
  var text = ReplicatingText()
  text.insert([UInt8](repeating: 120, count: 10 * steps + 10).span, at: 0, by: &alice)
  let start = text.version
  for step in 1...steps {
    if step % 3 == 0 {
      text.remove(10 * step..<10 * step + 1, by: &bob)
    } else {
      text.insert([97].span, at: 10 * step, by: &bob)
    }
  }
  return text.changes(since: start)
}

/// Changes of a text: refused without a trace, or joined into a text that can be read.
func feedText(_ bytes: [UInt8]) {
  guard let changes = try? ReplicatingText.Changes(encoded: bytes) else { return }
  let written = changes.encoded()
  precondition(written == bytes, "changes are written in two ways")
  var alice = Replica(id: ReplicaID(high: 0, low: 1))
  var text = ReplicatingText()
  text.insert([UInt8](repeating: 120, count: 710).span, at: 0, by: &alice)
  for before in [text, ReplicatingText()] {
    var joined = before
    do { try joined.apply(changes) } catch {
      precondition(joined == before, "changes that were refused have changed something")
      continue
    }
    let encoded = joined.encoded()
    precondition((try? ReplicatingText(encoded: encoded))?.encoded() == encoded)
  }
}
