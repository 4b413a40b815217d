/// A tag: free text, told apart by its bytes.
///
/// Strings that look the same may differ in bytes and are equal in Swift all the same; as members of a set, which of them
/// a replica shows would depend on which came first. To people, tags whose names are canonically equivalent are one (`distinct`).
public struct Tag: Hashable, Comparable, Sendable {
  /// The name, 1 to 200 bytes of UTF-8.
  public var name: String

  /// The tag with a name.
  public init(_ name: String) {
    self.name = name
  }

  public static func == (a: Self, b: Self) -> Bool { a.name.utf8.elementsEqual(b.name.utf8) }

  public static func < (a: Self, b: Self) -> Bool {
    a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in name.utf8 { hasher.combine(byte) }
    hasher.combine(0xFF as UInt8)
  }
}

extension StringProtocol where SubSequence == Substring {
  /// Without white space at its ends, as tags are; line feeds and carriage returns count, which no tag has.
  public var trimmingBlanks: Substring {
    func isKept(_ scalar: Unicode.Scalar) -> Bool {
      !scalar.properties.isWhitespace || scalar == "\n" || scalar == "\r"
    }
    let start = unicodeScalars.firstIndex(where: isKept) ?? endIndex
    let last = unicodeScalars.lastIndex(where: isKept)
    return self[start..<(last.map { unicodeScalars.index(after: $0) } ?? endIndex)]
  }
}

extension Sequence<Tag> {
  /// The tags as people tell them apart, sorted: of several with canonically equivalent names the shortest, as a rule the composed one.
  public var distinct: [Tag] {
    var shortest: [String: Tag] = [:]
    for tag in self {
      guard let other = shortest[tag.name] else {
        shortest[tag.name] = tag
        continue
      }
      let (count, otherCount) = (tag.name.utf8.count, other.name.utf8.count)
      if count < otherCount || count == otherCount && tag < other { shortest[tag.name] = tag }
    }
    return shortest.values.sorted()
  }

  /// True if one of the tags is this one, or below it, as `work/alpha` is below `work`; names may be canonically equivalent.
  public func hasTag(of tag: Tag) -> Bool {
    contains { $0.name == tag.name || $0.name.hasPrefix(tag.name + "/") }
  }

  /// True if one of the tags has a name that is canonically equivalent.
  public func hasEquivalent(of tag: Tag) -> Bool { contains { $0.name == tag.name } }
}
