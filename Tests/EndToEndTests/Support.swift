import Foundation
import JSONRPC
import Testing

/// JSON to be sent.
enum JSON: Sendable {
  case null
  case bool(Bool)
  case int(Int)
  case string(String)
  case utf8([UInt8])
  case array([JSON])
  case object([(String, JSON)])
  /// Anything, as it stands.
  case raw(String)

  static func request(_ id: JSON, _ method: String, _ params: JSON? = nil) -> JSON {
    var members: [(String, JSON)] = [("jsonrpc", "2.0"), ("id", id), ("method", .string(method))]
    if let params { members.append(("params", params)) }
    return .object(members)
  }

  static func notification(_ method: String, _ params: JSON? = nil) -> JSON {
    var members: [(String, JSON)] = [("jsonrpc", "2.0"), ("method", .string(method))]
    if let params { members.append(("params", params)) }
    return .object(members)
  }

  /// The same object with a member added or replaced.
  func with(_ name: String, _ value: JSON) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { $0.0 != name } + [(name, value)])
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .int(let value): bytes += "\(value)".utf8
    case .string(let value): Self.write(Array(value.utf8), to: &bytes)
    case .utf8(let value): Self.write(value, to: &bytes)
    case .array(let values):
      bytes.append(0x5B)
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(0x2C) }
        value.write(to: &bytes)
      }
      bytes.append(0x5D)
    case .object(let members):
      bytes.append(0x7B)
      for (index, (name, value)) in members.enumerated() {
        if index > 0 { bytes.append(0x2C) }
        Self.write(Array(name.utf8), to: &bytes)
        bytes.append(0x3A)
        value.write(to: &bytes)
      }
      bytes.append(0x7D)
    case .raw(let text): bytes += text.utf8
    }
  }

  private static func write(_ string: [UInt8], to bytes: inout [UInt8]) {
    bytes.append(0x22)
    for byte in string {
      switch byte {
      case 0x22, 0x5C: bytes += [0x5C, byte]
      case 0x0A: bytes += [0x5C, 0x6E]
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes += "\\u".utf8
        bytes += String(repeating: "0", count: 4 - digits.utf8.count).utf8
        bytes += digits.utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(0x22)
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  init(stringLiteral value: String) { self = .string(value) }
  init(integerLiteral value: Int) { self = .int(value) }
  init(nilLiteral: ()) { self = .null }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(arrayLiteral elements: JSON...) { self = .array(elements) }
  init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements) }
}

extension JSONValue {
  /// The value as it was written.
  var written: String { String(decoding: rawBytes, as: UTF8.self) }

  /// Of an error: its code.
  var code: Int? { self["code"]?.integer }
  /// Of an error: `data.reason`.
  var reason: String? { self["data"]?["reason"]?.string }
}

/// Where the programs under test keep what they keep beside notebooks: not with the user's own.
let stateFolder = NSTemporaryDirectory() + "decent-notes-tests-state"

/// A folder that is gone when the test is.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "decent-notes-tests-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A path inside, where nothing is yet.
  func callAsFunction(_ name: String) -> String { path + "/" + name }
}

/// Every file below a folder, with its contents and the time of its last change.
func contents(of folder: String) throws -> [String: String] {
  var found: [String: String] = [:]
  for name in try FileManager.default.subpathsOfDirectory(atPath: folder) + [""] {
    let path = folder + "/" + name
    var status = stat()
    guard lstat(path, &status) == 0 else { throw Failure("\(path) vanished") }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    let bytes = FileManager.default.contents(atPath: path) ?? Data()
    found[name] = "\(status.st_mode) \(time.tv_sec).\(time.tv_nsec) \(bytes.base64EncodedString())"
  }
  return found
}

/// The logs below a notebook's folder.
func logs(of folder: String) throws -> [String] {
  try FileManager.default.subpathsOfDirectory(atPath: folder)
    .filter { $0.hasSuffix(".open") || $0.hasSuffix(".seg") }
    .map { folder + "/" + $0 }
}

/// SplitMix64: the same numbers for the same seed.
struct Random: RandomNumberGenerator {
  var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

/// Whether the long versions of the tests are to run.
let isLong = ProcessInfo.processInfo.environment["DECENT_NOTES_LONG"] == "1"

/// `short` as a rule, `long` when the long versions run.
func scaled(_ short: Int, _ long: Int) -> Int { isLong ? long : short }

/// Whether a tool is there.
func hasTool(_ name: String) -> Bool {
  let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
  return path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
}

/// Whether continuous integration runs the tests: what they need has to be there.
let isContinuousIntegration = ProcessInfo.processInfo.environment["CI"] == "true"

/// Whether the system tells how much memory a process has.
let tellsMemory = access("/proc/self/status", R_OK) == 0

// MARK: - Checksums, written again here so that nothing checks itself

/// SHA-256 (FIPS 180-4) in hexadecimal.
func sha256(_ text: [UInt8]) -> String {
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
func crc32c(_ bytes: some Sequence<UInt8>) -> UInt32 {
  var crc = ~UInt32(0)
  for byte in bytes {
    crc ^= UInt32(byte)
    for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0x82F6_3B78 : 0) }
  }
  return ~crc
}
