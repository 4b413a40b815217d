// Checksums, written again here so that nothing under test checks itself.

import Foundation

/// SHA-256 (FIPS 180-4) in hexadecimal.
package func sha256(_ text: [UInt8]) -> String {
  var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]
  var message = text + [0x80]
  message += [UInt8](repeating: 0, count: (120 - message.count % 64) % 64)
  for shift in stride(from: 56, through: 0, by: -8) {
    message.append(UInt8(truncatingIfNeeded: (text.count * 8) >> shift))
  }
  message.withUnsafeBufferPointer { message in
    sha256Constants.withUnsafeBufferPointer { constants in
      withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
        for start in stride(from: 0, to: message.count, by: 64) {
          compress(message, start, constants, words, &state)
        }
      }
    }
  }
  return state.map { String(format: "%08x", $0) }.joined()
}

private func rotate(_ word: UInt32, _ by: UInt32) -> UInt32 { word &>> by | word &<< (32 &- by) }

private func compress(
  _ message: UnsafeBufferPointer<UInt8>, _ start: Int, _ constants: UnsafeBufferPointer<UInt32>,
  _ words: UnsafeMutableBufferPointer<UInt32>, _ state: inout [UInt32]
) {
  var index = 0
  while index < 16 {
    let at = start &+ index &* 4
    let high = UInt32(message[at]) &<< 24 | UInt32(message[at &+ 1]) &<< 16
    words[index] = high | UInt32(message[at &+ 2]) &<< 8 | UInt32(message[at &+ 3])
    index &+= 1
  }
  while index < 64 {
    let (x, y) = (words[index &- 15], words[index &- 2])
    let small = rotate(x, 7) ^ rotate(x, 18) ^ x &>> 3
    let large = rotate(y, 17) ^ rotate(y, 19) ^ y &>> 10
    words[index] = words[index &- 16] &+ small &+ words[index &- 7] &+ large
    index &+= 1
  }
  var (a, b, c, d) = (state[0], state[1], state[2], state[3])
  var (e, f, g, h) = (state[4], state[5], state[6], state[7])
  index = 0
  while index < 64 {
    let choice = (e & f) ^ (~e & g)
    let sum = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
    let first = h &+ sum &+ choice &+ constants[index] &+ words[index]
    let majority = (a & b) ^ (a & c) ^ (b & c)
    let second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ majority
    (h, g, f, e) = (g, f, e, d &+ first)
    (d, c, b, a) = (c, b, a, first &+ second)
    index &+= 1
  }
  for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
}

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
private let sha256Constants: [UInt32] = {
  var constants: [UInt32] = []
  var candidate = 2
  while constants.count < 64 {
    if !(2..<candidate).contains(where: { candidate % $0 == 0 }) {
      // The largest x with x³ ≤ prime · 2⁹⁶, found without rounding, ends in these bits.
      var low: UInt64 = 0
      var high: UInt64 = 7 << 32
      while low + 1 < high {
        let middle = (low + high) / 2
        if cube(of: middle, isBelow: UInt64(candidate)) { low = middle } else { high = middle }
      }
      constants.append(UInt32(truncatingIfNeeded: low))
    }
    candidate += 1
  }
  return constants
}()

/// Whether root³ < prime · 2⁹⁶.
private func cube(of root: UInt64, isBelow prime: UInt64) -> Bool {
  let square = root.multipliedFullWidth(by: root)
  let low = square.low.multipliedFullWidth(by: root)
  return square.high &* root &+ low.high < prime << 32
}

/// CRC-32C (Castagnoli).
package func crc32c(_ bytes: some Sequence<UInt8>) -> UInt32 {
  var crc = ~UInt32(0)
  for byte in bytes {
    crc ^= UInt32(byte)
    for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0x82F6_3B78 : 0) }
  }
  return ~crc
}
