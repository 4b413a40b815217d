// An agent that edits a note by `decent-notes mcp` while two people type in it, in Vim and in Emacs.
//
// As with three editors (ThreeEditorsTests.swift) every word is there once in the whole run, and is deleted by none but who has written it.
// The agent's bases are old ones as a rule: it reads the note now and then, as a model does that thinks between its edits.

import Foundation
import JSONRPC
import TestSupport
import Testing

/// The work of the agent.
private final class AgentWriter: @unchecked Sendable {
  private let agent: AgentClient
  private let note: JSON
  private var random: SplitMix64
  /// Words that nobody deletes, before which it writes.
  private let places: [String]
  private(set) var alive: [String] = []
  private(set) var deleted: [String] = []
  private(set) var merged = 0
  private(set) var log: [String] = []

  /// The revision that it has read, and its own words in the text then.
  private var base: JSON = nil
  private var known: [String] = []
  private var unused: [String] = []

  init(_ notebook: String, _ note: String, places: [String], folder: TemporaryFolder, seed: UInt64)
    throws
  {
    self.note = .string(note)
    self.places = places
    random = SplitMix64(seed: seed)
    agent = try AgentClient(notebook, environment: ["XDG_STATE_HOME": folder("state")])
  }

  private func newWord() -> String {
    let word = "a" + String(format: "%04d", alive.count + deleted.count + 1)
    alive.append(word)
    return word
  }

  private func read() throws {
    let read = try agent.use("read_note", ["id": note])
    base = JSON(read["revision"]!)
    known = words(in: read["text"]!.utf8!).words.filter { alive.contains($0) }
    unused = places
  }

  /// Makes one edit.
  func act() throws {
    if base.isNull || unused.isEmpty || random.below(6) == 0 { try read() }
    switch random.below(4) {
    case 0 where !known.isEmpty:
      // A word of its own goes.
      let word = known.remove(at: random.below(known.count))
      alive.removeAll { $0 == word }
      deleted.append(word)
      try edit("\(word),", "")
    case 1 where !known.isEmpty:
      // A word becomes another one.
      let word = known.remove(at: random.below(known.count))
      let other = newWord()
      alive.removeAll { $0 == word }
      deleted.append(word)
      try edit(word, other)
    case 2:
      let word = newWord()
      log.append("appends \(word)")
      try agent.use("append_note", ["id": note, "text": .string("\(word),")])
    default:
      let place = unused.remove(at: random.below(unused.count))
      let added = (0...random.below(3)).map { _ in newWord() + "," }.joined(separator: " ")
      try edit(place, "\(added) \(place)")
    }
  }

  private func edit(_ old: String, _ new: String) throws {
    log.append("\(old) becomes \(new)")
    let result = try agent.use(
      "edit_note", ["id": note, "base": base, "old": .string(old), "new": .string(new)])
    if result["merged"]?.boolean == true { merged += 1 }
  }

  func leave() throws {
    guard try agent.leave() == .status(0) else { throw Failure("the agent's process failed") }
  }
}

@Suite(
  .waitingLong, .tags(.editor, .slow), .serialized,
  .enabled(
    if: Terminal.isPossible && hasTool("vim") && hasTool("emacs") || isContinuousIntegration,
    "vim, emacs or tmux is missing"))
struct `An agent beside two editors` {
  @Test(arguments: Array(1...UInt64(scaled(1, 10))))
  func `All that an agent and two people write into one note is there once`(
    _ seed: UInt64
  ) throws {
    let folder = TemporaryFolder()
    let notebook = folder("notes")
    let first = (1...12).map { String(format: "x%04d", $0) }
    let lines = stride(from: 0, to: 12, by: 2).map { "\(first[$0]), \(first[$0 + 1])," }
    let reader = try Server(notebook)
    try reader.initialize()
    let note = try reader.call(
      "note/create", ["title": "Note", "text": .string(lines.joined(separator: "\n\n") + "\n")])[
        "note"]!["id"]!.string!
    let places = { (index: Int) in stride(from: index, to: 12, by: 3).map { first[$0] } }
    let typists = try [Editor.vim, .emacs].enumerated().map { index, editor in
      try Typist(
        editor, note: note, places: Set(places(index)), notebook: notebook, folder: folder,
        seed: seed)
    }
    let agent = try AgentWriter(notebook, note, places: places(2), folder: folder, seed: seed)

    let (lock, group) = (NSLock(), DispatchGroup())
    nonisolated(unsafe) var problems: [String] = []
    let deadline = Deadline(in: TimeInterval(scaled(8, 60)))
    let hasProblem: @Sendable () -> Bool = { lock.withLock { !problems.isEmpty } }
    func inThread(_ body: @escaping @Sendable () throws -> Void) {
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        do { try body() } catch { lock.withLock { problems.append("\(error)") } }
      }
    }
    for typist in typists {
      inThread { while !deadline.isOver, !hasProblem() { try typist.act() } }
    }
    inThread { while !deadline.isOver, !hasProblem() { try agent.act() } }
    group.wait()
    try #require(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    try agent.leave()

    // The text that all have, once it does not change any more.
    var outcome = ThreeEditorsOutcome(texts: [:], alive: [], deleted: [], isQuiet: false)
    let end = Deadline(in: 2 * patience)
    repeat {
      let states = try typists.map { try $0.look() }
      outcome.texts = [
        "the note": try reader.call("note/get", ["id": .string(note)])["text"]!.utf8!
      ]
      for (typist, state) in zip(typists, states) {
        outcome.texts[typist.editor.rawValue] = state.text
      }
      outcome.isQuiet =
        states.allSatisfy { !$0.isModified && $0.mode == "n" && $0.status != "offline" }
        && Set(outcome.texts.values).count == 1
      if !outcome.isQuiet { pause(0.05) }
    } while !outcome.isQuiet && !end.isOver
    outcome.alive = first + agent.alive + typists.flatMap(\.alive)
    outcome.deleted = agent.deleted + typists.flatMap(\.deleted)
    let log = (agent.log + typists.flatMap(\.log)).joined(separator: "\n")
    #expect(outcome.objections.isEmpty, "seed \(seed): \(outcome.objections)\n\(log)")
    // All three have written, and into what others had changed.
    #expect(typists.allSatisfy { !$0.alive.isEmpty } && agent.merged > 0)
    print("Seed \(seed): \(agent.log.count) edits of the agent, \(agent.merged) of them merged")
  }
}
