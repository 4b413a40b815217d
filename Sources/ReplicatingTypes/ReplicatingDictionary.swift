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
///     var tags = ReplicatingSet<String>()
///     tags.insert("travel", by: &replica)
///     var notes = ReplicatingDictionary<String, ReplicatingSet<String>>()
///     try notes.set(tags, forKey: "Rome", by: &replica)
///     notes["Rome"]?.values  // ["travel"]
///
/// A removal covers what its author had seen of the value, and no more: with a change that the author had not seen, and
/// with any later change, the key is there again, with the whole value. So no write is lost because of a
/// concurrent removal, and a removed key that is used again has the value that it held.
///
/// A key exists from the first change of its value on, by `update`, where a body that changes nothing leaves no trace; or from `set` on, also
/// with a value that nobody has changed. All replicas must begin the value of a key with the same initial values: those that did not are
/// refused, by `merge`, `apply` and `set`.
///
/// The laws of `Replicable` hold on the whole state, if they hold for `Value`.
///
/// Values of removed keys are kept. Looking up and removing are O(1) in the number of keys, and so are `update`, beside
/// what its body costs, and `set`, beside what joining the value costs; each is O(replicas that changed the value). `keys`, `count` and
/// `changes(since:)` are O(keys ever used); joining is O(changes). Who has nothing of a key gets its whole value.
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
    var value: Value
    /// The changes that put the value under its key, the last of each replica: those of `set`, and the last change of the first `update`. Who
    /// lacks one of them may lack any change of the value, whatever the numbers, and gets all of it.
    var additions = Version()
    /// Those that no other supersedes, sorted by change.
    var removals: [Removal] = []

    /// The changes of the value, and those that put it here.
    var version: Version {
      var version = value.version
      version.merge(additions)
      return version
    }

    var isPresent: Bool {
      if removals.isEmpty { return true }
      let version = version
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
  /// makes its changes by the replica that it is given. Traps if it takes in changes of others, which `set` takes.
  @discardableResult
  public mutating func update<Result, Failure: Error>(
    _ key: Key, default initial: @autoclosure () -> Value, by replica: inout Replica,
    _ body: (inout Value, inout Replica) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Taken out meanwhile, so that changing it in place copies nothing.
    var entry = entries.removeValue(forKey: key) ?? Entry(value: initial())
    let before = entry.value.version
    precondition(
      before.isEmpty || !entry.additions.isEmpty, "an initial value that somebody has changed")
    defer {
      let after = entry.value.version
      checkAuthorship(before, after, replica.id)
      if entry.additions.isEmpty { entry.additions = after }
      if !entry.additions.isEmpty { entries[key] = entry }
      version.merge(after)
    }
    return try body(&entry.value, &replica)
  }

  /// Puts a value under a key, as one change: a new one without changes or with those of `replica`, or a copy of the value that is here with changes
  /// of `replica`. Where others put a value under the same key meanwhile, the two merge.
  ///
  /// Throws, and leaves the dictionary as it was, when others have changed the value, too; when the one here began with other initial values;
  /// or when the key was used before and that value and this one, changed apart by one replica, can't be merged: such a one is changed by `update`.
  /// Takes O(size of the value) where the key was used before.
  public mutating func set(
    _ value: Value, forKey key: Key, by replica: inout Replica
  ) throws(InvalidChange) {
    let changes = value.version
    var known = entries[key]?.value.version ?? Version()
    known[replica.id] = Swift.max(known[replica.id], changes[replica.id])
    guard known.isSuperset(of: changes) else {
      throw InvalidChange(
        """
        a value for the key \(shortened("\(key)")) that others have changed. Their changes come with a dictionary that has them, under the \
        same key
        """)
    }
    try Self.check(entries[key]?.value ?? value, with: value)
    if let here = entries[key]?.value {
      // Of each replica a value has all changes up to a number. Two that one replica has changed apart have not.
      guard Self.merged(here, value) == Self.merged(value, here) else {
        throw InvalidChange(
          """
          a value for the key \(shortened("\(key)")), which was used before, beside changes of the same replica that it lacks. Change the \
          value that is here, by update, or set a copy of it that was changed
          """)
      }
    }
    let change = replica.stamp(after: 0).change
    var additions = Version()
    additions.insert(change)
    take(value, additions: additions, under: key)
    version.merge(changes)
    version.insert(change)
  }

  /// The value with what the other has, too.
  private static func merged(_ value: Value, _ other: Value) -> Value {
    var result = value
    result.join(other.changes(missingIn: value))
    return result
  }

  /// Throws when two values can't be merged.
  private static func check(_ value: Value, with other: Value) throws(InvalidChange) {
    do { try value.checkMerge(with: other) } catch {
      throw error as? InvalidChange ?? InvalidChange("\(error)")
    }
  }

  /// Takes in a whole value.
  private mutating func take(_ value: Value, additions: Version, under key: Key) {
    guard entries[key] != nil else {
      entries[key] = Entry(value: value, additions: additions)
      return
    }
    let missing = value.changes(missingIn: entries[key]!.value)
    entries[key]!.value.join(missing)
    entries[key]!.additions.merge(additions)
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
    entries[key]!.insert(Removal(change: change, covered: entry.version))
    version.insert(change)
    return entry.value
  }
}

