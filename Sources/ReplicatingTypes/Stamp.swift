/// The name of one change: the replica that made it, and its number among that replica's changes, from 1, without gaps.
public struct ChangeID: Hashable, Comparable, Sendable {
  /// The author of the change.
  public var replica: ReplicaID
  /// From 1.
  public var number: UInt64

  /// The name of change `number` of `replica`.
  public init(replica: ReplicaID, number: UInt64) {
    self.replica = replica
    self.number = number
  }

  public static func < (a: Self, b: Self) -> Bool {
    a.replica == b.replica ? a.number < b.number : a.replica < b.replica
  }
}

/// A point in logical time: larger than that of everything its author had seen (Lamport, "Time, Clocks, and the Ordering
/// of Events in a Distributed System", 1978). The replica breaks ties, so two timestamps of different operations are
/// never equal.
public struct LamportTimestamp: Hashable, Comparable, Sendable {
  /// The tick, from 1.
  public var count: UInt64
  /// The author of the operation.
  public var replica: ReplicaID

  /// The tick `count` of `replica`.
  public init(count: UInt64, replica: ReplicaID) {
    self.count = count
    self.replica = replica
  }

  public static func < (a: Self, b: Self) -> Bool {
    a.count == b.count ? a.replica < b.replica : a.count < b.count
  }

  /// No encoding has a larger count.
  static var largestCount: UInt64 { 1 << 62 }

  /// By how much a count from outside may exceed all that are known.
  static var largestStep: UInt64 { 1 << 40 }

  /// Throws when a count from outside may not be joined where `known` is the largest.
  ///
  /// Every replica's next change comes after the largest count seen, so one count near the end of the numbers would leave
  /// no room for any of them. Honest counts grow by one for each element or change, and no replica makes 2^40 of those
  /// unseen by another. A larger step is refused; steps that are just allowed reach the end of the numbers after four
  /// million of them.
  static func validate(_ count: UInt64, after known: UInt64) throws(InvalidChange) {
    guard count <= largestCount, count <= known || count - known <= largestStep else {
      throw InvalidChange("a logical time of \(count), where \(known) is the latest known")
    }
  }
}

/// The stamp of an operation: the change it belongs to, and its logical time.
public struct Stamp: Hashable, Sendable {
  /// The change that the operation is part of.
  public var change: ChangeID
  /// The count of the logical time of the operation, or of its first element.
  public var lamport: UInt64

  /// The stamp of an operation of `change` that begins at the tick `lamport`.
  public init(change: ChangeID, lamport: UInt64) {
    self.change = change
    self.lamport = lamport
  }

  /// The logical time, with the replica that breaks ties.
  public var timestamp: LamportTimestamp {
    LamportTimestamp(count: lamport, replica: change.replica)
  }
}

/// The source of stamps: there is one in a process, and it can't be copied.
///
/// Values hold no identity of their own. An edit is given the replica, so copying a value never makes two authors
/// with one name.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     let first = replica.stamp(after: 0)
///     let second = replica.stamp(after: 41)
///     first.change.number   // 1
///     second.change.number  // 2
///     second.lamport        // 42
public struct Replica: ~Copyable, Sendable {
  /// The identity under which it makes changes.
  public let id: ReplicaID
  /// The number of the last change made; 0 before the first.
  public private(set) var number: UInt64 = 0
  private(set) var lamport: UInt64 = 0

  /// A replica that has made no change yet. No other may have this identity, ever.
  public init(id: ReplicaID) {
    self.id = id
  }

  /// A replica that has made changes before.
  init(id: ReplicaID, number: UInt64, lamport: UInt64) {
    self.id = id
    self.number = number
    self.lamport = lamport
  }

  /// Stamps a change that follows everything up to the logical time `seen`, and takes `ticks` ticks, at least one.
  ///
  /// No argument traps: what is larger than can be counts as the largest that can, and then there is room for more changes
  /// than a replica makes.
  public mutating func stamp(after seen: UInt64, ticks: UInt64 = 1) -> Stamp {
    let largest = LamportTimestamp.largestCount
    let start = max(lamport, min(seen, largest)) + 1
    lamport = min(start + min(max(ticks, 1), largest) - 1, 2 * largest)
    number += 1
    return Stamp(change: ChangeID(replica: id, number: number), lamport: start)
  }

  /// Makes a change of one tick, if it is change `number` of `replica`: one that directly follows that replica's last.
  @inline(__always)
  mutating func advance(to number: UInt64, of replica: ReplicaID) -> Bool {
    guard number == self.number &+ 1, replica == id else { return false }
    self.number = number
    lamport += 1
    return true
  }
}
