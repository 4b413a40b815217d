// The present text out of an encoding, without all that editing and merging need.

extension ReplicatingText {
  /// Reads the text alone from what `encode(into:)` wrote. What was inserted at once, and not changed since, is not even copied; otherwise
  /// the whole value is read. O(n).
  ///
  /// Not everything is checked that reading the value checks.
  public static func utf8(from reader: inout ByteReader) throws(DecodingFailure) -> ArraySlice<
    UInt8
  > {
    let start = reader
    if let text = try wholeInsertion(from: &reader) { return text }
    reader = start
    return try ReplicatingText(from: &reader).utf8[...]
  }

  /// The text, if it is one insertion; the reader may stand anywhere if not.
  private static func wholeInsertion(
    from reader: inout ByteReader
  ) throws(DecodingFailure) -> ArraySlice<UInt8>? {
    try reader.format(1, of: "changes of a sequence")
    _ = try reader.varint()
    for _ in 0..<(try reader.count()) {
      _ = try reader.raw(16)
      _ = try reader.varint()
      _ = try reader.varint()
    }
    let elements = try reader.counted()
    // Its maker's place, and the offset of its first element.
    guard try reader.count() == 1, try reader.count() >= 0, try reader.count() == 0,
      try reader.count() == 1
    else { return nil }
    while true {
      switch try reader.stepOrNote() {
      case .note(.right, let author): if author != -1 { _ = try reader.count() }
      case .note: continue
      case .step(let step, _):
        return !step.isRemoval && step.count == elements.count ? elements : nil
      }
    }
  }
}

/// Not generic, since they are called for each note of a search: across modules that would take many times as long.
extension ByteReader {
  /// Reads over a `ReplicatingRegister`, but for its values, which `body` reads: the initial one, if there is one, and behind it the one that was written.
  public mutating func skipRegister(
    _ body: (inout ByteReader) throws(DecodingFailure) -> Void
  ) throws(DecodingFailure) {
    try format(1, of: "a register")
    try skipVersionRange()
    let contents = RegisterContents(rawValue: try byte())
    if contents.contains(.initialValue) { try body(&self) }
    guard contents.contains(.write) else { return }
    try body(&self)
    // The time, the change, and the logical time.
    for _ in 0..<4 { _ = try varint() }
  }

  /// Reads over a `ReplicatingSet`, but for its elements, each of which `body` reads.
  public mutating func skipSet(
    _ body: (inout ByteReader) throws(DecodingFailure) -> Void
  ) throws(DecodingFailure) {
    try format(1, of: "a set")
    try skipVersionRange()
    _ = try varint()
    for _ in 0..<(try count()) {
      try body(&self)
      try skipChanges()
    }
    for _ in 0..<(try count()) {
      try skipChange()
      try body(&self)
      try skipChanges()
    }
  }

  fileprivate mutating func skipVersionRange() throws(DecodingFailure) {
    for _ in 0..<(try count()) {
      _ = try raw(16)
      _ = try varint()
      _ = try varint()
    }
  }

  fileprivate mutating func skipChange() throws(DecodingFailure) {
    _ = try varint()
    _ = try varint()
  }

  fileprivate mutating func skipChanges() throws(DecodingFailure) {
    for _ in 0..<(try count()) { try skipChange() }
  }
}
