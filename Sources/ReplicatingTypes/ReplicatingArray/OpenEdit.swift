/// Typing, or deleting, that goes on in one place and is not yet in the tree.
///
/// Most edits continue the one before. Such an edit only adds to a count here; `settle` enters them all at once, before
/// anything else is done with the sequence.
struct OpenEdit: Sendable {
  /// The places at which typing began, and would go on; −1 for none. The tree's cursor is on the piece that ends where it began,
  /// and that piece is the author's latest.
  var start = -1
  var position = -1
  /// The places at which typing has to stop: since `typed` is full, and since the piece is.
  var limit = -1
  var end = -1
  /// The offset of the first element that was typed.
  var first: UInt32 = 0
  /// False if a byte that was typed may not be of ASCII.
  var isPlain = true
  /// The last elements that were typed, if they are bytes: a keystroke then has no array to touch. Those before, by whole rounds, are
  /// among what the author inserted, as are all elements of other types.
  var typed = Bytes(repeating: 0)
  /// Elements from here on are removed; −1 for none.
  var removedFrom = -1
  var removedCount = 0
  var order = RemovalRun.Order.atOnce
  /// While elements are removed: places in the tree that certainly hold bytes of ASCII, if they hold bytes.
  var plain = 0..<0
  /// The author, and the number that a change must have to continue it.
  var author: AuthorIndex = 0
  var replica = ReplicaID(high: 0, low: 0)
  var nextNumber: UInt64 = 0

  var isEmpty: Bool { position < 0 && removedFrom < 0 }
  var typedCount: Int { position &- start }

  typealias Bytes = InlineArray<32, UInt8>
  /// The number of bytes that `typed` takes.
  static var room: Int { 32 }

  mutating func begin(_ author: AuthorIndex, after change: ChangeID) {
    self.author = author
    replica = change.replica
    nextNumber = change.number &+ 1
    isPlain = true
  }

  /// Nothing was typed.
  mutating func endTyping() {
    start = -1
    position = -1
    limit = -1
    end = -1
  }

  /// Keeps the next byte. There is room: no more are kept than up to `limit`.
  @inline(__always)
  mutating func keep(_ byte: UInt8) { typed[typedCount & (Self.room &- 1)] = byte }

  /// The first `count` of the bytes kept.
  func kept(_ count: Int) -> [UInt8] { (0..<count).map { typed[$0] } }

  /// Appends the first `count` of bytes kept to elements, which are bytes. A function of `typed` alone, and that inout: a method would
  /// have all of the edit copied, which waits for the last keystrokes to be in memory.
  @inline(__always)
  static func append<Element>(
    _ count: Int, of typed: inout Bytes, to elements: inout [Element]
  ) {
    typed.span.extracting(first: count).withUnsafeBytes {
      // A type has only itself for an equal, and so many bytes were just taken from `typed`.
      precondition(Element.self == UInt8.self)
      elements.append(contentsOf: $0.assumingMemoryBound(to: Element.self))
    }
  }
}
