internal import ReplicatingTypes

/// A place in a text, named by the element beside it. It stays there whatever is inserted and removed elsewhere.
enum Anchor: Equatable {
  case start
  /// The place behind an element. Text that is inserted there stands behind the place.
  case after(ElementID)
  /// The place before an element. Text that is inserted there stands before the place.
  case before(ElementID)

  var element: ElementID? {
    switch self {
    case .start: nil
    case .after(let element), .before(let element): element
    }
  }

  /// The offset in a text, given the places of its elements; nil if the anchor's element is none of them.
  func offset(_ places: [ElementID: (offset: Int, isVisible: Bool)]) -> Int? {
    switch self {
    case .start: 0
    case .before(let element): places[element]?.offset
    case .after(let element): places[element].map { $0.offset + ($0.isVisible ? 1 : 0) }
    }
  }
}

/// A selection, with the cursor at `end`.
struct Selection: Equatable {
  /// The most selections of one attachment; further ones are dropped.
  static let mostPerAttachment = 100

  var start: Anchor
  var end: Anchor
}

/// Another editor in an open note, with its cursors and selections.
struct Participant: Equatable {
  /// Unique among the participants of a note, here and in other processes.
  var id: String
  /// The participant's name; empty if it is not known.
  var name: String
  var selections: [Selection]
}

extension Participant {
  /// The number of colours among which clients choose.
  private static let colors: UInt32 = 16

  /// A number that participants of this name have everywhere, and at any time: FNV-1a (Fowler, Noll, Vo) of the name's bytes.
  var color: Int {
    var hash: UInt32 = 2_166_136_261
    for byte in (name.isEmpty ? id : name).utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int((hash ^ hash >> 16) % Self.colors)
  }
}

/// The knowledge that a client has of the participants in its note.
struct Presence {
  /// The number of moves of participants' cursors.
  var moves = 0
  /// The value of `moves` when the client was told last.
  private var toldMoves = 0
  /// The version and rev with which the client was told last. When its own are others, it has to be told again, because it may have
  /// dropped that message.
  private var toldAt = (version: 0, rev: 0)
  /// True if the client was told of a participant.
  private(set) var hasParticipants = false
  /// True if a participant's cursor is at an element that has not come here yet.
  private(set) var isIncomplete = false

  func isDue(_ version: Int, _ rev: Int) -> Bool {
    moves > toldMoves || hasParticipants && toldAt != (version, rev)
  }

  mutating func didTell(_ version: Int, _ rev: Int, hasParticipants: Bool, isIncomplete: Bool) {
    toldMoves = moves
    toldAt = (version, rev)
    self.hasParticipants = hasParticipants
    self.isIncomplete = isIncomplete
  }
}
