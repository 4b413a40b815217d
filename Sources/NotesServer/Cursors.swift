internal import ReplicatingTypes

/// A place in a text that stays where it is, whatever is inserted and removed.
enum Anchor: Equatable {
  case start
  /// Behind an element: what is inserted there comes after the place.
  case after(ElementID)
  /// Before an element: what is inserted there comes before the place.
  case before(ElementID)

  var element: ElementID? {
    switch self {
    case .start: nil
    case .after(let element), .before(let element): element
    }
  }

  /// The offset in a text of which the places of its elements are known; nil if the element is none of them.
  func offset(_ places: [ElementID: (offset: Int, isVisible: Bool)]) -> Int? {
    switch self {
    case .start: 0
    case .before(let element): places[element]?.offset
    case .after(let element): places[element].map { $0.offset + ($0.isVisible ? 1 : 0) }
    }
  }
}

/// A cursor, which is at `end`, or a selection.
struct Selection: Equatable {
  var start: Anchor
  var end: Anchor
}

/// Where somebody's cursors are in a note.
struct PeerCursors: Equatable {
  /// Another one for each peer of a note, here and in other processes.
  var id: String
  var selections: [Selection]
}

/// What a client knows of its peers' cursors.
struct Presence {
  /// How often a peer's cursor has moved, and how often it had when the client was told.
  var moves = 0
  private var toldMoves = 0
  /// The numbers that it was told with: with others it needs to be told anew, since it may have dropped that.
  private var toldAt = (version: 0, rev: 0)
  /// Whether it was told of somebody.
  private(set) var hasPeers = false
  /// Whether one of them is at what has not come here yet.
  private(set) var isIncomplete = false

  func isDue(_ version: Int, _ rev: Int) -> Bool {
    moves > toldMoves || hasPeers && toldAt != (version, rev)
  }

  mutating func tell(_ version: Int, _ rev: Int, hasPeers: Bool, isIncomplete: Bool) {
    toldMoves = moves
    toldAt = (version, rev)
    self.hasPeers = hasPeers
    self.isIncomplete = isIncomplete
  }
}
