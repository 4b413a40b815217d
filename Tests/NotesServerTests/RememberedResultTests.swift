import JSONRPC
import TestSupport
import Testing

@testable import NotesServer

@Suite struct `Results of requests that carried a key` {
  private func key(_ number: Int) -> [UInt8] {
    [UInt8(number >> 16 & 255), UInt8(number >> 8 & 255), UInt8(number & 255)]
  }

  @Test func `are known for the latest 10,000 keys at any time, and for no more than 16,384`() {
    var remembered = RememberedResults()
    for number in 1...24_000 {
      remembered[key(number)] = ("note/append", [1] + key(number))
      // When some are forgotten, and long before and after that.
      guard number % 4096 < 2 || number % 3000 == 0 || number == 17_000 else { continue }
      let known = (1...number).filter { remembered[key($0)] != nil }
      #expect(known.count >= min(number, 10_000) && known.count <= 16_384)
      // The latest of all, without a gap.
      #expect(
        known.first.map { known == Array($0...number) } == true, "\(known.count) of \(number)")
      #expect(known.allSatisfy { remembered[key($0)]!.result == [1] + key($0) })
    }
  }

  @Test func `are the first that came with a key`() {
    var remembered = RememberedResults()
    remembered[key(1)] = ("note/append", [1])
    remembered[key(1)] = ("note/append", [2])
    #expect(remembered[key(1)]?.result == [1])
  }

  @Test func `are forgotten where they are large and many, the older ones first`() {
    var remembered = RememberedResults()
    let megabyte = [UInt8](repeating: 0x20, count: 1 << 20)
    for number in 1...200 {
      remembered[key(2 * number)] = ("note/get", megabyte)
      remembered[key(2 * number + 1)] = ("note/append", [1])
      let large = (1...number).filter { remembered[key(2 * $0)] != nil }
      #expect(large.count <= 64 && large.count >= min(number, 31) && large.last == number)
    }
    #expect((1...200).allSatisfy { remembered[key(2 * $0 + 1)] != nil })
  }
}
