import Foundation
import TestSupport
import Testing

@testable import NotesServer

/// A client that resumes without being known, beside one that sends its text with `base`.
@Suite(.computing) struct `Coming back with a text that the note has had` {
  private let scratch = TemporaryFolder()

  private func peer(_ folder: String, _ seed: UInt64) -> Peer {
    let peer = Peer(scratch(folder), seed: seed, state: scratch("state of \(folder)"))
    peer.initialize()
    return peer
  }

  /// Words of which each is used once, by one person. No two have a letter in common, so no difference takes a part of one for a part of
  /// another, and nothing that the client types is in the note already.
  private struct Writer {
    /// The numbers of the words that were not used yet.
    private var numbers: Range<UInt32>

    init(_ number: UInt32) { numbers = 50 * number..<50 * (number + 1) }

    static func word(_ number: UInt32) -> String {
      let first = 0x1401 + 3 * number
      return String(String.UnicodeScalarView((first..<first + 3).map { Unicode.Scalar($0)! }))
    }

    mutating func word() -> String {
      defer { numbers = numbers.dropFirst() }
      return Self.word(numbers.lowerBound)
    }

    /// A text with some words inserted, removed and replaced.
    mutating func edited(_ text: String, _ random: inout SplitMix64) -> String {
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.split(separator: " ").map(String.init) }
      for _ in 0...random.below(3) {
        let line = random.below(lines.count)
        let place = random.below(lines[line].count + 1)
        switch random.below(10) {
        case 0...3: lines[line].insert(word(), at: place)
        case 4, 5: if place < lines[line].count { lines[line][place] = word() }
        case 6, 7: if place < lines[line].count { lines[line].remove(at: place) }
        case 8: lines.insert([word()], at: line)
        default: if lines.count > 1 { lines.remove(at: line) }
        }
      }
      return lines.map { $0.joined(separator: " ") }.joined(separator: "\n")
    }
  }

  /// The words of a text, each as often as it is there, also where two stand side by side.
  private func words(_ text: String) -> [String] {
    (0..<200 as Range<UInt32>).flatMap { number in
      let word = Writer.word(number)
      return Array(repeating: word, count: text.ranges(of: word).count)
    }
  }

  /// What the client's text and the others' amount to is what `note/setText` makes of them.
  @Test(arguments: seeds(60))
  func `merges as note/setText does with that revision as base`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var writers = (0..<3).map { Writer($0) }
    let peers = (0..<3).map { peer("notes \($0)", seed &* 16 &+ UInt64($0)) }
    let note = peers[0].create(["text": .string(writers[0].edited("", &random))])
    for peer in peers.dropFirst() { peer.merge(from: peers[0]) }
    var states: [(revision: String, text: String)] = []
    func keep(_ state: JSON) {
      let (text, revision) = (state["text"]!.string!, state["revision"]!.string!)
      states.append((revision, text))
    }
    keep(peers[0].call("note/get", ["id": .string(note)]))
    for _ in 0..<random.below(12) + 1 {
      let index = random.below(3)
      if random.chance(30) { peers[index].merge(from: peers[random.below(3)]) }
      let text = writers[index].edited(peers[index].text(note), &random)
      keep(peers[index].call("note/setText", ["id": .string(note), "text": .string(text)]))
    }
    for _ in 0..<2 { for peer in peers { for other in peers { peer.merge(from: other) } } }
    let present = peers[0].text(note)
    // Which of two past states with one text was meant nobody can know.
    let past = states.filter { state in
      states.count { $0.text == state.text } == 1 && state.text != present
    }
    let base = random.pick(past + [(peers[0].revision, present)])
    var client = Writer(3)
    let text = client.edited(base.text, &random)

    peers[1].call(
      "note/setText", ["id": .string(note), "text": .string(text), "base": .string(base.revision)])
    let result = peers[0].ask(
      "note/open",
      [
        "id": .string(note), "mode": "edit",
        "resume": [
          "session": "gone", "version": 3, "rev": 0, "text": .string(text),
          "baseText": .string(base.text),
        ],
      ])
    #expect(result["resumed"] == "merged")
    let merged = peers[0].text(note)
    #expect(
      merged == peers[1].text(note),
      "\(at(seed)): \(base.text.debugDescription), \(present.debugDescription), \(text.debugDescription)"
    )
    var shown = LiveClient(
      attachment: result["attachment"]!.integer!, isObserver: false, form: .lines,
      encoding: "utf-16", text: text, version: 3)
    for push in peers[0].take("note/edit") { #expect(try shown.receive(push) == nil) }
    #expect(shown.string == merged, at(seed))
    // Others can make the same change, and see the same.
    peers[2].merge(from: peers[0])
    #expect(peers[2].text(note) == merged, at(seed))
    // What anybody has typed is there once, but what somebody has deleted.
    let deleted = Set(words(base.text)).subtracting(words(text))
    let expected =
      words(present).filter { !deleted.contains($0) }
      + Set(words(text)).subtracting(words(base.text))
    #expect(
      words(merged).sorted() == expected.sorted(),
      "\(at(seed)): \(base.text.debugDescription), \(present.debugDescription), \(text.debugDescription)"
    )
  }

  /// What can't be read of the past may not be found. Then the text is merged with the present one.
  @Test func `merges all the same when the archive can't be read`() throws {
    let state = scratch("state of notes")
    let first = peer("notes", 1)
    let note = first.create(["text": "a b"])
    first.call("note/setText", ["id": .string(note), "text": "a c"])
    first.create(["text": .string(String(repeating: "b", count: 2 << 20))])
    func archives() -> [String] {
      FileManager.default.subpaths(atPath: state)?.filter { $0.hasSuffix("archive") } ?? []
    }
    for _ in 0..<1000 where archives().isEmpty { first.work() }
    let archive = try #require(archives().first)
    _ = first.ask("shutdown")
    first.notify("exit")
    let second = peer("notes", 2)
    #expect(second.text(note) == "a c")
    let file = try #require(FileHandle(forWritingAtPath: "\(state)/\(archive)"))
    let size = try file.seekToEnd()
    try file.seek(toOffset: 0)
    try file.write(contentsOf: Data(count: Int(size)))
    let result = second.ask(
      "note/open",
      [
        "id": .string(note), "mode": "edit",
        "resume": [
          "session": "gone", "version": 3, "rev": 0, "text": "a b d", "baseText": "a b",
        ],
      ])
    #expect(result["resumed"] == "merged")
    #expect(second.text(note) == "a c d")
  }
}
