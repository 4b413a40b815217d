internal import Bytes
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
  static let magic: [UInt8] = Array("DNPC".utf8)
  /// The format that is written.
  static let format: UInt8 = 3
  static let headLength = magic.count + 1 + 16
  /// The length of the directory, and its checksum.
  static let footerLength = 8 + 4
  /// No directory is longer, and no block: what claims to be is not read. The longest change has 2^26 bytes.
  static let maximumLength = 1 << 28
  static let maximumBlock = 1 << 27

  let notebook: Identifier
  let format: UInt8
  /// In the order of the replicas.
  var ranges: [PackedRange] = []
  /// Where the blocks end.
  var end = headLength

  init(notebook: Identifier, format: UInt8 = format) {
    self.notebook = notebook
    self.format = format
  }

  mutating func append(_ block: PackedBlock) {
    ranges[ranges.count - 1].blocks.append(block)
    end += block.length
  }

  /// The directory and the footer.
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
    let length = writer.bytes.count
    writer.fixed(UInt64(length))
    writer.fixed(CRC32C.checksum(of: writer.bytes[...]))
    return writer.bytes
  }

  private static func encode(_ block: PackedBlock, into writer: inout ByteWriter) {
    writer.varint(block.count)
    writer.varint(block.length)
    writer.signed(block.end.time - block.start.time)
    writer.varint(block.end.lamport - block.start.lamport - UInt64(block.count))
    writer.varint(block.end.named - block.start.named)
    writer.counted(block.links)
  }

  /// Where the directory and its footer are in a file of `length` bytes, of which these are the last: the footer.
  static func range(
    in length: Int, footer: ArraySlice<UInt8>
  ) throws(DecodingFailure) -> Range<Int> {
    guard length >= headLength + footerLength, footer.count == footerLength else {
      throw DecodingFailure(offset: 0, reason: "too short for packed changes")
    }
    var reader = ByteReader(footer)
    let count = try reader.fixed(UInt64.self)
    guard count <= UInt64(length - headLength - footerLength) else {
      throw reader.failure("a directory larger than the file")
    }
    guard count <= UInt64(maximumLength) else {
      throw reader.failure("a directory of \(count) bytes")
    }
    return length - footerLength - Int(count)..<length
  }

  /// The notebook and the format that the beginning of a file names.
  static func head(
    _ bytes: ArraySlice<UInt8>
  ) throws(DecodingFailure) -> (notebook: Identifier, format: UInt8) {
    var reader = ByteReader(bytes)
    guard bytes.starts(with: magic) else { throw reader.failure("these are no packed changes") }
    _ = try reader.raw(magic.count)
    let format = try reader.byte()
    guard (1...Self.format).contains(format) else {
      throw reader.failure("packed changes of a format that this version doesn't know")
    }
    return (try reader.identifier(), format)
  }

  /// Reads what `encoded` writes, which is all of `bytes`, and begins at `end`. `head`: the beginning of the file.
  static func decode(
    _ bytes: ArraySlice<UInt8>, at end: Int, head: ArraySlice<UInt8>
  ) throws(DecodingFailure) -> PackedDirectory {
    var reader = ByteReader(bytes.dropLast(footerLength))
    var footer = ByteReader(bytes.suffix(4))
    guard try footer.fixed(UInt32.self) == CRC32C.checksum(of: bytes.dropLast(4)) else {
      throw reader.failure("the checksum of the directory is wrong")
    }
    let (notebook, format) = try Self.head(head)
    var directory = PackedDirectory(notebook: try reader.identifier(), format: format)
    guard directory.notebook == notebook else {
      throw reader.failure("two notebooks in one file")
    }
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
