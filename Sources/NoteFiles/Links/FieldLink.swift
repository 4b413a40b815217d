internal import Bytes

/// A link `[[…]]` in a field of a header, as in `up: "[[Shopping]]"`.
public struct FieldLink: Equatable, Sendable {
  /// The key of the field.
  public let key: String
  /// Its ranges are of the field's bytes.
  public let link: NoteLink
}

extension FileHeader {
  /// The links in fields, in their order: in quotes, or in a plain sentence. Without quotes `[[a]]` is a list of lists.
  ///
  /// - Parameter fields: the values of registers as in `fields`.
  /// - Complexity: O(n).
  public static func links(
    in fields: some Sequence<(key: String, value: String)>
  ) -> [FieldLink] {
    let fields = Array(fields)
    let candidates = fields.filter { isOpening(Array($0.value.utf8)) }
    if candidates.isEmpty { return [] }
    let syntax = FileHeader(fields: fields.filter { $0.key == frameKey }).syntax
    return candidates.flatMap { key, value in
      let bytes = Array(value.utf8)
      return scalars(in: bytes, syntax).flatMap { links(in: bytes, $0) }
        .map { FieldLink(key: key, link: $0) }
    }
  }

  /// A field in which a link has another name; nil if that means something in quotes, or in a plain sentence.
  public static func field(_ value: String, _ link: NoteLink, leadingTo name: String) -> String? {
    let signs: [UInt8] = [.quote, .apostrophe, .backslash, .hash]
    guard !name.utf8.contains(where: { signs.contains($0) || $0 < 0x20 }), !name.contains(": ")
    else { return nil }
    var bytes = Array(value.utf8)
    bytes.replaceSubrange(link.targetRange, with: Array(name.utf8))
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isOpening(_ bytes: [UInt8]) -> Bool {
    bytes.indices.dropLast().contains {
      bytes[$0] == .openingBracket && bytes[$0 + 1] == .openingBracket
    }
  }

  /// The ranges of the words and sentences of a field.
  private static func scalars(in bytes: [UInt8], _ syntax: HeaderSyntax) -> [Range<Int>] {
    let value = HeaderValue(bytes, syntax)
    switch value.kind {
    case .scalar(let scalar): return [scalar.range]
    case .flow(let items), .block(let items): return items.map(\.range)
    case .empty: return []
    case .other:
      // Text between two quotation marks is no list, in whichever map it stands.
      var ranges: [Range<Int>] = []
      var start = value.keyEnd
      while let open = bytes[start...].firstIndex(of: .quote),
        let close = bytes[(open + 1)...].firstIndex(where: { $0 == .quote || $0 == .lineFeed })
      {
        if bytes[close] == .quote { ranges.append(open..<close) }
        start = close + 1
      }
      return ranges
    }
  }

  private static func links(in bytes: [UInt8], _ scalar: Range<Int>) -> [NoteLink] {
    var links: [NoteLink] = []
    var start = scalar.lowerBound
    while let open = bytes[start..<scalar.upperBound].firstIndex(of: .openingBracket) {
      start = open + 1
      // A name has no bracket.
      let ends: [UInt8] = [.openingBracket, .closingBracket, .lineFeed, .backslash]
      guard open + 2 < scalar.upperBound, bytes[open + 1] == .openingBracket,
        let close = bytes[(open + 2)..<scalar.upperBound].firstIndex(where: ends.contains),
        close + 1 < scalar.upperBound, bytes[close] == .closingBracket,
        bytes[close + 1] == .closingBracket
      else { continue }
      let found = NoteLink.all(in: Array(bytes[open..<close + 2]))
      guard found.count == 1, var link = found.first, link.range == 0..<close + 2 - open,
        case .name = link.target
      else { continue }
      link.range = open..<close + 2
      link.targetRange = link.targetRange.lowerBound + open..<link.targetRange.upperBound + open
      links.append(link)
      start = close + 2
    }
    return links
  }
}
