/// The bytes of steps, while they are written.
///
/// The memory is managed here: a step takes a few bytes, and an array asks for each whether it is alone. It is safe because `count` is
/// at most `capacity - room` between two calls, and each call writes up to `room` bytes before it makes room again.
struct StepBytes: ~Copyable, StepWriting {
  let stepTable = StepTable.shared
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  /// The number of bytes written.
  private(set) var count = 0

  /// A number takes ten bytes at most.
  private static var room: Int { 16 }

  /// With memory for so many bytes.
  init(capacity: Int) {
    self.capacity = capacity + Self.room
    memory = .allocate(byteCount: self.capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  @inline(__always)
  mutating func put(_ bytes: UInt32, count: Int) {
    precondition(count <= 4)
    memory.storeBytes(of: bytes.littleEndian, toByteOffset: self.count, as: UInt32.self)
    self.count &+= count
    makeRoom()
  }

  @inline(__always)
  mutating func byte(_ byte: UInt8) { put(UInt32(byte), count: 1) }

  @inline(__always)
  mutating func varint(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      memory.storeBytes(
        of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
      count &+= 1
      rest &>>= 7
    }
    byte(UInt8(truncatingIfNeeded: rest))
  }

  @inline(__always)
  private mutating func makeRoom() {
    if count > capacity &- Self.room { grow() }
  }

  @inline(never)
  private mutating func grow() {
    let old = memory
    capacity *= 2
    memory = .allocate(byteCount: capacity, alignment: 16)
    memory.copyMemory(from: old, byteCount: count)
    old.deallocate()
  }

  /// Writes all of them.
  func append(to writer: inout ByteWriter) {
    writer.raw(UnsafeRawBufferPointer(start: memory, count: count))
  }
}
