import Foundation
import JSONRPC

/// A client in an open note of a process: the algorithm, with what it has sent and not heard of.
package final class AttachedClient {
  package private(set) var server: Server
  private var client: LiveClient
  /// Words it typed that were acknowledged.
  package private(set) var kept: Set<String> = []
  private var unanswered: [(id: Int, words: Set<String>)] = []

  /// The number of times that it had to send its whole text.
  package private(set) var resent = 0

  package var isIdle: Bool { unanswered.isEmpty }
  /// Words it typed that were not acknowledged yet.
  package var pendingWords: Set<String> { unanswered.reduce(into: []) { $0.formUnion($1.words) } }

  /// What it shows.
  package var text: [UInt8] { Array(client.string.utf8) }

  package init(_ server: Server, _ note: JSON) throws {
    self.server = server
    let open = try server.call("note/open", ["id": note, "mode": "edit", "push": "ranges"])
    client = LiveClient(
      attachment: open["attachment"]!.integer!, session: open["session"]!.string!,
      isObserver: false, form: .ranges, encoding: "utf-8", text: open["text"]!.string!)
  }

  /// What it says of itself to another process, when its own has died.
  package func resumption(of note: JSON) -> JSON {
    ["id": note, "mode": "edit", "push": "ranges", "resume": client.resumption]
  }

  /// Goes on with another process. Everything it shows is kept then.
  package func resume(_ note: JSON, with server: Server) throws {
    let open = try server.call("note/open", resumption(of: note))
    guard open["resumed"]?.string == "exact" else { throw Failure(open.written) }
    self.server = server
    client.resumed(JSON(open))
    kept.formUnion(pendingWords)
    unanswered = []
  }

  /// Types a word between two others.
  package func type(_ word: String, _ random: inout SplitMix64) throws {
    let text = client.text
    let places = [0, text.count] + text.indices.filter { text[$0] == " " || text[$0] == "\n" }
    let at = random.pick(places)
    let inserted = random.below(6) == 0 ? "\n\(word) " : " \(word) "
    try send(client.replace(at..<at, with: inserted)!, [word])
  }

  private func send(_ change: JSON, _ words: Set<String>) throws {
    unanswered.append((try server.post("note/change", change), words))
  }

  private func sendWhole(_ words: Set<String>) throws {
    resent += 1
    try send(client.whole(), words)
  }

  /// Acts on what has come.
  package func proceed() throws {
    try server.receiveAvailable()
    try takeAnswers()
    func isEdit(_ notification: JSONValue) -> Bool {
      notification["method"]?.string == "note/edit"
        && notification["params"]?["attachment"]?.integer == client.attachment
    }
    let edits = server.notifications.filter(isEdit)
    server.notifications.removeAll(where: isEdit)
    for edit in edits {
      guard let whole = try client.receive(JSON(edit["params"]!)) else { continue }
      resent += 1
      try send(whole, [])
    }
  }

  package func takeAnswers() throws {
    var index = 0
    while index < unanswered.count {
      let (id, words) = unanswered[index]
      guard let response = server.takeResponse(id) else {
        index += 1
        continue
      }
      unanswered.remove(at: index)
      guard let error = response["error"] else {
        kept.formUnion(words)
        continue
      }
      guard error.code == -32801 else { throw Failure(error.written) }
      try sendWhole(words)
    }
  }

  /// Every word of the text, with how often it is there.
  package var words: [String: Int] {
    let parts = text.split { $0 == 0x20 || $0 == 0x0A }
    return parts.reduce(into: [:]) { $0[String(decoding: $1, as: UTF8.self), default: 0] += 1 }
  }
}

/// Lets clients act until `condition` holds.
package func run(_ clients: [AttachedClient], until condition: () -> Bool) throws {
  let deadline = Deadline()
  while true {
    for client in clients { try client.proceed() }
    if condition() { return }
    guard !deadline.isOver else {
      let states = clients.map {
        "\($0.text.count) bytes, \($0.words.count) words, waiting: \(!$0.isIdle), \($0.resent) resent"
      }
      throw Failure("the clients did not come to agree: \(states.joined(separator: "; "))")
    }
    awaitInput(clients.map(\.server.output), milliseconds: 100)
  }
}
