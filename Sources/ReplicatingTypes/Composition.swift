// Library product only: the programs of this package do not use this file.

/// The parts of a composed value, by their key paths: `Composition(\Self.title, \.text)`.
public struct Composition<Whole, each Part: Replicable & BinaryCodable & Sendable>: PartsOf
where repeat (each Part).Changes: BinaryCodable & Sendable {
  private let paths: (repeat WritableKeyPath<Whole, each Part>)

  /// The parts at these places, in the order of the encoding.
  public init(_ path: repeat WritableKeyPath<Whole, each Part>) {
    paths = (repeat each path)
  }

  /// The changes of each part.
  public struct Changes: ReplicatingChanges, Sendable {
    var parts: (repeat (each Part).Changes)
    public let since: Version
    public let version: Version

    init(_ part: repeat (each Part).Changes) {
      parts = (repeat each part)
      var (since, version) = (Version(), Version())
      for part in repeat each part {
        since.merge(part.since)
        version.merge(part.version)
      }
      self.since = since
      self.version = version
    }
  }

  public static var copiesToValidate: Bool {
    var copies = false
    for part in repeat (each Part).self { copies = copies || part.copiesToValidate }
    return copies
  }

  public func version(of whole: Whole) -> Version {
    var version = Version()
    for path in repeat each paths { version.merge(whole[keyPath: path].version) }
    return version
  }

  public func joinedVersion(of whole: Whole) -> Version? {
    var joined: Version?
    for path in repeat each paths {
      guard let part = whole[keyPath: path].joinedVersion else { continue }
      precondition(
        joined == nil || joined == part,
        """
        \(Whole.self): a part has joined changes by itself, so the others lack what the whole would take for seen. Join the whole: \
        value.apply(other.changes(since: value.version))
        """)
      joined = part
    }
    return joined
  }

  public func setJoinedVersion(of whole: inout Whole, to version: Version) {
    for path in repeat each paths { whole[keyPath: path].joinedVersion = version }
  }

  public func changes(of whole: Whole, since version: Version) -> Changes {
    Changes(repeat whole[keyPath: each paths].changes(since: version))
  }

  public func validate(_ changes: Changes, in whole: Whole) throws(InvalidChange) {
    for (path, part) in repeat (each paths, each changes.parts) {
      try whole[keyPath: path].validate(part)
    }
  }

  public func join(_ changes: Changes, into whole: inout Whole) {
    for (path, part) in repeat (each paths, each changes.parts) { whole[keyPath: path].join(part) }
  }

  /// Looks at all parts but one, joins that one if it is valid, and then the others, which are: so a text that is changed alone is
  /// not copied to look at it. That one is the first of those that bring something and would have to be copied.
  public func joinIfValid(_ changes: Changes, into whole: inout Whole) throws(InvalidChange) {
    var chosen = -1
    var index = 0
    for (type, part) in repeat ((each Part).self, each changes.parts) {
      if chosen < 0, type.copiesToValidate, !part.version.isEmpty { chosen = index }
      index += 1
    }
    index = 0
    for (path, part) in repeat (each paths, each changes.parts) {
      if index != chosen { try whole[keyPath: path].validate(part) }
      index += 1
    }
    index = 0
    for (path, part) in repeat (each paths, each changes.parts) {
      if index == chosen { try whole[keyPath: path].joinIfValid(part) }
      index += 1
    }
    index = 0
    for (path, part) in repeat (each paths, each changes.parts) {
      if index != chosen { whole[keyPath: path].join(part) }
      index += 1
    }
  }

  public func encode(_ whole: Whole, into writer: inout ByteWriter) {
    for path in repeat each paths { whole[keyPath: path].encode(into: &writer) }
  }

  public func decode(_ whole: inout Whole, from reader: inout ByteReader) throws(DecodingFailure) {
    for path in repeat each paths { try Self.decode(&whole[keyPath: path], from: &reader) }
  }

  private static func decode<Value: BinaryCodable>(
    _ part: inout Value, from reader: inout ByteReader
  ) throws(DecodingFailure) {
    part = try Value(from: &reader)
  }
}

/// Format 1, and the changes of each part, in the order of the list. The replicas of all parts come first, once
/// (ReplicaTable.swift).
extension Composition.Changes: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    writer.format(1)
    let isNaming = writer.beginNaming(version)
    for part in repeat each parts { part.encode(into: &writer) }
    if isNaming { writer.endNaming() }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "changes of a composed value")
    let isNaming = try reader.beginNaming()
    self.init(repeat try (each Part).Changes(from: &reader))
    if isNaming { try reader.endNaming(version) }
  }
}
