import Foundation

// Search through a notebook, beside a grep of the same bytes.

/// A search in all notes of a notebook; the floor is `grep`.
func searchRows(_ report: inout Report) {
  withProgram("search", &report) { program, scratch, report in
    for (language, isGerman) in [("English", false), ("German", true)] {
      searchRows(program, "\(scratch)/\(language)", language, isGerman: isGerman, &report)
    }
  }
}

/// 20,000 notes of 1 kB, of which one has what is looked for.
private func searchRows(
  _ program: URL, _ folder: String, _ language: String, isGerman: Bool, _ report: inout Report
) {
  let count = 20_000
  var random = SeededRandom(seed: 12)
  var prose = Prose()
  let texts = (0..<count).map { number in
    var text = String(decoding: prose.text(atLeast: 1000, &random), as: UTF8.self)
      .replacingOccurrences(of: "\"", with: "'")
    // Every fifth or so of these letters, as in German.
    if isGerman {
      text = text.replacingOccurrences(of: "oo", with: "ö").replacingOccurrences(
        of: "ou", with: "ü"
      )
      .replacingOccurrences(of: "ea", with: "ä").replacingOccurrences(of: "ss", with: "ß")
    }
    return number == count / 2 ? text + " the Needleword" : text
  }
  let writer = Client(notebook: folder, program, state: folder + "-state")
  var answered = 0
  for start in stride(from: 0, to: count, by: 64) {
    let batch = texts[start..<min(count, start + 64)]
    writer.send(
      batch.enumerated().map { number, text in
        #"{"jsonrpc":"2.0","id":\#(start + number + 1),"method":"note/create","params":{"text":"\#(text.replacingOccurrences(of: "\n", with: "\\n"))"}}"#
          + "\n"
      }.joined())
    while answered < start + batch.count { answered += writer.lines().count }
  }
  writer.end()
  let file = folder + ".txt"
  try? texts.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)

  let grep = measure(
    prepare: {},
    body: { _ in
      run(URL(fileURLWithPath: "/usr/bin/env"), ["grep", "-ci", "needleword", file], state: folder)
    },
    check: { _, status in expect(status == 0, "grep") })
  func search(_ client: Client) -> String {
    client.request("notebook/search", #"{"query":"needleword"}"#)
  }
  func check(_ answer: String) {
    expect(answer.contains("the Needleword"), "search: \(answer.prefix(200))")
  }
  // Read once, or there is no archive.
  Client(notebook: folder, program, state: folder + "-state").end()
  let archived = Client(notebook: folder, program, state: folder + "-state")
  report.add(
    Row(
      "search", "20,000 notes of 1 kB, \(language), from the archive",
      measure(prepare: {}, body: { _ in search(archived) }, check: { check($1) }), floor: grep,
      goal: .median(40_000_000)))
  archived.end()
  let opened = Client(notebook: folder, program, state: folder + "-none")
  report.add(
    Row(
      "search", "20,000 notes of 1 kB, \(language), just read from logs",
      measure(prepare: {}, body: { _ in search(opened) }, check: { check($1) }), floor: grep,
      goal: .median(40_000_000)))
  opened.end()
}
