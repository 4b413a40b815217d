public import ReplicatingTypes

/// The state of a replica after one of its changes, without which the next can't be read.
public struct ReplicaState: Equatable, Sendable {
  /// The number of the change; 0 before the first.
  public var number: UInt64 = 0
  /// The time of the change.
  public var time: Int64 = 0
  /// The last tick of logical time that the change takes.
  public var lamport: UInt64 = 0
  /// The replicas that its author has named by then, in that order.
  public var mentions: [ReplicaID] = []

  /// Before the first change.
  public init() {}
}

/// Changes of a block, unpacked.
public struct ChangeBlock: Equatable, Sendable {
  /// The number of the first.
  public let first: UInt64
  let bytes: [UInt8]
  let ends: [Int]
  let lamports: [UInt64]

  /// The bytes of all of them, as their authors encoded them.
  public var size: Int { bytes.count }
  /// The numbers of the changes.
  public var numbers: ClosedRange<UInt64> { first...first + UInt64(ends.count) - 1 }

  /// A change as its author encoded it, and the last tick of logical time that it takes. It is in the block.
  public subscript(number: UInt64) -> (encoded: ArraySlice<UInt8>, lamport: UInt64) {
    let index = Int(number - first)
    return (bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]], lamports[index])
  }
}
