public import ReplicatingTypes

/// Writes packed changes: replica by replica in their order, of each replica consecutive changes.
///
///     var packer = ChangePacker(notebook: name)
///     packer.begin(replica)
///     for number in 1...last { try packer.append(change(number), lamport: lamport(number)) }
///     file.write(packer.finish())
///
/// Its output depends on the changes only. It writes block by block: a caller that packs much takes what is ready from time
/// to time, and goes on when there is time.
public struct ChangePacker: Sendable {
  private var directory: PackedDirectory
  private var reader: RawChangeReader?
  private var state = ReplicaState()
  /// The state before the block that is being made, the changes in it, and how many bytes they are.
  private var start = PackedState()
  private var block = BlockEncoder(first: 1)
  private var size = 0
  private var change = RawChange()
  private var ready: [UInt8] = []

  /// A packer that writes the changes of the notebook with this identity.
  public init(notebook: Identifier) {
    directory = PackedDirectory(notebook: notebook)
  }

  /// Begins the changes of a replica, which comes after those before it in their order. `state`: what is known of it before
  /// the first change.
  public mutating func begin(_ replica: ReplicaID, after state: ReplicaState = ReplicaState()) {
    finishRange()
    precondition(
      directory.ranges.last.map { $0.replica < replica } ?? true, "replicas out of order")
    self.state = state
    var mentions = ReplicaTable()
    for replica in state.mentions { mentions.append(replica) }
    reader = RawChangeReader(author: replica, mentions: mentions)
    directory.ranges.append(PackedRange(replica: replica))
    beginBlock(at: packedState)
  }

  /// Adds the next change of the replica, as its author encoded it. `lamport`: the last tick of logical time that it takes.
  public mutating func append(
    _ encoded: ArraySlice<UInt8>, lamport: UInt64
  ) throws(DecodingFailure) {
    let before = packedState
    try reader!.read(encoded, into: &change)
    let (time, overflow) = state.time.addingReportingOverflow(change.elapsed)
    let (earliest, isBeyond) = state.lamport.addingReportingOverflow(change.ticks)
    guard !overflow, !isBeyond, Change.clamped(time) == time, earliest <= lamport else {
      reader!.forgetNames(downTo: before.named)
      throw DecodingFailure(offset: 0, reason: "a time beyond all calendars, or that runs backward")
    }
    if state.number % UInt64(PackedBlock.largestCount) == 0
      || size + encoded.count > PackedBlock.largestSize
    {
      finishBlock(at: before)
    }
    state.number += 1
    state.time = time
    state.lamport = lamport
    size += encoded.count
    block.append(change, encoded, number: state.number, jump: lamport - earliest)
  }

  /// Adds the changes of a packed block that come next, where `bytes` are those of the block. What is here already is not
  /// compared with them.
  ///
  /// The block is copied as it is, without a look at what it says, if it is cut as it would be here. Most are, when a
  /// long range is joined with what comes after it.
  ///
  /// - Returns: the bytes that were looked at: those of the block, or of its changes if they are more.
  @discardableResult
  public mutating func append(
    _ place: PackedChanges.Block, of packed: PackedChanges, _ bytes: ArraySlice<UInt8>
  ) throws(DecodingFailure) -> Int {
    let range = packed.directory.ranges[place.range]
    var entry = range.blocks[place.index]
    guard entry.last > state.number else { return 0 }
    guard entry.first <= state.number + 1 else {
      throw DecodingFailure(offset: 0, reason: "changes are missing before a block")
    }
    let isBoundary = state.number % UInt64(PackedBlock.largestCount) == 0
    let isWhole =
      place.index < range.blocks.count - 1 || entry.last % UInt64(PackedBlock.largestCount) == 0
    guard entry.first == state.number + 1, isWhole, isBoundary || block.count == 0
    else {
      let unpacked = try packed.decode(place, bytes)
      for number in state.number + 1...entry.last {
        try append(unpacked[number].encoded, lamport: unpacked[number].lamport)
      }
      return max(bytes.count, unpacked.size)
    }
    try BlockDecoder.content(of: bytes, entry)
    guard entry.start == packedState,
      reader!.mentions.replicas.elementsEqual(range.mentions[..<entry.start.named])
    else {
      throw DecodingFailure(offset: 0, reason: "a block that isn't what follows")
    }
    finishBlock(at: packedState)
    reader!.learn(range.mentions[entry.start.named..<entry.end.named])
    state.number = entry.last
    state.time = entry.end.time
    state.lamport = entry.end.lamport
    entry.offset = directory.end
    directory.append(entry)
    ready += bytes
    beginBlock(at: entry.end)
    return bytes.count
  }

  /// The number of the replica's last change that was added, or of the one before the first.
  public var last: UInt64 { state.number }

  /// The bytes that are finished and were not taken yet.
  public mutating func takeReady() -> [UInt8] {
    defer { ready = [] }
    return ready
  }

  /// The rest of the bytes.
  public mutating func finish() -> [UInt8] {
    finishRange()
    ready += directory.encoded()
    return takeReady()
  }

  private var packedState: PackedState {
    PackedState(
      time: state.time, lamport: state.lamport, named: reader?.mentions.replicas.count ?? 0)
  }

  private mutating func beginBlock(at state: PackedState) {
    start = state
    block = BlockEncoder(first: self.state.number + 1)
    size = 0
  }

  /// Finishes the block, if it has changes; `end` is the state after the last of them.
  private mutating func finishBlock(at end: PackedState) {
    let count = block.count
    if count == 0 { return }
    let (links, content) = block.finish()
    directory.append(
      PackedBlock(
        first: state.number - UInt64(count) + 1, count: count, offset: directory.end,
        length: content.count, start: start, end: end, links: links))
    var bytes = ByteWriter(capacity: content.count + Container.prefixSize)
    bytes.block(content)
    ready += bytes.bytes
    beginBlock(at: end)
  }

  private mutating func finishRange() {
    guard let reader else { return }
    finishBlock(at: packedState)
    // A replica that has no changes here is not here.
    if directory.ranges.last!.blocks.isEmpty {
      directory.ranges.removeLast()
    } else {
      directory.ranges[directory.ranges.count - 1].mentions = reader.mentions.replicas
    }
    self.reader = nil
  }
}
