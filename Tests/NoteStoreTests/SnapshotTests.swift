import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// Processes of one user on a disk in memory, whose clock a test can move.
private final class Desk {
  static let path = "/home/notes"
  static let state = "/home/state"
  static let day: Int64 = 86_400
  let disk: MemoryDisk
  private var random: SplitMix64
  private var now = Instant(nanoseconds: 0)

  init(seed: UInt64, _ disk: MemoryDisk = MemoryDisk()) {
    self.disk = disk
    random = SplitMix64(seed: seed)
    disk.put([], at: "/home/.profile")
  }

  func open(state: String? = nil) throws -> NoteStore {
    try NoteStore(path: Self.path, state: state, on: disk) {
      Identifier(high: self.random.next(), low: self.random.next())
    }
  }

  /// Completes the file that a process writes.
  func seal(_ store: NoteStore) {
    store.folder.seal()
    for _ in 0..<3 {
      disk.performSyncs()
      _ = store.takeSyncResult()
    }
  }

  /// A session with a few files: in each a note for each of the texts.
  @discardableResult
  func session(_ texts: [[String]], in store: NoteStore? = nil) throws -> NoteStore {
    let store = try store ?? open()
    for some in texts {
      for text in some { try store.create(text) }
      seal(store)
    }
    return store
  }

  var logs: [String] { disk.files.keys.filter { $0.contains("/log/") }.sorted() }
  var snapshots: [String] { disk.files.keys.filter { $0.contains("/snap/") }.sorted() }

  func passDay() { disk.pass(Self.day + 100) }
}

extension NoteStore {
  fileprivate func finishWork() {
    while hasWork {
      _ = work()
      if compaction?.isWaiting == true { (folder.root.system as! MemoryDisk).performSyncs() }
      _ = takeSyncResult()
    }
  }

  fileprivate func keepAll() {
    archiving.unkept += 1 << 20
    keep { true }
  }
}

@Suite struct `Folding logs into snapshots` {
  @Test func `a snapshot says what the logs say`() throws {
    let desk = Desk(seed: 1)
    let first = try desk.session([["a", "b"], ["c"]])
    let second = try desk.session([["d"]])
    _ = first.rescan()
    try first.create("e")
    desk.seal(first)
    let result = try first.compact()
    #expect(result.foldedFiles == 4 && result.writtenBytes > 0)
    #expect(desk.snapshots.count == 1 && desk.logs.count == 4)
    for log in desk.logs { desk.disk.take(log) }
    let fresh = try desk.open()
    #expect(fresh.notebook == first.notebook)
    #expect(fresh.damage.isEmpty)
    _ = second.rescan()
    second.finishWork()
    #expect(second.notebook == first.notebook)
  }

  @Test func `two processes that know the same write the same file`() throws {
    let desk = Desk(seed: 2)
    let first = try desk.session([["a", "b"], ["c"]])
    let second = try desk.session([["d"], ["e"]])
    _ = first.rescan()
    _ = try first.compact()
    let name = desk.snapshots
    desk.disk.take(name[0])
    second.snapshots.known = [:]
    _ = try second.compact()
    #expect(desk.snapshots == name)
    _ = try first.compact()
    #expect(desk.snapshots == name)
  }

  @Test func `a session goes on behind what was folded of it`() throws {
    let desk = Desk(seed: 3)
    let first = try desk.session([["a"], ["b"]])
    _ = try first.compact()
    desk.passDay()
    #expect(try first.compact().removedFiles == 2)
    #expect(desk.logs.isEmpty)
    // Its session's folder is gone: the next is another session's.
    try first.create("c")
    #expect(first.doubt == nil && first.progress.appended == 3)
    try desk.session([["d"]])
    try first.create("e")
    desk.seal(first)
    let fresh = try desk.open()
    #expect(Set(fresh.texts) == ["a", "b", "c", "d", "e"] && fresh.damage.isEmpty)
  }

