import Bytes
import Foundation

// Letters typed one at a time at the end of a text, each answered before the next is sent.

/// Typing in a large note, in long lines, and with the hash of the text in each change. The floor is typing in an empty note, or in a short line.
func typingRows(
  _ program: URL, _ folder: String, state: String, _ report: inout Report
) {
  var folders = 0
  func typing(_ text: String, withHash hasHash: Bool = false) -> Timing {
    let messages = changes(atEndOf: text, withHash: hasHash)
    return measure(
      prepare: {
        folders += 1
        let client = Client(notebook: "\(folder)-\(folders)", program, state: state)
        let written = text.replacingOccurrences(of: "\n", with: "\\n")
        let id = client.createNote(#"{"text":"\#(written)"}"#)
        let check = hasHash ? "sha256" : "none"
        _ = client.request("note/open", #"{"id":"\#(id)","mode":"edit","check":"\#(check)"}"#)
        // The time to write 10 MB and to remove them is no part of typing.
        _ = client.request("notebook/flush", "{}")
        client.waitUntilIdle()
        return client
      },
      body: { client in
        for message in messages {
          client.send(message[...])
          while client.lineEnds() == 0 {}
        }
      }, check: { client, _ in client.end() }
    ).divided(by: messages.count)
  }
  func add(_ name: String, _ timing: Timing, _ floor: Timing, _ goal: Row.Goal) {
    report.add(
      Row(
        "process", "a letter at the end of \(name)", timing, .microseconds, floor: floor, goal: goal
      ))
  }
  let empty = typing("")
  let prose = prose(10_000_000).replacingOccurrences(of: "\\n", with: "\n")
  add("a note of 10 MB", typing(prose), empty, .floor(1.3))
  let words = String(prose.prefix(100_000)).replacingOccurrences(of: "\n", with: " ")
  let short = typing(String(words.prefix(60)))
  add("a line of 16 kB", typing(String(words.prefix(16_000))), short, .floor(1.2))
  add("a line of 100 kB", typing(words), short, .floor(1.2))
  add("a line of 100 kB and an accent", typing("é" + words), short, .floor(1.2))
  add(
    "1 kB, with its hash", typing(String(words.prefix(1_000)), withHash: true), short, .median(20e3)
  )
  add(
    "200 kB, with its hash", typing(String(prose.prefix(200_000)), withHash: true), short,
    .median(60e3))
}

/// Changes that each insert a letter at the end of what the one before made.
private func changes(atEndOf text: String, withHash hasHash: Bool) -> [[UInt8]] {
  let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
  let (line, character) = (lines.count - 1, lines.last!.utf16.count)
  var hash = SHA256()
  hash.update(Array(text.utf8))
  return (1...500).map { number in
    hash.update(Array("x".utf8))
    let place = #"{"line":\#(line),"character":\#(character + number - 1)}"#
    let message =
      #"{"jsonrpc":"2.0","id":7,"method":"note/change","params":{"attachment":1,"version":\#(number),"#
      + #""rev":0,"ranges":[{"range":{"start":\#(place),"end":\#(place)},"newText":"x"}]"#
      + (hasHash ? #","sha256":"\#(hash.hexDigest)""# : "") + "}}\n"
    return Array(message.utf8)
  }
}

/// Prose of so many bytes as a JSON string.
func prose(_ length: Int) -> String {
  var random = SeededRandom(seed: 13)
  var prose = Prose()
  return String(decoding: prose.text(atLeast: length, &random), as: UTF8.self)
    .replacingOccurrences(of: "\n", with: "\\n").replacingOccurrences(of: "\"", with: "'")
}
