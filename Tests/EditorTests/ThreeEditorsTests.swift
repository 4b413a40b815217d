// Vim, Neovim and Emacs on one note, each with a process of its own, used by their keys at the same time.
//
// Every word is there once in the whole run, is deleted or moved by none but who has typed it, and all that others do around it changes
// blanks. So it is known what has to be there in the end, whatever came first: each word that its author has not deleted, once.
//
// What merging does not promise is left out. Words have commas, since of two people who break the same line anew at once one may leave
// the blank and the other the line feed, and the merge of both neither. And all type before words of their own: who types, or joins
// lines, where somebody else's word just ends that is not typed to its end may tear it.

import Foundation
import JSONRPC
import TestSupport
import Testing

/// Three typists at one note.
private struct Room: @unchecked Sendable {
  let folder: TemporaryFolder
  let notebook: String
  let note: String
  let typists: [Typist]
  /// Words that were there at first, and nobody deletes.
  let first: [String]

  /// - Parameter clients: folders of clients to be used instead of those of this project.
  init(seed: UInt64, clients: [Editor: String] = [:]) throws {
    folder = TemporaryFolder()
    notebook = folder("notes")
    let first = (1...12).map { String(format: "x%04d", $0) }
    let lines = stride(from: 0, to: 12, by: 2).map { "\(first[$0]), \(first[$0 + 1])," }
    let server = try Server(notebook)
    try server.initialize()
    let note = try server.call(
      "note/create", ["title": "Note", "text": .string(lines.joined(separator: "\n\n") + "\n")])[
        "note"]!["id"]!.string!
    try server.leave()
    (self.note, self.first) = (note, first)
    let (path, shared) = (notebook, folder)
    typists = try Editor.allCases.enumerated().map { index, editor in
      let places = stride(from: index, to: first.count, by: Editor.allCases.count).map { first[$0] }
      return try Typist(
        editor, note: note, places: Set(places), notebook: path, folder: shared, seed: seed,
        client: clients[editor])
    }
  }

  /// All type for so many seconds; in the middle of it one's process is killed, unless told otherwise.
  func type(for seconds: TimeInterval, seed: UInt64, killing: Bool = true) throws {
    let start = Date()
    let victim = Int(seed % 3)
    let problems = Problems()
    let group = DispatchGroup()
    for (index, typist) in typists.enumerated() {
      group.enter()
      // A thread each: a queue would have no more of them than there are cores.
      Thread.detachNewThread {
        defer { group.leave() }
        var isKilled = !killing || index != victim
        do {
          while problems.isEmpty, Date().timeIntervalSince(start) < seconds {
            if !isKilled, Date().timeIntervalSince(start) > seconds / 2 {
              isKilled = true
              try typist.insertAndKill()
            } else {
              try typist.act()
            }
          }
        } catch {
          problems.add("\(error)")
        }
      }
    }
    group.wait()
    if !problems.isEmpty { throw Failure(problems.all.joined(separator: "\n")) }
  }

  /// What all have when it does not change any more, and what a fourth process reads.
  func outcome() throws -> ThreeEditorsOutcome {
    let reader = try Server(notebook)
    try reader.initialize()
    let deadline = Deadline(in: 2 * typists[0].patience)
    while true {
      let states = try typists.map { try $0.look() }
      let text = try reader.call("note/get", ["id": .string(note)])["text"]!.utf8!
      let isQuiet = states.allSatisfy { !$0.isModified && $0.mode == "n" && $0.status != "offline" }
      if isQuiet && states.allSatisfy({ $0.text == text }) || deadline.isOver {
        var texts = ["the note": text]
        for (typist, state) in zip(typists, states) { texts[typist.editor.rawValue] = state.text }
        return ThreeEditorsOutcome(
          texts: texts, alive: first + typists.flatMap(\.alive),
          deleted: typists.flatMap(\.deleted), isQuiet: isQuiet)
      }
      pause(0.05)
    }
  }

  /// What was done, for a failure.
  func report(_ objections: [String], _ outcome: ThreeEditorsOutcome?, seed: UInt64) -> String {
    let log = typists.flatMap(\.log).joined(separator: "\n")
    let texts = (outcome?.texts ?? [:]).sorted { $0.key < $1.key }
      .map { "--- \($0.key)\n\(String(decoding: $0.value, as: UTF8.self))" }.joined(separator: "\n")
    let screens = typists.map {
      "--- \($0.editor.rawValue)\n" + ((try? $0.terminal.screen()) ?? []).joined(separator: "\n")
    }.joined(separator: "\n")
    let file = NSTemporaryDirectory() + "decent-notes-three-editors-\(seed).txt"
    let all = objections.joined(separator: "\n") + "\n\(texts)\n\(screens)\n--- actions\n\(log)\n"
    try? all.write(toFile: file, atomically: true, encoding: .utf8)
    let named = Set(words(in: Array(objections.joined(separator: " ").utf8)).words)
    let lines = log.split(separator: "\n").filter { line in named.contains { line.contains($0) } }
    return """
      seed \(seed), all of it in \(file)
      \(objections.prefix(20).joined(separator: "\n"))
      \(lines.suffix(60).joined(separator: "\n"))
      """
  }
}

