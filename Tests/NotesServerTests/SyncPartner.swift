import Foundation
import JSONRPC
import ReplicatingTypes
import TestSupport
import Testing

@testable import NotesServer

/// The other end of an exchange: takes the bytes that were sent to it, and returns its answer.
protocol SyncPartner: AnyObject {
  func answer(_ bytes: ArraySlice<UInt8>) -> [UInt8]
}

/// A server that keeps to the protocol.
final class ServerPartner: SyncPartner {
  private var server: NotesServer
  /// Decode the requests and the answers, to see if an answer is missing.
  private var (requests, answers) = (
    FrameDecoder(framing: .contentLength), FrameDecoder(framing: .contentLength)
  )
  private var unanswered = 0
  private var instant = ContinuousClock.now
  /// True if it is of a version that nobody can follow.
  private let isOlder: Bool

  /// - Parameter state: the folder for the state of the user's programs.
  init(
    _ folder: String, seed: UInt64, clock: Int64 = 1_767_225_600_000, state: String? = nil,
    isOlder: Bool = false, isConfined: Bool = false
  ) {
    var random = SplitMix64(seed: seed)
    var time = clock
    self.isOlder = isOlder
    var environment = NotesServer.Environment(
      folder: folder, stateFolder: state, framing: .automatic,
      now: {
        time += 1000
        return time
      },
      makeIdentifier: { Identifier(high: random.next(), low: random.next()) })
    environment.isConfined = isConfined
    server = NotesServer(environment)
  }

  /// The messages that came and that were sent, and their bytes.
  private(set) var counts = (received: 0, sent: 0)
  private(set) var bytes = (received: 0, sent: 0)
  /// The messages that were sent of a method, and those that came of it.
  private(set) var sentOf: [String: Int] = [:]
  private(set) var receivedOf: [String: Int] = [:]

  func inputEnded() { server.inputEnded() }

  /// The bytes that wait to be read.
  var unread: Int { server.outbox.count }

  /// The status with which it ends, once it does.
  var exitStatus: Int32? { server.exitStatus }

  /// Lets some time pass, and takes in what other processes wrote to the folder.
  func wait(_ time: Duration = .zero) {
    instant += time
    server.handleReady(.folder)
    server.handleReady(.presence)
    server.readFolder()
    server.push()
    server.advance(to: instant)
  }

  /// The version of this program before links could stay.
  private func older(_ bytes: [UInt8]) -> [UInt8] {
    guard isOlder else { return bytes }
    let text = String(decoding: bytes, as: UTF8.self)
    return Array(text.replacing("\"follow\":true", with: "\"follow\":null").utf8)
  }

  func answer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    requests.append(bytes)
    unanswered += Self.count(&requests, &counts.received, &receivedOf)
    self.bytes.received += bytes.count
    server.receive(bytes)
    var answer: [UInt8] = []
    for _ in 0..<10_000 {
      answer += server.outbox.unsent
      answers.append(server.outbox.unsent)
      server.outbox.removeFirst(server.outbox.count)
      unanswered -= Self.count(&answers, &counts.sent, &sentOf)
      if unanswered == 0 { break }
      server.handleReady(.disk)
      if server.outbox.isEmpty { Thread.sleep(forTimeInterval: 0.001) }
    }
    self.bytes.sent += answer.count
    return older(answer)
  }

  /// The number of requests, or answers, among the messages.
  private static func count(
    _ frames: inout FrameDecoder, _ all: inout Int, _ methods: inout [String: Int]
  ) -> Int {
    var count = 0
    while case .message(let bytes)? = frames.next() {
      all += 1
      let message = try? JSONValue(parsing: bytes)
      if message?["id"] != nil { count += 1 }
      if let method = message?["method"]?.string { methods[method, default: 0] += 1 }
    }
    return count
  }
}

/// A partner that answers with the bytes of a test.
final class FalsePartner: SyncPartner {
  private var frames = FrameDecoder(framing: .contentLength)
  private let reply: (_ method: String, _ id: JSON, _ params: JSON) -> [UInt8]
  /// The methods it was asked for.
  private(set) var methods: [String] = []

  init(_ reply: @escaping (_ method: String, _ id: JSON, _ params: JSON) -> [UInt8]) {
    self.reply = reply
  }

  /// - Parameter results: by method; for any other the answer is an empty object.
  convenience init(_ results: [String: JSON]) {
    self.init { method, id, _ in Self.frame(["id": id, "result": results[method] ?? [:]]) }
  }

  func answer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    frames.append(bytes)
    var answer: [UInt8] = []
    while case .message(let message)? = frames.next() {
      let request = try! JSON(parsing: String(decoding: message, as: UTF8.self))
      guard let id = request["id"], let method = request["method"]?.string else { continue }
      methods.append(method)
      answer += reply(method, id, request["params"] ?? [:])
    }
    return answer
  }

  static func frame(_ message: JSON) -> [UInt8] {
    var message = message
    message["jsonrpc"] = "2.0"
    return frame(Array(message.text.utf8))
  }

  static func frame(_ bytes: [UInt8]) -> [UInt8] {
    Array("Content-Length: \(bytes.count)\r\n\r\n".utf8) + bytes
  }
}

/// A partner whose answers are those of another, damaged or cut off.
final class DamagingPartner: SyncPartner {
  private let partner: any SyncPartner
  private let damage: ([UInt8]) -> [UInt8]

  init(_ partner: any SyncPartner, _ damage: @escaping ([UInt8]) -> [UInt8]) {
    self.partner = partner
    self.damage = damage
  }

  func answer(_ bytes: ArraySlice<UInt8>) -> [UInt8] { damage(partner.answer(bytes)) }
}
