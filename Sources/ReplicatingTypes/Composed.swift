// Library product only: the programs of this package do not use this file.

/// A value made of replicating ones: replicating and with an encoding, by the list of its parts.
///
///     struct Memo: Composed {
///       @Constant var id = ""
///       var title = ReplicatingRegister("")
///       var text = ReplicatingText()
///       var tags = ReplicatingSet<String>()
///       static var parts: some PartsOf<Self> { Composition(\Self._id, \.title, \.text, \.tags) }
///     }
///     var alice = Replica(id: ReplicaID(high: 0, low: 1))
///     var bob = Replica(id: ReplicaID(high: 0, low: 2))
///     var a = Memo(id: "shopping")
///     a.text.insert("Milk".utf8.span, at: 0, by: &alice)
///     var b = try Memo(encoded: a.encoded())
///     b.title.assign("Shop", at: 1_767_225_600_000, by: &bob)
///     a.tags.insert("errand", by: &alice)
///     try a.apply(b.changes(since: a.version))
///     a.title.value  // Shop
///     a.text.string  // Milk
///
/// Every stored property is in the list, in the order of the encoding. Parts may be any replicating values that have an
/// encoding, also composed ones and dictionaries of them; what never changes is a `Constant`. `init()` is what a value is read
/// into, and the value that all replicas begin with if there are no constants.
///
/// **Parts are edited one by one, and merged only as a whole.** Of a value it is known what was seen of each replica, and that holds
/// for all of its parts. A part that takes in another's changes by itself, as in `a.title.merge(b.title)`, would make the whole
/// believe that it had seen everything that these follow, and what the other parts lack of it would never come. So the next
/// `version`, `changes(since:)`, `validate`, `join` or `encode` of the whole traps after that. Instead merge the whole:
/// `a.apply(b.changes(since: a.version))`, or `a.merge(b)`.
///
/// **Never put a part of another value in the place of one**, as in `a.title = b.title`. It is as wrong, and noticed only if the two values have
/// joined different changes. If neither has joined any, or both the same, nothing tells the changes in that part from edits made here:
/// `a` goes on, and what `b` did to its other parts never comes. To have the other's title, assign its value, which is an edit:
/// `a.title.assign(b.title.value, at: now, by: &replica)`.
///
/// The laws of `Replicable` hold on the whole state, if they hold for the parts. Each function takes what those of the parts
/// take. Changes that belong to one part, as those of a keystroke, are looked at and joined there, so that a step in a text takes
/// what it takes alone.
public protocol Composed: Replicable, BinaryCodable, Sendable
where Changes == ComposedChanges<Self> {
  /// The type of the list.
  associatedtype Parts: PartsOf<Self>

  /// The parts: a `Composition` of their key paths.
  static var parts: Parts { get }

  /// A value that nobody has changed.
  init()
}

extension Composed {
  /// The changes that the parts contain. Traps if a part was joined by itself.
  @inlinable
  public var version: Version {
    var seen = PartVersions()
    Self.parts.addVersions(of: self, to: &seen)
    return seen.version
  }

  /// The versions of all changes joined so far; nil if no part remembers it. Traps if a part was joined by itself.
  @inlinable
  public var joinedVersion: Version? {
    get {
      var seen = PartVersions()
      Self.parts.addJoinedVersions(of: self, to: &seen)
      return seen.joined
    }
    set { if let newValue { Self.parts.setJoinedVersion(of: &self, to: newValue) } }
  }

  /// The changes of each part that a replica at `version` has not seen. Traps if a part was joined by itself.
  @inlinable
  public func changes(since version: Version) -> Changes {
    var seen = PartVersions()
    return Changes(parts: Self.parts.changes(of: self, since: version, adding: &seen))
  }

  /// Looks whether the changes of each part may be joined, and throws when those of one may not. Traps if a part was joined by itself.
  @inlinable
  public func validate(_ changes: Changes) throws(InvalidChange) {
    _ = joinedVersion
    var whole = self
    _ = try Self.parts.validate(changes.storage.parts, in: &whole, isSparing: false)
  }

  /// Looks whether each part of another value began with the same initial values. Throws, and names the part, when not.
  @inlinable
  public func checkInitialValues(of other: Self) throws(InvalidChange) {
    try Self.parts.checkInitialValues(of: other, in: self)
  }

  /// Joins the changes of each part. Traps if a part was joined by itself.
  @inlinable
  public mutating func join(_ changes: Changes) {
    join(changes, after: joinedVersion, except: nil)
  }

