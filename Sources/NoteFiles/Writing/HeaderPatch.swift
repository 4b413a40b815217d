/// New lines for a field of a header whose value changes: as far as possible those that are there, in the style that they have.
///
/// Each way to write them is tried by reading what it gives; the last, which replaces the value as a whole, is always right. A value that is
/// not understood is not replaced.
struct HeaderPatch {
  let value: HeaderValue
  /// The name by which the field is known to its header.
  let key: String
  /// The path of the value in TOML.
  let path: [String]

  init(_ found: FoundField, key: String) {
    value = found.value
    path = found.path
    self.key = key
  }

  private var isUnderstood: Bool { if case .other = value.kind { false } else { true } }

  /// The lines with a title, a priority, an identity.
  func lines(with text: String) -> [UInt8]? {
    guard isUnderstood else { return nil }
    return first(scalarWays(text)) {
      if case .known(let found) = HeaderFacts.title($0) { return found.isIdentical(to: text) }
      return false
    } ?? whole(ScalarWriter.token(text, .plain, value.syntax))
  }

  /// The lines with these tags; those that stay keep their place and their quotes, and what is no tag of a note stays.
  func lines(with tags: [String]) -> [UInt8]? {
    guard isUnderstood else { return nil }
    let wanted = Set(tags.map { Array($0.utf8) })
    let change = TagChange(wanted: wanted, order: tags, syntax: value.syntax)
    return first(listWays(change)) {
      guard let words = HeaderFacts.tags($0) else { return false }
      return Set(HeaderFacts.fitting(words).tags.map { Array($0.utf8) }) == wanted
    } ?? whole(Self.list(tags, value.syntax))
  }

  /// A list on one line.
  static func list(_ tags: [String], _ syntax: HeaderSyntax) -> [UInt8] {
    [.openingBracket]
      + Array(
        tags.map { TagChange.token($0, .plain, syntax) }.joined(separator: [.comma, .space]))
      + [.closingBracket]
  }

  private func first(_ ways: [[UInt8]], where isRight: (HeaderValue) -> Bool) -> [UInt8]? {
    ways.first {
      FileHeader.field(in: $0, key: Array(key.utf8), value.syntax) != nil
        && reading($0).map(isRight) == true
    }
  }

  /// The value of the field in new lines.
  private func reading(_ lines: [UInt8]) -> HeaderValue? {
    guard value.syntax == .toml else { return HeaderValue(lines) }
    let scan = TOMLScan(lines)
    return scan.entries.first { $0.path == path && !$0.isInArray }.map(scan.value)
  }

  private func replacing(_ range: Range<Int>, with bytes: [UInt8]) -> [UInt8] {
    value.bytes[..<range.lowerBound] + bytes + value.bytes[range.upperBound...]
  }

  /// Replaces all that stands behind the colon; in TOML the value alone.
  private func whole(_ token: [UInt8]) -> [UInt8] {
    if value.syntax == .toml { return replacing(value.range, with: token) }
    let line = value.bytes[value.keyEnd..<value.bytes[...].endOfLine(from: value.keyEnd)]
    return value.bytes[..<value.keyEnd] + [.space] + token + line.lineEnd
  }

  private func scalarWays(_ text: String) -> [[UInt8]] {
    switch value.kind {
    case .empty:
      return [
        replacing(value.range, with: [.space] + ScalarWriter.token(text, .plain, value.syntax))
      ]
    case .scalar(let scalar):
      let written = ScalarWriter.token(text, scalar.style, value.syntax)
      // A comment in YAML.
      if scalar.style == .plain, scalar.text.utf8.first == .hash {
        let start = scalar.range.lowerBound
        return [replacing(start..<start, with: written + [.space])]
      }
      if scalar.style == .block { return [below(scalar, text), inline(scalar, written)] }
      return [replacing(scalar.range, with: written)]
    case .flow, .block, .other: return []
    }
  }

  /// A word in the place of `|` or `>` and of all that is below; a comment stays.
  private func inline(_ scalar: HeaderScalar, _ written: [UInt8]) -> [UInt8] {
    let lines = value.bytes[scalar.range].withoutLineEnd
    let first = lines[..<lines.endOfLine(from: lines.startIndex)].withoutLineEnd
    let comment = first.drop { !$0.isBlank }
    return replacing(lines.startIndex..<lines.endIndex, with: written + comment)
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
    case .empty:
      return [replacing(value.range, with: [.space] + Self.list(change.order, value.syntax))]
    case .scalar(let scalar) where scalar.style == .plain && !scalar.isNull:
      let words = change.words(scalar)
      let list = Self.list(change.order, value.syntax)
      return (ScalarWriter.isPlain(words[...].text) ? [words, list] : [list]).map {
        replacing(scalar.range, with: $0)
      }
    case .scalar(let scalar):
      return [replacing(scalar.range, with: Self.list(change.order, value.syntax))]
    case .flow(let items):
      return [
        value.bytes[value.range].contains(.lineFeed)
          ? FlowLines(value, items, change).patched()
          : replacing(value.range, with: flow(items, change))
      ]
    case .block(let items): return [block(items, change)]
    case .other: return []
    }
  }

  /// A list in brackets on one line.
  private func flow(_ items: [HeaderValue.Item], _ change: TagChange) -> [UInt8] {
    let list = value.bytes[value.range]
    let kept = items.filter(change.keeps).map { value.bytes[$0.range] }
    let style = items.last?.style ?? .plain
    let tokens =
      kept + change.added(to: items).map { TagChange.token($0, style, value.syntax)[...] }
    let isTight =
      items.count > 1 && items[1].range.lowerBound - items[0].range.upperBound == 1
    // Blanks within the brackets stay.
    let padding =
      items.isEmpty || tokens.isEmpty ? [] : list.dropFirst().prefix(while: \.isBlank)
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
    for tag in added {
      lines += before + TagChange.token(tag, last.style, value.syntax) + line.lineEnd
    }
    lines += value.bytes[start...]
    if added.isEmpty, removed.count == items.count {
      lines.insert(contentsOf: " []".utf8, at: value.keyEnd)
    }
    return lines
  }
}
