import Foundation
import NoteStore
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NotesServer

#if os(Linux)
  import Glibc
#endif

@Suite(.computing)
struct `Coming back to another server` {
  let scratch = TemporaryFolder()
  let first: Peer
  let note: String

  init() {
    first = Peer(
      scratch("notes"), seed: 1, state: scratch("state"))
    first.initialize()
    note = first.create(["title": "Shopping", "tags": ["home"], "text": "milk\neggs"])
  }

  private func open(_ peer: Peer, mode: String = "edit") -> JSON {
    peer.call("note/open", ["id": .string(note), "mode": .string(mode)])
  }

  /// The server that comes after the first one, which is dead.
  private func next(seed: UInt64 = 2, state: String = "state") -> Peer {
    let peer = Peer(scratch("notes"), seed: seed, state: scratch(state))
    peer.initialize()
    return peer
  }

  private func resume(
    _ peer: Peer, _ session: JSON?, _ version: Int, rev: Int = 0, _ text: String,
    base: String? = nil, mode: String = "edit"
  ) -> Peer.Answer {
    var resume: [String: JSON] = [
      "session": session ?? "gone", "version": JSON(version), "rev": JSON(rev),
      "text": .string(text),
    ]
    if let base { resume["baseText"] = .string(base) }
    return peer.ask(
      "note/open", ["id": .string(note), "mode": .string(mode), "resume": JSON(resume)])
  }

  /// What a client shows that sent this text and has applied what came.
  private func shown(_ peer: Peer, _ result: Peer.Answer, _ text: String) throws -> String {
    var client = LiveClient(
      attachment: result["attachment"]!.integer!, isObserver: false, form: .lines,
      encoding: "utf-16", text: text, version: result["version"]!.integer!)
    for push in peer.take("note/edit") where push["attachment"] == result["attachment"] {
      #expect(try client.receive(push) == nil)
    }
    return client.string
  }

  private func change(
    _ peer: Peer, _ attachment: JSON?, _ version: Int, _ text: String, inSameStep: Bool = false
  ) {
    peer.call(
      "note/change",
      [
        "attachment": attachment!, "version": JSON(version), "rev": 0, "text": .string(text),
        "sameStep": .boolean(inSameStep),
      ])
  }

  // MARK: - exact

