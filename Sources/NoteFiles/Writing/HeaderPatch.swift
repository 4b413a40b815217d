/// New lines for a field of a header whose value changes: as far as possible those that are there, in the style that they have.
///
/// Each way to write them is tried by reading what it gives; the last, which replaces the value as a whole, is always right.
struct HeaderPatch {
  let value: HeaderValue
  /// The name by which the field is known to its header.
  let key: String

  init(_ field: FileHeader.Field) {
    value = HeaderValue(field.lines)
    key = field.key
  }

  /// The lines with a title, a priority, an identity.
  func lines(with text: String) -> [UInt8] {
    first(scalarWays(text)) {
      if case .known(let found) = HeaderFacts.title($0) { return found.isIdentical(to: text) }
      return false
    } ?? whole(ScalarWriter.token(text, .plain))
  }

  /// The lines with these tags; those that stay keep their place and their quotes, and what is no tag of a note stays.
  func lines(with tags: [String]) -> [UInt8] {
    let wanted = Set(tags.map { Array($0.utf8) })
    return first(listWays(TagChange(wanted: wanted, order: tags))) {
      guard let words = HeaderFacts.tags($0) else { return false }
      return Set(HeaderFacts.fitting(words).tags.map { Array($0.utf8) }) == wanted
    } ?? whole(Self.list(tags))
  }

  /// A list on one line.
  static func list(_ tags: [String]) -> [UInt8] {
    [.openingBracket]
      + Array(tags.map { TagChange.token($0, .plain) }.joined(separator: [.comma, .space]))
      + [.closingBracket]
  }

  private func first(_ ways: [[UInt8]], where isRight: (HeaderValue) -> Bool) -> [UInt8]? {
    ways.first { FileHeader.isField($0, key: Array(key.utf8)) && isRight(HeaderValue($0)) }
  }

  private func replacing(_ range: Range<Int>, with bytes: [UInt8]) -> [UInt8] {
    value.bytes[..<range.lowerBound] + bytes + value.bytes[range.upperBound...]
  }

  /// Replaces all that stands behind the colon.
  private func whole(_ token: [UInt8]) -> [UInt8] {
    let line = value.bytes[value.keyEnd..<value.bytes[...].endOfLine(from: value.keyEnd)]
    return value.bytes[..<value.keyEnd] + [.space] + token + line.lineEnd
  }

  private func scalarWays(_ text: String) -> [[UInt8]] {
    switch value.kind {
    case .empty: return [replacing(value.range, with: [.space] + ScalarWriter.token(text, .plain))]
    case .scalar(let scalar):
      let token = replacing(scalar.range, with: ScalarWriter.token(text, scalar.style))
      return scalar.style == .block ? [below(scalar, text), token] : [token]
    case .flow, .block, .other: return []
    }
  }

  /// One line below `|` or `>`, as far indented as the first one there.
  private func below(_ scalar: HeaderScalar, _ text: String) -> [UInt8] {
    let start = value.bytes[...].endOfLine(from: scalar.range.lowerBound)
    guard start < scalar.range.upperBound, ScalarWriter.isPlain(text) else { return [] }
    let indentation = value.bytes[start...].prefix { $0 == .space }
    return replacing(start..<scalar.range.upperBound, with: indentation + Array(text.utf8))
  }

  // MARK: - Lists

  private func listWays(_ change: TagChange) -> [[UInt8]] {
    switch value.kind {
    case .empty: return [replacing(value.range, with: [.space] + Self.list(change.order))]
    case .scalar(let scalar) where scalar.style == .plain && !scalar.isNull:
      let words = change.words(scalar)
      let isPlain = ScalarWriter.isPlain(words[...].text)
      return [replacing(scalar.range, with: isPlain ? words : Self.list(change.order))]
    case .scalar(let scalar): return [replacing(scalar.range, with: Self.list(change.order))]
    case .flow(let items): return [replacing(value.range, with: flow(items, change))]
    case .block(let items): return [block(items, change)]
    case .other: return []
    }
  }

  private func flow(_ items: [HeaderValue.Item], _ change: TagChange) -> [UInt8] {
    let list = value.bytes[value.range]
    let kept = items.filter(change.keeps).map { value.bytes[$0.range] }
    let style = items.last?.style ?? .plain
    let tokens = kept + change.added(to: items).map { TagChange.token($0, style)[...] }
    let isOneLine = !list.contains(.lineFeed)
    let isTight =
      isOneLine && items.count > 1
      && items[1].range.lowerBound - items[0].range.upperBound == 1
    // Blanks within the brackets stay.
    let padding =
      isOneLine && !items.isEmpty && !tokens.isEmpty
      ? list.dropFirst().prefix(while: \.isBlank) : []
    return [.openingBracket] + padding
      + Array(tokens.joined(separator: isTight ? [.comma] : [.comma, .space]))
      + padding + [.closingBracket]
  }

  private func block(_ items: [HeaderValue.Item], _ change: TagChange) -> [UInt8] {
    let added = change.added(to: items)
    let removed = items.filter { !change.keeps($0) }
    var lines: [UInt8] = []
    var start = 0
    for item in removed {
      lines += value.bytes[start..<item.line.lowerBound]
      start = item.line.upperBound
    }
    let last = items.last!
    if start < last.line.upperBound {
      lines += value.bytes[start..<last.line.upperBound]
      start = last.line.upperBound
    }
    let line = value.bytes[last.line]
    let sign = line.firstIndex(of: .hyphen)! + 1
    let blanks = value.bytes[sign...].prefix(while: \.isBlank)
    let before = line[..<sign] + (blanks.isEmpty || last.text == nil ? [.space] : blanks)
    for tag in added { lines += before + TagChange.token(tag, last.style) + line.lineEnd }
    lines += value.bytes[start...]
    if added.isEmpty, removed.count == items.count {
      lines.insert(contentsOf: " []".utf8, at: value.keyEnd)
    }
    return lines
  }
}

/// The tags that a field is to have.
struct TagChange {
  let wanted: Set<[UInt8]>
  /// The same in the order in which they are added.
  let order: [String]

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
  static func token(_ tag: String, _ style: HeaderScalar.Style) -> [UInt8] {
    ScalarWriter.token(tag.utf8.first == .hash ? "#\(tag)" : tag, style, inList: true)
  }
}
