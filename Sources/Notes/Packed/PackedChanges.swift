// Packed changes: what a compacted snapshot holds. This file owns the format; the codes of a block's operations are in
// PackedSteps.swift, those of its times in PackedTimes.swift.
//
//     block...                   one behind the other, in the order of the directory
//     directory                  a block, too
//     footer                     as that of a container (Container.swift), whose blocks these are
//
//     directory = notebook       16 bytes
//                 count*(16 bytes)       replicas, in order: those that have changes here, and all that these have named
//                 count*range            in the order of the replicas; what stands for a replica is its place among them
//     range     = replica
//                 count*replica          all that it has named with its last change here or before, in that order
//                 number                 of the change before the first one here; if that isn't 0, what is known there:
//                   time lamport named     signed: milliseconds since 1970; its last tick; how many replicas it has named
//                 count*entry
//     entry     = count                  of the block's changes
//                 length                 of the content of the block in bytes
//                 elapsed                signed: milliseconds from the change before the block to its last
//                 ticks                  by how much more logical time passed than a tick for each change
//                 named                  how many replicas are named in the block for the first time
//                 length link...         the links, until so many bytes end
//     link      = step                   how many changes after the last link, or the beginning, there are before this one
//                 jump                   by how much its logical time is later than that of the change before makes it
//                 count*(author number)  predecessors; the number signed, less the last that a link of this block named of
//                                        that author, or 0
//     block     = times steps            stored as in StoredBytes.swift: compressed, if that makes them smaller
//
// Numbers are varints; signed ones folded. An author is 0 for the replica itself, n + 2 for the n-th that it has named or
// will have, so a block is the same bytes in every file, and can be copied from one file to another.
//
// Nothing is lost. A change comes back in the bytes in which its author encoded it (Change.swift): these are what the names
// and numbers in it make them, and a name is spelt out where it comes for the first time.
//
// Equal changes are equal bytes, however they were put together. The bytes depend on the changes, from the first
// here to the last of each replica, and on what its author's earlier changes make known; and on how this version of the program compresses
// (LZ4+Compression.swift in Bytes): two versions that did it otherwise would write two files for the same, each as good. A block ends at a number that is a
// multiple of 4,096, or before the change with which it would be more than 64 KiB of changes, so that two files with the same
// changes have the same blocks but where one of them begins or ends. (Other bytes than those that are written may be read as
// the same changes. To get the one encoding, pack what was read.)
//
// Any change can be read with the directory and one block. Beside it the directory holds what a notebook must know of
// changes it hasn't read: the time, the logical time and the names before each block, and what followed others' changes.
// Logical time is derived, and stays so: who applies the changes finds it again. It is here because without it the time of
// one change would cost reading all that came before; it takes a byte for each block, and for each link one.
//
// Nothing is trusted: an entry and its block must agree, a directory has at most 2^28 bytes, a block 2^27, what is compressed in it is no more than
// 2^20 bytes, and no bytes make more than 4,096 changes or 64 KiB of them at a time, but for a single change, which is as long as its text and
// operations make it.
//
// Sizes before compression, on 2026-11-21 (`Benchmarks packed` tells those after it, and the speed). automerge-paper, a change for each key, which are
// 3.72 MB of changes: 217,161 bytes with an even clock. 182,315 of them are the text typed, 14,000 the steps, as many how far
// these are from each other; the rest is that 64 blocks know nothing of each other (blocks of 16,384 changes take 2,300
// less, one for all 7,100). With 80 to 400 ms between keys, and pauses, 530,907: ten bits for each time, of which nine are
// noise. 1,000 notes of 1 kB: 23 bytes for each beside its text, and 41 for each session.

public import ReplicatingTypes

/// The directory of a file, by which its blocks are found and read one by one.
///
///     let packed = try PackedChanges(directory: file.read(range), at: range.lowerBound)
///     if let block = packed.block(of: change) {
///       try packed.decode(block, file.read(block.bytes))[change.number].encoded
///     }
///
/// The offset of a failure counts from the beginning of what was to be read: a directory, a block.
public struct PackedChanges: Equatable, Sendable {
  /// Where a block is.
  public struct Block: Equatable, Sendable {
    let range: Int
    let index: Int
    /// The numbers of its changes.
    public let numbers: ClosedRange<UInt64>
    /// The bytes of the file that `decode(_:_:)` needs.
    public let bytes: Range<Int>
  }

  let directory: PackedDirectory

  /// The number of bytes at the end of a file that `directory(in:footer:)` needs.
  public static var footerLength: Int { Container.footerSize }

  /// The bytes of a file of `length` bytes that `init` needs.
  public static func directory(
    in length: Int, footer: ArraySlice<UInt8>
  ) throws(DecodingFailure) -> Range<Int> {
    try PackedDirectory.range(in: length, footer: footer)
  }

  /// Reads a directory, which begins at `offset` of the file.
  public init(directory bytes: ArraySlice<UInt8>, at offset: Int) throws(DecodingFailure) {
    directory = try PackedDirectory.decode(bytes, at: offset)
  }

