import Bytes
import TestSupport
import Testing

@Suite struct `SHA-256` {
  static let million = [UInt8](repeating: 0x61, count: 1_000_000)

  /// From FIPS 180-4 and its examples.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
        + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func `has the published values`(text: String, digest: String) {
    var hash = SHA256()
    hash.update(Array(text.utf8))
    #expect(hex(hash.finalize()) == digest)
  }

  @Test func `has the published value of a million letters`() {
    var hash = SHA256()
    hash.update(Self.million)
    let digest = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    #expect(hex(hash.finalize()) == digest)
  }

  @Test func `does not depend on how the bytes are cut`() {
    let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    for count in 0...300 {
      let whole = bytes.prefix(count)
      var pieces = SHA256()
      for piece in stride(from: 0, to: count, by: 1 + count % 71) {
        pieces.update(bytes[piece..<min(count, piece + 1 + count % 71)])
      }
      var once = SHA256()
      once.update(whole)
      let digest = once.finalize()
      #expect(pieces.finalize() == digest)
      #expect(once.finalize() == digest, "finalize changes nothing")
      let start = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      #expect(SHA256.prefix64(of: whole) == start)
    }
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
