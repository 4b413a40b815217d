// Library product only: the programs of this package do not use this file.

// Places in text, counted in any unit. What is open is not entered in the tree for a question: a sequence is a value, and
// entering would copy it. It is one stretch more, or one less, and that is accounted for here.

/// A place in a text: what is before it, and the byte behind it.
struct TextPlace {
  var before: TextMeasure
  /// `nil` at the end.
  var next: UInt8?

  /// True if a scalar begins here, or the text ends.
  var isBoundary: Bool { next.map { $0 & 0xC0 != 0x80 } ?? true }
}

extension ReplicatingArray<UInt8> {
  /// Everything that is visible. O(log n).
  var measure: TextMeasure { place(count, .utf8).before }

  /// Where the text holds `amount` of a unit and with the next byte would hold more; the end if it never does. `amount` is
  /// between 0 and `count`, which no unit exceeds. O(log n + bytes of a leaf).
  func place(_ amount: Int, _ unit: TextUnit) -> TextPlace {
    if open.position >= 0 {
      if open.typedCount == 0 { return settledPlace(amount, unit) }
      let head = settledPlace(open.position &- open.typedCount, .utf8).before
      if amount < head[unit] { return settledPlace(amount, unit) }
      var place = TextPlace(before: head)
      let content = authors[Int(open.author)].content
      let bytes = content.span.extracting(droppingFirst: Int(open.first))
      if place.advance(through: bytes, to: amount, unit) { return place }
      let kept = open.kept(keptCount)
      if place.advance(through: kept.span, to: amount, unit) { return place }
      // All that was typed stands before the place.
      let typed = place.before - head
      place = settledPlace(amount &- typed[unit], unit)
      place.before = place.before + typed
      return place
    }
    if open.removedFrom >= 0 {
      let head = settledPlace(open.removedFrom, .utf8).before
      if amount < head[unit] { return settledPlace(amount, unit) }
      let removed = settledPlace(open.removedFrom &+ open.removedCount, .utf8).before - head
      var place = settledPlace(amount &+ removed[unit], unit)
      place.before = place.before - removed
      return place
    }
    return settledPlace(amount, unit)
  }

  /// The same in what the tree holds.
  private func settledPlace(_ amount: Int, _ unit: TextUnit) -> TextPlace {
    let weights = tree.weights { Self.weight(of: $0, in: authors[Int($0.author)].content) }
    var total = TextMeasure()
    guard let leaf = tree.leaf(exceeding: amount, unit, weights, total: &total) else {
      return TextPlace(before: total)
    }
    var place = TextPlace(before: leaf.before)
    // Most neighbours have one author: an array taken for each piece takes longer than to count its bytes.
    let pieces = tree.pieces(of: leaf.leaf)
    var author = pieces[0].author
    var content = authors[Int(author)].content
    for piece in pieces where !piece.isRemoved {
      let start = Int(piece.offset)
      if piece.author != author {
        author = piece.author
        content = authors[Int(author)].content
      }
      let bytes = content.span.extracting(start..<start &+ Int(piece.count))
      if place.advance(through: bytes, to: amount, unit) { return place }
    }
    preconditionFailure("a leaf that doesn't hold what it is counted to hold")
  }

  /// Elements by position. O(log n + elements + pieces).
  func elements(in range: Range<Int>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    func append(_ range: Range<Int>) {
      tree.forEachPart(of: range) { piece in
        let start = Int(piece.offset)
        result.append(
          contentsOf: authors[Int(piece.author)].content[start..<start &+ Int(piece.count)])
      }
    }
    if open.position >= 0 {
      let typed = open.position &- open.typedCount..<open.position
      append(range.clamped(to: 0..<typed.lowerBound))
      let inside = range.clamped(to: typed)
      let all = authors[Int(open.author)].content[Int(open.first)...] + open.kept(keptCount)
      let shift = Int(open.first) &- typed.lowerBound
      result.append(contentsOf: all[inside.lowerBound &+ shift..<inside.upperBound &+ shift])
      let behind = range.clamped(to: typed.upperBound..<count)
      append(behind.lowerBound &- typed.count..<behind.upperBound &- typed.count)
    } else if open.removedFrom >= 0 {
      append(range.clamped(to: 0..<open.removedFrom))
      let behind = range.clamped(to: open.removedFrom..<count)
      append(behind.lowerBound &+ open.removedCount..<behind.upperBound &+ open.removedCount)
    } else {
      append(range)
    }
    return result
  }
}

extension TextPlace {
  /// Moves on through bytes, as far as there is no more than `amount` of a unit. Whether it ends there, before one of them.
  @inline(__always)
  mutating func advance(
    through bytes: Span<UInt8>, to amount: Int, _ unit: TextUnit
  ) -> Bool {
    var start = 0
    while start < bytes.count {
      let block = bytes.extracting(start..<min(start &+ TextMeasure.block, bytes.count))
      let next = before + TextMeasure(block)
      if next[unit] > amount {
        stop(in: block, at: amount, unit)
        return true
      }
      before = next
      start &+= TextMeasure.block
    }
    return false
  }

  @inline(never)
  private mutating func stop(in bytes: Span<UInt8>, at amount: Int, _ unit: TextUnit) {
    for index in bytes.indices {
      let next = before + TextMeasure(bytes.extracting(index..<index &+ 1))
      if next[unit] > amount {
        self.next = bytes[index]
        return
      }
      before = next
    }
  }
}

extension TextMeasure {
  /// So many bytes are counted at once: what is counted of them fits a byte.
  fileprivate static var block: Int { 128 }

  /// Counts no more bytes than a block. In bytes, by an index up to the count, and not inlined, so that the compiler makes
  /// vectors of all of it: 15 bytes in a nanosecond, not one. Inlined, it counts a quarter of each block one by one.
  @inline(never)
  fileprivate init(_ bytes: Span<UInt8>) {
    var lines: UInt8 = 0
    var continuations: UInt8 = 0
    var astral: UInt8 = 0
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      lines &+= byte == 0x0A ? 1 : 0
      continuations &+= byte & 0xC0 == 0x80 ? 1 : 0
      astral &+= byte >= 0xF0 ? 1 : 0
      index &+= 1
    }
    utf8 = bytes.count
    self.lines = Int(lines)
    self.continuations = Int(continuations)
    self.astral = Int(astral)
  }
}