  /// Reads the directory of a file that is in memory.
  public init(_ file: [UInt8]) throws(DecodingFailure) {
    let range = try Self.directory(in: file.count, footer: file.suffix(Self.footerLength))
    try self.init(directory: file[range], at: range.lowerBound)
  }

  /// The identity of the notebook whose changes these are.
  public var notebook: Identifier { directory.notebook }

  /// The replicas that have changes here, in their order, and the numbers of the changes.
  public var ranges: [(replica: ReplicaID, numbers: ClosedRange<UInt64>)] {
    directory.ranges.map { ($0.replica, $0.first...$0.last) }
  }

  /// The numbers of a replica's changes; `nil` if it has none here. O(log replicas).
  public func numbers(of replica: ReplicaID) -> ClosedRange<UInt64>? {
    place(of: replica).map { directory.ranges[$0].first...directory.ranges[$0].last }
  }

  private func place(of replica: ReplicaID) -> Int? {
    var (low, high) = (0, directory.ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if directory.ranges[middle].replica < replica { low = middle + 1 } else { high = middle }
    }
    return low < directory.ranges.count && directory.ranges[low].replica == replica ? low : nil
  }

  private func block(_ range: Int, _ index: Int) -> Block {
    let block = directory.ranges[range].blocks[index]
    return Block(
      range: range, index: index, numbers: block.first...block.last,
      bytes: Container.Block(start: block.offset, size: block.length).bytes)
  }

  /// The block that has a change; `nil` if it isn't here. O(log blocks).
  public func block(of change: ChangeID) -> Block? {
    guard let range = place(of: change.replica),
      let index = directory.ranges[range].block(of: change.number)
    else { return nil }
    return block(range, index)
  }

  /// The replica whose changes a block has.
  public func replica(of block: Block) -> ReplicaID { directory.ranges[block.range].replica }

  /// The blocks of a replica, in the order of its changes.
  public func blocks(of replica: ReplicaID) -> [Block] {
    guard let range = place(of: replica) else { return [] }
    return directory.ranges[range].blocks.indices.map { block(range, $0) }
  }

  /// The state of a block's author before its first change.
  public func state(before block: Block) -> ReplicaState {
    let range = directory.ranges[block.range]
    return range.state(range.blocks[block.index].start, block.numbers.lowerBound - 1)
  }

  /// The last tick of logical time that the change before a block takes: the block's own are later.
  public func lamport(before block: Block) -> UInt64 {
    directory.ranges[block.range].blocks[block.index].start.lamport
  }

  /// The state of a replica after its last change here; `nil` if it has none here.
  public func lastState(of replica: ReplicaID) -> ReplicaState? {
    guard let place = place(of: replica) else { return nil }
    let range = directory.ranges[place]
    return range.state(range.blocks.last!.end, range.last)
  }

  /// The changes of a replica that follow others than its author's previous one, and these others. O(answer).
  public func merges(
    of replica: ReplicaID
  ) throws(DecodingFailure) -> [(number: UInt64, predecessors: [ChangeID])] {
    guard let place = place(of: replica) else { return [] }
    let range = directory.ranges[place]
    var merges: [(number: UInt64, predecessors: [ChangeID])] = []
    for block in range.blocks {
      for link in try PackedLink.decode(block.links[...], of: block.first...block.last)
      where !link.predecessors.isEmpty {
        var predecessors: [ChangeID] = []
        for predecessor in link.predecessors {
          guard predecessor.author >= 2, predecessor.author - 2 < range.mentions.count else {
            throw DecodingFailure(offset: 0, reason: "a predecessor of a replica that has no name")
          }
          predecessors.append(
            ChangeID(
              replica: range.mentions[predecessor.author - 2], number: predecessor.number))
        }
        merges.append((link.number, predecessors))
      }
    }
    return merges
  }

  /// Unpacks a block, whose bytes these are.
  public func decode(
    _ block: Block, _ bytes: ArraySlice<UInt8>
  ) throws(DecodingFailure) -> ChangeBlock {
    let range = directory.ranges[block.range]
    return try BlockDecoder.decode(
      bytes, range.blocks[block.index], of: range)
  }
}

extension PackedRange {
  fileprivate func state(_ state: PackedState, _ number: UInt64) -> ReplicaState {
    var result = ReplicaState()
    result.number = number
    result.time = state.time
    result.lamport = state.lamport
    result.mentions = Array(mentions.prefix(state.named))
    return result
  }
}

extension NoteBook {
  /// All changes, packed. Throws also if the archive has something else in the place of a change.
  public func packed(of notebook: Identifier) throws(ArchiveFailure) -> [UInt8] {
    var packer = ChangePacker(notebook: notebook)
    var failure: ArchiveFailure?
    for replica in version.replicas {
      packer.begin(replica)
      try forEachEncoded(of: replica, in: 1...version[replica]) { number, encoded, lamport in
        do { try packer.append(encoded, lamport: lamport) } catch {
          failure = ArchiveFailure(
            reason: "change \(number) of \(replica) can't be read: \(error)")
          return false
        }
        return true
      }
      if let failure { throw failure }
    }
    return packer.finish()
  }
}

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
