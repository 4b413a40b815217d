/// A value that every replica may change for itself, and that always merges.
///
/// Merging is the only way in: what a process wrote yesterday, what another process writes now and what another machine
/// wrote last week all arrive by the same three functions. The laws, on the whole state and not only on what is shown:
///
/// - `a.merged(with: b) == b.merged(with: a)`, or both throw
/// - `a.merged(with: b).merged(with: c) == a.merged(with: b.merged(with: c))`
/// - `a.merged(with: a) == a`
/// - `a.apply(b.changes(since: a.version))` gives `a.merged(with: b)`, also when it is applied twice.
///
/// Merging never ticks a clock, draws a random number or reads the time, and does not recurse on data.
///
/// So two replicas exchange what each lacks, and are the same afterwards:
///
///     var alice = Replica(id: ReplicaID(high: 0, low: 1))
///     var bob = Replica(id: ReplicaID(high: 0, low: 2))
///     var (a, b) = (ReplicatingSet<String>(), ReplicatingSet<String>())
///     a.insert("milk", by: &alice)
///     b.insert("eggs", by: &bob)
///     let sent = b.changes(since: a.version).encoded()
///     try a.apply(ReplicatingSet.Changes(encoded: sent))
///     try b.apply(a.changes(since: b.version))
///     a == b      // true
///     a.values  // ["eggs", "milk"]
///
/// A type made of replicating ones is replicating itself: `Composed` makes it so from the list of its parts. Whoever writes it by
/// hand does the same: its version is all of theirs together, and each of the functions calls those of its parts. Then a part may be
/// merged only if all are, or the whole would believe that it had seen what its other parts lack, and never ask for that again.
///
/// The complexities that the types give leave out what comparing and joining versions takes: O(replicas that ever changed
/// the value) in `changes(since:)`, `validate`, `join` and what is made of them.
public protocol Replicable: Equatable {
  /// Changes that one value has seen and another has not. They say what they follow, so that an element that is absent from
  /// them is never taken for removed.
  associatedtype Changes: ReplicatingChanges

  /// Why two values can't be merged; `Never` where any two can.
  associatedtype MergeFailure: Error = Never

  /// The changes that this value contains.
  var version: Version { get }

  /// The changes that a replica at `version` has not seen.
  func changes(since version: Version) -> Changes

  /// Looks whether changes whose base is here may be joined: authors who keep the rules can have made them, and they fit
  /// what is here. What was made in memory from a value of the same history always may. Throws `InvalidChange` with the
  /// reason when they may not.
  func validate(_ changes: Changes) throws(InvalidChange)

  /// Joins changes whose base is here and that are valid: for `apply`, for `merge`, and for types made of several replicating
  /// ones, which have looked after all of them first.
  mutating func join(_ changes: Changes)

  /// Joins `changes`, wherever they come from. Throws, and leaves the value as it was, when they follow something that is
  /// not here, or when no honest author can have made them. What there is without an implementation asks for `since`, and then `joinIfValid`.
  mutating func apply(_ changes: Changes) throws(RefusedChanges)

  /// Joins changes whose base is here, wherever they come from; all of them or, when it throws, nothing. What there is without an
  /// implementation looks at them, and then joins them.
  mutating func joinIfValid(_ changes: Changes) throws(InvalidChange)

  /// The changes that another value lacks, for `merge`. What there is without an implementation asks for those since its version.
  func changes(missingIn other: Self) -> Changes

  /// Looks whether another value may be merged: both began with the same initial values. Throws when not. What there is without an
  /// implementation is for types that begin with nothing.
  func checkMerge(with other: Self) throws(MergeFailure)

  /// The largest logical time in the value, as of a stamp. What there is without an implementation is for types whose changes have none: 0.
  var lamport: UInt64 { get }

  /// True if `validate` takes a copy of the value where `joinIfValid` can do without.
  static var copiesToValidate: Bool { get }

  /// The changes joined so far; a composed value sets it for its parts. Nil for a type that does not remember it, as without an
  /// implementation. By it a composed value notices a part that has joined something by itself.
  var joinedVersion: JoinedVersion? { get set }
}

/// Changes that one value has seen and another has not.
public protocol ReplicatingChanges {
  /// The changes that a value must have seen for these changes to make sense: they leave out everything up to then.
  var since: Version { get }

  /// The version of a value that has joined them. It contains every change that they name.
  var version: Version { get }
}

extension Replicable {
  public mutating func joinIfValid(_ changes: Changes) throws(InvalidChange) {
    try validate(changes)
    join(changes)
  }

  public var lamport: UInt64 { 0 }

  public static var copiesToValidate: Bool { false }

  @inlinable
  public var joinedVersion: JoinedVersion? {
    get { nil }
    set {}
  }

  public func changes(missingIn other: Self) -> Changes { changes(since: other.version) }

  public mutating func apply(_ changes: Changes) throws(RefusedChanges) {
    guard version.isSuperset(of: changes.since) else {
      throw .missing(MissingChanges(needed: changes.since))
    }
    do { try joinIfValid(changes) } catch { throw .invalid(error) }
  }

  /// Joins `other`: afterwards this value contains what either of them did. Throws, and leaves the value as it was, when the two began with
  /// different initial values.
  ///
  /// The two must be of one history, where a change has one content. That is not looked at: what a stranger made comes in by
  /// `apply(other.changes(since: version))`.
  public mutating func merge(_ other: Self) throws(MergeFailure) {
    try checkMerge(with: other)
    joinAndCount(other)
  }

