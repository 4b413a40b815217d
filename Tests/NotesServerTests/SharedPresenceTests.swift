import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NotesServer

@Suite
struct `Presence between processes` {
  let scratch = TemporaryFolder()
  let ana: Peer
  let note: String

  init() {
    ana = Peer(scratch("notes"), seed: 1, state: scratch("state"))
    ana.initialize()
    note = ana.create(["text": "one two"])
  }

  private func newPeer(seed: UInt64) -> Peer {
    let peer = Peer(scratch("notes"), seed: seed, state: scratch("state"))
    peer.initialize()
    return peer
  }

  @discardableResult
  private func open(_ peer: Peer) -> JSON {
    peer.call("note/open", ["id": .string(note), "mode": "edit"])["attachment"]!
  }

  private func range(_ start: Int, _ end: Int) -> JSON {
    ["start": ["line": 0, "character": JSON(start)], "end": ["line": 0, "character": JSON(end)]]
  }

  private func cursor(_ peer: Peer, _ attachment: JSON, _ ranges: [JSON], version: Int = 0) {
    peer.notify(
      "note/cursor",
      [
        "attachment": attachment, "version": JSON(version), "rev": 0, "ranges": .array(ranges),
      ])
  }

  private func change(_ peer: Peer, _ attachment: JSON, _ version: Int, _ text: String) {
    peer.call(
      "note/change",
      ["attachment": attachment, "version": JSON(version), "rev": 0, "text": .string(text)])
  }

  /// The ranges of each peer, as a server told last; nil if it told nothing.
  private func told(_ peer: Peer) -> [JSON]? {
    peer.folderChanged()
    return peer.take("note/presence").last?["peers"]?.array?.map { $0["ranges"]! }
  }

  private var folder: String {
    let state = scratch("state/decent-notes")
    let names = try? FileManager.default.contentsOfDirectory(atPath: state)
    return "\(state)/\(names?.first ?? "")/presence"
  }

  private var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  // MARK: - What users see

  @Test func `shows where others are, and moves them with their text, until they close the note`() {
    let ben = newPeer(seed: 2)
    let (here, there) = (open(ana), open(ben))
    cursor(ana, here, [range(4, 7), range(0, 0)])
    ana.sharePresence()
    #expect(told(ben) == [[range(4, 7), range(0, 0)]])
    cursor(ana, here, [range(7, 4)])
    ana.sharePresence()
    #expect(told(ben) == [[range(7, 4)]])
    change(ben, there, 1, "and one two")
    #expect(told(ben) == [[range(11, 8)]])
    change(ana, here, 1, "zero one two")
    #expect(told(ben)?.first?[0]?["end"]?["character"]?.integer ?? 0 > 8)
    // Where nothing happened nothing is told.
    ana.sharePresence()
    #expect(told(ben) == nil)
    ana.call("note/close", ["attachment": here])
    ana.sharePresence()
    #expect(told(ben) == [])
    #expect(files == [])
  }

