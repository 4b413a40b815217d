import TestSupport
import Testing

@testable import NotesServer

@Suite struct `The progress of an exchange` {
  private func framed(_ message: JSON) -> [UInt8] {
    Array("Content-Length: \(message.bytes.count)\r\n\r\n".utf8) + message.bytes
  }

  /// Gives bytes to a wire in chunks as they are read; returns by how much its progress has grown.
  private func progress(_ wire: inout PeerWire, _ bytes: [UInt8], chunk: Int = 1 << 16) -> Int {
    let before = wire.progress
    var rest = bytes[...]
    while !rest.isEmpty {
      wire.append(rest.prefix(chunk))
      rest = rest.dropFirst(chunk)
      while wire.next() != nil {}
    }
    return wire.progress - before
  }

  @Test func `is made by answers, and by the parts of long ones`() {
    var wire = PeerWire(programVersion: "1")
    wire.send(.shutdown)
    #expect(progress(&wire, framed(["jsonrpc": "2.0", "id": 1, "result": nil])) == 1)
    wire.send(.shutdown)
    let long: JSON = [
      "jsonrpc": "2.0", "id": 2, "result": .string(String(repeating: "x", count: 1 << 20)),
    ]
    #expect(progress(&wire, Array(framed(long).dropLast())) >= 16)
  }

  @Test func `is not made by notifications, however many or long they are, nor by single bytes`() {
    var wire = PeerWire(programVersion: "1")
    let note = framed(["jsonrpc": "2.0", "method": "notebook/didChange", "params": [:]])
    let flood = Array(repeatElement(note, count: 20_000).joined())
    #expect(progress(&wire, flood) == 0)
    #expect(progress(&wire, note + note, chunk: 1) == 0)
    let text = JSON.string(String(repeating: "x", count: 1 << 20))
    let long = framed(["jsonrpc": "2.0", "method": "notebook/didChange", "params": ["a": text]])
    var total = 0
    for _ in 0..<60 { total += progress(&wire, long) }
    // As much as one answer can be.
    #expect(total <= 2048)
    #expect(progress(&wire, long) == 0)
  }

  /// Otherwise a peer could go on for years with one byte each time.
  @Test func `is not made by small parts of an answer`() {
    var wire = PeerWire(programVersion: "1")
    wire.send(.changes(since: "0", limit: 1 << 20))
    func part(_ number: Int, _ bytes: Int) -> [UInt8] {
      let text = String(repeating: "AAAA", count: bytes / 3)
      return framed([
        "jsonrpc": "2.0", "id": JSON(number),
        "result": ["changes": .string(text), "revision": "a.1", "size": 60_000_000, "offset": 0],
      ])
    }
    var total = 0
    for number in 1...100 { total += progress(&wire, part(number, 3)) }
    #expect(total == 0)
    #expect(progress(&wire, part(101, 60_000)) > 0)
  }
}
