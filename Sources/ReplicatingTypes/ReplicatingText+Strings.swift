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
    precondition(
      (0...count).contains(offset), "an insertion at byte \(offset) of a text of \(count) bytes")
    precondition(
      convert(offset, from: .utf8, to: .utf8) != nil,
      "an insertion at byte \(offset) of a text, inside a scalar; `convert` finds places between scalars"
    )
    var string = string
    let isEmpty = string.withUTF8 { bytes in
      precondition(!bytes.contains(0), "an insertion of U+0000, which no text may hold")
      return bytes.isEmpty
    }
    if isEmpty { return }
    let bytes = Array(string.utf8)
    insert(bytes.span, at: offset, by: &replica)
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
    let new = Array(string.utf8)
    precondition(!new.contains(0), "a text that is to hold U+0000, which no text may")
    replace(textDifference(from: utf8, to: new), by: &replica)
  }
}

extension String {
  /// The text. O(count + n).
  public init(_ text: ReplicatingText) { self = text.string }
}