  @Test func `files of a session are read behind what a snapshot stands for`() throws {
    let desk = Desk(seed: 4)
    let first = try desk.session([["a"], ["b"]])
    _ = try first.compact()
    try desk.session([["c"], ["d"]], in: first)
    for log in desk.logs.prefix(2) {
      #expect(log.contains("/0-") || log.contains("/1-"))
      desk.disk.take(log)
    }
    let fresh = try desk.open()
    #expect(fresh.texts.sorted() == ["a", "b", "c", "d"] && fresh.damage.isEmpty)
    // Another one only for what is new: this is small, so both become one.
    let result = try fresh.compact()
    #expect(result.foldedFiles == 2 && result.foldedSnapshots == 1)
    for log in desk.logs { desk.disk.take(log) }
    let other = try desk.open()
    #expect(other.notebook == fresh.notebook && other.damage.isEmpty)
  }

  @Test func `what was folded is removed after a day and not before`() throws {
    let desk = Desk(seed: 5)
    let store = try desk.session([["a"], ["b"]])
    _ = try store.compact()
    desk.disk.pass(Desk.day / 2)
    let early = try store.compact()
    #expect(early.removedFiles == 0 && early.waitingFiles == 2)
    #expect(desk.logs.count == 2)
    desk.passDay()
    let late = try store.compact()
    #expect(late.removedFiles == 2 && late.waitingFiles == 0)
    #expect(desk.logs.isEmpty)
    #expect(try desk.open().notebook == store.notebook)
  }

  @Test func `nothing is removed for the sake of a snapshot that went away meanwhile`() throws {
    let desk = Desk(seed: 15)
    let store = try desk.session([["a"], ["b"]])
    _ = try store.compact()
    let name = desk.snapshots[0]
    desk.passDay()
    var steps = 0
    repeat {
      let other = Desk(seed: 16, desk.disk.afterKill())
      let process = try other.open()
      process.compaction = Compaction(isForced: true, unfolded: (0, 0))
      for _ in 0..<steps where process.compaction != nil {
        process.proceedCompacting()
        other.disk.performSyncs()
        _ = process.takeSyncResult()
      }
      let isOver = process.compaction == nil
      let isRemoved = other.logs.isEmpty
      if !isRemoved { other.disk.take(name) }
      process.finishWork()
      #expect(try other.open().texts.count == 2, "after \(steps) steps")
      steps = isOver ? 0 : steps + 1
    } while steps > 0
  }

  @Test func `nobody takes what was folded and removed for lost`() throws {
    let desk = Desk(seed: 6)
    let writer = try desk.session([["a"], ["b"]])
    try writer.create("c")
    let reader = try desk.open(state: Desk.state)
    try reader.create("d")
    desk.seal(reader)
    reader.keepAll()
    let other = try desk.open()
    _ = try other.compact()
    desk.passDay()
    #expect(try other.compact().removedFiles == 3)
    let files = desk.disk.files
    for store in [writer, reader, try desk.open(state: Desk.state)] {
      _ = store.rescan()
      store.finishWork()
      _ = store.rescan()
      store.requestSync()
      desk.disk.performSyncs()
      _ = store.takeSyncResult()
      #expect(store.doubt == nil && !store.folder.needsRepublish && store.damage.isEmpty)
      #expect(store.texts.sorted() == ["a", "b", "c", "d"])
    }
    #expect(desk.disk.files == files)
  }

  @Test func `what went away with a snapshot is written again`() throws {
    for isKept in [false, true] {
      let desk = Desk(seed: 7)
      let writer = try desk.session([["a"], ["b"]])
      _ = try writer.compact()
      desk.passDay()
      _ = try writer.compact()
      #expect(desk.logs.isEmpty)
      let reader: NoteStore
      if isKept {
        let before = try desk.open(state: Desk.state)
        before.keepAll()
        desk.disk.take(desk.snapshots[0])
        reader = try desk.open(state: Desk.state)
      } else {
        reader = try desk.open()
        desk.disk.take(desk.snapshots[0])
      }
      _ = reader.rescan()
      #expect(try desk.open().texts.sorted() == ["a", "b"])
    }
  }

