import Foundation
import JSONRPC

/// A client with one note open, which does what the protocol says a client does, and no more.
final class LiveClient {
  private(set) var server: Server
  private(set) var attachment: JSON
  private var session: JSON
  /// What it shows.
  private(set) var text: [UInt8]
  private var version = 0
  private var rev = 0
  /// Words it typed: acknowledged, and not yet.
  private(set) var kept: Set<String> = []
  private var unanswered: [(id: Int, words: Set<String>)] = []

  /// How often it had to send its whole text.
  private(set) var resent = 0

  var isIdle: Bool { unanswered.isEmpty }
  var pendingWords: Set<String> { unanswered.reduce(into: []) { $0.formUnion($1.words) } }

  init(_ server: Server, _ note: JSON) throws {
    self.server = server
    let open = try server.call("note/open", ["id": note, "mode": "edit", "push": "ranges"])
    attachment = .raw(open["attachment"]!.written)
    session = .raw(open["session"]!.written)
    text = open["text"]!.utf8!
  }

  /// What it says of itself to another process, when its own has died.
  func resumption(of note: JSON) -> JSON {
    [
      "id": note, "mode": "edit", "push": "ranges",
      "resume": [
        "session": session, "version": .int(version), "rev": .int(rev), "text": .utf8(text),
      ],
    ]
  }

  /// Goes on with another process. Everything it shows is kept then.
  func resume(_ note: JSON, with server: Server) throws {
    let open = try server.call("note/open", resumption(of: note))
    guard open["resumed"]?.string == "exact" else { throw Failure(open.written) }
    self.server = server
    attachment = .raw(open["attachment"]!.written)
    session = .raw(open["session"]!.written)
    rev = open["rev"]!.integer!
    kept.formUnion(pendingWords)
    unanswered = []
  }

  /// Types a word between two others.
  func type(_ word: String, _ random: inout Random) throws {
    let places = [0, text.count] + text.indices.filter { text[$0] == 0x20 || text[$0] == 0x0A }
    let at = places[random.below(places.count)]
    let inserted = Array((random.below(6) == 0 ? "\n\(word) " : " \(word) ").utf8)
    let place = position(of: at)
    text.insert(contentsOf: inserted, at: at)
    let range: JSON = ["start": place, "end": place]
    try send("ranges", [["range": range, "newText": .utf8(inserted)]], [word])
  }

  private func send(_ form: String, _ change: JSON, _ words: Set<String>) throws {
    version += 1
    let params: JSON = [
      "attachment": attachment, "version": .int(version), "rev": .int(rev),
      "sha256": .string(sha256(text)), form: change,
    ]
    unanswered.append((try server.post("note/change", params), words))
  }

  private func sendWhole(_ words: Set<String>) throws {
    resent += 1
    try send("text", .utf8(text), words)
  }

  /// Acts on what has come.
  func proceed() throws {
    try server.receiveAvailable()
    try takeAnswers()
    func isEdit(_ notification: JSONValue) -> Bool {
      notification["method"]?.string == "note/edit"
        && notification["params"]?["attachment"]?.written == attachment.text
    }
    let edits = server.notifications.filter(isEdit)
    server.notifications.removeAll(where: isEdit)
    for edit in edits { try take(edit["params"]!) }
  }

  func takeAnswers() throws {
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

  private func take(_ push: JSONValue) throws {
    guard push["attachment"]?.written == attachment.text, push["version"]?.integer == version else {
      return
    }
    guard push["sha256"]?.string == sha256(text) else { return try sendWhole([]) }
    // All ranges refer to the text before: from the end on.
    for edit in Array(push["ranges"]!.array!).reversed() {
      let start = offset(of: edit["range"]!["start"]!)
      let end = offset(of: edit["range"]!["end"]!)
      text.replaceSubrange(start..<end, with: edit["newText"]!.utf8!)
    }
    rev = push["rev"]!.integer!
  }

  private func position(of offset: Int) -> JSON {
    let before = text[..<offset]
    let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    let line = before.count { $0 == 0x0A }
    return ["line": .int(line), "character": .int(offset - start)]
  }

  private func offset(of position: JSONValue) -> Int {
    var start = 0
    for _ in 0..<position["line"]!.integer! {
      start = text[start...].firstIndex(of: 0x0A)! + 1
    }
    return start + position["character"]!.integer!
  }

  var words: [String: Int] {
    let parts = text.split { $0 == 0x20 || $0 == 0x0A }
    return parts.reduce(into: [:]) { $0[String(decoding: $1, as: UTF8.self), default: 0] += 1 }
  }
}

/// Lets clients act until `condition` holds.
func run(_ clients: [LiveClient], until condition: () -> Bool) throws {
  let deadline = Date(timeIntervalSinceNow: Server.patience)
  while true {
    for client in clients { try client.proceed() }
    if condition() { return }
    guard deadline.timeIntervalSinceNow > 0 else {
      let states = clients.map {
        "\($0.text.count) bytes, \($0.words.count) words, waiting: \(!$0.isIdle), \($0.resent) resent"
      }
      throw Failure("the clients did not come to agree: \(states.joined(separator: "; "))")
    }
    var polls = clients.map { pollfd(fd: $0.server.output, events: Int16(POLLIN), revents: 0) }
    _ = poll(&polls, nfds_t(polls.count), 100)
  }
}
