// Library product only: the programs of this package do not use this file.

/// Replicating values, each under a key; a value that several replicas change merges by its own rules.
///
/// The values may be dictionaries again, and so on: how deep they lie makes no difference, and neither does generic code,
/// since there is one way of merging only. Atomic values, those that are replaced as a whole, are put into a
/// `ReplicatingRegister`.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var cities = ReplicatingDictionary<String, ReplicatingDictionary<String, ReplicatingSet<String>>>()
///     cities.update("Italy", default: ReplicatingDictionary(), by: &replica) { country, replica in
///       country.update("Rome", default: ReplicatingSet(), by: &replica) { tags, replica in
///         tags.insert("travel", by: &replica)
///       }
///     }
///     cities["Italy"]?["Rome"]?.values  // ["travel"]
///
///     var settings = ReplicatingDictionary<String, ReplicatingRegister<Int>>()
///     settings.update("size", default: ReplicatingRegister(0), by: &replica) { size, replica in
///       size.assign(12, at: 1_767_225_600_000, by: &replica)
///     }
///     settings["size"]?.value  // 12
///
/// A removal covers what its author had seen of the value, and no more: with a change that the author had not seen, and
/// with any later change, the key is there again, with the whole value. So no write is lost because of a
/// concurrent removal, and a removed key that is used again has the value that it held.
///
/// All replicas must use the same initial value for a key, as with the initial value of a `ReplicatingRegister`. A key
/// exists from the first change of its value on; a body that changes nothing leaves no trace.
///
/// The laws of `Replicable` hold on the whole state, if they hold for `Value`.
///
/// Values of removed keys are kept. Looking up and removing are O(1) in the number of keys, and so is `update`, beside
/// what its body costs; each is O(replicas that changed the value). `keys`, `count` and `changes(since:)` are O(keys ever
/// used); joining is O(changes).
public struct ReplicatingDictionary<Key: Hashable & Sendable, Value: Replicable & Sendable>:
  Sendable, Equatable
{
  struct Removal: Hashable, Sendable {
    var change: ChangeID
    /// The part of the value that its author had seen.
    var covered: Version

    /// True if `other` has no say beside this removal.
    func supersedes(_ other: Removal) -> Bool {
      guard covered.isSuperset(of: other.covered) else { return false }
      return change >= other.change || !other.covered.isSuperset(of: covered)
    }
  }

  struct Entry: Equatable, Sendable {
    /// The value before any change, for replicas that don't know the key yet.
    let initial: Value
    var value: Value
    /// Those that no other supersedes, sorted by change.
    var removals: [Removal] = []

    init(initial: Value) {
      precondition(initial.version.isEmpty, "an initial value that somebody has changed")
      self.initial = initial
      value = initial
    }

    var isPresent: Bool {
      if removals.isEmpty { return true }
      let version = value.version
      return !removals.contains { $0.covered.isSuperset(of: version) }
    }

    mutating func insert(_ removal: Removal) {
      if removals.contains(where: { $0.supersedes(removal) }) { return }
      removals.removeAll { removal.supersedes($0) }
      let place = removals.firstIndex { $0.change > removal.change } ?? removals.endIndex
      removals.insert(removal, at: place)
    }
  }

  /// Every key ever used.
  private(set) var entries: [Key: Entry] = [:]
  @usableFromInline
  var joined = JoinedVersion()
  /// The changes that are known here.
  public private(set) var version = Version()

  /// An empty dictionary.
  public init() {}

  /// Entries that were looked after.
  init(entries: [Key: Entry], version: Version) {
    self.entries = entries
    self.version = version
  }

  /// The keys that have a value. O(keys ever used).
  public var keys: Set<Key> {
    Set(entries.lazy.filter { $0.value.isPresent }.map(\.key))
  }

  /// The values of these keys, in no order. O(keys ever used).
  public var values: [Value] { entries.values.lazy.filter(\.isPresent).map(\.value) }

  /// The keys with their values. O(keys ever used).
  public var dictionary: [Key: Value] {
    entries.filter { $0.value.isPresent }.mapValues(\.value)
  }

  /// The number of keys that have a value. O(keys ever used).
  public var count: Int { entries.values.count { $0.isPresent } }

  /// The value of a key; `nil` if it was never used, or is removed.
  public subscript(key: Key) -> Value? {
    guard let entry = entries[key], entry.isPresent else { return nil }
    return entry.value
  }

  /// Changes the value of a key in place; if the key was never used, `initial`, which is without changes. The body
  /// makes its changes by the replica it is given.
  @discardableResult
  public mutating func update<Result, Failure: Error>(
    _ key: Key, default initial: @autoclosure () -> Value, by replica: inout Replica,
    _ body: (inout Value, inout Replica) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Taken out meanwhile, so that changing it in place copies nothing.
    var entry = entries.removeValue(forKey: key) ?? Entry(initial: initial())
    let before = entry.value.version
    defer {
      let after = entry.value.version
      checkAuthorship(before, after, replica.id)
      if !after.isEmpty { entries[key] = entry }
      version.merge(after)
    }
    return try body(&entry.value, &replica)
  }

  /// Changes of others come with the whole dictionary: with a value alone they would pretend that all else that these
  /// replicas did here was known.
  private func checkAuthorship(_ before: Version, _ after: Version, _ replica: ReplicaID) {
    var expected = before
    expected[replica] = Swift.max(before[replica], after[replica])
    precondition(after == expected, "a body took changes back, or made them in another's name")
  }

  /// Removes a key, as far as its value is known here, as one change, and returns the value. Removing what is not there is no change; then nil is
  /// returned.
  @discardableResult
  public mutating func remove(_ key: Key, by replica: inout Replica) -> Value? {
    guard let entry = entries[key], entry.isPresent else { return nil }
    let change = replica.stamp(after: 0).change
    entries[key]!.insert(Removal(change: change, covered: entry.value.version))
    version.insert(change)
    return entry.value
  }
}

