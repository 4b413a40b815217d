import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waitingLong, .tags(.slow))
struct `The flow of bytes` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  @Test(arguments: Delimiter.allCases)
  func `Three thousand requests written before a reply is read`(_ delimiter: Delimiter) throws {
    let server = try Server(folder("notes"), delimiter: delimiter)
    try server.initialize()
    let first = server.answered.count
    var bytes: [UInt8] = []
    let title = JSON.string(String(repeating: "many ", count: 40))
    for number in 0..<3000 {
      let method = ["note/create", "no/such", "notebook/status"][number % 3]
      bytes += delimiter.frame(
        JSON.request(.string("r\(number)"), method, ["title": title]).bytes)
    }
    try server.write(bytes, reading: false)
    _ = try server.response(to: "\"r2999\"")
    #expect(Array(server.answered[first...]) == (0..<3000).map { "\"r\($0)\"" })
    try server.leave()
  }

  @Test(
    .enabled(if: tellsMemory))
  func `Whoever asks for much and does not read costs bounded memory`() throws {
    let server = try Server(folder("notes"))
    try server.initialize()
    let text = String(repeating: "0123456789abcdef", count: scaled(1250, 6250))
    let note = try server.call("note/create", ["text": .string(text)])["note"]!["id"]!.written
    var bytes: [UInt8] = []
    for number in 0..<3000 {
      bytes += Delimiter.headers.frame(
        JSON.request(.string("\(number)"), "note/get", ["id": .raw(note)]).bytes)
    }
    // More than the pipe holds is taken only as answers are read: so write what is taken at once, then read.
    try server.write(Array(bytes[..<60_000]), reading: false)
    try server.write(Array(bytes[60_000...]))
    for number in 0..<3000 {
      guard let frame = try server.frame() else { throw Failure("ended at \(number)") }
      #expect(frame.count > text.utf8.count)
    }
    #expect(server.peakMemory! < 400 << 20)
    try server.leave()
  }

  /// A server that was asked for so much that it has put requests off, of which no answer has been read.
  private func congestedServer() throws -> Server {
    let server = try Server(folder("notes"))
    try server.initialize()
    let text = String(repeating: "0123456789abcdef", count: 1 << 14)
    let note = try server.call("note/create", ["text": .string(text)])["note"]!["id"]!.written
    let request = JSON.request("x", "note/get", ["id": .raw(note)]).bytes
    let bytes = (0..<1000).flatMap { _ in Delimiter.headers.frame(request) }
    try server.write(bytes, reading: false)
    return server
  }

  @Test(
    .enabled(if: tellsMemory), arguments: [false, true])
  func `Answers that nobody will read are not made when the client has gone`(closingOutput: Bool)
    throws
  {
    let server = try congestedServer()
    if closingOutput {
      server.closeOutput()
    } else {
      for _ in 0..<10 { _ = try server.frame() }
    }
    server.closeInput()
    var peak = 0
    let deadline = Deadline()
    while server.isRunning, !deadline.isOver, peak < 160 << 20 {
      peak = max(peak, server.peakMemory ?? 0)
      pause(0.0005)
    }
    #expect(peak < 160 << 20)
  }

  @Test
  func `The end of the input is noticed while nobody reads`() throws {
    let server = try congestedServer()
    server.closeInput()
    let ending = try? server.waitForEnd(within: patience, reading: false)
    #expect(ending == .status(1))
  }

  @Test(
    arguments: isLong ? Delimiter.allCases : [.headers])
  func `A message may have 32 MiB, and no byte more`(_ delimiter: Delimiter) throws {
    // Without an archive, which would take longer than all else.
    let server = try Server(
      folder("notes"), delimiter: delimiter, environment: ["XDG_STATE_HOME": "/dev/null"])
    try server.initialize()
    func message(_ size: Int) -> [UInt8] {
      let frame = JSON.request("big", "note/create", ["text": "@"]).text.split(separator: "@")
      let filler = [UInt8](repeating: 0x78, count: size - frame[0].utf8.count - frame[1].utf8.count)
      return Array(frame[0].utf8) + filler + Array(frame[1].utf8)
    }
    let limit = 32 << 20
    try server.write(delimiter.frame(message(limit + 1)))
    try server.call("notebook/status")
    #expect(server.anonymous.popLast()?["error"]?.code == -32600)
    try server.write(delimiter.frame(message(limit)))
    let note = try server.response(to: "\"big\"", within: 60)["result"]!["note"]!
    #expect(note["length"]!.integer! > limit - 200)
    try server.leave()
  }

  @Test(arguments: Delimiter.allCases)
  func `The limit of a message can be chosen`(_ delimiter: Delimiter) throws {
    let server = try Server(folder("notes"), ["--max-message", "1024"], delimiter: delimiter)
    try server.initialize()
    for (size, isTaken) in [(1024, true), (1025, false), (5000, false), (1024, true)] {
      var message = JSON.request("x", "notebook/status", [:]).bytes
      message += [UInt8](repeating: 0x20, count: size - message.count)
      try server.write(delimiter.frame(message))
      try server.call("notebook/status")
      #expect((server.answered.suffix(2).first == "\"x\"") == isTaken, "\(size)")
      #expect(server.anonymous.popLast()?["error"]?.code == (isTaken ? nil : -32600))
    }
    try server.leave()
  }

  @Test(.enabled(if: tellsMemory))
  func `A request key of any length costs bounded memory`() throws {
    let server = try Server(folder("notes"))
    try server.initialize()
    let id = try server.call("note/create", [:])["note"]!["id"]!.written
    let filler = String(repeating: "k", count: 8 << 20)
    for number in 0..<20 {
      let key = JSON.string(filler + "\(number)")
      let error = try server.error("note/restore", ["id": .raw(id), "requestKey": key])
      #expect(error.code == -32602)
    }
    let longest = JSON.string(String(repeating: "k", count: 1024))
    try server.call("note/restore", ["id": .raw(id), "requestKey": longest])
    let peak = server.peakMemory!
    #expect(peak < 120 << 20)
  }
}
