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
/// **Parts are edited one by one, and merged all together**: the whole, by `a.merge(b)` or `a.apply(b.changes(since: a.version))`, or each part
/// with the same part of one other value, as in `result.title = title.merged(with: other.title)` for all of them. Of a value it is known what
/// was seen of each replica, and that holds for all of its parts. With a part that takes in another's changes alone, as in
/// `a.title.merge(b.title)`, the whole would believe that it had seen everything that these follow, and what the other parts lack of it would
/// never come. So after that `merge`, `apply` and `validate` of the whole throw an error that names the part, and where
/// nothing can be thrown, in `changes(since:)`, `join` and `encode`, the program ends with the same words, until the other parts were
/// merged, too.
///
/// **A part of another value in the place of one**, as in `a.title = b.title`, is noticed in the same way if the two values have joined different
/// changes. Otherwise `a.merge(b)` makes it good, since it asks part by part what is missing. But nothing tells such a part from one that was
/// edited here: who sends changes of `a` before, or applies changes of `b` and does not merge, loses what `b` did to its other parts. To
/// have the other's title, assign its value, which is an edit: `a.title.assign(b.title.value, at: now, by: &replica)`.
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
  /// The changes that the parts contain.
  @inlinable
  public var version: Version {
    var seen = PartVersions()
    Self.parts.addVersions(of: self, to: &seen)
    return seen.version
  }

  /// The changes joined so far; nil if no part remembers it.
  @inlinable
  public var joinedVersion: JoinedVersion? {
    get {
      var seen = PartVersions()
      Self.parts.addJoinedVersions(of: self, to: &seen)
      if seen.odd != nil { seen.joined?.isUneven = true }
      return seen.joined
    }
    set { if let newValue { Self.parts.setJoinedVersion(of: &self, to: newValue) } }
  }

  /// The changes of each part that a replica at `version` has not seen. Ends the program if a part has joined something by itself.
  @inlinable
  public func changes(since version: Version) -> Changes {
    var seen = PartVersions()
    let changes = Changes(parts: Self.parts.changes(of: self, since: version, adding: &seen))
    if let odd = seen.odd { Self.end(odd) }
    return changes
  }

  /// The changes of each part that the same part of another value lacks.
  @inlinable
  public func changes(missingIn other: Self) -> Changes {
    Changes(parts: Self.parts.changes(of: self, missingIn: other))
  }

  /// Looks whether the changes of each part may be joined. Throws when those of one may not, or when a part has joined something by itself.
  @inlinable
  public func validate(_ changes: Changes) throws(InvalidChange) {
    try checkParts()
    var whole = self
    _ = try Self.parts.validate(changes.storage.parts, in: &whole, isSparing: false)
  }

  /// Looks whether each part of another value began with the same initial values, and whether in one of the two a part has joined something by
  /// itself. Throws, and names the part, when so.
  @inlinable
  public func checkMerge(with other: Self) throws(InvalidChange) {
    try checkParts()
    try other.checkParts()
    try Self.parts.checkMerge(of: self, with: other)
  }

  /// Throws when a part has joined something by itself.
  @inlinable
  func checkParts() throws(InvalidChange) {
    var seen = PartVersions()
    Self.parts.addJoinedVersions(of: self, to: &seen)
    if let odd = seen.odd { throw Self.mistake(odd) }
  }

  /// The mistake that let a part join more than the others. `odd`: the number of parts behind it in the list.
  @usableFromInline
  static func mistake(_ odd: Int) -> InvalidChange {
    InvalidChange(
      """
      \(parts.name(of: odd)) has joined changes by itself: the other parts may lack what the whole would take for seen. Merge the other parts \
      with those of the same value, too, or merge the whole instead: value.merge(other), or value.apply(other.changes(since: value.version))
      """)
  }

  /// Ends the program with this mistake, in release builds, too.
  @usableFromInline
  static func end(_ odd: Int) -> Never { fatalError(mistake(odd).reason) }

  /// Joins the changes of each part. Ends the program if a part has joined something by itself.
  @inlinable
  public mutating func join(_ changes: Changes) {
    var seen = PartVersions()
    Self.parts.addJoinedVersions(of: self, to: &seen)
    if let odd = seen.odd { Self.end(odd) }
    join(changes, after: seen.joined, except: nil)
  }

  /// Joins the changes of each part, or throws and leaves all as it was. One part's changes are not looked at on a copy.
  @inlinable
  public mutating func joinIfValid(_ changes: Changes) throws(InvalidChange) {
    var seen = PartVersions()
    Self.parts.addJoinedVersions(of: self, to: &seen)
    if let odd = seen.odd { throw Self.mistake(odd) }
    try joinIfValid(changes, after: seen.joined)
  }

  /// Joins the changes of each part, wherever they come from; all of them or, when it throws, nothing. It throws, too, when a part has joined
  /// something by itself.
  @inlinable
  public mutating func apply(_ changes: Changes) throws(RefusedChanges) {
    var seen = PartVersions()
    Self.parts.addVersions(ofMutable: &self, to: &seen)
    if let odd = seen.odd { throw .invalid(Self.mistake(odd)) }
    guard seen.version.isSuperset(of: changes.since) else {
      throw .missing(MissingChanges(needed: changes.since))
    }
    do { try joinIfValid(changes, after: seen.joined) } catch { throw .invalid(error) }
  }

  /// Looks at all parts but one, joins that one if it is valid, and then the others, which are: so a text that is changed alone is not copied
  /// to look at it. That one is the first of those that change and would have to be copied.
  @inlinable
  @inline(__always)
  mutating func joinIfValid(_ changes: Changes, after joined: JoinedVersion?) throws(InvalidChange)
  {
    let chosen = try Self.parts.validate(changes.storage.parts, in: &self, isSparing: true)
    if let chosen { try Self.parts.joinIfValid(changes.storage.parts, into: &self, only: chosen) }
    join(changes, after: joined, except: chosen)
  }

  /// Joins changes that are valid, but of one part, which has so many behind it, and lets all parts remember it.
  @inlinable
  @inline(__always)
  mutating func join(_ changes: Changes, after joined: JoinedVersion?, except chosen: Int?) {
    if var joined {
      // First, so that the parts find it there.
      joined.version.merge(changes.version)
      Self.parts.setJoinedVersion(of: &self, to: joined)
    }
    Self.parts.join(changes.storage.parts, into: &self, except: chosen)
  }

  /// The largest logical time of the parts.
  @inlinable
  public var lamport: UInt64 { Self.parts.lamport(of: self) }

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
    var seen = PartVersions()
    Self.parts.addVersions(of: self, to: &seen)
    if let odd = seen.odd { Self.end(odd) }
    let isNaming = writer.beginNaming(seen.version)
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
    parts.setJoinedVersion(of: &self, to: JoinedVersion())
    let version = version
    if isNaming { try reader.endNaming(version) }
    parts.setJoinedVersion(of: &self, to: JoinedVersion(version))
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
