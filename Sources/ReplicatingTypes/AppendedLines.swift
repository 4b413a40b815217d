// Lines at the end of a text, planned so that they stay whole lines beside what others write there unseen.
//
// A line end that a change inserts and removes stands in front of the lines: by the rule of spared separators (SparedSeparators.swift) it is shown where
// text that the change did not know stands directly before it, and nowhere else. It is no divider, which ends an insertion.

extension ReplicatingText {
  /// The operations that add lines to the end, as one change.
  ///
  /// A text that ends with a line end, or is empty, ends with one afterwards. Any other text has none at its end afterwards either: with a line end there,
  /// two authors who append unseen would leave an empty line between their lines. Only behind an empty line that is added there is one.
  ///
  /// - Parameters:
  ///   - lines: lines without the line end of the last one.
  ///   - lineEnd: the line end of the text.
  ///   - author: the replica that makes the change.
  public func operations(
    appending lines: [UInt8], endedBy lineEnd: [UInt8], by author: ReplicaID
  ) -> [Operation] {
    let end = count..<count
    let whole = operations(for: [Edit(range: end, replacement: lineEnd + lines + lineEnd)])
    let hidden = ElementRange(
      author: author, offset: count(by: author), count: lineEnd.count)
    if count == 0 || utf8.last == 0x0A { return whole + [.remove(hidden)] }
    if lines.isEmpty || lines.last == 0x0A { return whole }
    // The line end behind the lines comes first: as the right origin of the lines it stays behind them.
    let behind = operations(for: [Edit(range: end, replacement: lineEnd)])
    guard case .insert(_, let left, _, _) = behind.first else { return whole }
    let first = ElementID(author: author, offset: hidden.offset)
    let insertion = Operation.insert(lineEnd + lines, after: left, before: first, divider: 0)
    return behind + [insertion, .remove(hidden)]
  }
}
