// What this machine knows of files, those of a mirror or all others: which note each one is, and the states of the note that a program may have
// before it that writes the file. This file owns the format, a file of the state folder: a container (Container.swift in Notes) of entries, of which
// the last one of a path counts:
//
//     entry     = path count*state                                   no states: the file is forgotten
//               note folder                                          only if there are states
//               | 00 count*change program                            an empty path: with these heads of the notebook all files were as
//                                                                    their notes, as this version of the program writes them
//     state     = hash                                               8 bytes: of the bytes of the file; 0 before it is made
//               count*change count*change                            the heads; the changes made from the file since
//               title count*tag priority                             as the file said
//               count*(key hash)                                     the parts of its header
//
// An entry is appended before that is done of which it tells: a change of the notebook, or the replacement of a file. So a state may stand
// here that never was in the notebook, or in the file; the first is found out by its changes, and the second does no harm.

internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// A relative path, told apart by its bytes: two that look the same may be two files.
struct FilePath: Hashable, Comparable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (a: Self, b: Self) -> Bool {
    guard a.text.utf8.count == b.text.utf8.count else { return false }
    return a.withBytes { a in b.withBytes { b in a.elementsEqual(b) } }
  }
  static func < (a: Self, b: Self) -> Bool {
    a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
  }
  func hash(into hasher: inout Hasher) {
    withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  private func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    var text = text
    return text.withUTF8(body)
  }
}

/// A note as a file had it.
struct FileState: Equatable, Sendable {
  /// Of the bytes of the file.
  var hash: UInt64
  /// In the place of the hash, as long as there is no file.
  static let unwritten: UInt64 = 0
  /// The state of the notebook that the text was taken from, by the changes that no other one of it follows.
  var heads: [ChangeID]
  /// The changes that were made from the file since, which the text has, too.
  var own: [ChangeID] = []
  var title: String
  var tags: [Tag]
  var priority: Priority
  /// The parts of its header by their keys, with a hash of each.
  var header: [HeaderPart]

  struct HeaderPart: Equatable, Sendable {
    var key: String
    var hash: UInt64
  }
}

/// Files by their paths.
struct FileRecords {
  /// One file.
  struct Record: Equatable, Sendable {
    var note: NoteID
    /// What was last read from the file, and what was written to it since; the last is the newest.
    var states: [FileState]
    /// The folder that was imported or exported when the file became known, which the note's path counts from; empty in a mirror.
    var folder = ""

    /// True if the file is being made, and was not there before.
    var isBeingMade: Bool { states.count == 1 && states[0].hash == FileState.unwritten }
  }

  /// As many states of a file are kept.
  static let mostStates = 16

  /// A state of the notebook with which each note that is to have a file had it, and each file was as its note.
  struct Rest: Equatable, Sendable {
    /// The changes that no other one of the state follows.
    var heads: [ChangeID]
    /// The version of the program that found this: another one may write a note in another way.
    var program: String
  }

  private(set) var byPath: [FilePath: Record] = [:]
  /// The last rest that was noted in the bytes that were read, and the files of which more was noted since.
  private(set) var rest: Rest?
  private(set) var changedSinceRest: Set<FilePath> = []
  /// A path of each note that has a file.
  private(set) var paths: [NoteID: FilePath] = [:]
  /// The other paths of a note that has several: a process that was to move its file was killed.
  private var otherPaths: [NoteID: [FilePath]] = [:]

  init() {}

  subscript(path: FilePath) -> Record? {
    get { byPath[path] }
    set {
      if let old = byPath[path]?.note, old != newValue?.note { remove(path, of: old) }
      byPath[path] = newValue
      guard let note = newValue?.note, paths[note] != path else { return }
      if let other = paths[note] {
        remove(path, of: note)
        otherPaths[note, default: []].append(other)
      }
      paths[note] = path
    }
  }

  private mutating func remove(_ path: FilePath, of note: NoteID) {
    var others = otherPaths[note] ?? []
    if paths[note] == path { paths[note] = others.popLast() }
    others.removeAll { $0 == path }
    otherPaths[note] = others.isEmpty ? nil : others
  }

  /// The path as it is kept here, if it is known: then it takes no room a second time.
  func kept(_ path: FilePath) -> FilePath {
    byPath.index(forKey: path).map { byPath.keys[$0] } ?? path
  }

  /// All paths of a note.
  func allPaths(of note: NoteID) -> [FilePath] {
    (paths[note].map { [$0] } ?? []) + (otherPaths[note] ?? [])
  }

  /// Removes what was noted before changes that a killed process has not made any more; and what counts no more after one that it has made.
  mutating func settle(isMade: (ChangeID) -> Bool) {
    for (path, record) in byPath where !record.states.allSatisfy(\.own.isEmpty) {
      var kept = record
      // States behind one whose change was not made were noted together with it, and are dropped with it.
      if let unmade = kept.states.firstIndex(where: { !$0.own.allSatisfy(isMade) }) {
        kept.states.removeSubrange(unmade...)
      }
      if let read = kept.states.lastIndex(where: { !$0.own.isEmpty }) {
        kept.states.removeFirst(read)
      }
      if kept.states.count < record.states.count { rest = nil }
      guard kept.states.isEmpty else {
        self[path] = kept
        continue
      }
      // A change that others follow was made: the notebook is older than that, and the file is still its note's.
      let isOlder = record.states.contains { !$0.heads.allSatisfy(isMade) }
      self[path] = isOlder && isMade(record.note.creation) ? record : nil
    }
  }

