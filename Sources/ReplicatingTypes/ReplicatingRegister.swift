/// One value that is replaced as a whole; the last writer wins.
///
/// "Last" is by wall time, in milliseconds since 1970, but never less than the time of the value replaced plus one: a
/// clock that once ran years ahead can't lock other replicas out, since a replica that has seen its value writes a later time
/// than that. Equal times are decided by the Lamport timestamp, so a later write wins over every write that its author had
/// seen, and the clock decides only between concurrent ones.
///
/// A register begins with an initial value, on which its replicas agree as on a default in a program, or with a write. Registers that began
/// differently are different ones, and are never merged.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var title = ReplicatingRegister("")
///     title.assign("Shopping", at: 1_767_225_600_000, by: &replica)
///     title.value  // "Shopping"
///     let size = ReplicatingRegister(12, at: 1_767_225_600_000, by: &replica)
///     size.value   // 12
///
/// All operations are O(1).
public struct ReplicatingRegister<Value: Equatable & Sendable>: Sendable, Equatable {
  /// The latest time that counts, the beginning of the year 2200, in milliseconds since 1970. A later one is invalid.
  public static var latestTime: Int64 { 7_258_118_400_000 }

  /// A write that has no author yet.
  public struct Assignment: Equatable, Sendable {
    /// The value that is written.
    public var value: Value
    /// Milliseconds since 1970.
    public var time: Int64

    /// A write of `value` at `time`, milliseconds since 1970.
    public init(value: Value, time: Int64) {
      self.value = value
      self.time = time
    }
  }

  struct Write: Hashable, Sendable {
    var time: Int64
    var stamp: Stamp
  }

  /// The value of the last write, or the initial one.
  public private(set) var value: Value
  /// The value before any write; nil if the register began with a write.
  public let initialValue: Value?
  private var write: Write?
  @usableFromInline
  var joined = JoinedVersion()
  /// The changes that are known here.
  public private(set) var version = Version()

  /// The logical time of the write that won; 0 if there was none.
  public var lamport: UInt64 { write?.stamp.lamport ?? 0 }

  /// The change that wrote the value; nil for the initial one.
  public var lastChange: ChangeID? { write?.stamp.change }

  /// A register with its initial value, which nobody has written.
  public init(_ initial: Value) {
    value = initial
    initialValue = initial
  }

  /// A register that begins with a write, as one change. `now` is the wall time in milliseconds since 1970.
  public init(_ first: Value, at now: Int64, by replica: inout Replica) {
    self.init(first: first)
    assign(first, at: now, by: &replica)
  }

  /// A register that begins with a write of a value, which is still to come.
  init(first: Value) {
    value = first
    initialValue = nil
  }

  /// The assignment that replaces the present value: at `now`, in milliseconds since 1970, or just after what it replaces if
  /// that is later. A clock outside the years 1970 to 2200 is not believed.
  public func assignment(of value: Value, at now: Int64) -> Assignment {
    let earliest = write.map { $0.time + 1 } ?? 0
    let clock = (0..<Self.latestTime).contains(now) ? now : 0
    return Assignment(value: value, time: min(max(clock, earliest), Self.latestTime))
  }

  /// Replaces the value, as one change. `now` is the wall time in milliseconds since 1970.
  public mutating func assign(_ value: Value, at now: Int64, by replica: inout Replica) {
    let assignment = assignment(of: value, at: now)
    apply(assignment, replica.stamp(after: write?.stamp.lamport ?? 0))
  }

  /// Looks whether a write from outside may be applied. Throws when its time is outside the years 1970 to 2200.
  public static func validate(_ assignment: Assignment) throws(InvalidChange) {
    guard (0...latestTime).contains(assignment.time) else {
      throw InvalidChange("a time outside the years 1970 to 2200")
    }
  }

  /// Applies a write: one planned here, or one that `validate` passed. It changes the value if it is the last.
  public mutating func apply(_ assignment: Assignment, _ stamp: Stamp) {
    version.insert(stamp.change)
    let new = Write(time: assignment.time, stamp: stamp)
    if let write, !Self.wins(new, over: write) { return }
    write = new
    value = assignment.value
  }

  private static func wins(_ a: Write, over b: Write) -> Bool {
    a.time == b.time ? a.stamp.timestamp > b.stamp.timestamp : a.time > b.time
  }
}

extension ReplicatingRegister: Replicable {
  /// The winning write alone: those it beat have nothing to say any more. The initial value comes with each write, and with the changes since
  /// nothing, so that a register that began differently refuses them.
  public struct Changes: ReplicatingChanges, Sendable {
    /// The write or the initial value that they tell, in memory of its own: so the size of changes does not depend on the type of the value, and those that tell nothing, as of
    /// most parts of a composed value, are copied without looking that up.
    private indirect enum News: Sendable {
      /// The initial value of a register that nobody wrote.
      case initialValue(Value)
      /// The winning write, and the initial value; nil of a register that began with a write.
      case write(Assignment, Stamp, initialValue: Value?)
    }