  @Test func `knows a client that has never changed anything`() throws {
    let session = open(first)["session"]
    let peer = next()
    peer.call("note/append", ["id": .string(note), "text": "\nbread"])
    let result = resume(peer, session, 1, "milk and honey\neggs")
    #expect(result["resumed"] == "exact")
    #expect(result["version"] == 1 && result["rev"] == 0)
    #expect(result["session"] != session)
    #expect(peer.text(note) == "milk and honey\neggs\nbread")
    #expect(
      try shown(peer, result, "milk and honey\neggs") == "milk and honey\neggs\nbread")
  }

  @Test func `has kept a change whose answer never came, once`() {
    let opened = open(first)
    change(first, opened["attachment"], 1, "milk\neggs\nbread")
    let peer = next()
    #expect(resume(peer, opened["session"], 1, "milk\neggs\nbread")["resumed"] == "exact")
    #expect(peer.text(note) == "milk\neggs\nbread")
  }

  @Test func `takes one that was never made as typed since`() {
    let opened = open(first)
    let peer = next()
    #expect(resume(peer, opened["session"], 7, "milk\neggs\nbread")["resumed"] == "exact")
    #expect(peer.text(note) == "milk\neggs\nbread")
  }

  @Test func `gives an older client back what it had typed later`() throws {
    let opened = open(first)
    change(first, opened["attachment"], 1, "milk\neggs\nbread")
    change(first, opened["attachment"], 2, "milk\neggs\nbread\ntea")
    let peer = next()
    let result = resume(peer, opened["session"], 1, "oat milk\neggs\nbread")
    #expect(result["resumed"] == "exact")
    #expect(peer.text(note) == "oat milk\neggs\nbread\ntea")
    #expect(
      try shown(peer, result, "oat milk\neggs\nbread") == "oat milk\neggs\nbread\ntea")
  }

  @Test func `asking twice is asking once, also of a third server`() {
    let opened = open(first)
    change(first, opened["attachment"], 1, "milk\neggs\nbread")
    for seed in 2...5 as ClosedRange<UInt64> {
      let peer = next(seed: seed)
      let result = resume(peer, opened["session"], 2, "milk\neggs\nbread\ntea")
      #expect(result["resumed"] == "exact")
      #expect(peer.text(note) == "milk\neggs\nbread\ntea")
    }
  }

  @Test func `lets undo go on where it was`() {
    let opened = open(first)
    change(first, opened["attachment"], 1, "milk\neggs\nbread")
    change(first, opened["attachment"], 2, "milk\neggs\nbread\ntea")
    first.call("note/undo", ["attachment": opened["attachment"]!])
    let peer = next()
    // It has not come to apply the push of the undo.
    let attachment = resume(peer, opened["session"], 2, "milk\neggs\nbread\ntea")["attachment"]!
    #expect(peer.text(note) == "milk\neggs\nbread")
    peer.call("note/redo", ["attachment": attachment])
    #expect(peer.text(note) == "milk\neggs\nbread\ntea")
    for expected in ["milk\neggs\nbread", "milk\neggs", "milk\neggs"] {
      peer.call("note/undo", ["attachment": attachment])
      #expect(peer.text(note) == expected)
    }
  }

  @Test func `keeps nothing of a session that ended with a shutdown`() throws {
    let session = open(first)["session"]
    let journals = try #require(journalFolder)
    #expect(try FileManager.default.contentsOfDirectory(atPath: journals).count == 1)
    _ = first.ask("shutdown")
    first.notify("exit")
    #expect(try FileManager.default.contentsOfDirectory(atPath: journals) == [])
    #expect(resume(next(), session, 1, "x", base: "milk\neggs")["resumed"] == "merged")
  }

  private var journalFolder: String? {
    let folder = scratch("state") + "/decent-notes"
    let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
    return names?.first.map { "\(folder)/\($0)/journals" }
  }

  #if os(Linux)
    /// Lets everything fail that is done to the journal of the only process that has it open, until `body` is over.
    private func withoutJournal(_ body: () -> Void) throws {
      let folder = try #require(journalFolder)
      let file = try #require(FileManager.default.contentsOfDirectory(atPath: folder).first)
      // All before one is copied: the copy may get a number that was in the list, and was free again.
      let numbers = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        .compactMap { name -> Int32? in
          let link = "/proc/self/fd/\(name)"
          let path = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
          return path == folder || path == "\(folder)/\(file)" ? Int32(name) : nil
        }
      let saved = numbers.map { (number: $0, copy: dup($0)) }
      for number in numbers {
        let full = Glibc.open("/dev/full", O_WRONLY)
        dup2(full, number)
        close(full)
      }
      #expect(saved.count == 2)
      body()
      for (number, copy) in saved {
        dup2(copy, number)
        close(copy)
      }
    }

    /// Its words would stand there twice.
    @Test func `is not misled by a journal in which something could not be noted`() throws {
      let opened = open(first)
      change(first, opened["attachment"], 1, "milk\neggs\nbread")
      try withoutJournal { change(first, opened["attachment"], 2, "milk\neggs\nbread\ntea") }
      // The disk takes something again.
      change(first, opened["attachment"], 3, "milk\neggs\nbread\ntea\nrice")
      let peer = next()
      let text = "milk\neggs\nbread\ntea\nrice"
      let result = resume(peer, opened["session"], 3, text, base: text)
      #expect(result["resumed"] == "merged")
      #expect(peer.text(note) == text)
    }
  #endif

  @Test func `goes on from a journal that was written anew`() throws {
    let peer = Peer(
      scratch("notes"), seed: 9, state: scratch("state"), longJournal: 10)
    peer.initialize()
    let opened = open(peer)
    change(peer, opened["attachment"], 1, "milk\neggs\nbread")
    peer.call("note/append", ["id": .string(note), "text": "\ntea"])
    change(peer, opened["attachment"], 2, "oat milk\neggs\nbread")
    let after = next()
    let result = resume(after, opened["session"], 3, "oat milk\nten eggs\nbread")
    #expect(result["resumed"] == "exact")
    #expect(after.text(note) == "oat milk\nten eggs\nbread\ntea")
    after.call("note/undo", ["attachment": result["attachment"]!])
    after.call("note/undo", ["attachment": result["attachment"]!])
    #expect(after.text(note) == "milk\neggs\nbread\ntea")
  }

  @Test(arguments: [10, 1 << 20])
  func `undoes what was one step at once`(longJournal: Int) throws {
    let peer = Peer(
      scratch("notes"), seed: 9, state: scratch("state"), longJournal: longJournal)
    peer.initialize()
    let opened = open(peer)
    change(peer, opened["attachment"], 1, "milk\neggs\nb")
    change(peer, opened["attachment"], 2, "milk\neggs\nbread", inSameStep: true)
    let after = next()
    let result = resume(after, opened["session"], 2, "milk\neggs\nbread")
    #expect(result["resumed"] == "exact")
    #expect(after.call("note/undo", ["attachment": result["attachment"]!])["done"] == true)
    #expect(after.text(note) == "milk\neggs")
  }

  @Test func `is never misled by a journal that is flipped anywhere`() throws {
    let opened = open(first)
    change(first, opened["attachment"], 1, "milk\neggs\nbread")
    first.call("note/append", ["id": .string(note), "text": "\ntea"])
    let journal = try journalFile()
    let whole = try Data(contentsOf: journal)
    var outcomes: Set<String> = []
    for place in stride(from: 0, to: whole.count, by: 3) {
      var bytes = whole
      bytes[place] ^= 1 << UInt8(place % 8)
      try bytes.write(to: journal)
      let folder = scratch("copy-\(place)")
      try FileManager.default.copyItem(atPath: scratch("notes"), toPath: folder)
      let peer = next(seed: UInt64(place) + 100)
      let result = resume(peer, opened["session"], 1, "milk\neggs\nbread", base: "milk\neggs")
      outcomes.insert(result["resumed"]?.string ?? "none")
      let text = peer.text(note)
      #expect(text == "milk\neggs\nbread\ntea", "damaged at \(place)")
      try FileManager.default.removeItem(atPath: scratch("notes"))
      try FileManager.default.moveItem(atPath: folder, toPath: scratch("notes"))
      try removeJournals(except: journal)
    }
    #expect(outcomes == ["merged"])
  }

  /// Linux looks for a kill between two pages of a write, so a part of an entry may be in the file. What it notes was not done.
  @Test(arguments: ["a change", "a push", "an undo"])
  func `knows all where the kill came while something was noted`(what: String) throws {
    let opened = open(first)
    change(first, opened["attachment"], 1, "milk\neggs\nbread")
    let journal = try journalFile()
    let before = try Data(contentsOf: journal)
    try FileManager.default.copyItem(atPath: scratch("notes"), toPath: scratch("before"))
    switch what {
    case "a change": change(first, opened["attachment"], 2, "milk\neggs\nbread\ntea")
    case "a push": first.call("note/append", ["id": .string(note), "text": "\nrice"])
    default: first.call("note/undo", ["attachment": opened["attachment"]!])
    }
    let whole = try Data(contentsOf: journal)
    #expect(before.count < whole.count && whole.starts(with: before))
    for end in stride(from: before.count, to: whole.count, by: 3) {
      try whole.prefix(end).write(to: journal)
      try FileManager.default.removeItem(atPath: scratch("notes"))
      try FileManager.default.copyItem(atPath: scratch("before"), toPath: scratch("notes"))
      let peer = next(seed: UInt64(end) + 100)
      let result = resume(
        peer, opened["session"], 2, "milk\neggs\nbread\ntea", base: "milk\neggs\nbread")
      #expect(result["resumed"] == "exact", "cut at \(end)")
      for expected in ["milk\neggs\nbread\ntea", "milk\neggs\nbread", "milk\neggs"] {
        #expect(peer.text(note) == expected, "cut at \(end)")
        peer.call("note/undo", ["attachment": result["attachment"]!])
      }
      try removeJournals(except: journal)
    }
  }

  /// The journal of the only process that has noted anything.
  private func journalFile() throws -> URL {
    let folder = try #require(journalFolder)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(names.count == 1)
    return URL(fileURLWithPath: "\(folder)/\(try #require(names.first))")
  }

  /// Removes what other processes have noted.
  private func removeJournals(except journal: URL) throws {
    let folder = journal.deletingLastPathComponent().path
    for name in try FileManager.default.contentsOfDirectory(atPath: folder)
    where name != journal.lastPathComponent {
      try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  @Test func `takes in first what the dead server wrote, where the next one runs already`() throws {
    let opened = open(first)
    let peer = next()
    change(first, opened["attachment"], 1, "milk\neggs\nbread")
    first.call("note/append", ["id": .string(note), "text": "\ntea"])
    let result = resume(peer, opened["session"], 1, "milk\neggs\nbread\nrice")
    #expect(result["resumed"] == "exact")
    peer.folderChanged()
    #expect(peer.text(note) == "milk\neggs\nbread\nrice\ntea")
    #expect(try shown(peer, result, "milk\neggs\nbread\nrice") == peer.text(note))
  }

  @Test func `knows a push of what a third process wrote, where the next one runs already`() throws
  {
    let opened = open(first)
    let third = next(seed: 3)
    let peer = next()
    third.call("note/append", ["id": .string(note), "text": "\nbread"])
    first.folderChanged()
    let push = try #require(first.take("note/edit").first)
    #expect(push["rev"] == 1)
    let result = resume(peer, opened["session"], 0, rev: 1, "milk\neggs\nbread\ntea")
    #expect(result["resumed"] == "exact")
    #expect(peer.text(note) == "milk\neggs\nbread\ntea")
  }

  /// In whatever order the names of their journals come.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `undoes what several servers had no time to answer, the last first`(seed: UInt64) {
    let opened = open(first)
    let texts = ["milk\neggs", "milk\neggs\nbread", "milk\neggs\nbread\ntea", "eggs\nbread\ntea"]
    var last = first
    var attachment = opened["attachment"]!
    for (index, text) in texts.enumerated() {
      last = next(seed: seed &* 16 &+ UInt64(index) &+ 100)
      let result = resume(last, opened["session"], index, text)
      #expect(result["resumed"] == "exact")
      attachment = result["attachment"]!
    }
    for text in texts.dropLast().reversed() {
      last.call("note/undo", ["attachment": attachment])
      #expect(last.text(note) == text)
    }
  }

  // MARK: - Journals that no server writes

  private func resume(writing entries: (ChangeID) -> [JournalEntry]) throws -> Peer.Answer {
    let opened = open(first)
    change(first, opened["attachment"], 1, "milk\neggs\nbread")
    let name = Identifier(high: 7, low: 7)
    let store = try NoteStore(path: scratch("notes"), state: scratch("state")) {
      Identifier(high: 8, low: 8)
    }
    let journal = AttachmentJournal(name, in: store, longSize: 1 << 20)
    let last = try #require(store.notebook.revision.heads.first)
    for entry in entries(last) { journal.append(entry, of: 1) }
    let peer = next()
    let result = resume(peer, .string("\(name).1"), 5, "milk\neggs\nbread")
    if let attachment = result["attachment"] {
      for method in ["note/undo", "note/undo", "note/redo", "note/redo"] {
        _ = peer.ask(method, ["attachment": attachment])
      }
      change(peer, attachment, 6, "milk\neggs\nbread\ntea")
      _ = peer.ask("note/open", ["id": .string(note), "mode": "edit"])
    }
    #expect(peer.text(note).contains("tea"))
    // Whatever it noted down itself can be read.
    let after = next(seed: 3)
    _ = resume(after, result["session"], 6, "milk\neggs\nbread\ntea")
    #expect(after.text(note).contains("tea"))
    return result
  }

  private func opening(
    _ last: ChangeID, hidden: [ElementRange]? = nil, _ undoing: UndoList = .init()
  ) throws -> JournalEntry {
    .open(
      note: try #require(NoteID(note)), version: 0, rev: 0,
      JournalEntry.State(heads: [last], hidden: hidden), undoing)
  }

  @Test func `takes back nothing where a journal tells of an undo and of no change`() throws {
    let result = try resume { last in
      [
        try! opening(last), .turn(.undo, last, 1), .turn(.redo, last, 0), .turn(.redo, last, 5),
      ]
    }
    #expect(result["resumed"] == "exact")
  }

  @Test func `stands steps of changes that are not there, or withdraw each other`() throws {
    let result = try resume { last in
      let author = last.replica
      func range(_ offset: Int, _ count: Int) -> ElementRange {
        ElementRange(author: author, offset: offset, count: count)
      }
      func changes(_ first: UInt64, _ last: UInt64) -> ChangeRanges {
        ChangeRanges([ChangeRanges.Run(author, first...last)])
      }
      let most = Int(Int32.max)
      let list = UndoList(
        done: [changes(1, 1 << 62), changes(7, 9), ChangeRanges()],
        undone: [
          UndoList.Undone(changes: changes(2, 2), withdrawals: changes(1, 3)),
          UndoList.Undone(changes: changes(1, 1), withdrawals: changes(1 << 40, 1 << 41)),
        ])
      return [
        try! opening(last, hidden: [range(most, most), range(0, 0), range(100, 5)], list),
        .turn(.undo, last, .max),
        .change(version: 2, isJoined: true, ChangeID(replica: author, number: .max)),
        .push(rev: .max, JournalEntry.State(heads: [], hidden: nil)),
      ]
    }
    #expect(result["resumed"] == "exact")
  }

  @Test func `goes through few undos again, however many there were`() throws {
    let opened = open(first)
    change(first, opened["attachment"], 1, "milk\neggs\nbread")
    for _ in 0..<400 {
      first.call("note/undo", ["attachment": opened["attachment"]!])
      first.call("note/redo", ["attachment": opened["attachment"]!])
    }
    let rev = try #require(first.take("note/edit").last?["rev"]?.integer)
    let journals = try #require(journalFolder)
    let name = try #require(FileManager.default.contentsOfDirectory(atPath: journals).first)
    let size = try Data(contentsOf: URL(fileURLWithPath: "\(journals)/\(name)")).count
    #expect(size < 100_000)
    let peer = next()
    let result = resume(peer, opened["session"], 1, rev: rev, "milk\neggs\nbread")
    #expect(result["resumed"] == "exact")
    peer.call("note/undo", ["attachment": result["attachment"]!])
    #expect(peer.text(note) == "milk\neggs")
  }

  @Test func `does not believe a journal of another start of the machine`() throws {
    let opened = open(first)
    let journals = try #require(journalFolder)
    let name = try #require(FileManager.default.contentsOfDirectory(atPath: journals).first)
    let file = URL(fileURLWithPath: "\(journals)/\(name)")
    let whole = try Data(contentsOf: file)
    let end = try #require(whole.firstIndex(of: 0x0A))
    try (Data("another".utf8) + whole[end...]).write(to: file)
    let text = "milk\neggs\nbread"
    #expect(resume(next(), opened["session"], 1, text, base: "milk\neggs")["resumed"] == "merged")
    try whole.write(to: file)
    #expect(resume(next(seed: 3), opened["session"], 1, text)["resumed"] == "exact")
  }

  // MARK: - merged

  @Test func `does not look for one long text everywhere in another`() {
    let (short, long) = (
      String(repeating: "a", count: 200_000), String(repeating: "a", count: 400_000)
    )
    first.call("note/setText", ["id": .string(note), "text": .string("-\(long)b-")])
    let clock = ContinuousClock()
    let time = clock.measure {
      let result = resume(first, nil, 3, "-\(short)c-", base: "--")
      #expect(result["resumed"] == "merged")
    }
    // It would take minutes.
    #expect(time < .seconds(20))
  }

  @Test func `merges what was typed since a text that the server had`() throws {
    first.call("note/append", ["id": .string(note), "text": "\nbread"])
    let text = "milk and honey\neggs"
    let result = resume(first, nil, 9, rev: 4, text, base: "milk\neggs")
    #expect(result["resumed"] == "merged" && result["copy"] == nil)
    #expect(first.text(note) == "milk and honey\neggs\nbread")
    #expect(try shown(first, result, text) == "milk and honey\neggs\nbread")
    // Only its own change is its step.
    first.call("note/undo", ["attachment": result["attachment"]!])
    #expect(first.text(note) == "milk\neggs\nbread")
  }

  @Test func `takes once what was kept and not answered`() {
    first.call("note/append", ["id": .string(note), "text": "\nbread"])
    let result = resume(first, nil, 9, "milk\neggs\nbread", base: "milk\neggs")
    #expect(result["resumed"] == "merged")
    #expect(first.text(note) == "milk\neggs\nbread")
  }

  @Test func `is told what others have deleted, and types on before it knows`() throws {
    first.call("note/setText", ["id": .string(note), "text": "eggs\nbread"])
    let result = resume(first, nil, 9, "milk\neggs", base: "milk\neggs")
    #expect(first.text(note) == "eggs\nbread")
    // Typed at the end of the line that is gone, and of one that is not, while the push was on its way.
    first.call(
      "note/change",
      [
        "attachment": result["attachment"]!, "version": 10, "rev": 0,
        "lines": [[0, 2, ["milk and honey", "eggs!"]]],
      ])
    #expect(first.text(note) == " and honeyeggs!\nbread")
    #expect(first.call("note/undo", ["attachment": result["attachment"]!])["done"] == true)
    #expect(first.text(note) == "eggs\nbread")
  }

  /// What had been deleted was taken for shown: of a word that had come back, it or its copy was deleted.
  @Test func `keeps what was deleted and came back, where the text is the note's`() throws {
    let opened = open(first)
    change(first, opened["attachment"], 1, "milk\neggs\ntwo")
    first.call("note/undo", ["attachment": opened["attachment"]!])
    first.call("note/redo", ["attachment": opened["attachment"]!])
    first.call("note/close", ["attachment": opened["attachment"]!])
    for base in ["milk\neggs\ntwo", nil] {
      for text in ["milk\neggs\ntwo", "milk\neggs\ntwo!"] where base != nil || !text.hasSuffix("!")
      {
        let result = resume(first, nil, 3, text, base: base)
        #expect(result["resumed"] == "merged" && result["copy"] == nil)
        #expect(first.text(note) == text)
        #expect(try shown(first, result, text) == text)
        first.call("note/undo", ["attachment": result["attachment"]!])
        #expect(first.text(note) == "milk\neggs\ntwo")
        first.call("note/close", ["attachment": result["attachment"]!])
      }
    }
  }

  /// What a client has typed that was away while another process changed the note, after an orderly end of its own.
  private func merged(
    base: String, present: String, text: String, shows: String? = nil
  ) throws -> String {
    first.call("note/setText", ["id": .string(note), "text": .string(base)])
    let session = open(first)["session"]
    _ = first.ask("shutdown")
    first.notify("exit")
    let other = next(seed: 2, state: "other state")
    other.call("note/setText", ["id": .string(note), "text": .string(present)])
    let peer = next(seed: 3)
    let result = resume(peer, session, 4, text, base: base)
    #expect(result["resumed"] == "merged" && result["copy"] == nil)
    #expect(result["text"]?.string == text && result["version"] == 4)
    let merged = peer.text(note)
    #expect(try shown(peer, result, text) == merged)
    if merged != present {
      // What was typed is one step.
      let attachment = result["attachment"]!
      #expect(peer.call("note/undo", ["attachment": attachment])["done"] == true)
      #expect(peer.text(note) == present)
      #expect(peer.call("note/redo", ["attachment": attachment])["done"] == true)
      #expect(peer.text(note) == merged)
    }
    return merged
  }

  @Test func `puts a word that was typed behind a replaced one behind what has replaced it`() throws
  {
    #expect(try merged(base: "a b", present: "a c", text: "a b d") == "a c d")
  }

  @Test func `puts a line that was typed behind a replaced one behind what has replaced it`() throws
  {
    #expect(
      try merged(base: "two\nthree", present: "two\n3", text: "two\nthree\nunsent")
        == "two\n3\nunsent")
  }

  @Test(arguments: [
    ("a b", "a c", "a d b", "a d c"), ("one\ntwo", "one\n2", "one\nnew\ntwo", "one\nnew\n2"),
    ("a b c", "a x c", "a b", "a x"), ("a b", "", "a b c", " c"), ("", "a", "b", "ba"),
    ("a b", "a b c", "", " c"), ("a", "a b", "a", "a b"), ("a", "a", "a b", "a b"),
    ("a\nb\nc", "a\nc", "a\nb\nc\nd", "a\nc\nd"),
  ])
  func `is as if the others had changed the note meanwhile`(
    base: String, present: String, text: String, wanted: String
  ) throws {
    #expect(try merged(base: base, present: present, text: text) == wanted)
  }

  /// The first process had still written what it could not answer any more.
  @Test(arguments: [
    // What it wrote, what another process made of that, what the client had typed besides.
    ("a b\nnew", "a c\nnew", "a b\nnew\nlast", "a c\nnew\nlast"),
    ("a b\nnew", "x\na b\nnew", "a b\nnew", "x\na b\nnew"),
    ("a b\nnew", "a b\nnew\nold", "a b\nnewer", "a b\nnewer\nold"),
    ("a word", "a word\nline", "a word", "a word\nline"),
  ])
  func `does not make a change again that was kept and not answered`(
    kept: String, present: String, text: String, wanted: String
  ) throws {
    for text in ["a b", kept] {
      first.call("note/setText", ["id": .string(note), "text": .string(text)])
    }
    let peer = next()
    peer.call("note/setText", ["id": .string(note), "text": .string(present)])
    let result = resume(peer, nil, 9, text, base: "a b")
    #expect(result["resumed"] == "merged")
    #expect(peer.text(note) == wanted)
    #expect(try shown(peer, result, text) == wanted)
  }

  /// Nothing has ever shown this base: the client has changed it, or what is known of it lies too far back.
  @Test(arguments: [
    ("a b", "a c", "a b d", "a c d"), ("a b", "a c", "a d b", "a d c"),
    ("two\nthree", "two\n3", "two\nthree\nunsent", "two\n3\nunsent"),
    (
      "two\nthree\nfour", "two\n3\nfour", "two\nnew\nthree\nnewer\nfour", "two\nnew\n3\nnewer\nfour"
    ),
    ("a b", "a b x", "a b d", "a b d x"), ("", "a", "b", "ba"), ("a b", "x", "", "x"),
  ])
  func `puts nothing on the wrong side of a text that the note never had`(
    base: String, present: String, text: String, wanted: String
  ) throws {
    let made = first.create(["text": .string(present)])
    let result = first.ask(
      "note/open",
      [
        "id": .string(made), "mode": "edit",
        "resume": [
          "session": "gone", "version": 1, "rev": 0, "text": .string(text),
          "baseText": .string(base),
        ],
      ])
    #expect(result["resumed"] == "merged")
    #expect(first.text(made) == wanted)
    #expect(try shown(first, result, text) == wanted)
    let undone = first.call("note/undo", ["attachment": result["attachment"]!])["done"]
    #expect(undone == .boolean(wanted != present))
    #expect(first.text(made) == present)
  }

  @Test func `takes a note out of the trash in which the client has typed`() {
    first.call("note/delete", ["id": .string(note)])
    let peer = next()
    func isTrashed() -> Bool {
      peer.call("note/get", ["id": .string(note)])["note"]?["trashed"] == true
    }
    #expect(resume(peer, nil, 3, "milk\neggs", base: "milk\neggs")["resumed"] == "merged")
    #expect(isTrashed())
    #expect(resume(peer, nil, 3, "milk\neggs!", base: "milk\neggs")["resumed"] == "merged")
    #expect(!isTrashed())
    #expect(peer.text(note) == "milk\neggs!")
  }

  @Test func `takes the place of its own attachment with the same server`() {
    let opened = open(first)
    change(first, opened["attachment"], 1, "milk\neggs!")
    let lie = first.ask(
      "note/change",
      ["attachment": opened["attachment"]!, "version": 2, "rev": 999, "text": "eggs"])
    #expect(lie.error?.reason == "reopen")
    let result = resume(first, opened["session"], 1, "milk\neggs!?")
    #expect(result["resumed"] == "exact")
    _ = first.take("note/edit")
    first.call("note/append", ["id": .string(note), "text": "x"])
    #expect(first.take("note/edit").map { $0["attachment"] } == [result["attachment"]])
    let closed = first.ask("note/close", ["attachment": opened["attachment"]!])
    #expect(closed.error?.reason == "reopen")
  }

  @Test func `needs nothing where the text is the note's`() {
    let revision = first.revision
    let result = resume(first, nil, 3, "milk\neggs")
    #expect(result["resumed"] == "merged" && result["copy"] == nil)
    #expect(first.revision == revision)
  }

  // MARK: - conflict

  @Test func `keeps a text of which nothing is known as a note`() throws {
    _ = first.create(["title": "Other"])
    let text = "milk\nflour"
    let result = resume(first, nil, 9, text)
    #expect(result["resumed"] == "conflict")
    let copy = try #require(result["copy"]?.string)
    #expect(first.text(copy) == text)
    #expect(first.text(note) == "milk\neggs")
    #expect(first.list().suffix(2) == [note, copy])
    let summary = first.call("note/get", ["id": .string(copy)])["note"]
    #expect(summary?["title"] == "Shopping (conflict copy)" && summary?["tags"] == ["home"])
    #expect(try shown(first, result, text) == "milk\neggs")
  }

  @Test func `cuts the title of a copy between code points`() throws {
    let title = String(repeating: "é", count: 2048)
    #expect(first.ask("note/update", ["id": .string(note), "title": .string(title)]).error == nil)
    let copy = try #require(resume(first, nil, 9, "mine")["copy"]?.string)
    let name = first.call("note/get", ["id": .string(copy)])["note"]?["title"]?.string
    #expect(name == String(repeating: "é", count: 2040) + " (conflict copy)")
  }

  @Test func `does not know a session of another note`() {
    let session = open(first)["session"]
    let other = first.create(["text": "milk\neggs"])
    let peer = next()
    let result = peer.ask(
      "note/open",
      [
        "id": .string(other), "mode": "edit",
        "resume": ["session": session!, "version": 1, "rev": 0, "text": "mine"],
      ])
    #expect(result["resumed"] == "conflict")
    #expect(peer.text(other) == "milk\neggs")
  }

  @Test func `takes no push for applied that was never sent`() {
    let session = open(first)["session"]
    let result = resume(next(), session, 1, rev: 5, "mine")
    #expect(result["resumed"] == "conflict")
  }

  // MARK: - Observers, and errors

  @Test func `brings an observer up to date, who must not write`() throws {
    let session = open(first, mode: "observe")["session"]
    let peer = next()
    peer.call("note/append", ["id": .string(note), "text": "\nbread"])
    let revision = peer.revision
    let result = resume(peer, session, 0, "milk\neggs", mode: "observe")
    #expect(result["resumed"] == "exact" && result["readOnly"] == true)
    #expect(try shown(peer, result, "milk\neggs") == "milk\neggs\nbread")
    for (session, text) in [(session, "something else"), (nil, "milk\neggs")] as [(JSON?, String)] {
      let answer = resume(peer, session, 0, text, mode: "observe")
      #expect(answer.error?.reason == "reopen")
    }
    #expect(peer.revision == revision)
  }

  @Test(arguments: [true, false])
  func `takes the text of a client that hides carriage returns`(isKnown: Bool) throws {
    let dos = JSON.string(first.create(["text": "one\r\ntwo\r\n"]))
    let open = first.call("note/open", ["id": dos, "mode": "edit", "hidesReturns": true])
    #expect(open["hidesReturns"] == true)
    #expect(open["text"] == "one\ntwo\n")
    first.call("note/append", ["id": dos, "text": "tea\n"])
    let peer = next()
    let result = peer.ask(
      "note/open",
      [
        "id": dos, "mode": "edit", "hidesReturns": true,
        "resume": [
          "session": isKnown ? open["session"]! : "gone", "version": 1, "rev": 0,
          "text": "one\nnew\ntwo\n", "baseText": "one\ntwo\n", "hidesReturns": true,
        ],
      ])
    #expect(result["resumed"] == (isKnown ? "exact" : "merged"))
    #expect(result["hidesReturns"] == true)
    #expect(try shown(peer, result, "one\nnew\ntwo\n") == "one\nnew\ntwo\ntea\n")
    #expect(peer.text(dos.string!) == "one\r\nnew\r\ntwo\r\ntea\n")
  }

  @Test(arguments: [true, false])
  func `gives the lines other ends where the client does`(isKnown: Bool) throws {
    let dos = JSON.string(first.create(["text": "one\r\ntwo\r\n"]))
    let open = first.call("note/open", ["id": dos, "mode": "edit", "hidesReturns": true])
    func resume(_ session: JSON, _ text: String, _ base: String, hiding: Bool) -> Peer.Answer {
      first.ask(
        "note/open",
        [
          "id": dos, "mode": "edit", "hidesReturns": .boolean(hiding),
          "resume": [
            "session": isKnown ? session : "gone", "version": 1, "rev": 0, "text": .string(text),
            "baseText": .string(base), "hidesReturns": false,
          ],
        ])
    }
    let unix = resume(open["session"]!, "one\ntwo\n", "one\r\ntwo\r\n", hiding: false)
    #expect(unix["hidesReturns"] == nil)
    #expect(first.text(dos.string!) == "one\ntwo\n")
    let again = resume(unix["session"]!, "one\r\ntwo\r\n", "one\ntwo\n", hiding: true)
    #expect(again["hidesReturns"] == true)
    #expect(again["text"] == "one\ntwo\n")
    #expect(first.text(dos.string!) == "one\r\ntwo\r\n")
    first.call("note/append", ["id": dos, "text": "tea", "lines": true])
    #expect(try shown(first, again, "one\ntwo\n") == "one\ntwo\ntea\n")
  }

  @Test func `refuses what is no resumption, and names it`() {
    for (name, value) in [
      ("session", nil), ("session", 1), ("version", nil), ("version", -1), ("rev", "x"),
      ("text", nil), ("text", 1), ("baseText", 3), ("hidesReturns", "crlf"),
    ] as [(String, JSON?)] {
      var resume: [String: JSON] = ["session": "x", "version": 1, "rev": 0, "text": "a"]
      resume[name] = value
      let answer = first.ask(
        "note/open", ["id": .string(note), "mode": "edit", "resume": JSON(resume)])
      #expect(
        answer.error?.code == -32602,
        "\(name) \(String(describing: value)) \(String(describing: answer.result))")
      #expect(answer.error?.message.contains("resume.\(name)") == true, "\(name)")
    }
    let answer = first.ask(
      "note/open",
      [
        "id": "1-00", "mode": "edit",
        "resume": ["session": "x", "version": 1, "rev": 0, "text": "a"],
      ])
    #expect(answer.error?.reason == "noSuchNote")
    for session in ["", ".", "..", "../../x.1", "\(String(repeating: "0", count: 32)).1", "a.b.c"] {
      #expect(resume(first, .string(session), 1, "milk\neggs")["resumed"] == "merged")
    }
  }

  /// Also without a journal nobody's words get lost, whatever others did meanwhile.
  @Test(arguments: seeds(60))
  func `merges like anybody else, from a text the server had`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var words = (0..<200).map { "w\($0)x" }[...]
    func edited(_ text: String, _ kept: inout Set<String>) -> String {
      var list = text.split(separator: "\n").map(String.init)
      for _ in 0...random.below(4) {
        if list.isEmpty || random.chance(60) {
          let word = words.removeFirst()
          kept.insert(word)
          list.insert(word, at: random.below(list.count + 1))
        } else {
          kept.remove(list.remove(at: random.below(list.count)))
        }
      }
      // Each in a line of its own: of a line with few words most may be new, and then it is replaced whole.
      return list.map { $0 + "\n" }.joined()
    }
    var kept: Set<String> = []
    let base = edited(edited("", &kept), &kept)
    let before = kept
    first.call("note/setText", ["id": .string(note), "text": .string(base)])
    var here = kept
    var there = kept
    let present = edited(base, &here)
    first.call("note/setText", ["id": .string(note), "text": .string(present)])
    let text = edited(base, &there)
    let result = resume(first, nil, 3, text, base: base)
    #expect(result["resumed"] == "merged")
    let merged = first.text(note)
    #expect(try shown(first, result, text) == merged, "seed \(seed)")
    let all = (0..<200).map { "w\($0)x" }
    let found = all.flatMap { Array(repeating: $0, count: merged.ranges(of: $0).count) }
    // What nobody took away, and what either has typed.
    let expected = here.intersection(there).union(here.union(there).subtracting(before))
    #expect(found.sorted() == expected.sorted(), "seed \(seed): \(base), \(present), \(text)")
  }
}
