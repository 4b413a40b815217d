import Foundation
import JSONRPC
import Testing

/// Checks the parser against Foundation's, which was written by others.
@Suite("The JSON parser and Foundation's")
struct JSONOracleTests {
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
      return number.doubleValue == double
        && (value.integer == nil || number.int64Value == Int64(value.integer!))
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

  @Test(arguments: UInt64(1)...4)
  func `read the same values`(seed: UInt64) throws {
    var generator = Generator(seed: seed)
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
    var generator = Generator(seed: seed)
    let replacements =
      Array("{}[]\",:\\u0129eE+-. \n/tfnDdAa'#".utf8) + [0x00, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]
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
      let ours = (try? JSONValue(parsing: bytes)) != nil
      let theirs = foundation(bytes) != nil
      if ours { accepted += 1 }
      let text = String(decoding: bytes, as: UTF8.self)
      if ours != theirs {
        Issue.record("seed \(seed), round \(round), ours \(ours): \(text) \(bytes)")
      }
    }
    #expect(accepted > 100)
  }
}
