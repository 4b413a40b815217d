internal import ReplicatingTypes

/// The state of a replica after one of the packed changes.
struct PackedState: Equatable, Sendable {
  var time: Int64 = 0
  var lamport: UInt64 = 0
  /// The number of replicas that it has named.
  var named = 0
}

/// A block in the directory.
struct PackedBlock: Equatable, Sendable {
  /// A block holds no more changes than this, and none that lie on both sides of a multiple of it.
  static let largestCount = 4096
  /// A block of more than one change holds no more bytes of changes than this.
  static let largestSize = 1 << 16

  /// The number of its first change, and how many it has.
  var first: UInt64
  var count: Int
  /// Where it is in the file.
  var offset: Int
  var length: Int
  /// The states before it and after it.
  var start: PackedState
  var end: PackedState
  var links: [UInt8]

  var last: UInt64 { first + UInt64(count) - 1 }
}

/// Consecutive changes of one replica.
struct PackedRange: Equatable, Sendable {
  let replica: ReplicaID
  /// The replicas that it has named with them and before, in that order.
  var mentions: [ReplicaID] = []
  var blocks: [PackedBlock] = []

  init(replica: ReplicaID) { self.replica = replica }

  var first: UInt64 { blocks.first!.first }
  var last: UInt64 { blocks.last!.last }

  /// The place of the block that has a change, among the blocks.
  func block(of number: UInt64) -> Int? {
    guard number >= first, number <= last else { return nil }
    var (low, high) = (0, blocks.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if blocks[middle].first <= number { low = middle } else { high = middle - 1 }
    }
    return low
  }
}

/// The directory of packed changes. The format is in PackedChanges.swift.
struct PackedDirectory: Equatable, Sendable {
  /// No directory is longer, and no block: what claims to be is not read. The longest change has 2^26 bytes.
  static let maximumLength = 1 << 28
  static let maximumBlock = 1 << 27

  let notebook: Identifier
  /// In the order of the replicas.
  var ranges: [PackedRange] = []
  /// Where the blocks end.
  var end = 0

  init(notebook: Identifier) { self.notebook = notebook }

  mutating func append(_ block: PackedBlock) {
    ranges[ranges.count - 1].blocks.append(block)
    end += Container.prefixSize + block.length
  }

  /// The directory, as a block, and the footer.
  func encoded() -> [UInt8] {
    var replicas = Set(ranges.map(\.replica))
    for range in ranges { replicas.formUnion(range.mentions) }
    let names = replicas.sorted()
    let places = Dictionary(uniqueKeysWithValues: zip(names, names.indices))
    var writer = ByteWriter()
    writer.identifier(notebook)
    writer.varint(names.count)
    for name in names { writer.identifier(name) }
    writer.varint(ranges.count)
    for range in ranges {
      writer.varint(places[range.replica]!)
      writer.varint(range.mentions.count)
      for mention in range.mentions { writer.varint(places[mention]!) }
      writer.varint(range.first - 1)
      let start = range.blocks[0].start
      if range.first > 1 {
        writer.signed(start.time)
        writer.varint(start.lamport)
        writer.varint(start.named)
      }
      writer.varint(range.blocks.count)
      for block in range.blocks { Self.encode(block, into: &writer) }
    }
    var file = ByteWriter(capacity: writer.bytes.count + 28)
    file.block(writer.bytes)
    file.fixed(UInt64(end))
    file.fixed(UInt64(writer.bytes.count))
    return file.bytes
  }

  private static func encode(_ block: PackedBlock, into writer: inout ByteWriter) {
    writer.varint(block.count)
    writer.varint(block.length)
    writer.signed(block.end.time - block.start.time)
    writer.varint(block.end.lamport - block.start.lamport - UInt64(block.count))
    writer.varint(block.end.named - block.start.named)
    writer.counted(block.links)
  }