  @Test func `the rest of a session can be read when some of it went away and was written again`()
    throws
  {
    let desk = Desk(seed: 14)
    let writer = try desk.session([["a"], ["b"], ["c"]])
    let reader = try desk.open()
    desk.disk.take(desk.logs[1])
    #expect(try desk.open().texts == ["a"])
    _ = reader.rescan()
    #expect(try desk.open().texts.sorted() == ["a", "b", "c"])
    // Its process has not noticed, and neither has the one that was running.
    try writer.create("d")
    let fresh = try desk.open()
    #expect(fresh.texts.sorted() == ["a", "b", "c", "d"] && fresh.damage.isEmpty)
    let files = desk.disk.files
    _ = reader.rescan()
    #expect(desk.disk.files == files)
  }

  @Test func `what is written again holds what its records have carried of others`() throws {
    let desk = Desk(seed: 17)
    let source = try desk.session([["a"]])
    let changes = source.notebook.changes(since: Version()).encoded(of: source.identity!)
    let log = desk.logs[0]
    let bytes = desk.disk.files[log]!
    desk.disk.take(log)
    // A session with nothing but a record of another one's changes, and one of its own.
    let writer = try desk.open()
    _ = try writer.merge(changes)
    try writer.create("b")
    let reader = try desk.open()
    desk.disk.put(bytes, at: log)
    _ = reader.rescan()
    let own = try #require(desk.logs.first { $0 != log })
    let file = desk.disk.files[own]!
    desk.disk.take(own)
    _ = reader.rescan()
    // Now the first file goes, and the second comes back.
    desk.disk.take(log)
    desk.disk.put(file, at: own)
    #expect(try desk.open().texts.sorted() == ["a", "b"])
  }

  @Test func `a snapshot that came and went unread stands for nothing`() throws {
    let desk = Desk(seed: 18)
    let writer = try desk.session([["a"], ["b"]])
    let other = try desk.open()
    _ = try other.compact()
    // It has looked what the snapshot stands for, and has not read it.
    #expect(!writer.folder.coverage.ranges().isEmpty)
    desk.passDay()
    _ = try other.compact()
    #expect(desk.logs.isEmpty)
    desk.disk.take(desk.snapshots[0])
    _ = writer.rescan()
    #expect(try desk.open().texts.sorted() == ["a", "b"])
  }

  @Test func `a day's files become few snapshots, and each byte is written a few times`() throws {
    let desk = Desk(seed: 8)
    let store = try desk.open()
    var written: UInt64 = 0
    let text = String(repeating: "x", count: 2000)
    for number in 0..<60 {
      try desk.session([["\(number) \(text)"]], in: store)
      let compaction = Compaction(isForced: false, unfolded: (0, 0))
      store.snapshots.enough = (1, 1)
      store.compaction = compaction
      store.finishWork()
      written += compaction.result.writtenBytes
      desk.passDay()
    }
    #expect(store.texts.count == 60)
    #expect(desk.snapshots.count <= 8, "\(desk.snapshots)")
    #expect(written < 60 * 2000 * 8, "\(written)")
    #expect(try desk.open().notebook == store.notebook)
  }

  @Test func `who has not written does not fold`() throws {
    let desk = Desk(seed: 9)
    try desk.session((0..<70).map { ["\($0)"] })
    let files = desk.disk.files
    let reader = try desk.open()
    #expect(!reader.hasWork)
    reader.finishWork()
    #expect(desk.disk.files == files)
    try reader.create("mine")
    reader.finishWork()
    #expect(desk.snapshots.count == 1)
  }

  @Test func `changes that are not understood or wait are not folded`() throws {
    let desk = Desk(seed: 10)
    let first = try desk.session([["a"]])
    // A record of a later version.
    try first.folder.append([(type: 9, payload: [1, 2, 3])])
    desk.seal(first)
    try desk.session([["b"]], in: first)
    let store = try desk.open()
    let result = try store.compact()
    #expect(result.foldedFiles == 1)
    desk.passDay()
    #expect(try store.compact().removedFiles == 1)
    #expect(desk.logs.count == 2)
  }

