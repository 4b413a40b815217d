import Foundation
import JSONRPC
import TestSupport
import Testing

/// Checks the parser against Foundation's, which was written by others.
///
/// Known differences, kept out of the comparison. Foundation refuses numbers beyond the range of `Double`
/// (here they have no value, but may stand there), reads numbers of more than 15 digits inexactly if they
/// have a fraction or an exponent, takes bytes of zero as a sign of UTF-16, and lets an array or object
/// end with a comma.
@Suite
struct `The JSON parser and Foundation's` {
  private func foundation(_ bytes: [UInt8]) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
  }

  private func same(_ value: JSONValue, _ other: Any) -> Bool {
    switch value.kind {
    case .null: return other is NSNull
    case .boolean: return other as? Bool == value.boolean
    case .string: return (other as? String).map { Array($0.utf8) } == value.utf8
    case .number:
      guard let number = other as? NSNumber, let double = value.double else { return false }
      guard abs(number.doubleValue - double) <= 2 * double.ulp else { return false }
      if double.magnitude >= 0x1p53 { return true }
      return value.integer.map { number.intValue == $0 } ?? (double != double.rounded())
    case .array:
      guard let others = other as? [Any], let array = value.array else { return false }
      return array.count == others.count && zip(array, others).allSatisfy(same)
    case .object:
      guard let others = other as? [String: Any], value.members.count == others.count else {
        return false
      }
      return value.members.allSatisfy { name, member in
        others[name].map { same(member, $0) } ?? false
      }
    }
  }

  private func hasTrailingComma(_ bytes: [UInt8]) -> Bool {
    let dense = bytes.filter { $0 > 0x20 }
    return zip(dense, dense.dropFirst()).contains { first, second in
      first == UInt8(ascii: ",") && (second == UInt8(ascii: "]") || second == UInt8(ascii: "}"))
    }
  }

  private func isFinite(_ value: JSONValue) -> Bool {
    switch value.kind {
    case .number: value.double != nil
    case .array: value.array!.allSatisfy(isFinite)
    case .object: value.members.allSatisfy { isFinite($0.value) }
    default: true
    }
  }

  @Test(arguments: UInt64(1)...4)
  func `read the same values`(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    for round in 0..<400 {
      let text = generator.document()
      let bytes = Array(text.utf8)
      let value = try JSONValue(parsing: bytes)
      let other = try #require(foundation(bytes), "seed \(seed), round \(round): \(text)")
      #expect(same(value, other), "seed \(seed), round \(round): \(text)")
    }
  }

  @Test(arguments: UInt64(1)...4)
  func `accept the same documents`(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let replacements =
      Array("{}[]\",:\\u0129eE+-. \n/tfnDdAa'#".utf8) + [0x1F, 0x7F, 0x80, 0xC3, 0xFF]
    var accepted = 0
    for round in 0..<2500 {
      var bytes = Array(generator.document().utf8)
      for _ in 0..<Int.random(in: 1...2, using: &generator) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(generator.pick(replacements), at: place)
        case 2: bytes.removeSubrange(place...)
        default: bytes[place] = generator.pick(replacements)
        }
      }
      let value = try? JSONValue(parsing: bytes)
      if let value, !isFinite(value) { continue }
      let ours = value != nil
      let theirs = foundation(bytes) != nil
      if ours { accepted += 1 }
      let text = String(decoding: bytes, as: UTF8.self)
      if ours != theirs, ours || !hasTrailingComma(bytes) {
        Issue.record("seed \(seed), round \(round), ours \(ours): \(text) \(bytes)")
      }
    }
    #expect(accepted > 100)
  }
}