/// Gathers what goes wrong in several threads.
private final class Problems: @unchecked Sendable {
  private let lock = NSLock()
  private var problems: [String] = []
  func add(_ problem: String) { lock.withLock { problems.append(problem) } }
  var all: [String] { lock.withLock { problems } }
  var isEmpty: Bool { all.isEmpty }
}

/// What is there in the end, and what has to be.
struct ThreeEditorsOutcome {
  /// What each editor and a process of its own has.
  var texts: [String: [UInt8]]
  var alive: [String]
  var deleted: [String]
  /// Whether all was acknowledged.
  var isQuiet: Bool

  /// What is not as it has to be; empty if all is.
  var objections: [String] {
    var objections = isQuiet ? [] : ["not everything was acknowledged"]
    if Set(texts.values).count > 1 { objections.append("the texts differ") }
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
      let (found, rest) = words(in: text)
      let counts = Dictionary(found.map { ($0, 1) }, uniquingKeysWith: +)
      for word in alive where counts[word] != 1 {
        objections.append("\(name) has \(word) \(counts[word] ?? 0) times")
      }
      for word in deleted where counts[word] != nil {
        objections.append("\(name) has \(word), which was deleted, \(counts[word]!) times")
      }
      let known = Set(alive).union(deleted)
      for word in counts.keys.sorted() where !known.contains(word) {
        objections.append("\(name) has \(word), which nobody typed")
      }
      // Emacs fills with tabs where eight blanks begin a line.
      let torn = rest.filter { !", \n\t".utf8.contains($0) }
      if !torn.isEmpty {
        objections.append("\(name) has parts of words: \(String(decoding: torn, as: UTF8.self))")
      }
    }
    return objections
  }
}

@Suite(
  .waitingLong, .tags(.editor, .slow), .serialized,
  .enabled(if: Editor.arePossible || isContinuousIntegration, "an editor or tmux is missing"))
struct `Three editors on one note` {
  private static let seeds: [UInt64] =
    ProcessInfo.processInfo.environment["DECENT_NOTES_SEED"].flatMap { UInt64($0) }.map { [$0] }
    ?? Array(1...UInt64(scaled(2, 10)))

  @Test(
    arguments: seeds)
  func `All that three users do to a note at once is there once, whichever server is killed`(
    _ seed: UInt64
  ) throws {
    let room = try Room(seed: seed)
    var outcome: ThreeEditorsOutcome?
    var objections: [String] = []
    do {
      try room.type(for: TimeInterval(scaled(8, 60)), seed: seed)
      outcome = try room.outcome()
      objections = outcome!.objections
    } catch {
      objections = ["\(error)"]
    }
    let done = room.typists.map { "\($0.editor.rawValue) \($0.log.count)" }.joined(separator: ", ")
    print("Seed \(seed): \(done); \(outcome?.alive.count ?? 0) words")
    if !objections.isEmpty {
      Issue.record(Comment(rawValue: room.report(objections, outcome, seed: seed)))
    }
  }

  @Test func `the check finds what a client would spoil`() throws {
    let text = Array("x0001, v0001,\nn0001,\n".utf8)
    let good = ThreeEditorsOutcome(
      texts: ["Vim": text, "Emacs": text], alive: ["x0001", "v0001", "n0001"], deleted: ["e0001"],
      isQuiet: true)
    #expect(good.objections.isEmpty)
    for spoilt in [
      "x0001, v0001,\n\n", "x0001, v0001,\nn0001, n0001,\n", "x0001, v0001,\nn0001,\ne0001,",
      "x0001, v00, 01,\nn0001,\n", "x0001, v0001,\nn0001, 1,\n", "x0001, v0001, \nn0001,\n",
      "x0001, v0001,\nn0001, v0002\n",
    ] {
      var outcome = good
      outcome.texts["Vim"] = Array(spoilt.utf8)
      #expect(!outcome.objections.isEmpty, "\(spoilt)")
    }
    var late = good
    late.isQuiet = false
    #expect(!late.objections.isEmpty)
  }

  @Test func `a client that does not say which push it has applied is found out`() throws {
    let folder = TemporaryFolder()
    let client = folder("vim")
    try FileManager.default.copyItem(atPath: String(Vim.plugin), toPath: client)
    let file = client + "/autoload/decent_notes/live.vim"
    let code = try String(contentsOfFile: file, encoding: .utf8)
    let spoilt = code.replacingOccurrences(of: "    note.rev = push.rev\n", with: "")
    try #require(spoilt != code)
    try spoilt.write(toFile: file, atomically: true, encoding: .utf8)
    let room = try Room(seed: 1, clients: [.vim: client])
    for typist in room.typists { typist.patience = 5 }
    // What it doubles may also keep a typist from doing what he wants.
    var objections = ["they could not go on"]
    if (try? room.type(for: 3, seed: 1, killing: false)) != nil {
      objections = try room.outcome().objections
    }
    #expect(!objections.isEmpty)
  }
}
