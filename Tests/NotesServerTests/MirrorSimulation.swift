import Foundation
import TestSupport
import Testing

@testable import NotesServer

/// A person with a notebook, a folder that mirrors it, and programs that write there.
///
/// Every word is written once, by somebody, somewhere. It is known which words somebody has seen and taken away; all others must be there
/// once, in the file and in the note, when everything is at rest.
struct MirrorSimulation {
  /// What may happen; a test leaves things out to find out what a failure depends on.
  struct Chances {
    var edits = 40
    var files = 40
    var moves = 6
    var removals = 4
    var kills = 3
    var clock = 2
  }

  /// A program that has a file open: its text as it was read.
  private struct Buffer {
    var path: String
    var text: String
  }

  private var random: SplitMix64
  private let scratch = TemporaryFolder()
  private let tree = MemoryTree("/mirror")
  private var peer: Peer
  private var seed: UInt64
  /// The words that are somewhere, and not taken away by anybody.
  private var alive: Set<String> = []
  private var buffers: [Buffer] = []
  private(set) var log: [String] = []

  init(seed: UInt64) {
    self.seed = seed
    random = SplitMix64(seed: seed)
    peer = Peer(
      scratch("notes"), seed: seed &* 1000, state: scratch("state"), mirror: tree)
    peer.initialize()
  }

  private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
  private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  private mutating func word() -> String {
    // No two have much in common.
    let word = "w\(random.next() >> 20)w"
    alive.insert(word)
    return word
  }

  /// The words in a text. Two that were written at one place at the same time may stand side by side.
  private static func words(in text: String) -> [String] {
    text.matches(of: /w[0-9]+w/).map { String($0.output) }
  }

  /// A text with a word more, or without a line that the editor has seen.
  private mutating func edited(_ text: String) -> String {
    let (header, text) = Self.parts(of: text)
    return header + editedBody(text)
  }

  /// The header of a file, and its text.
  private static func parts(of text: String) -> (header: String, text: String) {
    guard text.hasPrefix("---\n"), let end = text.dropFirst(4).range(of: "\n---\n") else {
      return ("", text)
    }
    return (String(text[..<end.upperBound]), String(text[end.upperBound...]))
  }

