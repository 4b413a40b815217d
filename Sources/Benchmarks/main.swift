// swift run -c release Benchmarks [filter] [--traces DIR] [--json]
//
// Prints a table: in each row the figure of this project, the floor of the same run, the ratio, the goal, and yes if it is met.

import Foundation

var folder: String?
var isJSON = false
var filter = ""
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
  switch argument {
  case "--traces": folder = arguments.popFirst()
  case "--json": isJSON = true
  case "--echo": echo()
  case "--delay": delay(arguments.popFirst().flatMap { Int($0) } ?? 0, Array(arguments))
  case "--help", "-h":
    print(
      """
      swift run -c release Benchmarks [filter] [--traces DIR] [--json]

      filter     the beginning of a group: replay, concurrent, encoding, encode, memory, difference, diverged, rules, notebook,
                 authors, and, of decent-notes, which must be built: folder, process, commands, search, sync, link (between machines),
                 links (between notes), files
      --traces   also replay the *.json.gz of a folder (https://github.com/josephg/editing-traces)
      --json     print one JSON object for machines instead of a table
      """)
    exit(0)
  default: filter = argument
  }
}

var flat = [generatedTrace(edits: 260_000, seed: 1)]
var concurrent = [generatedConcurrentTrace(edits: 26_000, seed: 2)]
if let folder {
  do {
    let traces = try readTraces(in: folder)
    flat = traces.flat + flat
    concurrent = traces.concurrent + concurrent
  } catch {
    print("traces: \(error)")
    exit(1)
  }
}

if !isJSON { describe(flat, concurrent) }
let paper = flat.first { $0.name == "automerge-paper" } ?? flat[0]
var report = Report(u: floor(paper), unitTrace: paper.name, isJSON: isJSON)
let wanted = filter
func isWanted(_ group: String) -> Bool { group.hasPrefix(wanted) }

if isWanted("memory") { for trace in flat { memoryRows(trace, &report) } }
if isWanted("replay") { for trace in flat { replayRows(trace, &report) } }
if isWanted("concurrent") {
  for trace in concurrent { concurrentRows(trace, &report) }
  crowdRows(&report)
  liveRows(&report)
}
if isWanted("encoding") { for trace in flat { encodingRows(trace, &report) } }
if isWanted("encode") { encodeRows(paper, &report) }
if isWanted("difference") { differenceRows(&report) }
if isWanted("diverged") {
  mergeRows(&report)
  divergedNotebookRows(&report)
}
if isWanted("rules") { ruleRows(&report) }
if isWanted("notebook") { notebookRows(&report) }
if isWanted("authors") { authorRows(&report) }
if isWanted("folder") { folderRows(&report) }
if isWanted("process") { processRows(&report) }
if isWanted("commands") { commandRows(&report) }
if isWanted("search") { searchRows(&report) }
if isWanted("sync") { syncRows(&report) }
if isWanted("link") { linkRows(&report) }
if isWanted("links") { noteLinkRows(&report) }
if isWanted("files") { fileRows(&report) }
if report.isEmpty {
  print("no group begins with \"\(filter)\"; --help names them")
  exit(1)
}
if isJSON { print(report.json(date: Date.now.ISO8601Format())) }