extension ReplicatingDictionary: Replicable {
  /// The changes that a dictionary at one version has and one at another lacks.
  public struct Changes: ReplicatingChanges {
    struct Part {
      var key: Key
      var initial: Value
      var changes: Value.Changes
    }

    public var since: Version
    public internal(set) var version: Version
    var parts: [Part]
    var removals: [(Key, Removal)]
  }

  public func changes(since version: Version) -> Changes {
    var changes = Changes(since: Version(), version: Version(), parts: [], removals: [])
    var followed = FollowedChanges(of: self.version, since: version)
    if followed.isEmpty { return changes }
    for (key, entry) in entries {
      if !version.isSuperset(of: entry.value.version) {
        let part = entry.value.changes(since: version)
        followed.follow(part.version.replicas)
        changes.parts.append(Changes.Part(key: key, initial: entry.initial, changes: part))
      }
      for removal in entry.removals {
        // Removals may be left out for one that is known.
        followed.follow(removal.change.replica)
        if version.contains(removal.change) { continue }
        followed.follow(removal.covered.replicas)
        changes.removals.append((key, removal))
      }
    }
    (changes.since, changes.version) = (followed.since, followed.version)
    return changes
  }

  public func validate(_ changes: Changes) throws(InvalidChange) {
    try changes.checkVersion()
    var reached: [Key: Version] = [:]
    for part in changes.parts {
      guard reached[part.key] == nil else { throw InvalidChange("a key twice") }
      reached[part.key] = try validate(part, of: changes)
    }
    var removals: [Key: [Removal]] = [:]
    for (key, removal) in changes.removals {
      try changes.checkIsNew(removal.change)
      removals[key, default: []].append(removal)
    }
    for (key, removals) in removals {
      var seen = entries[key]?.value.version ?? Version()
      seen.merge(reached[key] ?? Version())
      try Removal.check(removals, of: seen)
      try validate(removals, beside: entries[key]?.removals ?? [])
    }
  }