    public var since: Version
    public internal(set) var version: Version
    private var news: News?

    /// Nothing.
    init() { (since, version) = (Version(), Version()) }

    init(
      since: Version, version: Version, winner: (Assignment, Stamp)?, initialValue: Value?
    ) {
      (self.since, self.version) = (since, version)
      if let (assignment, stamp) = winner {
        news = .write(assignment, stamp, initialValue: initialValue)
      } else {
        news = initialValue.map { .initialValue($0) }
      }
    }

    /// True if they say with what the register began: with `initialValue`, or, where that is nil, with a write.
    var tellsBeginning: Bool { news != nil }

    var initialValue: Value? {
      switch news {
      case nil: nil
      case .initialValue(let value): value
      case .write(_, _, let initialValue): initialValue
      }
    }

    var winner: (Assignment, Stamp)? {
      get {
        guard case .write(let assignment, let stamp, _) = news else { return nil }
        return (assignment, stamp)
      }
      set {
        self = Self(since: since, version: version, winner: newValue, initialValue: initialValue)
      }
    }
  }

  public func changes(since version: Version) -> Changes {
    var followed = FollowedChanges(of: self.version, since: version)
    guard let write, !followed.isEmpty else {
      if !version.isEmpty { return Changes() }
      return Changes(
        since: Version(), version: Version(), winner: nil,
        initialValue: initialValue)
    }
    followed.follow(write.stamp.change.replica)
    let isNew = !version.contains(write.stamp.change)
    return Changes(
      since: followed.since, version: followed.version,
      winner: isNew ? (Assignment(value: value, time: write.time), write.stamp) : nil,
      initialValue: isNew ? initialValue : nil)
  }

  public func validate(_ changes: Changes) throws(InvalidChange) {
    // Nothing, as for most parts of a composed value.
    if changes.since.isEmpty, changes.version.isEmpty, !changes.tellsBeginning { return }
    try validateSome(changes)
  }

  /// Apart, since the type of a write is looked up at its beginning.
  @inline(never)
  private func validateSome(_ changes: Changes) throws(InvalidChange) {
    try changes.check()
    if changes.tellsBeginning { try check(initialValue: changes.initialValue) }
    guard let (assignment, stamp) = changes.winner else {
      // The write that beat all that these leave out is here, as everything up to `since`.
      guard write != nil || changes.version.isEmpty else {
        throw InvalidChange("a register that was written, without what was")
      }
      return
    }
    try LamportTimestamp.validate(stamp.lamport, after: write?.stamp.lamport ?? 0)
    guard let write, version.contains(stamp.change) else { return }
    // It was here before, and is the present write, or was beaten by that.
    let new = Write(time: assignment.time, stamp: stamp)
    let isKnown =
      stamp.change == write.stamp.change
      ? new == write && assignment.value == value : !Self.wins(new, over: write)
    guard isKnown else { throw InvalidChange("a write other than was known by its name") }
  }

  public func checkMerge(with other: Self) throws(InvalidChange) {
    try check(initialValue: other.initialValue)
  }

  private func check(initialValue other: Value?) throws(InvalidChange) {
    if other == initialValue { return }
    func told(_ value: Value?) -> String { value.map { shortened("\($0)") } ?? "a write" }
    throw InvalidChange(
      """
      a register that began with \(told(other)), where this one began with \(told(initialValue)). A first value that replicas don't \
      agree on is written: ReplicatingRegister(value, at: now, by: &replica)
      """)
  }

  public mutating func join(_ changes: Changes) {
    if let (assignment, stamp) = changes.winner { apply(assignment, stamp) }
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

extension ReplicatingRegister.Changes {
  /// Throws when no register can have these changes.
  func check() throws(InvalidChange) {
    try checkVersion()
    if let (assignment, stamp) = winner {
      try ReplicatingRegister.validate(assignment)
      try checkIsNew(stamp.change)
    } else if initialValue != nil, !version.isEmpty {
      throw InvalidChange("a register that was written, without what was")
    }
  }
}

extension ReplicatingRegister {
  /// Checks what must always hold. O(1): for tests.
  public func checkInvariants() {
    precondition((write == nil) == version.isEmpty, "a version of nothing, or no version")
    precondition(write != nil || initialValue == value, "a value that nobody wrote")
    guard let write else { return }
    precondition(version.contains(write.stamp.change), "a write that was not seen")
    precondition((0...Self.latestTime).contains(write.time), "a time outside the years allowed")
  }
}

extension ReplicatingRegister: Hashable where Value: Hashable {}
extension ReplicatingRegister.Assignment: Hashable where Value: Hashable {}
