// Library product only: the programs of this package do not use this file.

/// Text from strings and back.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var text = ReplicatingText("milk", by: &replica)
///     text.append(", eggs", by: &replica)
///     text.insert("oat ", at: 0, by: &replica)
///     text.become("oat milk, two eggs", by: &replica)
///     String(text)  // "oat milk, two eggs"
///
/// There is no literal, and no text from a string alone: what it held would have no author, and two replicas that began with
/// it would have it twice, or two texts that never meet.
extension ReplicatingText {
  /// A text that a replica has typed, as one change; as none if it is empty.
  public init(_ string: String, by replica: inout Replica) {
    self.init()
    insert(string, at: 0, by: &replica)
  }

  /// Inserts a string, as one change; an empty one is none.
  ///
  /// Traps where `offset`, in bytes of UTF-8, is outside the text or inside a scalar, and where the string holds U+0000: other replicas would refuse the
  /// change. O(log n + bytes).
  public mutating func insert(_ string: String, at offset: Int, by replica: inout Replica) {
    insert(Array(string.utf8).span, at: offset, by: &replica)
  }

  /// Inserts a string at the end, as `insert` does.
  public mutating func append(_ string: String, by replica: inout Replica) {
    insert(string, at: count, by: &replica)
  }

  /// Makes the text equal to a string by what differs: for views that tell their text, and not what was typed. Nothing else is touched, so what others insert
  /// or remove elsewhere at the same time stays.
  ///
  /// Traps where the string holds U+0000. As `textDifference` O(bytes), and bounded where much differs; for each edit O(log n).
  public mutating func become(_ string: String, by replica: inout Replica) {
    replace(textDifference(from: utf8, to: Array(string.utf8)), by: &replica)
  }
}

extension String {
  /// The text. O(count + n).
  public init(_ text: ReplicatingText) { self = text.string }
}
