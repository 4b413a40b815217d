public import ReplicatingTypes

// The properties of a note, and what those mean that have a name here.

extension Note {
  /// The value of a property; empty if there is none.
  public subscript(name: PropertyName) -> String { properties[name]?.value ?? "" }

  /// The path of the note's file; empty if it has none. See `PropertyName.path`.
  public var path: String { self[.path] }

  /// The parts of its file's header that are there, by their keys, in the order of these.
  public var header: [(key: String, value: String)] {
    if properties.isEmpty { return [] }
    return properties.sorted { $0.key < $1.key }.compactMap { name, register in
      name.headerKey.flatMap { register.value.isEmpty ? nil : ($0, register.value) }
    }
  }

  /// The operation that makes a property this; `nil` if it is. `now`: milliseconds since 1970.
  public func operation(
    setting name: PropertyName, to value: String, at now: Int64
  ) -> Operation? {
    let register = properties[name] ?? ReplicatingRegister("")
    if register.value.utf8.elementsEqual(value.utf8) { return nil }
    return .property(name, register.assignment(of: value, at: now))
  }
}

extension Note {
  /// A deletion whose author had seen the note as it was at a version, which is known here: what was written since keeps it.
  public func deletion(seenAt version: Version) -> Operation {
    .delete(covered: content.intersection(version))
  }
}

/// The name of a property: what a note has besides title, text, tags and priority, for those who keep notes as files.
///
/// A property is a text that is replaced as a whole; the last writer wins. Setting it to an empty text removes it.
public struct PropertyName: Hashable, Comparable, Sendable {
  /// The name as it is encoded; told apart by its bytes.
  let text: String

  init(_ text: String) { self.text = text }

  /// The path of the note's file: relative, its parts separated by `/`.
  public static let path = PropertyName("path")
  /// The hash of the note's file when it was last read, by which another machine knows that there is nothing new in it.
  public static let file = PropertyName("file")
  /// A part of the header of the note's file.
  public static func header(_ key: String) -> PropertyName { PropertyName(headerPrefix + key) }

  /// The key of the part of the header that this is; `nil` if it is none.
  public var headerKey: String? {
    text.utf8.starts(with: Self.headerPrefix.utf8)
      ? String(text.dropFirst(Self.headerPrefix.count)) : nil
  }

  /// The names of parts of a header begin with it.
  static let headerPrefix = "header:"

  /// The most bytes of the key of a header.
  public static let longestHeaderKey = 200

  /// True for those that earlier and later versions of the program may have, too: a line of at most 220 bytes.
  var isValid: Bool {
    (1...220).contains(text.utf8.count) && !text.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }
  }

  /// True if it counts as content, which a deletion must have seen to cover: what a person wrote, not where it is.
  var isContent: Bool { headerKey != nil }

  public static func == (a: Self, b: Self) -> Bool { Tag(a.text) == Tag(b.text) }
  public static func < (a: Self, b: Self) -> Bool { Tag(a.text) < Tag(b.text) }
  public func hash(into hasher: inout Hasher) { Tag(text).hash(into: &hasher) }
}
