// Library product only: the programs of this package do not use this file.
//
// A list of parts is a part and the rest of the list, as types. So the compiler knows each part where a composed value is made, and its
// key path is an access of a stored property there: nothing is copied and no type is looked up at run time. It takes that all functions
// here are inlined into one another. (Parameter packs are passed over at run time by Swift 6.3.1: a keystroke took 1.4 times as long.)

/// The parts of a composed value, by their key paths: `Composition(\Self.title, \.text)`. Of more than twelve the last ones are a list of
/// their own: `Composition(\Self.title, rest: Composition(\.text, \.tags))`.
@frozen
public struct Composition<Whole, Part: Replicable & BinaryCodable & Sendable, Rest: PartsOf>:
  PartsOf
where Part.Changes: BinaryCodable & Sendable, Rest.Whole == Whole {
  @usableFromInline let path: WritableKeyPath<Whole, Part>
  @usableFromInline let rest: Rest

  /// The part at this place, and behind it those of another list, in the order of the encoding.
  @inlinable
  @inline(__always)
  public init(_ path: WritableKeyPath<Whole, Part>, rest: Rest) {
    self.path = path
    self.rest = rest
  }

  /// The changes of each part.
  @frozen
  public struct Changes: ReplicatingChanges, BinaryCodable, Sendable {
    @usableFromInline let part: Part.Changes
    @usableFromInline let rest: Rest.Changes

    @inlinable
    @inline(__always)
    init(part: Part.Changes, rest: Rest.Changes) {
      self.part = part
      self.rest = rest
    }

    @inlinable
    public var since: Version {
      @inline(__always) get {
        var since = part.since
        since.merge(rest.since)
        return since
      }
    }

    @inlinable
    public var version: Version {
      @inline(__always) get {
        var version = part.version
        version.merge(rest.version)
        return version
      }
    }

    @inlinable
    @inline(__always)
    public func encode(into writer: inout ByteWriter) {
      part.encode(into: &writer)
      rest.encode(into: &writer)
    }

    @inlinable
    @inline(__always)
    public init(from reader: inout ByteReader) throws(DecodingFailure) {
      part = try Part.Changes(from: &reader)
      rest = try Rest.Changes(from: &reader)
    }
  }

  @inlinable
  public static var count: Int {
    @inline(__always) get { Rest.count + 1 }
  }

  @inlinable
  public static var copiesToValidate: Bool {
    @inline(__always) get { Part.copiesToValidate || Rest.copiesToValidate }
  }

  @inlinable
  @inline(__always)
  public func addVersions(of whole: Whole, to seen: inout PartVersions) {
    seen.add(whole[keyPath: path], at: Rest.count)
    rest.addVersions(of: whole, to: &seen)
  }

  @inlinable
  @inline(__always)
  public func addVersions(ofMutable whole: inout Whole, to seen: inout PartVersions) {
    seen.add(mutable: &whole[keyPath: path], at: Rest.count)
    rest.addVersions(ofMutable: &whole, to: &seen)
  }

  @inlinable
  @inline(__always)
  public func addJoinedVersions(of whole: Whole, to seen: inout PartVersions) {
    seen.add(joined: whole[keyPath: path].joinedVersion, at: Rest.count)
    rest.addJoinedVersions(of: whole, to: &seen)
  }

  @inlinable
  @inline(__always)
  public func setJoinedVersion(of whole: inout Whole, to joined: JoinedVersion) {
    whole[keyPath: path].joinedVersion = joined
    rest.setJoinedVersion(of: &whole, to: joined)
  }

  @inlinable
  public func name(of place: Int) -> String {
    place == Rest.count ? "\(path)" : rest.name(of: place)
  }

  @inlinable
  @inline(__always)
  public func changes(
    of whole: Whole, since version: Version, adding seen: inout PartVersions
  ) -> Changes {
    let part = whole[keyPath: path]
    seen.add(joined: part.joinedVersion, at: Rest.count)
    return Changes(
      part: part.changes(since: version),
      rest: rest.changes(of: whole, since: version, adding: &seen))
  }

  @inlinable
  @inline(__always)
  public func validate(
    _ changes: Changes, in whole: inout Whole, isSparing: Bool
  ) throws(InvalidChange) -> Int? {
    if isSparing, Part.copiesToValidate, !changes.part.version.isEmpty {
      _ = try rest.validate(changes.rest, in: &whole, isSparing: false)
      return Rest.count
    }
    if let reason = Self.refusal(of: changes.part, in: &whole[keyPath: path]) { throw reason }
    return try rest.validate(changes.rest, in: &whole, isSparing: isSparing)
  }

  @inlinable
  public func lamport(of whole: Whole) -> UInt64 {
    max(whole[keyPath: path].lamport, rest.lamport(of: whole))
  }

  @inlinable
  public func changes(of whole: Whole, missingIn other: Whole) -> Changes {
    Changes(
      part: whole[keyPath: path].changes(missingIn: other[keyPath: path]),
      rest: rest.changes(of: whole, missingIn: other))
  }

  /// Looks at each part, and names the one that can't be merged.
  @inlinable
  public func checkMerge(of whole: Whole, with other: Whole) throws(InvalidChange) {
    do { try whole[keyPath: path].checkMerge(with: other[keyPath: path]) } catch {
      let reason = (error as? InvalidChange)?.reason ?? "\(error)"
      throw InvalidChange("\(path): \(reason)")
    }
    try rest.checkMerge(of: whole, with: other)
  }

  /// The reason why changes of a part may not be joined; nil if they may.
  ///
  /// In place, though nothing is changed: a part that is read by its key path is copied. Returned and not thrown, and not inlined: a key path
  /// is an access of a stored property only where the access has one end, which it has not if an error leaves it. Otherwise it is looked
  /// up at run time.
  @inlinable
  @inline(never)
  static func refusal(of changes: Part.Changes, in part: inout Part) -> InvalidChange? {
    do { try part.validate(changes) } catch { return error }
    return nil
  }

  /// Joins changes of a part if they are valid. Otherwise returns the reason, as above, and changes nothing.
  @inlinable
  @inline(never)
  static func join(ifValid changes: Part.Changes, into part: inout Part) -> InvalidChange? {
    do { try part.joinIfValid(changes) } catch { return error }
    return nil
  }

  @inlinable
  @inline(__always)
  public func joinIfValid(
    _ changes: Changes, into whole: inout Whole, only chosen: Int
  ) throws(InvalidChange) {
    if chosen == Rest.count {
      let refusal = Self.join(ifValid: changes.part, into: &whole[keyPath: path])
      if let refusal { throw refusal }
    } else {
      try rest.joinIfValid(changes.rest, into: &whole, only: chosen)
    }
  }

  @inlinable
  @inline(__always)
  public func join(_ changes: Changes, into whole: inout Whole, except chosen: Int?) {
    // A part without changes has nothing to join.
    if chosen != Rest.count, !changes.part.version.isEmpty {
      whole[keyPath: path].join(changes.part)
    }
    rest.join(changes.rest, into: &whole, except: chosen)
  }

  @inlinable
  @inline(__always)
  public func encode(_ whole: Whole, into writer: inout ByteWriter) {
    whole[keyPath: path].encode(into: &writer)
    rest.encode(whole, into: &writer)
  }

  @inlinable
  @inline(__always)
  public func decode(_ whole: inout Whole, from reader: inout ByteReader) throws(DecodingFailure) {
    whole[keyPath: path] = try Part(from: &reader)
    try rest.decode(&whole, from: &reader)
  }
}

