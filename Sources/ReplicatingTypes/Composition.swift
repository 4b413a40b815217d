// Library product only: the programs of this package do not use this file.
//
// A pass over the parts looks up the types of all of them at run time, and reading a part by its key path copies it, so each function
// makes as few passes as it can and reads a part once. A part that changes, or may change, is changed in place.

/// The parts of a composed value, by their key paths: `Composition(\Self.title, \.text)`.
@frozen
public struct Composition<Whole, each Part: Replicable & BinaryCodable & Sendable>: PartsOf
where repeat (each Part).Changes: BinaryCodable & Sendable {
  @usableFromInline let paths: (repeat WritableKeyPath<Whole, each Part>)

  /// The parts at these places, in the order of the encoding.
  @inlinable
  public init(_ path: repeat WritableKeyPath<Whole, each Part>) {
    paths = (repeat each path)
  }

  /// The changes of each part.
  @frozen
  public struct Changes: ReplicatingChanges, Sendable {
    @usableFromInline var parts: (repeat (each Part).Changes)

    public let since: Version
    public let version: Version

    @inlinable
    init(_ part: repeat (each Part).Changes) {
      parts = (repeat each part)
      var (since, version) = (Version(), Version())
      for part in repeat each part {
        since.merge(part.since)
        version.merge(part.version)
      }
      (self.since, self.version) = (since, version)
    }
  }

  @inlinable
  public static var copiesToValidate: Bool {
    var copies = false
    for part in repeat (each Part).self { copies = copies || part.copiesToValidate }
    return copies
  }

  @inlinable
  public func version(of whole: Whole) -> Version {
    var version = Version()
    var joined = JoinedParts<Whole>()
    for path in repeat each paths {
      let part = whole[keyPath: path]
      joined.add(told: part.joinedVersion)
      version.merge(part.version)
    }
    return version
  }

  @inlinable
  public func hasSeen(_ since: Version, in whole: inout Whole) -> Bool {
    var version = Version()
    for path in repeat each paths { version.merge(whole[keyPath: path].version) }
    return version.isSuperset(of: since)
  }

  @inlinable
  public func joinedVersion(of whole: Whole) -> Version? {
    var joined = JoinedParts<Whole>()
    for path in repeat each paths { joined.add(told: whole[keyPath: path].joinedVersion) }
    return joined.version
  }

  @inlinable
  public func setJoinedVersion(of whole: inout Whole, to version: Version) {
    for path in repeat each paths { whole[keyPath: path].joinedVersion = version }
  }

  @inlinable
  public func changes(of whole: Whole, since version: Version) -> Changes {
    var joined = JoinedParts<Whole>()
    return Changes(repeat joined.changes(of: whole[keyPath: each paths], since: version))
  }

  @inlinable
  public func validate(_ changes: Changes, in whole: Whole) throws(InvalidChange) {
    var joined = JoinedParts<Whole>()
    for (path, part) in repeat (each paths, each changes.parts) {
      let value = whole[keyPath: path]
      joined.add(told: value.joinedVersion)
      try value.validate(part)
    }
  }

  @inlinable
  public func join(_ changes: Changes, into whole: inout Whole) {
    var joined = JoinedParts<Whole>()
    for path in repeat each paths { joined.add(told: whole[keyPath: path].joinedVersion) }
    joined.tell(changes.version)
    for (path, part) in repeat (each paths, each changes.parts) {
      joined.join(part, into: &whole[keyPath: path])
    }
  }

  /// Looks at all parts but one, joins that one if it is valid, and then the others, which are: so a text that is changed alone is
  /// not copied to look at it. That one is the first of those that bring something and would have to be copied.
  @inlinable
  public func joinIfValid(_ changes: Changes, into whole: inout Whole) throws(InvalidChange) {
    var joined = JoinedParts<Whole>()
    var chosen = -1
    var index = 0
    for (path, part) in repeat (each paths, each changes.parts) {
      let isChosen = try joined.validate(
        part, in: &whole[keyPath: path], unlessCopying: chosen < 0)
      if isChosen { chosen = index }
      index += 1
    }
    if chosen >= 0 {
      index = 0
      for (path, part) in repeat (each paths, each changes.parts) {
        if index == chosen { try whole[keyPath: path].joinIfValid(part) }
        index += 1
      }
    }
    joined.tell(changes.version)
    index = 0
    for (path, part) in repeat (each paths, each changes.parts) {
      if index == chosen {
        whole[keyPath: path].joinedVersion = joined.version
      } else {
        joined.join(part, into: &whole[keyPath: path])
      }
      index += 1
    }
  }

  @inlinable
  public func encode(_ whole: Whole, into writer: inout ByteWriter) {
    for path in repeat each paths { whole[keyPath: path].encode(into: &writer) }
  }

  @inlinable
  public func decode(_ whole: inout Whole, from reader: inout ByteReader) throws(DecodingFailure) {
    for path in repeat each paths { try Self.decode(&whole[keyPath: path], from: &reader) }
  }

  @inlinable
  static func decode<Value: BinaryCodable>(
    _ part: inout Value, from reader: inout ByteReader
  ) throws(DecodingFailure) {
    part = try Value(from: &reader)
  }
}

extension Composition.Changes: BinaryCodable {
  @inlinable
  public func encode(into writer: inout ByteWriter) {
    for part in repeat each parts { part.encode(into: &writer) }
  }

  @inlinable
  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self.init(repeat try (each Part).Changes(from: &reader))
  }
}

/// The versions of all changes joined so far, as the parts of a composed value remember it: all the same, or a part was joined by itself.
@usableFromInline
struct JoinedParts<Whole> {
  @usableFromInline var version: Version?

  @usableFromInline
  init() {}

  /// Adds what a part remembers. Traps if the parts before it remember something else.
  @usableFromInline
  mutating func add(told other: Version?) {
    guard let other else { return }
    precondition(
      version == nil || version == other,
      """
      \(Whole.self): a part has joined changes by itself, so the others lack what the whole would take for seen. Join the whole: \
      value.apply(other.changes(since: value.version))
      """)
    version = other
  }

  /// Adds the version of changes that all parts are about to join.
  @usableFromInline
  mutating func tell(_ changes: Version) { version?.merge(changes) }

  @usableFromInline
  mutating func changes<Part: Replicable>(of part: Part, since version: Version) -> Part.Changes {
    add(told: part.joinedVersion)
    return part.changes(since: version)
  }

  /// Looks at the changes of a part; true if it doesn't, because that would copy the part and isn't wanted.
  @usableFromInline
  mutating func validate<Part: Replicable>(
    _ changes: Part.Changes, in part: inout Part, unlessCopying isUnlessCopying: Bool
  ) throws(InvalidChange) -> Bool {
    add(told: part.joinedVersion)
    if isUnlessCopying, Part.copiesToValidate, !changes.version.isEmpty { return true }
    try part.validate(changes)
    return false
  }

  @usableFromInline
  func join<Part: Replicable>(_ changes: Part.Changes, into part: inout Part) {
    part.join(changes)
    if let version { part.joinedVersion = version }
  }
}
