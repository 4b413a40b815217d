import Bytes
import Foundation

// Notes as files: import and export of 10,000 files of 2 kB in 100 folders, and a mirror of them.

/// Import, export, and a mirror: its start, much at once, one file saved, and what it takes when nothing happens.
func fileRows(_ report: inout Report) {
  withProgram("files", &report) { program, scratch, report in
    let files = scratch + "/files"
    let count = 10_000
    makeFiles(count, in: files)
    let floor = measure({ readAll(files) }, check: { expect($0 == count, "read") })
    importRows(program, scratch, files, floor, &report)
    mirrorRows(program, scratch, files, count, floor, &report)
  }
}

private func path(_ number: Int) -> String { "\(number % 100)/note \(number).md" }

private func makeFiles(_ count: Int, in folder: String) {
  var random = SeededRandom(seed: 19)
  var prose = Prose()
  for number in 0..<100 {
    try? FileManager.default.createDirectory(
      atPath: "\(folder)/\(number)", withIntermediateDirectories: true)
  }
  for number in 0..<count {
    let text = Array("# Note \(number)\n\n".utf8) + prose.text(atLeast: 2000, &random)
    _ = FileManager.default.createFile(atPath: "\(folder)/\(path(number))", contents: Data(text))
  }
}

/// The floor: finds all files, reads each and hashes it; returns how many there are.
private func readAll(_ folder: String) -> Int {
  var count = 0
  for name in (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
  where name.hasSuffix(".md") {
    guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else { continue }
    if SHA256.prefix64(of: Array(data)[...]) != 0 { count += 1 }
  }
  return count
}

private func importRows(
  _ program: URL, _ scratch: String, _ files: String, _ floor: Timing, _ report: inout Report
) {
  let (notebook, state, out) = (scratch + "/import", scratch + "/state", scratch + "/out")
  func row(
    _ name: String, _ arguments: [String], goal: Row.Goal? = nil, prepare: @escaping () -> Void
  ) {
    let timing = measure(
      prepare: prepare,
      body: { _ in run(program, ["--notebook", notebook] + arguments, state: state) },
      check: { _, status in expect(status == 0, name) })
    report.add(Row("files", name, timing, floor: floor, goal: goal))
  }
  row("10,000 files of 2 kB, import", ["import", files], goal: .median(5e9)) {
    for path in [notebook, state] { try? FileManager.default.removeItem(atPath: path) }
  }
  row("the same, again", ["import", files]) {}
  row("10,000 files, export", ["export", out]) {
    try? FileManager.default.removeItem(atPath: out)
  }
  row("the same, again", ["export", out]) {}
}

private func mirrorRows(
  _ program: URL, _ scratch: String, _ files: String, _ count: Int, _ floor: Timing,
  _ report: inout Report
) {
  let (notebook, state) = (scratch + "/mirrored", scratch + "/mirror-state")
  func start() -> Client {
    Client(notebook: notebook, program, state: state, mirror: files)
  }
  func rest(_ client: Client) {
    expect(client.request("notebook/mirror", "{}").contains("\"files\":\(count)"), "mirror")
  }
  let first = start()
  rest(first)
  first.end()
  let timing = measure(
    prepare: {},
    body: { _ -> Client in
      let client = start()
      rest(client)
      return client
    }, check: { _, client in client.end() })
  report.add(Row("files", "a mirror of 10,000 files, start to rest", timing, floor: floor))

  let client = start()
  rest(client)
  sleep(1)
  report.add(
    Row("files", "the same, memory at rest", bytes: client.memory, goal: .bytes(20 * 1_048_576)))
  let before = client.processorTime
  sleep(61)
  report.add(
    Row(
      "files", "the same, processor time of a minute in which nothing happens",
      Timing([client.processorTime - before])))

  var round = 0
  let many = measure(
    prepare: { round += 1 },
    body: { _ in
      for number in 0..<2000 { append("round \(round)\n", to: "\(files)/\(path(number))") }
      rest(client)
    },
    check: { _, _ in
      let status = client.request(
        "notebook/search", #"{"query":"round \#(round)","mode":"text","limit":1000}"#)
      expect(status.components(separatedBy: "\"note\":").count == 1001, "2,000 files")
    })
  report.add(
    Row("files", "2,000 files of them changed, to rest", many, floor: floor, goal: .median(3e9)))

  // The client shows the note of a file that another program saves.
  let list = client.request("notebook/search", #"{"query":"Note 5000","mode":"text"}"#)
  guard let name = list.range(of: #""id":""#) else { fatalError("no note: \(list)") }
  let id = String(list[name.upperBound...].prefix { $0 != "\"" })
  _ = client.request("note/open", #"{"id":"\#(id)","mode":"observe","check":"none"}"#)
  var saved = 0
  let shown = measure(
    prepare: {
      saved += 1
      usleep(300_000)
    },
    body: { _ in
      append("saved \(saved)\n", to: "\(files)/\(path(5000))")
      _ = client.line(with: "saved \(saved)")
    }, check: { _, _ in })
  report.add(
    Row("files", "a file saved, shown by an editor", shown, goal: .median(300e6)))
  client.end()
}

private func append(_ text: String, to path: String) {
  guard let file = FileHandle(forWritingAtPath: path) else { fatalError("no file \(path)") }
  _ = try? file.seekToEnd()
  try? file.write(contentsOf: Data(text.utf8))
  try? file.close()
}