/// The end of a list of parts.
@frozen
public struct NoParts<Whole>: PartsOf {
  @inlinable
  init() {}

  /// No changes.
  @frozen
  public struct Changes: ReplicatingChanges, BinaryCodable, Sendable {
    @inlinable
    init() {}

    @inlinable
    public var since: Version { Version() }
    @inlinable
    public var version: Version { Version() }
    @inlinable
    public func encode(into writer: inout ByteWriter) {}
    @inlinable
    public init(from reader: inout ByteReader) throws(DecodingFailure) {}
  }

  @inlinable
  public static var count: Int { 0 }
  @inlinable
  public static var copiesToValidate: Bool { false }
  @inlinable
  public func addVersions(of whole: Whole, to seen: inout PartVersions) {}
  @inlinable
  public func addVersions(ofMutable whole: inout Whole, to seen: inout PartVersions) {}
  @inlinable
  public func addJoinedVersions(of whole: Whole, to seen: inout PartVersions) {}
  @inlinable
  public func setJoinedVersion(of whole: inout Whole, to joined: JoinedVersion) {}
  @inlinable
  public func name(of place: Int) -> String { "" }
  @inlinable
  public func changes(
    of whole: Whole, since version: Version, adding seen: inout PartVersions
  ) -> Changes { Changes() }
  @inlinable
  public func validate(_ changes: Changes, in whole: inout Whole, isSparing: Bool) -> Int? { nil }
  @inlinable
  public func joinIfValid(_ changes: Changes, into whole: inout Whole, only chosen: Int) {}
  @inlinable
  public func lamport(of whole: Whole) -> UInt64 { 0 }
  @inlinable
  public func changes(of whole: Whole, missingIn other: Whole) -> Changes { Changes() }
  @inlinable
  public func checkMerge(of whole: Whole, with other: Whole) {}
  @inlinable
  public func join(_ changes: Changes, into whole: inout Whole, except chosen: Int?) {}
  @inlinable
  public func encode(_ whole: Whole, into writer: inout ByteWriter) {}
  @inlinable
  public func decode(_ whole: inout Whole, from reader: inout ByteReader) {}
}
