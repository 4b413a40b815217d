package import Foundation
package import JSONRPC
package import Testing

/// What a client wrote and what it was told about it, to be held against what is there in the end.
///
/// Every change brings one word of its own. A word that was acknowledged has to be there once; one that was not, once or
/// not at all; and no other.
package struct Ledger {
  package private(set) var kept: Set<String> = []
  package private(set) var uncertain: Set<String> = []

  package init() {}

  /// A word was sent, and nothing is known of it yet.
  package mutating func sent(_ word: String) { uncertain.insert(word) }

  /// It was acknowledged.
  package mutating func keep(_ word: String) {
    uncertain.remove(word)
    kept.insert(word)
  }

  /// It was refused: an answered error changed nothing.
  package mutating func refuse(_ word: String) { uncertain.remove(word) }

  /// What speaks against the words that are there; empty if nothing does.
  package func objections(to words: [String: Int]) -> [String] {
    var objections: [String] = []
    for word in kept.sorted() where words[word] != 1 {
      objections.append("\(word) was acknowledged and is there \(words[word] ?? 0) times")
    }
    for (word, count) in words.sorted(by: { $0.key < $1.key }) where !kept.contains(word) {
      if !uncertain.contains(word) {
        objections.append("\(word) was refused, or never sent, and is there")
      } else if count != 1 {
        objections.append("\(word) was not acknowledged and is there \(count) times")
      }
    }
    return objections
  }
}

extension Server {
  /// Every word in titles and texts, with how often it is there.
  package func words() throws -> [String: Int] {
    var words: [String: Int] = [:]
    for note in try call("notebook/list")["notes"]!.array! {
      let text = try call("note/get", ["id": .raw(note["id"]!.written)])["text"]!.string!
      let title = note["title"]!.string!
      // By bytes: there may be megabytes of them.
      for word in (title + " " + text).utf8.split(whereSeparator: { $0 == 0x20 || $0 == 0x0A }) {
        words[String(Substring(word)), default: 0] += 1
      }
    }
    return words
  }

  package var revision: String {
    get throws { try call("notebook/status")["revision"]!.string! }
  }

  /// What could not be read, in the words of the status.
  package var damage: [String] {
    get throws { try call("notebook/status")["damage"]!.array!.map(\.written) }
  }

  /// Creates a note with a word as its title; returns its id if it was acknowledged, else the error.
  package func create(_ word: String, _ ledger: inout Ledger) throws -> Result<JSON, Refusal> {
    ledger.sent(word)
    let response = try response(to: try post("note/create", ["title": .string(word)]))
    return try settle(word, response, &ledger).map { .raw($0["note"]!["id"]!.written) }
  }

  /// Appends a word to a note, with as many bytes of space as `padding` says.
  package func append(
    _ word: String, to note: JSON, padding: Int = 1, _ ledger: inout Ledger
  ) throws -> Result<JSONValue, Refusal> {
    ledger.sent(word)
    let text = String(repeating: " ", count: padding) + word
    let params: JSON = ["id": note, "text": .string(text)]
    return try settle(word, try response(to: try post("note/append", params)), &ledger)
  }

  private func settle(
    _ word: String, _ response: JSONValue, _ ledger: inout Ledger
  ) throws -> Result<JSONValue, Refusal> {
    if let result = response["result"] {
      ledger.keep(word)
      return .success(result)
    }
    ledger.refuse(word)
    return .failure(Refusal(error: response["error"]!))
  }

  /// Waits until another process's writes are here: until it is at the same revision.
  package func awaitRevision(of other: Server) throws {
    try wait(for: "what the other process wrote") { try revision == other.revision }
  }

  /// Waits until `condition` holds, taking in what comes meanwhile.
  package func wait(
    for what: String, within seconds: TimeInterval = patience, until condition: () throws -> Bool
  ) throws {
    let deadline = Deadline(in: seconds)
    while try !condition() {
      guard !deadline.isOver else {
        throw Failure("waited in vain for \(what)\n\(errorText)")
      }
      awaitInput([output], milliseconds: 20)
      try receiveAvailable()
    }
  }
}

/// An error that a request was answered with.
package struct Refusal: Error {
  package var error: JSONValue
  package var reason: String? { error.reason }
}

/// Opens the folder with a process of its own, which has to find what the ledger says and no damage.
package func audit(
  _ folder: String, _ ledger: Ledger, damaged: [String] = [],
  _ comment: @autoclosure () -> Comment = "", sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let server = try Server(folder)
  try server.initialize()
  let objections = ledger.objections(to: try server.words())
  #expect(objections.isEmpty, comment(), sourceLocation: sourceLocation)
  let damage = try server.call("notebook/status")["damage"]!.array!
  #expect(
    damage.map { $0["path"]!.string! }.sorted() == damaged, comment(),
    sourceLocation: sourceLocation)
  try server.leave()
}
