internal import ReplicatingTypes

/// All changes of one replica, as it encoded them, one after the other.
///
/// A change is encoded once, by its author. From then on it is copied, into logs, to peers and here, so equal histories
/// are equal bytes.
struct History: Equatable, Identifiable, Sendable {
  let id: ReplicaID
  private(set) var bytes: [UInt8] = []
  /// Where each change ends in `bytes`.
  private var ends: [Int] = []
  /// The last tick of logical time that each change takes.
  private var lamports: [UInt64] = []
  /// The changes that follow others than their author's previous one.
  private(set) var merges: [(number: UInt64, predecessors: [ChangeID])] = []
  private(set) var mentions = Mentions()
  private(set) var lastTime: Int64 = 0

  init(id: ReplicaID) {
    self.id = id
  }

  /// The number of the last change.
  var count: UInt64 { UInt64(ends.count) }

  /// The bytes of a change, which exists.
  func change(_ number: UInt64) -> ArraySlice<UInt8> {
    let index = Int(number) - 1
    return bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
  }

  func lamport(_ number: UInt64) -> UInt64 { number == 0 ? 0 : lamports[Int(number) - 1] }

  mutating func append(
    _ change: Change, encoded: ArraySlice<UInt8>, lamport: UInt64, mentions: Mentions
  ) {
    bytes.append(contentsOf: encoded)
    ends.append(bytes.count)
    lamports.append(lamport)
    if !change.predecessors.isEmpty { merges.append((change.id.number, change.predecessors)) }
    self.mentions = mentions
    lastTime = change.time
  }

  static func == (a: Self, b: Self) -> Bool { a.bytes == b.bytes && a.ends == b.ends }
}
