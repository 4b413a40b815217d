// The present text out of an encoding, without all that editing and merging need.

extension ReplicatingText {
  /// Reads the text alone from what `encode(into:)` wrote. What was inserted at once, and not changed since, is not even copied;
  /// few edits are made again on plain bytes; of many, or concurrent ones, the whole value is read. O(n).
  ///
  /// Not everything is checked that reading the value checks.
  public static func utf8(from reader: inout ByteReader) throws(DecodingFailure) -> ArraySlice<
    UInt8
  > {
    let start = reader
    if let text = try simpleText(from: &reader) { return text }
    reader = start
    return try ReplicatingText(from: &reader).utf8[...]
  }

  /// Bytes that are moved at most for edits made on plain bytes.
  private static var mostMoved: Int { 1 << 20 }

  private static func simpleText(
    from reader: inout ByteReader
  ) throws(DecodingFailure) -> ArraySlice<UInt8>? {
    try reader.format(2, of: "a sequence")
    _ = try reader.varint()
    for _ in 0..<(try reader.count()) {
      _ = try reader.raw(16)
      _ = try reader.varint()
    }
    let elements = try reader.counted()
    let steps = try reader.count()
    var made = 0
    var next = elements.startIndex
    var cursor = 0
    var text: [UInt8] = []
    while made < steps {
      switch try reader.stepOrNote() {
      case .note(let note, _):
        // Only the place of the step matters, not its author or time.
        guard note == .author || note == .number || note == .lamport else { return nil }
      case .step(let step, let distance):
        made += 1
        let (place, overflow) = cursor.addingReportingOverflow(distance)
        guard !overflow else { return nil }
        if step.isRemoval {
          let start = place - (step.kind == .removedBackward ? step.count : 0)
          guard start >= 0, step.count <= text.count - start else { return nil }
          text.removeSubrange(start..<start + step.count)
          cursor = start
        } else {
          guard step.count <= elements.endIndex - next, place >= 0, place <= text.count else {
            return nil
          }
          if steps == 1 { return step.count == elements.count ? elements : nil }
          if made == 1, steps > mostMoved / (elements.count + 1) { return nil }
          text.insert(contentsOf: elements[next..<next + step.count], at: place)
          next += step.count
          cursor = place + step.count
        }
      }
    }
    return next == elements.endIndex ? text[...] : nil
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