  #if os(Linux)
    /// A child that the process is starting has its files open, too, until it becomes another program.
    @Test func `notices that a note was closed while somebody else holds the file`() throws {
      let ben = newPeer(seed: 2)
      let (here, _) = (open(ana), open(ben))
      cursor(ana, here, [range(4, 7)])
      ana.sharePresence()
      #expect(told(ben) == [[range(4, 7)]])
      let held = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").first {
        let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        return link == "\(folder)/\(files[0])"
      }
      let copy = dup(Int32(try #require(held))!)
      defer { close(copy) }
      ana.call("note/close", ["attachment": here])
      ana.sharePresence()
      #expect(told(ben) == [])
    }
  #endif

  @Test func `tells who comes later at once, and names everybody by a name of its own`() {
    let ben = newPeer(seed: 2)
    for peer in [ana, ana, ben] {
      cursor(peer, open(peer), [range(1, 1)])
      peer.sharePresence()
    }
    let carl = newPeer(seed: 3)
    open(carl)
    let first = carl.take("note/presence").last?["peers"]?.array?.map { $0["id"]!.string! } ?? []
    #expect(Set(first).count == 3)
    cursor(carl, JSON(1), [range(2, 2)])
    carl.sharePresence()
    #expect(told(ben)?.count == 3)
    cursor(ben, JSON(1), [range(3, 3)])
    ben.sharePresence()
    carl.folderChanged()
    let then = carl.take("note/presence").last?["peers"]?.array?.map { $0["id"]!.string! } ?? []
    #expect(then == first)
  }

  @Test func `shows those of many processes, and of this note only`() {
    let peers = [ana] + (2...9).map { newPeer(seed: $0) }
    for peer in peers {
      cursor(peer, open(peer), [range(3, 3)])
      peer.sharePresence()
    }
    for peer in peers { #expect(told(peer)?.count == 8) }
    let other = newPeer(seed: 10)
    let id = other.create(["text": "another"])
    other.call("note/open", ["id": .string(id), "mode": "edit"])
    other.folderChanged()
    #expect(other.take("note/presence") == [])
  }

  @Test func `forgets a process that has left, and leaves no file`() {
    let ben = newPeer(seed: 2)
    open(ben)
    cursor(ana, open(ana), [range(3, 3)])
    ana.sharePresence()
    #expect(told(ben)?.count == 1)
    ana.call("shutdown")
    ana.notify("exit")
    ana.sharePresence()
    #expect(told(ben) == [])
    #expect(files == [])
  }

  @Test func `forgets a process that was killed, and removes what it has left`() {
    let ben = newPeer(seed: 2)
    open(ben)
    var carl: Peer? = newPeer(seed: 3)
    cursor(carl!, open(carl!), [range(3, 3)])
    carl!.sharePresence()
    #expect(told(ben)?.count == 1)
    carl = nil
    #expect(files.count == 1)
    var left = told(ben)?.count
    // A child that another test starts meanwhile holds the lock, too, until it becomes another program.
    let deadline = Deadline()
    while left == nil, !deadline.isOver {
      usleep(10_000)
      ben.sharePresence(after: .seconds(5))
      left = ben.take("note/presence").last?["peers"]?.array?.count
    }
    #expect(left == 0)
    #expect(files == [])
  }

  @Test func `looks by itself for who is gone`() throws {
    let ben = newPeer(seed: 2)
    open(ben)
    let killed = try Forgery("1", in: folder, Forgery.content(note, [.start]))
    #expect(told(ben) == [[range(0, 0)]])
    killed.unlock()
    ben.sharePresence(after: .seconds(1))
    #expect(ben.take("note/presence") == [])
    ben.sharePresence(after: .seconds(5))
    #expect(ben.take("note/presence").last?["peers"] == [])
    #expect(files == [])
  }

  // MARK: - What is written

  @Test func `writes nothing for who tells of no cursor`() {
    let here = open(ana)
    change(ana, here, 1, "one")
    ana.sharePresence()
    #expect(FileManager.default.fileExists(atPath: folder))
    #expect(files == [])
    cursor(ana, here, [range(0, 0)], version: 1)
    ana.sharePresence()
    #expect(files.count == 1)
    cursor(ana, here, [], version: 1)
    ana.sharePresence()
    #expect(files == [])
  }

  @Test func `writes no more than twenty times in a second, and always what came last`() {
    let ben = newPeer(seed: 2)
    open(ben)
    let here = open(ana)
    var written: Set<String> = []
    for number in 0..<200 {
      cursor(ana, here, [range(number % 7, number % 7)])
      ana.sharePresence(after: .milliseconds(5))
      written.formUnion(files)
      #expect(files.count == 1)
    }
    #expect(written.count == 20)
    cursor(ana, here, [range(2, 6)])
    ana.sharePresence(after: .milliseconds(50))
    #expect(told(ben) == [[range(2, 6)]])
    let last = files
    ana.sharePresence()
    #expect(files == last)
  }

  @Test func `writes nothing into the notebook's folder`() throws {
    let here = open(ana)
    let before = try FileManager.default.subpathsOfDirectory(atPath: scratch("notes"))
    cursor(ana, here, [range(0, 3)])
    ana.sharePresence()
    let after = try FileManager.default.subpathsOfDirectory(atPath: scratch("notes"))
    #expect(Set(after) == Set(before))
  }

  @Test func `goes on when its folder was removed`() throws {
    let ben = newPeer(seed: 2)
    open(ben)
    let here = open(ana)
    try FileManager.default.removeItem(atPath: folder)
    for peer in [ana, ben] { peer.folderChanged() }
    cursor(ana, here, [range(2, 2)])
    ana.sharePresence()
    #expect(told(ben) == [[range(2, 2)]])
  }

  // MARK: - What may stand in a file

  @Test func `shows a cursor when what it is at has come, and its owner before`() throws {
    let ben = newPeer(seed: 2)
    open(ben)
    let author = try #require(Identifier(note.split(separator: "-")[1]))
    let next = ElementID(author: author, offset: 7)
    let forgery = try Forgery("1", in: folder, Forgery.content(note, [.before(next)]))
    #expect(told(ben) == [[]])
    change(ana, open(ana), 1, "one two three")
    #expect(told(ben) == [[range(7, 7)]])
    _ = forgery
  }

  @Test func `keeps for a client what its own change has brought about`() throws {
    let ben = newPeer(seed: 2)
    let there = open(ben)
    let next = ElementID(author: Identifier(high: 7, low: 7), offset: 7)
    let forgery = try Forgery("1", in: folder, Forgery.content(note, [.before(next)]))
    #expect(told(ben) == [[]])
    // The cursor may be at one of the new elements, so the client is to be told again.
    let moves = ben.presenceMoves(of: there.integer!)
    change(ben, there, 1, "one two three")
    #expect(ben.presenceMoves(of: there.integer!) == moves + 1)
    #expect(ben.take("note/presence").count == 1)
    _ = forgery
  }

  @Test func `places what names no element, or half a scalar, somewhere or nowhere`() throws {
    let ben = newPeer(seed: 2)
    let id = ana.create(["text": "é😀\nb"])
    ben.folderChanged()
    ben.call("note/open", ["id": .string(id), "mode": "edit"])
    let author = try #require(Identifier(note.split(separator: "-")[1]))
    let foreign = Identifier(high: 7, low: 7)
    var anchors: [Forgery.Place] = [.start]
    for offset in [0, 1, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 100, Int(Int32.max)] {
      for author in [author, foreign] {
        anchors.append(.before(ElementID(author: author, offset: offset)))
        anchors.append(.after(ElementID(author: author, offset: offset)))
      }
    }
    let forgery = try Forgery("1", in: folder, Forgery.content(id, anchors))
    let ranges = try #require(told(ben)?.first?.array)
    #expect(!ranges.isEmpty && ranges.count < anchors.count)
    _ = forgery
  }

  @Test func `takes nothing from a damaged or foreign file, and is not stopped by it`() throws {
    let ben = newPeer(seed: 2)
    open(ben)
    cursor(ana, open(ana), [range(3, 3)])
    ana.sharePresence()
    #expect(told(ben)?.count == 1)
    let sound = Forgery.file(Forgery.content(note, [.start]))
    var random = SplitMix64(seed: 1)
    var forgeries: [Forgery] = []
    func forge(_ bytes: [UInt8]) throws {
      forgeries.append(try Forgery("\(forgeries.count)", in: folder, bytes: bytes))
    }
    for place in sound.indices {
      var bytes = sound
      bytes[place] ^= 1 << UInt8(random.below(8))
      try forge(bytes)
      try forge(Array(sound[..<place]))
    }
    try forge(sound + [0])
    // In order, but not what a process writes.
    try forge(Forgery.file(Forgery.content(note, [])))
    try forge(Forgery.file(Forgery.content(note, Array(repeating: .start, count: 101))))
    try forge(Forgery.file([0xFF, 0xFF, 0xFF, 0xFF, 0x07]))
    try forge(Forgery.file([65]))
    try forge(Forgery.file([0, 0]))
    try forge(Forgery.file([UInt8](repeating: 0, count: 70_000)))
    for _ in 0..<20 { try forge(Forgery.file((0..<60).map { _ in UInt8(random.below(4)) })) }
    #expect(told(ben) == nil)
    // Not ours at all.
    let name = String(repeating: "0", count: 32) + "-0000000000000001"
    mkfifo("\(folder)/\(name)", 0o600)
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/\(name.dropLast())2", withDestinationPath: "/etc/passwd")
    try FileManager.default.createDirectory(
      atPath: "\(folder)/\(name.dropLast())3", withIntermediateDirectories: false)
    try Data("keep".utf8).write(to: URL(fileURLWithPath: "\(folder)/notes.txt"))
    #expect(told(ben) == nil)
    cursor(ana, JSON(1), [range(4, 4)])
    ana.sharePresence()
    #expect(told(ben) == [[range(4, 4)]])
    #expect(files.contains("notes.txt"))
  }

  @Test func `takes of all together so many selections, and of each the first`() {
    let notes = NoteID(creation: ChangeID(replica: ReplicaID(high: 1, low: 1), number: 1))
    func told(_ number: Int, _ moves: Int, _ selections: Int) -> ToldParticipant {
      ToldParticipant(
        key: .init(process: Identifier(high: 0, low: UInt64(number)), attachment: 1), moves: moves,
        hops: 0, name: "", note: notes,
        selections: Array(repeating: Selection(start: .start, end: .start), count: selections))
    }
    func count(_ known: KnownParticipants) -> Int {
      known.all(excluding: nil).values.reduce(0) { $0 + $1.selections.count }
    }
    for isWhole in [true, false] {
      var known = KnownParticipants()
      for moves in 1...3 {
        let all = (1...1000).map { told($0, moves, 100) }
        for part in isWhole ? [all] : all.map({ [$0] }) { known.update(part, from: .link(1)) }
        #expect(known.all(excluding: nil).count == 1000)
        #expect(count(known) <= ToldParticipant.mostSelections + 1000)
        #expect(known.all(excluding: nil).values.allSatisfy { !$0.selections.isEmpty })
      }
      // Who leaves makes room for others.
      known.update((1...999).map { told($0, 9, 0) }, from: .link(1))
      known.update([told(1000, 9, 100), told(1001, 1, 100)], from: .link(1))
      #expect(count(known) == 200)
    }
  }

  @Test func `takes no more than so much of so many`() throws {
    let ben = newPeer(seed: 2)
    open(ben)
    var forgeries: [Forgery] = []
    for number in 0..<300 {
      forgeries.append(
        try Forgery(
          "\(number)", in: folder, Forgery.content(note, [.start], attachments: 64, of: number)))
    }
    #expect(told(ben)?.count == 1000)
    for forgery in forgeries { forgery.unlock() }
    ben.sharePresence(after: .seconds(60))
    ben.sharePresence(after: .seconds(60))
    #expect(told(ben) == [])
    #expect(files == [])
  }
}

/// A file as another process might have it there.
private final class Forgery {
  enum Place {
    case start
    case before(ElementID)
    case after(ElementID)
  }

  private var descriptor: Int32

  /// - Parameter process: distinguishes it from others.
  init(_ process: String, in folder: String, bytes: [UInt8]) throws {
    let name = String(repeating: "a", count: 32 - process.count) + process + "-0000000000000001"
    let temporary = "\(folder)/forgery"
    try #require(FileManager.default.createFile(atPath: temporary, contents: Data(bytes)))
    descriptor = Foundation.open(temporary, O_WRONLY | O_CLOEXEC)
    try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    try #require(rename(temporary, "\(folder)/\(name)") == 0)
  }

  convenience init(_ process: String, in folder: String, _ content: [UInt8]) throws {
    try self.init(process, in: folder, bytes: Self.file(content))
  }

  deinit { unlock() }

  /// As at the end of the process. A child that another test starts meanwhile has the file open, too, so closing it is not enough.
  func unlock() {
    guard descriptor >= 0 else { return }
    flock(descriptor, LOCK_UN)
    close(descriptor)
    descriptor = -1
  }

  static func file(_ content: [UInt8]) -> [UInt8] { containerHeader(8) + containerBlock(content) }

  static func content(
    _ note: String, _ places: [Place], attachments: Int = 1, of process: Int = 1
  ) -> [UInt8] {
    let parts = note.split(separator: "-")
    var writer = ByteWriter()
    writer.varint(attachments)
    for attachment in 1...attachments {
      writer.identifier(Identifier(high: 10, low: UInt64(process)))
      writer.varint(attachment)
      // Moves, the way here, and a name.
      writer.varint(1)
      writer.varint(0)
      writer.counted("Carl".utf8)
      writer.identifier(Identifier(parts[1])!)
      writer.varint(UInt64(parts[0])!)
      writer.varint(places.count)
      for place in places {
        for _ in 0..<2 { write(place, &writer) }
      }
    }
    return writer.bytes
  }

  private static func write(_ place: Place, _ writer: inout ByteWriter) {
    switch place {
    case .start: writer.byte(0)
    case .after(let element):
      writer.byte(1)
      writer.identifier(element.author)
      writer.varint(element.offset)
    case .before(let element):
      writer.byte(2)
      writer.identifier(element.author)
      writer.varint(element.offset)
    }
  }
}