  @Test func `a file that comes back is nothing new, and goes again`() throws {
    let desk = Desk(seed: 11)
    let store = try desk.session([["a"], ["b"]])
    let (name, bytes) = desk.disk.files.first { $0.key.contains("/log/") }!
    _ = try store.compact()
    desk.passDay()
    _ = try store.compact()
    desk.disk.put(bytes, at: name)
    let other = try desk.open()
    #expect(other.texts.count == 2 && other.damage.isEmpty)
    desk.passDay()
    #expect(try other.compact().removedFiles == 1)
    #expect(desk.logs.isEmpty)
  }

  @Test func `what nobody completed is folded after a month`() throws {
    let desk = Desk(seed: 12)
    let dead = try desk.open()
    try dead.create("a")
    let store = try desk.session([["b"]])
    #expect(try store.compact().foldedFiles == 1)
    desk.disk.pass(31 * Desk.day)
    let other = try desk.open()
    #expect(try other.compact().foldedFiles == 1)
    desk.passDay()
    _ = try other.compact()
    #expect(desk.logs.isEmpty)
    #expect(try desk.open().texts.sorted() == ["a", "b"])
    // Even its writer, if it was only asleep, goes on.
    _ = dead.rescan()
    try dead.create("c")
    #expect(try desk.open().texts.sorted() == ["a", "b", "c"])
  }

  @Test func `another history of a session is not folded`() throws {
    let desk = Desk(seed: 13)
    let store = try desk.session([["a"]])
    let copy = Desk(seed: 99, desk.disk.afterKill())
    // Two machines go on from one: their sessions have one name and two contents.
    copy.disk.pass(10)
    var log = try #require(desk.disk.files.first { $0.key.contains("/log/") })
    log.value[100] ^= 1
    desk.disk.put(log.value, at: log.key.replacingOccurrences(of: "/0-", with: "/x-"))
    let result = try store.compact()
    #expect(result.foldedFiles == 1)
    desk.passDay()
    _ = try store.compact()
    #expect(desk.logs.count == 1)
  }
}

@Suite(.computing) struct `Snapshots and faults` {
  /// What was answered.
  private final class Promises {
    var acknowledged: [String] = []
  }

  /// What happens on a disk that may fail: two sessions, one folds, a day passes, both go on.
  private static func run(_ desk: Desk, _ promises: Promises) {
    func write(_ text: String, _ store: NoteStore?) {
      do {
        guard try store?.create(text) != nil else { return }
        promises.acknowledged.append(text)
      } catch {}
    }
    let first = try? desk.open()
    write("a", first)
    first.map(desk.seal)
    write("b", first)
    first.map(desk.seal)
    let second = try? desk.open()
    write("c", second)
    second.map(desk.seal)
    _ = try? second?.compact()
    write("d", first)
    first.map(desk.seal)
    desk.passDay()
    _ = first?.rescan()
    _ = try? first?.compact()
    write("e", second)
    second.map(desk.seal)
    desk.passDay()
    _ = second?.rescan()
    _ = try? second?.compact()
    write("f", first)
    _ = first?.rescan()
    _ = second?.rescan()
    try? first?.sync()
    try? second?.sync()
  }

  private static func broken(_ disk: MemoryDisk, _ acknowledged: [String]) -> String? {
    let desk = Desk(seed: 777, disk)
    guard let store = try? desk.open() else { return "not to be opened" }
    let texts = store.texts
    if Set(texts).count < texts.count { return "twice: \(texts)" }
    for text in acknowledged where !texts.contains(text) {
      return "\(text) not in \(texts); \(store.damage)"
    }
    return disk.violations.isEmpty ? nil : "\(disk.violations)"
  }

