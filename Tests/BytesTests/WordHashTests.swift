import Bytes
import Testing

@Suite struct `Hash of words` {
  private func hash(_ text: String) -> UInt64 {
    let bytes = Array(text.utf8)
    var hash = WordHash()
    var place = 0
    while place < bytes.count {
      let count = min(ByteWord.size, bytes.count - place)
      hash.combine(ByteWord(bytes.span, at: place, count: count), count: count)
      place += count
    }
    return hash.value
  }

  @Test func `equal bytes have one hash, and different ones another`() {
    let texts = (0..<2000).map { "line \($0) of a text, and what stands behind it" }
    #expect(texts.map(hash) == texts.map(hash))
    #expect(Set(texts.map(hash)).count == texts.count)
  }

  @Test func `zeros count, and so does their number`() {
    let hashes = (0..<40).map { hash(String(repeating: "\0", count: $0)) }
    #expect(Set(hashes).count == hashes.count)
  }

  @Test func `a byte has the hash of a word of one byte`() {
    for byte in UInt8.min...UInt8.max {
      var (one, word) = (WordHash(), WordHash())
      one.combine(byte)
      word.combine(ByteWord([byte].span, at: 0, count: 1), count: 1)
      #expect(one.value == word.value)
    }
  }
}
