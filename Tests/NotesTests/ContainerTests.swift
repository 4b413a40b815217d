import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite struct `A container` {
  private let bytes = Container.encode(Array("hello".utf8), as: .changes)

  /// The bytes that every file begins with are a promise: they must not change.
  @Test func `is what it was`() {
    // Computed by another program, from the description of the format alone.
    let expected =
      "8a444e620d0a01012143492a050000008cd000ee"
      + "4cbb719a68656c6c6f"
    let text = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(text == expected)
    #expect(bytes == containerHeader(1) + containerBlock(Array("hello".utf8)))
  }

  @Test func `is read as it was written, whatever it holds`() throws {
    for count in [0, 1, 127, 128, 70_000] {
      let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let bytes = Container.encode(content, as: .manifest)
      #expect(try Container.decode(bytes, as: .manifest) == content[...])
    }
  }

  @Test func `with a wrong bit, too few bytes or too many is refused as damaged`() {
    for bit in 0..<8 * bytes.count {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      expectDamage(damaged)
    }
    for length in bytes.indices { expectDamage(Array(bytes[..<length])) }
    expectDamage(bytes + [0])
    expectDamage([])
  }

  private func expectDamage(_ bytes: [UInt8]) {
    do {
      _ = try Container.decode(bytes, as: .changes)
      Issue.record("read: \(bytes)")
    } catch { #expect(!error.isOfLaterVersion, "\(bytes)") }
  }

  @Test func `of another kind is refused, and one of a later version told from damage`() {
    #expect(throws: DecodingFailure.self) { try Container.decode(bytes, as: .archive) }
    for (version, isLater) in [(UInt8(0), false), (2, true), (255, true)] {
      let bytes = containerHeader(1, version: version) + containerBlock([1])
      do {
        _ = try Container.decode(bytes, as: .changes)
        Issue.record("read")
      } catch { #expect(error.isOfLaterVersion == isLater) }
    }
  }

  /// As a kill in the middle of a write leaves it.
  @Test func `tells a block that is cut from one that is damaged`() throws {
    let block = containerBlock([1, 2, 3])
    for length in block.indices {
      var reader = ByteReader(block[..<length])
      #expect(try reader.blockIfComplete() == nil && reader.offset == 0, "\(length)")
    }
    for bit in 0..<8 * block.count {
      var damaged = block
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      var reader = ByteReader(damaged)
      #expect(throws: DecodingFailure.self) { try reader.blockIfComplete() }
    }
  }
}
