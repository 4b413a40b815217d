/// SHA-256 (FIPS 180-4), fed piece by piece.
///
///     var hash = SHA256()
///     hash.update(Array("abc".utf8))
///     hash.finalize()  // 32 bytes, ba 78 16 bf …
///
/// It names contents and chains the records of a log. It is not written to run in constant time, so
/// nothing secret may go through it.
public struct SHA256: Sendable {
  private var state = SHA256.initial
  /// The bytes after the last whole block: fewer than 64.
  private var rest: [UInt8] = []
  /// The number of bytes hashed so far.
  private var count: UInt64 = 0

  /// A hash that has seen nothing yet.
  public init() {}

  /// Adds `bytes` to what is hashed.
  ///
  /// - Complexity: O(`bytes.count`).
  public mutating func update(_ bytes: ArraySlice<UInt8>) {
    count &+= UInt64(bytes.count)
    var bytes = bytes
    if !rest.isEmpty {
      let missing = bytes.prefix(64 - rest.count)
      rest += missing
      bytes = bytes.dropFirst(missing.count)
      guard rest.count == 64 else { return }
      Self.compress(&state, Self.block(rest.span, at: 0))
      rest.removeAll(keepingCapacity: true)
    }
    let whole = bytes.count & ~63
    Self.compressBlocks(&state, bytes.span, upTo: whole)
    rest += bytes.dropFirst(whole)
  }

  /// Adds `bytes` to what is hashed.
  ///
  /// - Complexity: O(`bytes.count`).
  public mutating func update(_ bytes: [UInt8]) {
    update(bytes[...])
  }

  /// The 32 bytes of the hash. The value itself stays as it is and can take more bytes.
  public func finalize() -> [UInt8] {
    var words = state
    Self.finish(&words, rest.span, from: 0, count: count)
    var digest: [UInt8] = []
    digest.reserveCapacity(32)
    for i in 0..<8 {
      for shift: UInt32 in [24, 16, 8, 0] {
        digest.append(UInt8(truncatingIfNeeded: words[i] >> shift))
      }
    }
    return digest
  }

