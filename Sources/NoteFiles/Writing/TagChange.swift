/// The tags that a field is to have.
struct TagChange {
  let wanted: Set<[UInt8]>
  /// The same in the order in which they are added.
  let order: [String]
  let syntax: HeaderSyntax

  /// True for an item whose tag stays, and for one that is no tag of a note.
  func keeps(_ item: HeaderValue.Item) -> Bool { item.text.map(keeps) ?? true }

  private func keeps(_ word: String) -> Bool {
    let tag = HeaderFacts.tag(word)
    return wanted.contains(Array(tag.utf8)) || !NoteFile.isTag(tag)
  }

  /// The tags that no item has.
  func added(to items: [HeaderValue.Item]) -> [String] { added(to: items.compactMap(\.text)) }

  private func added(to words: [String]) -> [String] {
    var there = Set(words.map { Array(HeaderFacts.tag($0).utf8) })
    return order.filter { there.insert(Array($0.utf8)).inserted }
  }

  /// `a, b` or `a b`, as it was.
  func words(_ scalar: HeaderScalar) -> [UInt8] {
    let words = HeaderFacts.tagWords(scalar).map(\.text)
    let hasCommas = scalar.text.utf8.contains(.comma)
    let separator = !hasCommas ? " " : scalar.text.contains(", ") ? ", " : ","
    return Array((words.filter(keeps) + added(to: words)).joined(separator: separator).utf8)
  }

  /// A tag in a list. One that begins with `#` has it twice, since one is taken away.
  static func token(
    _ tag: String, _ style: HeaderScalar.Style, _ syntax: HeaderSyntax
  ) -> [UInt8] {
    ScalarWriter.token(tag.utf8.first == .hash ? "#\(tag)" : tag, style, inList: true, syntax)
  }
}
