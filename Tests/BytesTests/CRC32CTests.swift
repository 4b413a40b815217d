import Bytes
import Testing

@Suite struct `CRC-32C` {
  /// From RFC 3720, appendix B.4, and the catalogue's check value.
  @Test(
    arguments: [
      ([UInt8](), 0),
      (Array("123456789".utf8), 0xe306_9283),
      ([UInt8](repeating: 0, count: 32), 0x8a91_36aa),
      ([UInt8](repeating: 0xff, count: 32), 0x62a8_ab43),
      (Array(0..<32), 0x46dd_794e),
      (Array((0..<32).reversed()), 0x113f_db5c),
    ] as [([UInt8], UInt32)])
  func `has the published values`(bytes: [UInt8], sum: UInt32) {
    #expect(CRC32C.checksum(of: bytes[...]) == sum)
  }

  @Test func `does not depend on how the bytes are cut`() {
    let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 91) }
    for cut in 0...100 {
      var sum = CRC32C()
      sum.update(bytes[..<cut])
      sum.update(bytes[cut...])
      #expect(sum.value == CRC32C.checksum(of: bytes[...]))
    }
  }
}