  /// The bytes of the directory's block among packed changes of `length` bytes, by their footer.
  static func range(
    in length: Int, footer: ArraySlice<UInt8>
  ) throws(DecodingFailure) -> Range<Int> {
    var reader = ByteReader(footer)
    let (start, count) = (try reader.fixed(UInt64.self), try reader.fixed(UInt64.self))
    guard count <= UInt64(maximumLength) else {
      throw reader.failure("a directory of \(count) bytes")
    }
    let end = length - Container.footerSize
    let block = Container.prefixSize + Int(count)
    guard end >= block, start == UInt64(end - block) else {
      throw reader.failure("a directory that is not at the end")
    }
    return end - block..<end
  }

  /// Reads the directory, of which these are the bytes, as a block; it begins at `end`.
  static func decode(
    _ bytes: ArraySlice<UInt8>, at end: Int
  ) throws(DecodingFailure) -> PackedDirectory {
    var block = ByteReader(bytes)
    var reader = ByteReader(try block.block())
    var directory = PackedDirectory(notebook: try reader.identifier())
    let count = try reader.count()
    guard count <= reader.remaining / 16 else { throw reader.failure("\(count) replicas") }
    var names: [ReplicaID] = []
    for _ in 0..<count {
      let name = try reader.identifier()
      guard names.last.map({ $0 < name }) ?? true else {
        throw reader.failure("replicas out of order")
      }
      names.append(name)
    }
    for _ in 0..<(try reader.count()) { try directory.readRange(from: &reader, names) }
    guard reader.isAtEnd, directory.end == end else {
      throw reader.failure("blocks that are not where the directory says")
    }
    return directory
  }

  private mutating func readRange(
    from reader: inout ByteReader, _ names: [ReplicaID]
  ) throws(DecodingFailure) {
    func name(_ reader: inout ByteReader) throws(DecodingFailure) -> ReplicaID {
      let place = try reader.count()
      guard place < names.count else { throw reader.failure("a replica that is not listed") }
      return names[place]
    }
    let replica = try name(&reader)
    guard ranges.last.map({ $0.replica < replica }) ?? true else {
      throw reader.failure("replicas out of order")
    }
    var range = PackedRange(replica: replica)
    var seen: Set<ReplicaID> = [replica]
    for _ in 0..<(try reader.count()) {
      let mention = try name(&reader)
      guard seen.insert(mention).inserted else { throw reader.failure("a replica named twice") }
      range.mentions.append(mention)
    }
    var number = try reader.varint()
    var state = PackedState()
    if number > 0 {
      state.time = try reader.signed()
      state.lamport = try reader.varint()
      state.named = try reader.count()
    }
    guard number <= UInt64(Int64.max), Change.clamped(state.time) == state.time else {
      throw reader.failure("a change that can't be")
    }
    ranges.append(range)
    for _ in 0..<(try reader.count()) {
      let block = try readBlock(from: &reader, after: number, state)
      guard block.end.named <= range.mentions.count else {
        throw reader.failure("a block that names nobody")
      }
      append(block)
      number = block.last
      state = block.end
    }
    guard state.named == range.mentions.count, ranges[ranges.count - 1].blocks.count > 0 else {
      throw reader.failure("names that nobody has given")
    }
  }

  private func readBlock(
    from reader: inout ByteReader, after number: UInt64, _ start: PackedState
  ) throws(DecodingFailure) -> PackedBlock {
    let count = try reader.count()
    // A block ends where the next multiple of the largest count is, at the latest.
    let room = PackedBlock.largestCount - Int(number % UInt64(PackedBlock.largestCount))
    guard count > 0, count <= room else { throw reader.failure("a block of \(count) changes") }
    let length = try reader.count()
    guard length > 4, length <= Self.maximumBlock else {
      throw reader.failure("a block of \(length) bytes")
    }
    var end = start
    let (time, isBeyond) = start.time.addingReportingOverflow(try reader.signed())
    let (ticks, isTooLong) = UInt64(count).addingReportingOverflow(try reader.varint())
    let (lamport, isTooLate) = start.lamport.addingReportingOverflow(ticks)
    guard !isBeyond, !isTooLong, !isTooLate, Change.clamped(time) == time else {
      throw reader.failure("a time beyond all numbers")
    }
    end.time = time
    end.lamport = lamport
    end.named += try reader.count()
    return PackedBlock(
      first: number + 1, count: count, offset: self.end, length: length, start: start, end: end,
      links: Array(try reader.counted()))
  }
}