  /// Joins `other`, and counts that, so that a composed value knows whether all of its parts were merged.
  mutating func joinAndCount(_ other: Self) {
    var joined = joinedVersion
    if let theirs = other.joinedVersion { joined?.countMerge(theirs) }
    join(other.changes(missingIn: self))
    joinedVersion = joined
  }

  /// A value that contains what either of them did, as after `merge`.
  public func merged(with other: Self) throws(MergeFailure) -> Self {
    var result = self
    try result.merge(other)
    return result
  }
}

extension Replicable where MergeFailure == Never {
  /// Does nothing: what begins with nothing has no initial values.
  public func checkMerge(with other: Self) {}

  /// Joins `other`: afterwards this value contains what either of them did. Apart from the function above, since a call that
  /// throws `Never` makes the compiler of Swift 6.3.1 fail.
  public mutating func merge(_ other: Self) { joinAndCount(other) }

  /// A value that contains what either of them did, as after `merge`.
  public func merged(with other: Self) -> Self {
    var result = self
    result.merge(other)
    return result
  }
}

extension ReplicatingChanges {
  /// Throws when these end before they begin.
  func checkVersion() throws(InvalidChange) {
    guard version.isSuperset(of: since) else {
      throw InvalidChange("changes that end before they begin")
    }
  }

  /// Throws when a change is none of those that these bring.
  func checkIsNew(_ change: ChangeID) throws(InvalidChange) {
    guard change.number > 0, version.contains(change) else {
      throw InvalidChange("a change beyond those promised")
    }
    guard !since.contains(change) else {
      throw InvalidChange("a change that was known before")
    }
  }
}

/// The reason for which changes can't be applied. None of them was.
public enum RefusedChanges: Error, Equatable, Sendable {
  /// They follow changes that are not here, and may be applied later.
  case missing(MissingChanges)
  /// They can't be applied, now or later.
  case invalid(InvalidChange)
}

/// Changes can't be applied, because they follow others that are not here.
public struct MissingChanges: Error, Equatable, Sendable {
  /// The changes that must be here first.
  public var needed: Version

  /// Changes that need everything in `needed`.
  public init(needed: Version) {
    self.needed = needed
  }
}

// The changes that other changes say they follow: as few as are needed.
//
// The changes of a value that a replica at version v has not seen could say that they follow all of v. After a thousand short-lived
// replicas that would be a thousand names for one keystroke. But a replica that joins them needs less. It must have
//
// - of the replicas whose changes they bring, all that they leave out: what these replicas made up to v;
// - what they refer to: the elements that an insertion stands between or that a removal names, the additions that a removal covers;
// - what made changes superfluous that they do not bring: the write that won, the removal that covers more;
// - who reached the logical time that they bring along.
//
// So a value that has what they follow is, afterwards, what the changes of its version make of it, and a value at v becomes the same as by
// following all of v. Of the replicas that are not named, both versions say nothing: a join leaves what is known of them as it is.

/// From where to where changes go.
struct FollowedChanges {
  /// The changes that a value must have.
  private(set) var since = Version()
  /// The changes that it has afterwards, of the replicas named.
  private(set) var version = Version()
  private let asked: Version
  private let own: Version

  /// The changes of a value at `own` that a replica at `asked` has not seen.
  init(of own: Version, since asked: Version) {
    self.asked = asked
    self.own = own
    var changes: [ChangeID] = []
    _ = own.allSatisfy(beyond: asked) {
      changes.append($0)
      return true
    }
    for change in changes {
      since[change.replica] = asked[change.replica]
      version[change.replica] = change.number
    }
  }

  /// True if nothing is to be said.
  var isEmpty: Bool { version.isEmpty }

  /// Lets them follow what the value has of a replica.
  mutating func follow(_ replica: ReplicaID) {
    guard version[replica] == 0, own[replica] > 0 else { return }
    since[replica] = own[replica]
    version[replica] = own[replica]
  }

  /// Lets them follow what the value has of some replicas; all that was asked of, if these aren't known.
  mutating func follow(_ replicas: [ReplicaID]?) {
    for replica in replicas ?? own.replicas { follow(replica) }
  }
}

/// Foreign data breaks a rule that every author keeps; nothing of it was taken.
public struct InvalidChange: Error, Equatable, Sendable {
  /// The rule that was broken, for people to read.
  public var reason: String

  /// A rule that was broken, in words.
  public init(_ reason: String) {
    self.reason = reason
  }
}

/// A value in the words of an error, cut where it is long.
func shortened(_ value: String) -> String {
  let start = value.prefix(40)
  return start.endIndex == value.endIndex ? value : start + "…"
}

/// The changes that a part of a composed value has joined. It is no part of the value: two values that differ in it are equal.
///
/// In a composed value it is the same for all parts, since the whole joins them together, or each was merged with the part of one other value.
/// A part that differs has joined something by itself.
public struct JoinedVersion: Hashable, Sendable {
  /// The versions of all changes joined so far, as one, but of those that came by `merge` to this part alone.
  public var version: Version
  /// The number of times that this part alone was merged with another.
  @usableFromInline var merges: Int32 = 0
  /// True if the part is composed itself, and a part of it has joined something by itself.
  @usableFromInline var isUneven = false

  /// The version of changes that were joined.
  public init(_ version: Version = Version()) { self.version = version }

  /// Counts a merge with a part of a value that has joined `other`.
  @usableFromInline
  mutating func countMerge(_ other: JoinedVersion) {
    version.merge(other.version)
    merges &+= 1
  }

  /// True if two parts have joined the same.
  @usableFromInline
  func isSame(as other: JoinedVersion) -> Bool {
    merges == other.merges && version == other.version
  }

  public static func == (a: Self, b: Self) -> Bool { true }
  public func hash(into hasher: inout Hasher) {}
}