  /// The files that were written, or were to be written, since everything was at rest.
  var pathsWrittenSinceRest: Set<FilePath> {
    let paths = rest == nil ? Set(byPath.keys) : changedSinceRest
    return paths.filter { (byPath[$0]?.states.count ?? 0) > 1 }
  }

  // MARK: - Bytes

  private static let header = Container.header(.fileRecords)

  /// Reads what was written, up to the first entry that is damaged: of the last one a kill may have left a part.
  init(decoding bytes: [UInt8]) {
    guard Self.isEncoded(bytes) else { return }
    var reader = ByteReader(bytes[Self.header.count...])
    while let content = try? reader.blockIfComplete() {
      var entry = ByteReader(content)
      do {
        let path = FilePath(try String(from: &entry))
        if path.text.isEmpty {
          rest = try Self.rest(&entry)
          changedSinceRest = []
        } else {
          self[path] = try Self.record(&entry)
          if rest != nil { changedSinceRest.insert(path) }
        }
      } catch { return }
      guard entry.isAtEnd else { return }
    }
  }

  /// True if these are the bytes of records.
  static func isEncoded(_ bytes: [UInt8]) -> Bool { bytes.starts(with: header) }

  /// All of it.
  var encoded: [UInt8] {
    Self.header + byPath.sorted { $0.key < $1.key }.flatMap { Self.entry($0.key, $0.value) }
  }

  /// The bytes that say what is known of a path; nil if nothing is.
  static func entry(_ path: FilePath, _ record: Record?) -> [UInt8] {
    var writer = ByteWriter()
    path.text.encode(into: &writer)
    writer.varint(record?.states.count ?? 0)
    if let record {
      for state in record.states { encode(state, &writer) }
      record.note.creation.encode(into: &writer)
      record.folder.encode(into: &writer)
    }
    return frame(writer)
  }

  /// The bytes that say that everything is at rest.
  static func entry(_ rest: Rest) -> [UInt8] {
    var writer = ByteWriter()
    "".encode(into: &writer)
    writer.varint(rest.heads.count)
    for change in rest.heads { change.encode(into: &writer) }
    rest.program.encode(into: &writer)
    return frame(writer)
  }

  private static func frame(_ entry: ByteWriter) -> [UInt8] {
    var writer = ByteWriter()
    writer.block(entry.bytes)
    return writer.bytes
  }

  private static func encode(_ state: FileState, _ writer: inout ByteWriter) {
    writer.fixed(state.hash)
    for changes in [state.heads, state.own] {
      writer.varint(changes.count)
      for change in changes { change.encode(into: &writer) }
    }
    state.title.encode(into: &writer)
    writer.varint(state.tags.count)
    for tag in state.tags { tag.encode(into: &writer) }
    state.priority.encode(into: &writer)
    writer.varint(state.header.count)
    for part in state.header {
      part.key.encode(into: &writer)
      writer.fixed(part.hash)
    }
  }

  private static func record(_ reader: inout ByteReader) throws(DecodingFailure) -> Record? {
    var states: [FileState] = []
    for _ in 0..<(try reader.count()) { states.append(try state(&reader)) }
    if states.isEmpty { return nil }
    return Record(
      note: NoteID(creation: try ChangeID(from: &reader)), states: states,
      folder: try String(from: &reader))
  }

  private static func rest(_ reader: inout ByteReader) throws(DecodingFailure) -> Rest {
    var heads: [ChangeID] = []
    for _ in 0..<(try reader.count()) { heads.append(try ChangeID(from: &reader)) }
    return Rest(heads: heads, program: try String(from: &reader))
  }

  private static func state(_ reader: inout ByteReader) throws(DecodingFailure) -> FileState {
    let hash = try reader.fixed(UInt64.self)
    var changes: [[ChangeID]] = []
    for _ in 0..<2 {
      var list: [ChangeID] = []
      for _ in 0..<(try reader.count()) { list.append(try ChangeID(from: &reader)) }
      changes.append(list)
    }
    let title = try String(from: &reader)
    var tags: [Tag] = []
    for _ in 0..<(try reader.count()) { tags.append(try Tag(from: &reader)) }
    let priority = try Priority(from: &reader)
    var header: [FileState.HeaderPart] = []
    for _ in 0..<(try reader.count()) {
      header.append(.init(key: try String(from: &reader), hash: try reader.fixed(UInt64.self)))
    }
    return FileState(
      hash: hash, heads: changes[0], own: changes[1], title: title, tags: tags, priority: priority,
      header: header)
  }
}
