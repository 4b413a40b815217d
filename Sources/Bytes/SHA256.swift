/// SHA-256 (FIPS 180-4), fed piece by piece.
///
///     var hash = SHA256()
///     hash.update(Array("abc".utf8))
///     hash.finalize()  // 32 bytes, ba 78 16 bf …
///
/// It names contents and chains the records of a log. It is not written to run in constant time, so
/// nothing secret may go through it.
public struct SHA256: Sendable {
  private var state = State()
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
      Self.compress(&state, Block(rest.span, at: 0))
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
    let words = finished
    var digest: [UInt8] = []
    digest.reserveCapacity(32)
    for word in [words.a, words.b, words.c, words.d, words.e, words.f, words.g, words.h] {
      for shift: UInt32 in [24, 16, 8, 0] {
        digest.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return digest
  }

  /// The hash as 64 lower-case hexadecimal digits.
  public var hexDigest: String {
    let words = finished
    var digits = [UInt8](repeating: 0, count: 64)
    var target = digits.mutableSpan
    Self.digits(words.a).store(into: &target, at: 0)
    Self.digits(words.b).store(into: &target, at: 8)
    Self.digits(words.c).store(into: &target, at: 16)
    Self.digits(words.d).store(into: &target, at: 24)
    Self.digits(words.e).store(into: &target, at: 32)
    Self.digits(words.f).store(into: &target, at: 40)
    Self.digits(words.g).store(into: &target, at: 48)
    Self.digits(words.h).store(into: &target, at: 56)
    return String(decoding: digits, as: UTF8.self)
  }

  /// The words after the last, incomplete block.
  private var finished: State {
    var words = state
    Self.finish(&words, rest.span, from: 0, count: count)
    return words
  }

  /// The eight hexadecimal digits of a word, the first one in the lowest byte.
  private static func digits(_ word: UInt32) -> ByteWord {
    // Four bits in each byte.
    var bits = UInt64(word.byteSwapped)
    bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
    bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
    bits = (bits >> 4 | bits << 8) & 0x0F0F_0F0F_0F0F_0F0F
    // 16 is reached from ten on, and then the letters are 39 behind the digits.
    let isLetter = (bits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return ByteWord(bits: bits + 0x3030_3030_3030_3030 + isLetter * 39)
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
  public static func prefix64(of bytes: ArraySlice<UInt8>) -> UInt64 { prefix128(of: bytes).high }

  /// The first 16 bytes of the hash of `bytes`, read as two big-endian integers. Allocates nothing.
  ///
  /// - Complexity: O(`bytes.count`).
  public static func prefix128(of bytes: ArraySlice<UInt8>) -> (high: UInt64, low: UInt64) {
    var words = State()
    let span = bytes.span
    let whole = span.count & ~63
    compressBlocks(&words, span, upTo: whole)
    finish(&words, span, from: whole, count: UInt64(span.count))
    return (
      high: UInt64(words.a) << 32 | UInt64(words.b), low: UInt64(words.c) << 32 | UInt64(words.d)
    )
  }
}

extension SHA256 {
  /// The eight words that a block is taken into.
  private struct State {
    var a: UInt32 = 0x6a09_e667
    var b: UInt32 = 0xbb67_ae85
    var c: UInt32 = 0x3c6e_f372
    var d: UInt32 = 0xa54f_f53a
    var e: UInt32 = 0x510e_527f
    var f: UInt32 = 0x9b05_688c
    var g: UInt32 = 0x1f83_d9ab
    var h: UInt32 = 0x5be0_cd19
  }

  /// The 64 bytes of a block, eight big-endian ones in each.
  private struct Block {
    let p0, p1, p2, p3, p4, p5, p6: UInt64
    var p7: UInt64

    init(
      _ p0: UInt64, _ p1: UInt64, _ p2: UInt64, _ p3: UInt64, _ p4: UInt64, _ p5: UInt64,
      _ p6: UInt64, _ p7: UInt64
    ) {
      (self.p0, self.p1, self.p2, self.p3) = (p0, p1, p2, p3)
      (self.p4, self.p5, self.p6, self.p7) = (p4, p5, p6, p7)
    }

    /// Those from `at` on.
    @inline(__always)
    init(_ bytes: Span<UInt8>, at: Int) {
      p0 = ByteWord(bytes, at: at).bits.byteSwapped
      p1 = ByteWord(bytes, at: at &+ 8).bits.byteSwapped
      p2 = ByteWord(bytes, at: at &+ 16).bits.byteSwapped
      p3 = ByteWord(bytes, at: at &+ 24).bits.byteSwapped
      p4 = ByteWord(bytes, at: at &+ 32).bits.byteSwapped
      p5 = ByteWord(bytes, at: at &+ 40).bits.byteSwapped
      p6 = ByteWord(bytes, at: at &+ 48).bits.byteSwapped
      p7 = ByteWord(bytes, at: at &+ 56).bits.byteSwapped
    }
  }

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

  private static func compressBlocks(_ state: inout State, _ bytes: Span<UInt8>, upTo end: Int) {
    var at = 0
    while at < end {
      compress(&state, Block(bytes, at: at))
      at &+= 64
    }
  }

  /// Takes in the last, incomplete block with its padding: a one bit, zeros, the length in bits.
  private static func finish(
    _ state: inout State, _ bytes: Span<UInt8>, from start: Int, count: UInt64
  ) {
    let left = bytes.count &- start
    var block = Block(
      tail(bytes, start), tail(bytes, start &+ 8), tail(bytes, start &+ 16),
      tail(bytes, start &+ 24), tail(bytes, start &+ 32), tail(bytes, start &+ 40),
      tail(bytes, start &+ 48), tail(bytes, start &+ 56))
    if left >= 56 {
      compress(&state, block)
      block = Block(0, 0, 0, 0, 0, 0, 0, 0)
    }
    block.p7 = count &<< 3
    compress(&state, block)
  }

  /// Eight bytes of the padded end, from `at` on.
  @inline(__always)
  private static func tail(_ bytes: Span<UInt8>, _ at: Int) -> UInt64 {
    let left = bytes.count &- at
    if left >= ByteWord.size { return ByteWord(bytes, at: at).bits.byteSwapped }
    if left < 0 { return 0 }
    let word = ByteWord(bytes, at: at, count: left).bits.byteSwapped
    return word | 0x80 &<< UInt64(truncatingIfNeeded: 56 &- left &* 8)
  }

  @inline(__always)
  private static func spread0(_ x: UInt32) -> UInt32 {
    (x &>> 7 | x &<< 25) ^ (x &>> 18 | x &<< 14) ^ x &>> 3
  }

  @inline(__always)
  private static func spread1(_ x: UInt32) -> UInt32 {
    (x &>> 17 | x &<< 15) ^ (x &>> 19 | x &<< 13) ^ x &>> 10
  }

  /// One round. Instead of moving eight variables along, the caller names them in turn.
  @inline(__always)
  private static func round(
    _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32,
    _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32, _ input: UInt32
  ) {
    let mixed = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
    let first = h &+ mixed &+ (g ^ (e & (f ^ g))) &+ input
    d = d &+ first
    let other = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
    h = first &+ other &+ ((a & b) | (c & (a | b)))
  }

  /// The compression function.
  ///
  /// The sixteen words of the schedule are variables of their own, because an array of them is not kept in registers.
  private static func compress(_ state: inout State, _ block: Block) {
    let k = Self.k
    var w0 = UInt32(truncatingIfNeeded: block.p0 &>> 32)
    var w1 = UInt32(truncatingIfNeeded: block.p0)
    var w2 = UInt32(truncatingIfNeeded: block.p1 &>> 32)
    var w3 = UInt32(truncatingIfNeeded: block.p1)
    var w4 = UInt32(truncatingIfNeeded: block.p2 &>> 32)
    var w5 = UInt32(truncatingIfNeeded: block.p2)
    var w6 = UInt32(truncatingIfNeeded: block.p3 &>> 32)
    var w7 = UInt32(truncatingIfNeeded: block.p3)
    var w8 = UInt32(truncatingIfNeeded: block.p4 &>> 32)
    var w9 = UInt32(truncatingIfNeeded: block.p4)
    var w10 = UInt32(truncatingIfNeeded: block.p5 &>> 32)
    var w11 = UInt32(truncatingIfNeeded: block.p5)
    var w12 = UInt32(truncatingIfNeeded: block.p6 &>> 32)
    var w13 = UInt32(truncatingIfNeeded: block.p6)
    var w14 = UInt32(truncatingIfNeeded: block.p7 &>> 32)
    var w15 = UInt32(truncatingIfNeeded: block.p7)
    var a = state.a
    var b = state.b
    var c = state.c
    var d = state.d
    var e = state.e
    var f = state.f
    var g = state.g
    var h = state.h
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
    state.a &+= a
    state.b &+= b
    state.c &+= c
    state.d &+= d
    state.e &+= e
    state.f &+= f
    state.g &+= g
    state.h &+= h
  }
}
