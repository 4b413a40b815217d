internal import Notes
internal import ReplicatingTypes

/// The changes of snapshots that somebody has not seen, in logical time, read block by block: so what comes first comes
/// before what follows it, and no more is in memory than the blocks that were written at the same time.
struct SnapshotNews {
  /// The changes of one replica in one file.
  private struct Queue {
    let file: SnapshotFile
    let replica: ReplicaID
    /// Those that were not read, the next at the end.
    var blocks: [PackedChanges.Block]
    /// What was read of the last block, and how far that was taken.
    var block: ChangeBlock?
    var next: UInt64
    /// Of the next change; where its block was not read, no later than that.
    var lamport: UInt64

    var time: LamportTimestamp { LamportTimestamp(count: lamport, replica: replica) }
  }

  private var queues: [Queue] = []
  private var order: LamportQueue
  /// What could not be read, by the name of the file.
  private(set) var failures: [String: StoreError] = [:]

  /// - Parameter version: what is known already.
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
      // It was only a guess that it is the first.
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

  /// Says when the next block of a queue begins, as far as that is known before it is read.
  private mutating func announce(_ row: Int) {
    guard let block = queues[row].blocks.last else { return }
    queues[row].lamport = queues[row].file.changes.lamport(before: block) + 1
  }
}