  @Test(arguments: [EIO, ENOSPC, EROFS, EACCES])
  func `any call may fail`(errno: Int32) throws {
    let calm = Desk(seed: 20)
    let all = Promises()
    var calls: [MemoryDisk.Call] = []
    calm.disk.fault = { _, call in
      calls.append(call)
      return nil
    }
    Self.run(calm, all)
    calm.disk.fault = nil
    #expect(all.acknowledged.count == 6 && Self.broken(calm.disk, all.acknowledged) == nil)
    #expect(calm.snapshots.count > 1 && calm.logs.count < 6)
    // All of them with many seeds.
    let step = max(1, 6 / seeds(1).count)
    for call in stride(from: Int(errno) % step + 1, through: calls.count, by: step)
    where calls[call - 1].canFail(with: errno) {
      let desk = Desk(seed: 20)
      desk.disk.fault = { number, _ in number == call ? .error(errno) : nil }
      let promises = Promises()
      Self.run(desk, promises)
      desk.disk.fault = nil
      if let reason = Self.broken(desk.disk, promises.acknowledged) {
        Issue.record("call \(call): \(reason)")
        return
      }
    }
  }

  @Test func `all processes may be killed at any call`() throws {
    let desk = Desk(seed: 21)
    let promises = Promises()
    var calls = 0
    var reason: String?
    desk.disk.watch = {
      calls += 1
      guard reason == nil else { return }
      reason = Self.broken(desk.disk.afterKill(), promises.acknowledged).map {
        "call \(calls): \($0)"
      }
    }
    Self.run(desk, promises)
    #expect(reason == nil && calls > 500)
  }

  @Test func `a power cut at any call takes nothing that was on disk`() throws {
    for seed in seeds(2) {
      var random = SplitMix64(seed: seed)
      let desk = Desk(seed: 22)
      try prepare(desk)
      var seen: Set<MemoryDisk.State> = []
      var calls = 0
      var reason: String?
      desk.disk.watch = {
        calls += 1
        guard reason == nil else { return }
        // Few calls change anything: what was left before is not looked at again.
        let cut = desk.disk.afterPowerCut(&random)
        guard seen.insert(cut.state).inserted else { return }
        reason = Self.broken(cut, ["a", "b", "c", "d"]).map { "call \(calls): \($0)" }
      }
      finish(desk)
      #expect(reason == nil && calls > 100, "seed \(seed)")
    }
  }

  /// Some notes, all on disk for good; then everything is folded and removed.
  private func prepare(_ desk: Desk) throws {
    try desk.session([["a"], ["b"]])
    try desk.session([["c"], ["d"]])
  }

  private func finish(_ desk: Desk) {
    for _ in 0..<3 {
      _ = try? desk.open().compact()
      desk.passDay()
    }
  }

  @Test func `two processes may fold at the same moment, at any pace`() throws {
    for seed in seeds(30) {
      let desk = Desk(seed: seed)
      var random = SplitMix64(seed: seed)
      let first = try desk.session([["a"], ["b"], ["c"]])
      let second = try desk.session([["d"], ["e"]])
      _ = first.rescan()
      for round in 0..<3 {
        let stores = [first, second]
        for store in stores {
          store.compaction = Compaction(isForced: true, unfolded: (0, 0))
        }
        var steps = 0
        while stores.contains(where: { $0.compaction != nil }), steps < 10_000 {
          steps += 1
          let store = stores[random.below(2)]
          if store.compaction != nil { store.proceedCompacting() }
          if random.below(3) == 0 { desk.disk.performSyncs() }
          _ = store.takeSyncResult()
          if random.below(20) == 0 { _ = store.rescan() }
        }
        #expect(steps < 10_000)
        if round == 0, seed % 2 == 0 { try desk.session([["f"]], in: second) }
        if random.below(2) == 0 { desk.passDay() }
        _ = first.rescan()
        _ = second.rescan()
        first.finishWork()
        second.finishWork()
        let fresh = try desk.open()
        let expected = ["a", "b", "c", "d", "e"] + (seed % 2 == 0 ? ["f"] : [])
        #expect(fresh.texts.sorted() == expected, "seed \(seed), round \(round)")
        #expect(fresh.damage.isEmpty && first.texts.sorted() == expected, "seed \(seed)")
        #expect(!first.folder.needsRepublish && !second.folder.needsRepublish, "seed \(seed)")
      }
    }
  }

