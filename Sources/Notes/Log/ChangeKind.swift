internal import ReplicatingTypes

/// The kinds of changes that were made to a note, for people to read.
public struct ChangeKind: OptionSet, Hashable, Sendable {
  public let rawValue: UInt16
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The note was created, with whatever it had then.
  public static let created = ChangeKind(rawValue: 1)
  /// The text was edited, or an edit taken back.
  public static let text = ChangeKind(rawValue: 2)
  /// The title was written.
  public static let title = ChangeKind(rawValue: 4)
  /// Tags were added or removed.
  public static let tags = ChangeKind(rawValue: 8)
  /// The priority was written.
  public static let priority = ChangeKind(rawValue: 16)
  /// The note was put into the trash.
  public static let trash = ChangeKind(rawValue: 32)
  /// The note was taken out of the trash.
  public static let restore = ChangeKind(rawValue: 64)
  /// The note got another place among the others.
  public static let move = ChangeKind(rawValue: 128)
  /// The note was forgotten for good.
  public static let purge = ChangeKind(rawValue: 256)
  /// It was read from a file that a user has imported.
  public static let imported = ChangeKind(rawValue: 512)
  /// A property was written: the header of its file, or where that is. No log tells it, since it follows from files.
  public static let property = ChangeKind(rawValue: 1024)
}

extension RawOperation.Tag {
  /// The kind of change that an operation of this kind makes to its note.
  var effect: ChangeKind {
    switch self {
    case .create, .created: .created
    case .place: .move
    case .title: .title
    case .priority: .priority
    case .insertTag, .removeTag: .tags
    case .insert, .dividedInsertion, .remove, .withdraw: .text
    case .delete: .trash
    case .restore: .restore
    case .purge: .purge
    case .property: .property
    case .base, .modified, .original, .redacted, .author, .imported, .request,
      .contentAddressed, .entry:
      []
    }
  }
}

/// Finds out what the changes of one replica did, in any order.
struct EffectReader {
  private var reader: RawChangeReader
  private var change = RawChange()
  /// The notes that the change which was read last has changed, each once. A note is left out if nothing about it is told.
  private(set) var effects: [(note: NoteID, what: ChangeKind)] = []
  /// True if that change is named by its content.
  private(set) var isContentAddressed = false
  /// The number of the change with which an entry begins, if the change that was read last says so; else 0.
  private(set) var entryStart: UInt64 = 0

  /// - Parameter mentions: whom the replica has named by the last change that is read, or later.
  init(of replica: ReplicaID, mentions: ReplicaTable) {
    reader = RawChangeReader(author: replica, mentions: mentions, isKnowingLater: true)
  }

  /// Reads a change. O(operations).
  mutating func read(
    _ number: UInt64, _ encoded: ArraySlice<UInt8>
  ) throws(DecodingFailure) {
    effects.removeAll(keepingCapacity: true)
    entryStart = 0
    try reader.read(encoded, into: &change)
    // As a rule a change is about one note, and then nothing is hashed.
    var places: [NoteID: Int] = [:]
    var isImport = false
    isContentAddressed = false
    for operation in change.operations {
      if operation.tag.isMark {
        if operation.tag == .imported { isImport = true }
        if operation.tag == .contentAddressed { isContentAddressed = true }
        if operation.tag == .entry { entryStart = number - min(number, UInt64(operation.count)) }
        continue
      }
      let note = note(of: operation, in: number)
      if effects.last?.note == note {
        effects[effects.count - 1].what.insert(operation.tag.effect)
      } else if let place = places[note] {
        effects[place].what.insert(operation.tag.effect)
      } else {
        if let last = effects.last { places[last.note] = effects.count - 1 }
        effects.append((note, operation.tag.effect))
      }
    }
    for place in effects.indices {
      if effects[place].what.contains(.created) { effects[place].what = .created }
      if isImport { effects[place].what.insert(.imported) }
    }
  }

  private func note(of operation: RawOperation, in number: UInt64) -> NoteID {
    if operation.tag == .create {
      return NoteID(creation: ChangeID(replica: reader.author, number: number))
    }
    let author = operation.note.author
    let replica = author == 0 ? reader.author : reader.mentions.replicas[author - 2]
    return NoteID(creation: ChangeID(replica: replica, number: operation.note.number))
  }
}

/// The time of a change: its logical time, which orders changes, and that of its author's clock, which people read.
struct WallTime: Equatable, Sendable {
  /// The first logical time of the change. No two changes have the same, and a change has a later one than all that
  /// its author had seen.
  var logical: LamportTimestamp
  /// Milliseconds since 1970.
  var clock: Int64
}
