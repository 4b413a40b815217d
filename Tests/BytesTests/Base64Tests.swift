import Bytes
import Foundation
import TestSupport
import Testing

@Suite
struct `Base64 of bytes` {
  @Test func `gives the values of the standard`() {
    let values = [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
      ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ]
    for (plain, encoded) in values {
      #expect(Base64.encode(plain.utf8) == encoded)
      #expect(Base64.decode(encoded.utf8) == Array(plain.utf8))
      let unpadded = encoded.filter { $0 != "=" }
      #expect(Base64.encode(plain.utf8, urlSafe: true) == unpadded)
      #expect(Base64.decode(unpadded.utf8, urlSafe: true) == Array(plain.utf8))
    }
    #expect(Base64.encode([0xFB, 0xEF, 0xFF]) == "++//")
    #expect(Base64.encode([0xFB, 0xEF, 0xFF], urlSafe: true) == "--__")
  }

  @Test func `gives the same as Foundation, and back again`() {
    var generator = SplitMix64(seed: 1)
    for length in 0..<300 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      let encoded = Base64.encode(bytes)
      #expect(encoded == Data(bytes).base64EncodedString())
      #expect(Base64.decode(encoded.utf8) == bytes)
      let urlSafe = Base64.encode(bytes[...], urlSafe: true)
      #expect(Base64.decode(Array(urlSafe.utf8), urlSafe: true) == bytes)
    }
  }

  @Test(arguments: [
    "Z", "Zg", "Zg=", "Zg===", "Zm8", "Zm8==", "=", "==", "====", "Z===", "Zm9v=", "Zm9v====",
    "Zh==",
    "Zm9=", "Zm 9", "Zm9v\n", "Zm9-", "Zm9_", "Zg==Zg==", "Z=g=", "Zm9é", "\u{0}\u{0}\u{0}\u{0}",
  ])
  func `decodes nothing that it would not write`(text: String) {
    #expect(Base64.decode(text.utf8) == nil)
  }

  @Test(arguments: ["Z", "Zg==", "Zm8=", "Zh", "Zm9", "Zm9+", "Zm9/", "Zg=", "Zm9vY"])
  func `decodes nothing that it would not write for a URL`(text: String) {
    #expect(Base64.decode(text.utf8, urlSafe: true) == nil)
  }
}
