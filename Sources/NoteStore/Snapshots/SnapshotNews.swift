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

  /// A heap: each is no later than the two at twice its place.
  private var queues: [Queue] = []
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
    for place in queues.indices.reversed() { sink(place) }
  }

  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < queues.count && queues[child].time < queues[least].time { least = child }
      if least == place { return }
      queues.swapAt(place, least)
      place = least
    }
  }

  private mutating func removeFirst() {
    queues.swapAt(0, queues.count - 1)
    queues.removeLast()
    sink(0)
  }

  /// The next change; nil after the last. A block that cannot be read is left out.
  mutating func next() -> (change: ChangeID, encoded: ArraySlice<UInt8>)? {
    while let first = queues.first {
      if let block = first.block, block.numbers.contains(first.next) {
        let change = ChangeID(replica: first.replica, number: first.next)
        let encoded = block[first.next].encoded
        queues[0].next += 1
        if first.next < block.numbers.upperBound {
          queues[0].lamport = block[first.next + 1].lamport
        } else {
          queues[0].block = nil
          openNext()
        }
        sink(0)
        return (change, encoded)
      }
      // It was only a guess that it is the first.
      guard let next = first.blocks.last else {
        removeFirst()
        continue
      }
      queues[0].blocks.removeLast()
      queues[0].next = max(first.next, next.numbers.lowerBound)
      do {
        let block = try first.file.read(next)
        queues[0].lamport = block[queues[0].next].lamport
        queues[0].block = block
      } catch {
        failures[first.file.name] = failures[first.file.name] ?? error
        openNext()
      }
      sink(0)
    }
    return nil
  }

  /// Says when the next block of the first queue begins.
  private mutating func openNext() {
    guard let block = queues[0].blocks.last else { return }
    queues[0].lamport = queues[0].file.changes.lamport(before: block) + 1
  }
}
