import Foundation

// Links between notes: what an editor asks for while somebody types, in a large notebook.

/// 10,000 notes of 300 bytes with five links each.
func noteLinkRows(_ report: inout Report) {
  withProgram("links", &report) { program, scratch, report in
    let (folder, state) = (scratch + "/links", scratch + "/links-state")
    let ids = makeNotes(program, folder, state: state)
    // Read once, or there is no archive.
    Client(notebook: folder, program, state: state).end()
    firstRow(program, folder, state: state, &report)
    let client = Client(notebook: folder, program, state: state)
    _ = client.request("notebook/tags", "{}")
    func row(_ name: String, _ goal: Row.Goal?, _ ask: @escaping (Int) -> String) {
      var number = 0
      let timing = measure(
        prepare: { number = (number + 7919) % count },
        body: { _ in ask(number) }, check: { expect($1.contains("\"result\""), "\(name): \($1)") })
      report.add(Row("links", name, timing, .microseconds, goal: goal))
    }
    row("notebook/complete of four letters", .median(5_000_000)) { number in
      client.request(
        "notebook/complete", #"{"kind":"link","prefix":"\#(title(number).prefix(4))","limit":50}"#)
    }
    row("notebook/complete of nothing", .median(5_000_000)) { _ in
      client.request("notebook/complete", #"{"kind":"link","prefix":"","limit":50}"#)
    }
    row("notebook/complete of a tag", .median(5_000_000)) { _ in
      client.request("notebook/complete", #"{"kind":"tag","prefix":"t1"}"#)
    }
    row("note/backlinks, five", .median(5_000_000)) { number in
      client.request("note/backlinks", #"{"id":"\#(ids[number])"}"#)
    }
    row("notebook/resolve", .median(5_000_000)) { number in
      client.request("notebook/resolve", #"{"text":"\#(title(number))"}"#)
    }
    row("note/links", .median(5_000_000)) { number in
      client.request("note/links", #"{"id":"\#(ids[number])"}"#)
    }
    report.add(Row("links", "memory with the index", bytes: client.memory))
    client.end()
    keystrokeRow(program, folder, state: state, note: ids[1], &report)
  }
}

private let count = 10_000

/// Of all notes another one: a word that begins in one of some hundred ways, and the number.
private func title(_ number: Int) -> String {
  let letters = Array("abcdefghijklmnopqrstuvwxyz")
  return
    "\(letters[number % 26])\(letters[number / 26 % 26])\(letters[number / 676 % 15])er \(number)"
}

/// Makes the notes, each of which links to five others, and by five to each; returns their ids.
private func makeNotes(_ program: URL, _ folder: String, state: String) -> [String] {
  var random = SeededRandom(seed: 21)
  var prose = Prose()
  let client = Client(notebook: folder, program, state: state)
  return (0..<count).map { number in
    let words = String(decoding: prose.text(atLeast: 200, &random), as: UTF8.self)
      .replacingOccurrences(of: "\"", with: "'").replacingOccurrences(of: "\n", with: "\\n")
    let links = (1...5).map { "[[\(title((number + $0 * $0 * 97) % count))]]" }
    return client.createNote(
      #"{"title":"\#(title(number))","tags":["t\#(number % 50)"],"text":"\#(words) \#(links.joined(separator: " and "))"}"#
    )
  }
}

/// The first answer of a process, which reads all notes for it.
private func firstRow(_ program: URL, _ folder: String, state: String, _ report: inout Report) {
  let timing = measure(
    prepare: { Client(notebook: folder, program, state: state) },
    body: { $0.request("notebook/complete", #"{"kind":"link","prefix":"ab"}"#) },
    check: { client, answer in
      expect(answer.contains("aber") || answer.contains("ab"), "complete: \(answer)")
      client.end()
    })
  report.add(Row("links", "the first answer, all notes read from the archive", timing))
}

/// A keystroke in a note with links where an index is kept; the floor is the same of a client for which none is made, since it only exchanges changes.
private func keystrokeRow(
  _ program: URL, _ folder: String, state: String, note: String, _ report: inout Report
) {
  let keys = 500
  func typing(_ isIndexed: Bool) -> Timing {
    let client = Client(program, ["--notebook", folder, "--framing", "lines"], state: state)
    _ = client.request(
      "initialize", isIndexed ? "{}" : #"{"capabilities":{"notebook":{"digest":true}}}"#)
    if isIndexed { _ = client.request("notebook/tags", "{}") }
    _ = client.request("note/open", #"{"id":"\#(note)","mode":"edit","check":"none"}"#)
    client.waitUntilIdle()
    var version = 0
    let timing = measure(
      prepare: {},
      body: { _ in
        for _ in 0..<keys {
          version += 1
          _ = client.request(
            "note/change",
            #"{"attachment":1,"version":\#(version),"rev":0,"lines":[[0,0,["[[\#(title(version))]]"]]]}"#
          )
        }
      }, check: { _, _ in })
    client.end()
    return timing.divided(by: keys)
  }
  let without = typing(false)
  report.add(
    Row(
      "links", "a line with a link typed; the floor: without an index", typing(true), .microseconds,
      floor: without, goal: .floor(1.05)))
}
