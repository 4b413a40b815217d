internal import Notes
internal import ReplicatingTypes

/// The changes of snapshots that are not known yet, in the order of their logical times, read block by block.
///
/// In this order a change comes before those that follow it, and only those blocks are in memory whose times overlap.
struct SnapshotNews {
  /// The changes of one replica in one file.
  private struct Queue {
    let file: SnapshotFile
    let replica: ReplicaID
    /// The blocks that were not read, the next one at the end.
    var blocks: [PackedChanges.Block]
    /// The block that was read last, and the number of the next change in it.
    var block: ChangeBlock?
    var next: UInt64
    /// The logical time of the next change, or a lower bound where its block was not read.
    var lamport: UInt64

    var time: LamportTimestamp { LamportTimestamp(count: lamport, replica: replica) }
  }

  private var queues: [Queue] = []
  private var order: LamportQueue
  /// The first error of each file, by its name.
  private(set) var failures: [String: StoreError] = [:]

  /// - Parameter version: the changes that are known.
  init(of files: [SnapshotFile], since version: Version) {
    for file in files {
      for (replica, numbers) in file.changes.ranges where numbers.upperBound > version[replica] {
        let blocks = file.changes.blocks(of: replica).filter {
          $0.numbers.upperBound > version[replica]
        }
        let next = max(version[replica] + 1, numbers.lowerBound)
        let lamport = file.changes.lamport(before: blocks[0]) + 1
        queues.append(
          Queue(
            file: file, replica: replica, blocks: blocks.reversed(), next: next, lamport: lamport))
      }
    }
    order = LamportQueue(queues.map(\.time))
  }

  /// The next change; nil after the last. A block that cannot be read is left out.
  mutating func next() -> (change: ChangeID, encoded: ArraySlice<UInt8>)? {
    while let row = order.first {
      let change = ChangeID(replica: queues[row].replica, number: queues[row].next)
      if let block = queues[row].block {
        let encoded = block[change.number].encoded
        queues[row].next += 1
        if change.number < block.numbers.upperBound {
          queues[row].lamport = block[change.number + 1].lamport
        } else {
          queues[row].block = nil
          announce(row)
        }
        order.moveFirst(to: queues[row].time)
        return (change, encoded)
      }
      // The time of this queue was a lower bound. When its block is read, another queue may be first.
      guard let next = queues[row].blocks.popLast() else {
        order.removeFirst()
        continue
      }
      queues[row].next = max(change.number, next.numbers.lowerBound)
      do {
        let block = try queues[row].file.read(next)
        queues[row].lamport = block[queues[row].next].lamport
        queues[row].block = block
      } catch {
        let name = queues[row].file.name
        failures[name] = failures[name] ?? error
        announce(row)
      }
      order.moveFirst(to: queues[row].time)
    }
    return nil
  }

  /// Sets a queue's time to the lower bound for its next block, which was not read.
  private mutating func announce(_ row: Int) {
    guard let block = queues[row].blocks.last else { return }
    queues[row].lamport = queues[row].file.changes.lamport(before: block) + 1
  }
}