  /// The hash as 64 lower-case hexadecimal digits.
  public var hexDigest: String {
    var digits: [UInt8] = []
    for byte in finalize() {
      for digit in [byte >> 4, byte & 15] { digits.append(digit < 10 ? 48 + digit : 87 + digit) }
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The hash of `bytes` as 64 lower-case hexadecimal digits.
  public static func hexDigest(of bytes: [UInt8]) -> String {
    var hash = SHA256()
    hash.update(bytes)
    return hash.hexDigest
  }

  /// The first 8 bytes of the hash of `bytes`, read as a big-endian integer.
  ///
  /// Allocates nothing: for callers that hash many small things.
  ///
  /// - Complexity: O(`bytes.count`).
  public static func prefix64(of bytes: ArraySlice<UInt8>) -> UInt64 {
    var words = initial
    let span = bytes.span
    let whole = span.count & ~63
    compressBlocks(&words, span, upTo: whole)
    finish(&words, span, from: whole, count: UInt64(span.count))
    return UInt64(words[0]) << 32 | UInt64(words[1])
  }
}

extension SHA256 {
  private static let initial = SIMD8<UInt32>(
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a,
    0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19)

  private static let k: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1,
    0x923f_82a4, 0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3,
    0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786,
    0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147,
    0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13,
    0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a,
    0x5b9c_ca4f, 0x682e_6ff3, 0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208,
    0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]

  private static func compressBlocks(
    _ state: inout SIMD8<UInt32>, _ bytes: Span<UInt8>, upTo end: Int
  ) {
    var at = 0
    while at < end {
      compress(&state, block(bytes, at: at))
      at &+= 64
    }
  }

  /// The 64 bytes from `at` as big-endian words.
  @inline(__always)
  private static func block(_ bytes: Span<UInt8>, at: Int) -> SIMD16<UInt32> {
    var words = SIMD16<UInt32>()
    for i in 0..<16 {
      let p = at &+ i &* 4
      words[i] =
        UInt32(bytes[p]) << 24 | UInt32(bytes[p &+ 1]) << 16 | UInt32(bytes[p &+ 2]) << 8
        | UInt32(bytes[p &+ 3])
    }
    return words
  }

  /// Takes in the last, incomplete block with its padding: a one bit, zeros, the length in bits.
  private static func finish(
    _ state: inout SIMD8<UInt32>, _ bytes: Span<UInt8>, from start: Int, count: UInt64
  ) {
    var words = SIMD16<UInt32>()
    let left = bytes.count &- start
    let whole = left >> 2
    for i in 0..<whole {
      let p = start &+ i &* 4
      words[i] =
        UInt32(bytes[p]) << 24 | UInt32(bytes[p &+ 1]) << 16 | UInt32(bytes[p &+ 2]) << 8
        | UInt32(bytes[p &+ 3])
    }
    for i in (whole &* 4)..<left {
      words[whole] |= UInt32(bytes[start &+ i]) << UInt32(24 &- (i & 3) &* 8)
    }
    words[left >> 2] |= 0x80 << UInt32(24 &- (left & 3) &* 8)
    if left >= 56 {
      compress(&state, words)
      words = SIMD16<UInt32>()
    }
    words[14] = UInt32(truncatingIfNeeded: count >> 29)
    words[15] = UInt32(truncatingIfNeeded: count << 3)
    compress(&state, words)
  }

  @inline(__always)
  private static func rotate(_ x: UInt32, _ n: UInt32) -> UInt32 { x &>> n | x &<< (32 &- n) }

  @inline(__always)
  private static func spread0(_ x: UInt32) -> UInt32 { rotate(x, 7) ^ rotate(x, 18) ^ x &>> 3 }

  @inline(__always)
  private static func spread1(_ x: UInt32) -> UInt32 { rotate(x, 17) ^ rotate(x, 19) ^ x &>> 10 }

  /// One round. Instead of moving eight variables along, the caller names them in turn.
  @inline(__always)
  private static func round(
    _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32,
    _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32, _ input: UInt32
  ) {
    let first =
      h &+ (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ (g ^ (e & (f ^ g))) &+ input
    d = d &+ first
    h = first &+ (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ ((a & b) | (c & (a | b)))
  }

  /// The compression function. The sixteen words of the schedule are variables of their own, because
  /// an array of them is not kept in registers.
  private static func compress(_ state: inout SIMD8<UInt32>, _ block: SIMD16<UInt32>) {
    let k = Self.k.span
    var w0 = block[0]
    var w1 = block[1]
    var w2 = block[2]
    var w3 = block[3]
    var w4 = block[4]
    var w5 = block[5]
    var w6 = block[6]
    var w7 = block[7]
    var w8 = block[8]
    var w9 = block[9]
    var w10 = block[10]
    var w11 = block[11]
    var w12 = block[12]
    var w13 = block[13]
    var w14 = block[14]
    var w15 = block[15]
    var a = state[0]
    var b = state[1]
    var c = state[2]
    var d = state[3]
    var e = state[4]
    var f = state[5]
    var g = state[6]
    var h = state[7]
    var t = 0
    while true {
      round(a, b, c, &d, e, f, g, &h, k[t &+ 0] &+ w0)
      round(h, a, b, &c, d, e, f, &g, k[t &+ 1] &+ w1)
      round(g, h, a, &b, c, d, e, &f, k[t &+ 2] &+ w2)
      round(f, g, h, &a, b, c, d, &e, k[t &+ 3] &+ w3)
      round(e, f, g, &h, a, b, c, &d, k[t &+ 4] &+ w4)
      round(d, e, f, &g, h, a, b, &c, k[t &+ 5] &+ w5)
      round(c, d, e, &f, g, h, a, &b, k[t &+ 6] &+ w6)
      round(b, c, d, &e, f, g, h, &a, k[t &+ 7] &+ w7)
      round(a, b, c, &d, e, f, g, &h, k[t &+ 8] &+ w8)
      round(h, a, b, &c, d, e, f, &g, k[t &+ 9] &+ w9)
      round(g, h, a, &b, c, d, e, &f, k[t &+ 10] &+ w10)
      round(f, g, h, &a, b, c, d, &e, k[t &+ 11] &+ w11)
      round(e, f, g, &h, a, b, c, &d, k[t &+ 12] &+ w12)
      round(d, e, f, &g, h, a, b, &c, k[t &+ 13] &+ w13)
      round(c, d, e, &f, g, h, a, &b, k[t &+ 14] &+ w14)
      round(b, c, d, &e, f, g, h, &a, k[t &+ 15] &+ w15)
      t &+= 16
      if t == 64 { break }
      w0 = w0 &+ spread1(w14) &+ w9 &+ spread0(w1)
      w1 = w1 &+ spread1(w15) &+ w10 &+ spread0(w2)
      w2 = w2 &+ spread1(w0) &+ w11 &+ spread0(w3)
      w3 = w3 &+ spread1(w1) &+ w12 &+ spread0(w4)
      w4 = w4 &+ spread1(w2) &+ w13 &+ spread0(w5)
      w5 = w5 &+ spread1(w3) &+ w14 &+ spread0(w6)
      w6 = w6 &+ spread1(w4) &+ w15 &+ spread0(w7)
      w7 = w7 &+ spread1(w5) &+ w0 &+ spread0(w8)
      w8 = w8 &+ spread1(w6) &+ w1 &+ spread0(w9)
      w9 = w9 &+ spread1(w7) &+ w2 &+ spread0(w10)
      w10 = w10 &+ spread1(w8) &+ w3 &+ spread0(w11)
      w11 = w11 &+ spread1(w9) &+ w4 &+ spread0(w12)
      w12 = w12 &+ spread1(w10) &+ w5 &+ spread0(w13)
      w13 = w13 &+ spread1(w11) &+ w6 &+ spread0(w14)
      w14 = w14 &+ spread1(w12) &+ w7 &+ spread0(w15)
      w15 = w15 &+ spread1(w13) &+ w8 &+ spread0(w0)
    }
    state = state &+ SIMD8(a, b, c, d, e, f, g, h)
  }
}