extension ReplicatingDictionary: Replicable {
  /// The changes that a dictionary at one version has and one at another lacks.
  public struct Changes: ReplicatingChanges {
    enum Part {
      /// The changes of a value that is known.
      case changes(Value.Changes)
      /// A value, and the changes that put it here, for those who may have nothing of it.
      case value(Value, additions: Version)
    }

    public var since: Version
    public internal(set) var version: Version
    var parts: [(key: Key, part: Part)]
    var removals: [(Key, Removal)]
  }

  public func changes(since version: Version) -> Changes {
    var changes = Changes(since: Version(), version: Version(), parts: [], removals: [])
    var followed = FollowedChanges(of: self.version, since: version)
    if followed.isEmpty { return changes }
    for (key, entry) in entries {
      if !version.isSuperset(of: entry.additions) {
        followed.follow(entry.version.replicas)
        changes.parts.append((key, .value(entry.value, additions: entry.additions)))
      } else if !version.isSuperset(of: entry.value.version) {
        let part = entry.value.changes(since: version)
        followed.follow(part.version.replicas)
        changes.parts.append((key, .changes(part)))
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
    for (key, part) in changes.parts {
      guard reached[key] == nil else { throw InvalidChange("a key twice") }
      reached[key] = try validate(part, under: key, of: changes)
    }
    var removals: [Key: [Removal]] = [:]
    for (key, removal) in changes.removals {
      try changes.checkIsNew(removal.change)
      removals[key, default: []].append(removal)
    }
    for (key, removals) in removals {
      var seen = entries[key]?.version ?? Version()
      seen.merge(reached[key] ?? Version())
      try Removal.check(removals, of: seen)
      try validate(removals, beside: entries[key]?.removals ?? [])
    }
  }

  /// Throws, or returns what the value has seen with the part.
  private func validate(
    _ part: Changes.Part, under key: Key, of changes: Changes
  ) throws(InvalidChange) -> Version {
    let reached: Version
    switch part {
    case .changes(let part):
      guard let value = entries[key]?.value else {
        throw InvalidChange("changes of a value that is not here")
      }
      // Of its value a part says more than its author could know from the value alone: the numbers of all changes that the
      // dictionary has seen count, also those of other keys. So `since` is compared with the whole.
      guard changes.since.isSuperset(of: part.since) else {
        throw InvalidChange("changes of a value that are none of the dictionary")
      }
      try value.validate(part)
      reached = part.version
    case .value(let value, let additions):
      guard !additions.isEmpty else { throw InvalidChange("a value that nobody put there") }
      reached = Entry(value: value, additions: additions).version
      if let known = entries[key]?.value {
        try Self.check(known, with: value)
        try known.validate(value.changes(missingIn: known))
      } else {
        try Self.check(value, with: value)
        try LamportTimestamp.validate(value.lamport, after: 0)
      }
    }
    guard changes.version.isSuperset(of: reached) else {
      throw InvalidChange("changes of a value that are none of the dictionary")
    }
    guard !changes.since.isSuperset(of: reached) else {
      throw InvalidChange("a value without a change")
    }
    return reached
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
    for (key, part) in changes.parts {
      switch part {
      case .changes(let part): entries[key]?.value.join(part)
      case .value(let value, let additions): take(value, additions: additions, under: key)
      }
    }
    for (key, removal) in changes.removals { entries[key]?.insert(removal) }
    version.merge(changes.version)
    joined.version.merge(changes.version)
  }

  /// The largest logical time in the values. O(keys ever used).
  public var lamport: UInt64 { entries.values.lazy.map(\.value.lamport).max() ?? 0 }

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
      let seen = entry.version
      precondition(!entry.additions.isEmpty, "a key that nobody used")
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