  /// Throws, or returns what the value has seen with the part.
  private func validate(
    _ part: Changes.Part, of changes: Changes
  ) throws(InvalidChange) -> Version {
    guard part.initial.version.isEmpty else {
      throw InvalidChange("an initial value that somebody has changed")
    }
    let value = entries[part.key]?.value ?? part.initial
    guard part.initial == entries[part.key]?.initial ?? part.initial else {
      throw InvalidChange("an initial value other than the one here")
    }
    // Of its value a part says more than its author could know from the value alone: the numbers of all changes that the
    // dictionary has seen count, also those of other keys. So `since` is compared with the whole.
    guard changes.since.isSuperset(of: part.changes.since),
      changes.version.isSuperset(of: part.changes.version)
    else { throw InvalidChange("changes of a value that are none of the dictionary") }
    guard !changes.since.isSuperset(of: part.changes.version) else {
      throw InvalidChange("a value without a change")
    }
    try value.validate(part.changes)
    return part.changes.version
  }

  /// A later removal of a replica covers its earlier ones.
  private func validate(
    _ removals: [Removal], beside known: [Removal]
  ) throws(InvalidChange) {
    for removal in removals {
      let own = known.first { $0.change.replica == removal.change.replica }
      guard let own else { continue }
      guard own.supersedes(removal) || removal.supersedes(own) else {
        throw InvalidChange("a removal by one who has forgotten another")
      }
    }
  }

  /// Looks at the values of the keys that both have. O(keys ever used).
  public func checkMerge(with other: Self) throws(Value.MergeFailure) {
    if Value.MergeFailure.self == Never.self { return }
    for (key, entry) in entries {
      if let other = other.entries[key] { try entry.value.checkMerge(with: other.value) }
    }
  }

  public mutating func join(_ changes: Changes) {
    for part in changes.parts {
      entries[part.key, default: Entry(initial: part.initial)].value.join(part.changes)
    }
    for (key, removal) in changes.removals { entries[key]?.insert(removal) }
    version.merge(changes.version)
    joined.version.merge(changes.version)
  }

  /// The changes joined so far.
  @inlinable
  public var joinedVersion: JoinedVersion? {
    get { joined }
    set { joined = newValue ?? JoinedVersion() }
  }
}

extension ReplicatingDictionary.Removal {
  /// Throws when these are not the removals of a key of which `seen` was seen: at most one of each replica, in the order of
  /// their changes, none of which supersedes another.
  static func check(_ removals: [Self], of seen: Version) throws(InvalidChange) {
    for (index, removal) in removals.enumerated() {
      guard !removal.covered.isEmpty, seen.isSuperset(of: removal.covered) else {
        throw InvalidChange("a removal of what its author could not know")
      }
      for other in removals[..<index] {
        guard other.change.replica < removal.change.replica else {
          throw InvalidChange("removals out of order")
        }
        guard !other.supersedes(removal), !removal.supersedes(other) else {
          throw InvalidChange("a removal beside one that says more")
        }
      }
    }
  }
}

extension ReplicatingDictionary {
  /// Checks what must always hold of the dictionary itself; its values have invariants of their own. O(keys ever used): for
  /// tests.
  public func checkInvariants() {
    for entry in entries.values {
      let seen = entry.value.version
      precondition(entry.initial.version.isEmpty, "an initial value that somebody has changed")
      precondition(!seen.isEmpty, "a key that nobody used")
      precondition(version.isSuperset(of: seen), "a value that has seen more than the whole")
      for removal in entry.removals {
        precondition(version.contains(removal.change), "a removal that was not seen")
      }
      do { try Removal.check(entry.removals, of: seen) } catch {
        preconditionFailure(error.reason)
      }
    }
  }
}

extension ReplicatingDictionary.Entry: Hashable where Value: Hashable {}
extension ReplicatingDictionary: Hashable where Value: Hashable {}

extension ReplicatingDictionary.Changes.Part: Sendable where Value.Changes: Sendable {}
extension ReplicatingDictionary.Changes: Sendable where Value.Changes: Sendable {}