  /// Joins the changes of each part, or throws and leaves all as it was. One part's changes are not looked at on a copy. Traps if a part was
  /// joined by itself.
  @inlinable
  public mutating func joinIfValid(_ changes: Changes) throws(InvalidChange) {
    try joinIfValid(changes, after: joinedVersion)
  }

  /// Joins the changes of each part, wherever they come from; all of them or, when it throws, nothing. Traps if a part was joined by itself.
  @inlinable
  public mutating func apply(_ changes: Changes) throws(RefusedChanges) {
    var seen = PartVersions()
    Self.parts.addVersions(ofMutable: &self, to: &seen)
    guard seen.version.isSuperset(of: changes.since) else {
      throw .missing(MissingChanges(needed: changes.since))
    }
    do { try joinIfValid(changes, after: seen.joined) } catch { throw .invalid(error) }
  }

  /// Looks at all parts but one, joins that one if it is valid, and then the others, which are: so a text that is changed alone is not copied
  /// to look at it. That one is the first of those that change and would have to be copied.
  @inlinable
  @inline(__always)
  mutating func joinIfValid(_ changes: Changes, after joined: Version?) throws(InvalidChange) {
    let chosen = try Self.parts.validate(changes.storage.parts, in: &self, isSparing: true)
    if let chosen { try Self.parts.joinIfValid(changes.storage.parts, into: &self, only: chosen) }
    join(changes, after: joined, except: chosen)
  }

  /// Joins changes that are valid, but of one part, which has so many behind it, and lets all parts remember it.
  @inlinable
  @inline(__always)
  mutating func join(_ changes: Changes, after joined: Version?, except chosen: Int?) {
    if var joined {
      // First, so that the parts find it there.
      joined.merge(changes.version)
      Self.parts.setJoinedVersion(of: &self, to: joined)
    }
    Self.parts.join(changes.storage.parts, into: &self, except: chosen)
  }

  @inlinable
  public static var copiesToValidate: Bool { Parts.copiesToValidate }
}

/// The changes of each part of a composed value. Copies share their memory.
@frozen
public struct ComposedChanges<Whole: Composed>: ReplicatingChanges, Sendable {
  /// Apart, so that a copy is one reference, however many parts there are.
  @usableFromInline
  final class Storage: Sendable {
    @usableFromInline let since: Version
    @usableFromInline let version: Version
    @usableFromInline let parts: Whole.Parts.Changes

    @inlinable
    init(_ parts: Whole.Parts.Changes) {
      (since, version) = (parts.since, parts.version)
      self.parts = parts
    }
  }

  @usableFromInline let storage: Storage

  @inlinable
  init(parts: Whole.Parts.Changes) { storage = Storage(parts) }

  /// The changes that those of the parts follow, together.
  @inlinable
  public var since: Version { storage.since }
  /// The version of a value that has joined the changes of all parts, of the replicas that they name.
  @inlinable
  public var version: Version { storage.version }
}

/// Format 1, and each part, in the order of the list. The replicas of all parts come first, once (ReplicaTable.swift).
extension Composed {
  @inlinable
  public func encode(into writer: inout ByteWriter) {
    writer.format(1)
    let isNaming = writer.beginNaming(version)
    Self.parts.encode(self, into: &writer)
    if isNaming { writer.endNaming() }
  }

  @inlinable
  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "a composed value")
    self.init()
    let parts = Self.parts
    let isNaming = try reader.beginNaming()
    try parts.decode(&self, from: &reader)
    // The parts may remember something of their reading. From here on all remember the same.
    parts.setJoinedVersion(of: &self, to: Version())
    let version = version
    if isNaming { try reader.endNaming(version) }
    parts.setJoinedVersion(of: &self, to: version)
  }
}

/// Format 1, and the changes of each part, in the order of the list. The replicas of all parts come first, once (ReplicaTable.swift).
extension ComposedChanges: BinaryCodable {
  @inlinable
  public func encode(into writer: inout ByteWriter) {
    writer.format(1)
    let isNaming = writer.beginNaming(version)
    storage.parts.encode(into: &writer)
    if isNaming { writer.endNaming() }
  }

  @inlinable
  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(1, of: "changes of a composed value")
    let isNaming = try reader.beginNaming()
    self.init(parts: try Whole.Parts.Changes(from: &reader))
    if isNaming { try reader.endNaming(version) }
  }
}
