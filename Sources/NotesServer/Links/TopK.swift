internal import NoteFiles

/// The first of many names, in the order of what they are when composed and without case, that begin with something, or whose letters do.
///
/// Most names of many are passed over after a look at their first bytes.
struct TopK<Value> {
  struct Element {
    /// The name as it is compared, in UTF-8.
    let folded: [UInt8]
    let name: String
    let value: Value
  }

  /// In order.
  private(set) var elements: [Element] = []
  private let prefix: [UInt8]
  private let limit: Int

  /// - Parameters:
  ///   - prefix: what the names begin with that count, in any case and form; blanks at its end count, too.
  ///   - limit: the most names that are kept, at least 1.
  init(_ limit: Int, beginningWith prefix: String) {
    self.limit = limit
    // The blanks at the end of a name that is compared don't count, but those of a prefix do.
    let folded = Array(LinkName(prefix + "x").text.utf8)
    self.prefix = Array(folded.dropLast())
  }

  /// Takes a name, unless it begins with something else, or comes behind the last one that is kept. O(length of the prefix) as a rule, else
  /// O(length of the name + limit).
  mutating func insert(_ name: String, _ value: Value) {
    if Self.isElsewhere(name, prefix, behind: elements.count == limit ? elements.last?.folded : nil)
    {
      return
    }
    let folded = Array(LinkName(name).text.utf8)
    guard folded.starts(with: prefix) || Self.firstLetters(folded).starts(with: prefix) else {
      return
    }
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if folded.lexicographicallyPrecedes(elements[middle].folded) {
        high = middle
      } else {
        low = middle + 1
      }
    }
    if low == limit { return }
    if elements.count == limit { elements.removeLast() }
    elements.insert(Element(folded: folded, name: name, value: value), at: low)
  }

  /// A name from its first letter or digit on: an emoji, a quote or a bracket before it need not be typed.
  private static func firstLetters(_ folded: [UInt8]) -> Substring.UTF8View {
    Substring(decoding: folded, as: UTF8.self).drop { !$0.isLetter && !$0.isNumber }.utf8
  }

  /// True if a look at bytes of ASCII is enough to pass a name over: it doesn't begin as it should, or comes behind another one.
  private static func isElsewhere(_ name: String, _ prefix: [UInt8], behind last: [UInt8]?) -> Bool
  {
    var bytes = name.utf8.makeIterator()
    guard var next = bytes.next(), next.isLetterOrDigit else { return false }
    var index = 0
    var isOpen = last != nil
    while true {
      if next >= 0x80 { return false }
      let byte = next | (next &- 0x41 < 26 ? 0x20 : 0)
      let following = bytes.next()
      // What follows a letter may be composed with it.
      if let following, following >= 0x80 { return false }
      if index < prefix.count, byte != prefix[index] { return true }
      if isOpen {
        if index >= last!.count || byte > last![index] { return index + 1 >= prefix.count }
        if byte < last![index] { isOpen = false }
      }
      index += 1
      if index >= prefix.count, !isOpen { return false }
      guard let following else { return index < prefix.count }
      next = following
    }
  }
}

extension UInt8 {
  /// True for the letters and digits of ASCII.
  fileprivate var isLetterOrDigit: Bool { self &- 0x30 < 10 || (self | 0x20) &- 0x61 < 26 }
}