  @Test func `a damaged snapshot is reported, and the logs say it all as long as they are there`()
    throws
  {
    let desk = Desk(seed: 23)
    let store = try desk.session([["a", "b"], ["c"]])
    _ = try store.compact()
    let name = desk.snapshots[0]
    let bytes = desk.disk.files[name]!
    for at in bytes.indices {
      for bit in [0, 3, 7] {
        var bad = bytes
        bad[at] ^= 1 << UInt8(bit)
        let disk = desk.disk.afterKill()
        disk.put(bad, at: name)
        let reader = try Desk(seed: 5, disk).open()
        #expect(reader.texts.count == 3, "byte \(at)")
        #expect(!reader.damage.isEmpty, "byte \(at)")
      }
    }
    for count in bytes.indices {
      let disk = desk.disk.afterKill()
      disk.put(Array(bytes.prefix(count)), at: name)
      let reader = try Desk(seed: 5, disk).open()
      #expect(reader.texts.count == 3 && !reader.damage.isEmpty, "\(count) bytes")
      disk.put(bytes, at: name)
      _ = reader.rescan()
      reader.finishWork()
      #expect(reader.damage.isEmpty, "\(count) bytes: \(reader.damage)")
    }
  }

  @Test func `a damaged snapshot without its logs traps nobody`() throws {
    let desk = Desk(seed: 24)
    let store = try desk.session([["a", "b"], ["c"]])
    try desk.session([["d"]])
    _ = store.rescan()
    _ = try store.compact()
    let name = desk.snapshots[0]
    let bytes = desk.disk.files[name]!
    for log in desk.logs { desk.disk.take(log) }
    for seed in seeds(600) {
      var random = SplitMix64(seed: seed)
      var bad = bytes
      for _ in 0...random.below(3) {
        bad[random.below(bad.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      if random.below(4) == 0 { bad.removeLast(random.below(bad.count)) }
      let disk = desk.disk.afterKill()
      disk.put(bad, at: name)
      let reader = try Desk(seed: 5, disk).open()
      #expect(bad == bytes || !reader.damage.isEmpty, "seed \(seed)")
      _ = try? reader.compact()
      #expect(disk.files[name] == bad, "seed \(seed)")
    }
  }

  @Test func `a complete file of no records is left alone`() throws {
    let desk = Desk(seed: 26)
    let store = try desk.session([["a"]])
    for before in [0, UInt64.max] {
      let session = makeIdentifier()
      var header = LogHeader(notebook: store.identity!, session: session)
      (header.recordsBefore, header.segment) = (before, before == 0 ? 0 : 1)
      let bytes = header.encoded()
      let name = SegmentName(
        segment: header.segment,
        end: bytes[64...].integer(at: 64, as: UInt64.self).byteSwapped)
      desk.disk.put(bytes, at: "\(Desk.path)/log/\(session)/\(name)")
    }
    desk.disk.pass(10)
    let reader = try desk.open(state: Desk.state)
    #expect(reader.texts == ["a"])
    #expect(try reader.compact().foldedFiles == 1)
    reader.keepAll()
    #expect(try desk.open(state: Desk.state).texts == ["a"])
  }

  @Test func `a snapshot that claims what it has not does not hide the logs`() throws {
    let desk = Desk(seed: 25)
    let store = try desk.session([["a"], ["b"]])
    let session = try #require(desk.logs[0].split(separator: "/").dropLast().last)
    var packer = ChangePacker(notebook: store.identity!)
    let head = SnapshotFormat.head([
      SessionPiece(
        session: Identifier(session)!, start: SessionPoint(),
        end: SessionPoint(number: 2, hash: 77, changes: 2))
    ])
    desk.disk.put(
      head + packer.finish(), at: "\(Desk.path)/snap/00000000000000000000000000000000.snap")
    let reader = try desk.open()
    #expect(reader.texts.count == 2 && !reader.damage.isEmpty)
    desk.passDay()
    _ = try reader.compact()
    desk.passDay()
    _ = try reader.compact()
    #expect(try desk.open().texts.count == 2)
  }
}