  private mutating func editedBody(_ text: String) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.count > 2, chance(15) {
      let gone = lines.remove(at: below(lines.count - 1))
      for word in Self.words(in: gone) { alive.remove(word) }
    } else if chance(50) {
      lines.insert(word(), at: below(lines.count))
    } else {
      let place = below(lines.count)
      lines[place] += (lines[place].isEmpty ? "" : " ") + word()
    }
    return lines.joined(separator: "\n")
  }

  private func text(_ id: String) -> String {
    peer.call("note/get", ["id": .string(id)])["text"]!.string!
  }

  private var paths: [String] {
    tree.files.keys.filter { !$0.hasPrefix(".") && $0.hasSuffix(".md") }.sorted()
  }

  private mutating func pause() {
    peer.run(for: .milliseconds([1, 50, 150, 250, 500, 1100, 2500][below(7)]))
  }

  // MARK: - What may happen

  private mutating func editNote() {
    let notes = peer.list()
    if notes.count < 3, chance(40) || notes.isEmpty {
      let title = ["a", "b", "c/d", "a"][below(4)]
      peer.create(["title": .string(title), "text": .string(word() + "\n")])
      return log.append("create \(title)")
    }
    let id = notes[below(notes.count)]
    let new = edited(text(id))
    peer.call("note/setText", ["id": .string(id), "text": .string(new)])
    log.append("note \(id.prefix(2)): \(new.debugDescription)")
  }

  /// Programs read a file, are edited, and write it: in place, in pieces, or by putting another file there.
  private mutating func editFile() {
    if paths.isEmpty { return }
    if chance(40) || buffers.isEmpty {
      let path = paths[below(paths.count)]
      guard let text = tree.text(path) else { return }
      buffers.removeAll { $0.path == path }
      buffers.append(Buffer(path: path, text: text))
      return log.append("read \(path)")
    }
    let place = below(buffers.count)
    let path = buffers[place].path
    // An editor warns before it writes where nothing is any more, and a note may have been deleted meanwhile.
    guard tree.text(path) != nil else {
      buffers.remove(at: place)
      return
    }
    let new = edited(buffers[place].text)
    buffers[place].text = new
    switch below(4) {
    case 0: tree.write(new, path)
    case 1:
      let file = tree.open(path)
      let half = new.index(new.startIndex, offsetBy: new.count / 2)
      if chance(50) { peer.run(for: .milliseconds(30)) }
      tree.append(String(new[..<half]), to: file)
      if chance(50) { peer.run(for: .milliseconds(300)) }
      tree.append(String(new[half...]), to: file)
      tree.close(file)
    default: tree.writeAtomically(new, path)
    }
    log.append("write \(path): \(new.debugDescription)")
    // What is left there for a second is read.
    peer.run(for: .milliseconds(1000))
  }

  private mutating func newFile() {
    let path = ["x.md", "y.md", "z/x.md"][below(3)]
    if tree.text(path) != nil { return }
    tree.write(word() + "\n", path)
    log.append("new \(path)")
    peer.run(for: .milliseconds(1000))
  }

  private mutating func move() {
    if paths.isEmpty { return }
    let path = paths[below(paths.count)]
    let new = ["m.md", "n.md", "o/m.md"][below(3)]
    guard tree.text(new) == nil else { return }
    tree.rename(path, new)
    buffers.removeAll { $0.path == path || $0.path == new }
    log.append("mv \(path) \(new)")
    if chance(50) { peer.run(for: .seconds(9)) }
  }

  /// A file is removed by somebody who has seen it; what is in the note besides stays.
  private mutating func remove() {
    peer.run(for: .seconds(9))
    if paths.isEmpty { return }
    let path = paths[below(paths.count)]
    for word in Self.words(in: tree.text(path)!) { alive.remove(word) }
    tree.remove(path)
    buffers.removeAll { $0.path == path }
    log.append("rm \(path)")
    peer.run(for: .seconds(9))
  }

  private mutating func kill() {
    // In the middle of what it does. Nothing of it goes on; what it has noted down is there.
    tree.callsLeft = below(12)
    log.append("kill after \(tree.callsLeft!) calls")
    peer.run(for: .milliseconds(1500))
    tree.callsLeft = nil
    seed += 1
    peer.abandonMirror()
    peer = Peer(
      scratch("notes"), seed: seed &* 1000 &+ 7, state: scratch("state"), mirror: tree)
    peer.initialize()
  }

  mutating func step(_ chances: Chances) {
    let all = [
      chances.edits, chances.files, 5, chances.moves, chances.removals, chances.kills,
      chances.clock,
    ]
    var rest = below(all.reduce(0, +))
    var kind = 0
    while rest >= all[kind] {
      rest -= all[kind]
      kind += 1
    }
    switch kind {
    case 0: editNote()
    case 1: editFile()
    case 2: newFile()
    case 3: move()
    case 4: remove()
    case 5: kill()
    default: tree.clock = max(1, tree.clock + Int64(below(2_000_000)) - 1_000_000)
    }
    pause()
  }

  /// Waits until everything is at rest, and says what is wrong then.
  mutating func problems() -> [String] {
    peer.run(for: .seconds(120))
    var problems: [String] = []
    let notes = peer.list()
    var texts: [String] = []
    for id in notes { texts.append(text(id)) }
    let files = paths.map { Self.parts(of: tree.text($0)!).text }
    if texts.sorted() != files.sorted() {
      problems.append("the notes are \(texts.sorted()), the files \(files.sorted()) \(paths)")
    }
    let found = texts.flatMap { Self.words(in: $0) }
    for (word, times) in Dictionary(grouping: found, by: { $0 }).mapValues(\.count) where times > 1
    {
      problems.append("\(word) is there \(times) times")
    }
    for word in alive.subtracting(found).sorted() { problems.append("\(word) is lost") }
    return problems
  }
}

@Suite("A mirror, simulated") struct MirrorSimulationTests {
  @Test func `no word is lost, and none is there twice`() {
    var failed = 0
    for seed in seeds(40) where failed < 5 {
      var simulation = MirrorSimulation(seed: seed)
      for _ in 0..<40 { simulation.step(.init()) }
      let problems = simulation.problems()
      if problems.isEmpty { continue }
      failed += 1
      Issue.record("\(simulation.log.joined(separator: "\n"))\nseed \(seed): \(problems)")
    }
  }
}
