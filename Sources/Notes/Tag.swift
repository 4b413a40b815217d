/// A tag: free text, told apart by its bytes.
///
/// Strings that look the same may differ in bytes and are equal in Swift all the same; as members of a set, which of them
/// a replica shows would depend on which came first.
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
