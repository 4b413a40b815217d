import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// Processes of one user, one after the other and side by side, on a disk in memory.
private final class Desk {
  static let path = "/home/notes"
  static let state = "/home/state"
  let disk: MemoryDisk
  private var random: SplitMix64

  init(seed: UInt64, _ disk: MemoryDisk = MemoryDisk()) {
    self.disk = disk
    random = SplitMix64(seed: seed)
    disk.put([], at: "/home/.profile")
  }

  /// A process that goes on where an earlier one has left the notebook.
  func resumed(mostEndedCompared: Int = 1_000) throws -> NoteStore {
    try open(state: Self.state, mostEndedCompared: mostEndedCompared)
  }

  /// One that reads everything.
  func fresh() throws -> NoteStore { try open(state: nil) }

  private func open(state: String?, mostEndedCompared: Int = 1_000) throws -> NoteStore {
    try NoteStore(path: Self.path, state: state, mostEndedCompared: mostEndedCompared, on: disk) {
      Identifier(high: self.random.next(), low: self.random.next())
    }
  }

  /// Lets some seconds pass.
  func rest() { for _ in 0..<3 { disk.put([], at: "/home/.profile") } }

  var archive: String { disk.files.keys.first { $0.hasSuffix("/archive") }! }
}

extension NoteStore {
  /// Keeps the notebook, however little there is.
  fileprivate func keep() {
    archiving.unkept += 1 << 20
    keep { true }
  }

  fileprivate func finishWork() {
    while hasWork { _ = work() }
  }
}

@Suite(.computing) struct `Keeping a notebook between two runs` {
  @Test func `the next run reads notes and not logs`() throws {
    let desk = Desk(seed: 1)
    let first = try desk.resumed()
    var notes: [NoteID] = []
    for number in 0..<50 { notes.append(try first.create("note \(number)")) }
    try first.end()
    first.keep()
    let second = try desk.resumed()
    #expect(second.notebook.openNoteCount == 0)
    #expect(second.notebook == first.notebook)
    #expect(try second.note(notes[7])?.text.string == "note 7")
    #expect(second.texts == first.texts)
    try second.append(" more", to: notes[7])
    #expect(try desk.fresh().notebook == second.notebook)
    let third = try desk.resumed()
    #expect(third.notebook == second.notebook && third.damage.isEmpty)
  }

  /// It is less than a quarter of the archive, so a process that had written it would wait for more.
  @Test func `what a start had to read is in an archive before the next`() throws {
    let desk = Desk(seed: 1)
    let first = try desk.resumed()
    for number in 0..<30 { try first.create(String(repeating: "note \(number) ", count: 20_000)) }
    first.finishWork()
    for number in 0..<8 { try first.create(String(repeating: "new \(number) ", count: 25_000)) }
    #expect(first.archiving.unkept > 1 << 20 && !first.archiving.isDue)
    try first.end()
    let second = try desk.resumed()
    #expect(second.archiving.unkept > 1 << 20 && second.hasWork)
    second.finishWork()
    let third = try desk.resumed()
    #expect(third.archiving.unkept == 0 && third.notebook == first.notebook)
  }

  @Test func `of little nothing is kept beside the notebook but how much it is`() throws {
    let desk = Desk(seed: 2)
    let store = try desk.resumed()
    try store.create("a line")
    try store.end()
    store.keep { true }
    #expect(!store.hasWork)
    #expect(
      desk.disk.files.keys.allSatisfy { !$0.hasPrefix(Desk.state) || $0.hasSuffix("/manifest") })
  }

  /// Whoever opens with what was kept sees what everybody sees.
  @Test func `resumed and fresh are the same, whatever happened in between`() throws {
    for seed in seeds(30) {
      let desk = Desk(seed: seed)
      var random = SplitMix64(seed: seed &+ 1_000)
      var stores = [try desk.resumed(), try desk.resumed()]
      var notes: [NoteID] = []
      for step in 0..<60 {
        let index = random.below(stores.count)
        let store = stores[index]
        _ = store.rescan()
        switch random.below(10) {
        case 0: notes.append(try store.create("step \(step)"))
        case 1, 2, 3:
          guard !notes.isEmpty else { continue }
          let note = notes[random.below(notes.count)]
          if try store.note(note) != nil { try store.append(" \(step)", to: note) }
        case 4: store.keep()
        case 5:
          store.archiving.unkept += 1 << 21
          for _ in 0..<random.below(4) where store.hasWork { _ = store.work() }
        case 6: store.finishWork()
        case 7:
          try store.end()
          if random.below(2) == 0 { store.keep() }
          stores[index] = try desk.resumed()
        case 8: stores[index] = try desk.resumed()
        default: _ = store.sealIfDue(at: Instant(nanoseconds: 0) + .seconds(random.below(100)))
        }
      }
      for store in stores {
        _ = store.rescan()
        store.finishWork()
      }
      let fresh = try desk.fresh()
      let resumed = try desk.resumed()
      resumed.finishWork()
      #expect(resumed.notebook == fresh.notebook, "seed \(seed)")
      for store in stores { #expect(store.notebook == fresh.notebook, "seed \(seed)") }
      #expect(fresh.damage.isEmpty && resumed.damage.isEmpty, "seed \(seed)")
      #expect(resumed.notebook.revision == fresh.notebook.revision, "seed \(seed)")
    }
  }

  @Test func `what was kept may vanish or be damaged`() throws {
    let desk = Desk(seed: 3)
    let first = try desk.resumed()
    for number in 0..<10 { try first.create("note \(number)") }
    try first.end()
    first.keep()
    let archive = desk.archive
    let whole = desk.disk.files[archive]!
    var random = SplitMix64(seed: 7)
    for length in stride(from: 0, to: whole.count, by: 37) {
      desk.disk.put(Array(whole[..<length]), at: archive)
      #expect(try desk.resumed().notebook == first.notebook)
    }
    for _ in 0..<200 {
      var bytes = whole
      let place = random.below(bytes.count)
      bytes[place] ^= UInt8(1 << random.below(8))
      desk.disk.put(bytes, at: archive)
      let store = try desk.resumed()
      #expect(store.notebook.version == first.notebook.version)
      // What can't be read there is read from the logs.
      for creation in 1...10 {
        let id = NoteID(
          creation: ChangeID(replica: first.notebook.version.replicas[0], number: UInt64(creation)))
        #expect(try store.note(id)?.text.string == "note \(creation - 1)")
      }
    }
    desk.disk.put([], at: archive)
    let store = try desk.resumed()
    store.keep()
    #expect(try desk.resumed().notebook == first.notebook)
    #expect(desk.disk.files[archive]!.count > 1000)
  }

  /// An archive in whose blocks something is wrong, while all checksums are right: only what reads them notices.
  ///
  /// - Parameter notes: the number of notes; the index, which every start reads, stays.
  private func forge(_ bytes: inout [UInt8], notes: Int) {
    let footer = bytes.count - 16
    let head = Int(bytes[footer...].integer(at: footer, as: UInt64.self))
    // The blocks lie one behind the other from the beginning on: of each the first bytes of the content are changed.
    var start = containerHeader(3).count
    while start < head {
      let size = Int(bytes[start...].integer(at: start, as: UInt32.self))
      let block = start..<start + blockPrefix + size
      if size != 28 * notes {
        for place in block.dropFirst(blockPrefix).prefix(6) { bytes[place] = 0xFF }
        seal(&bytes, block)
      }
      start = block.upperBound
    }
  }

  /// What is asked first of a notebook whose archive is forged.
  enum Request: CaseIterable {
    case note, order, past, changes, change, merge, archive
  }

  @Test(arguments: Request.allCases)
  func `an archive that says what can't be is given up, and the logs are read`(
    request: Request
  ) throws {
    let desk = Desk(seed: 4)
    let first = try desk.resumed()
    var ids: [NoteID] = []
    for number in 0..<10 { ids.append(try first.create("note \(number)")) }
    for id in ids { try first.append("!", to: id) }
    try first.end()
    first.keep()
    let archive = desk.archive
    var bytes = desk.disk.files[archive]!
    forge(&bytes, notes: 10)
    desk.disk.put(bytes, at: archive)
    let store = try desk.resumed()
    #expect(store.archiving.size == bytes.count)
    // Something of our own, that no archive has.
    if request != .order, request != .change { try store.create("own") }
    let other = try desk.fresh()
    try other.append("?", to: ids[3])
    switch request {
    case .note: #expect(try store.note(ids[3])?.text.string == "note 3!")
    case .order: try store.openOrder()
    case .past:
      let past = try store.recall { book throws(ArchiveFailure) in
        var version = Version()
        version.insert(ids[9].creation)
        return try book.note(ids[3], at: version).map { String(decoding: $0.utf8, as: UTF8.self) }
      }
      #expect(past == "note 3")
    case .changes:
      let changes = try store.recall { book throws(ArchiveFailure) in
        try book.changes(since: Version(), limit: .max).changes
      }
      #expect(!changes.isEmpty)
    case .change: try store.append("+", to: ids[4])
    case .merge:
      let changes = other.notebook.changes(since: Version())
      _ = try store.merge(changes.encoded(of: store.identity!))
    case .archive: store.keep()
    }
    #expect(desk.disk.files[archive] != bytes, "the archive that is forged is still there")
    // What others have written is told as ever.
    let effects = store.rescan()
    #expect(request == .merge || effects.facets[ids[3]] == .text)
    store.finishWork()
    _ = other.rescan()
    #expect(store.damage.isEmpty)
    #expect(store.notebook == other.notebook)
    #expect(try desk.fresh().notebook == store.notebook)
    try store.append("*", to: ids[5])
    try store.end()
    store.keep()
    let resumed = try desk.resumed()
    #expect(resumed.archiving.size > 0 && resumed.notebook == store.notebook)
    #expect(try resumed.note(ids[5])?.text.string == "note 5!*")
  }

  @Test func `what waits for an archive that says what can't be is merged from the logs`() throws {
    let desk = Desk(seed: 5)
    let first = try desk.resumed()
    let id = try first.create("one")
    try first.end()
    first.keep()
    var bytes = desk.disk.files[desk.archive]!
    forge(&bytes, notes: 1)
    desk.disk.put(bytes, at: desk.archive)
    let store = try desk.resumed()
    #expect(store.archiving.size == bytes.count)
    let other = try desk.fresh()
    try other.append(" two", to: id)
    _ = store.rescan()
    store.finishWork()
    #expect(store.notebook.version == other.notebook.version && store.damage.isEmpty)
    #expect(try store.note(id)?.text.string == "one two")
    #expect(!desk.disk.files.keys.contains { $0.hasSuffix("/archive") })
  }

  @Test func `damage of a log is told by every run`() throws {
    let desk = Desk(seed: 6)
    let first = try desk.resumed()
    for number in 0..<10 { try first.create("note \(number)") }
    try first.end()
    let log = desk.disk.files.keys.first { $0.hasSuffix(".open") || $0.hasSuffix(".seg") }!
    var bytes = desk.disk.files[log]!
    bytes[bytes.count - 30] ^= 1
    desk.disk.put(bytes, at: log)
    for _ in 0..<3 {
      let store = try desk.resumed()
      #expect(store.damage.contains { $0.path == log })
      store.keep()
      store.finishWork()
    }
  }

  /// Both are due at the same moment, since both read the same. Whoever took the other's archive for its own would rest on
  /// what that one knew.
  @Test func `two processes that keep at the same moment rest each on its own`() throws {
    for call in stride(from: 1, through: 24, by: seedFactor == 1 ? 3 : 1) {
      let desk = Desk(seed: 7)
      let (first, second) = (try desk.resumed(), try desk.resumed())
      let note = try first.create("note")
      _ = second.rescan()
      second.archiving.unkept += 1 << 21
      for _ in 0..<2 { _ = second.work() }
      #expect(second.archiving.writing != nil)
      try first.append(" more", to: note)
      // So many others that the note is open no longer.
      for _ in 0..<300 { try first.create("x") }
      first.archiving.unkept += 1 << 21
      // While the one keeps its own, the other puts its into place.
      var calls = 0
      desk.disk.watch = {
        calls += 1
        if calls == call { second.finishWork() }
      }
      first.finishWork()
      desk.disk.watch = nil
      second.finishWork()
      #expect(try first.note(note)?.text.string == "note more", "call \(call)")
      let fresh = try desk.fresh()
      #expect(first.notebook == fresh.notebook, "call \(call)")
      _ = second.rescan()
      #expect(second.notebook == fresh.notebook, "call \(call)")
    }
  }

  @Test func `what a killed process was writing is removed, and what a living one writes is not`()
    throws
  {
    let desk = Desk(seed: 8)
    let store = try desk.resumed()
    try store.create("note")
    store.keep()
    let folder = desk.archive.dropLast("archive".count)
    let (old, new) = (".tmp-\(makeIdentifier())", ".tmp-\(makeIdentifier())")
    desk.disk.put([1], at: folder + old)
    // Each change on this disk takes a second.
    for number in 0..<3_600 { desk.disk.put([], at: "/home/other/\(number)") }
    desk.disk.put([1], at: folder + new)
    try store.create("another")
    store.keep()
    #expect(desk.disk.files[folder + old] == nil)
    #expect(desk.disk.files[folder + new] != nil)
  }

  @Test func `a record that was refused is read and reported by every run`() throws {
    let desk = Desk(seed: 9)
    let first = try desk.resumed()
    try first.create("note")
    try first.folder.append([(type: 99, payload: [1, 2, 3])])
    try first.end()
    for _ in 0..<3 {
      let store = try desk.resumed()
      #expect(store.damage.contains { $0.description.contains("A later version") })
      #expect(store.texts == ["note"])
      store.keep()
      store.finishWork()
    }
  }

  @Test func `a disk that refuses what is kept is nobody's business`() throws {
    let desk = Desk(seed: 4)
    let store = try desk.resumed()
    try store.create("note")
    for errno in [ENOSPC, EROFS, EIO, EACCES] {
      desk.disk.fault = { _, call in call.isMutating ? .error(errno) : nil }
      store.keep()
      desk.disk.fault = nil
      #expect(store.texts == ["note"])
    }
    store.keep()
    #expect(try desk.resumed().texts == ["note"])
  }

  @Test func `a start sees what a living process wrote behind segments that were complete`() throws
  {
    let desk = Desk(seed: 12)
    let writer = try desk.resumed()
    let note = try writer.create("first")
    writer.folder.seal()
    try writer.sync()
    desk.rest()
    let reader = try desk.resumed()
    try reader.create("another")
    try reader.end()
    reader.keep()
    #expect(reader.folder.completeFolders.folders.count == 1)
    try writer.append(" and second", to: note)
    let next = try desk.resumed()
    #expect(try next.note(note)?.text.string == "first and second")
  }

  @Test(arguments: [true, false])
  func `what is done to the folder of an ended session is found, by the start or behind it`(
    isFew: Bool
  ) throws {
    let count = 3
    let desk = Desk(seed: 13)
    let writer = try desk.resumed()
    var sessions: [Identifier] = []
    for number in 0..<count {
      try writer.create("note \(number)")
      sessions.append(try writer.nextSession())
      try writer.end()
    }
    desk.rest()
    let reader = try desk.resumed()
    #expect(reader.folder.completeFolders.folders.count { $0.value.isEnded } == count)
    try reader.create("another")
    reader.keep()
    // By hand: the log of one that was never here goes into the folder of the first, and that of the last away.
    let stranger = Desk(seed: 14)
    let other = try stranger.resumed()
    other.folder.adopt(notebook: try #require(reader.identity))
    try other.create("by hand")
    try other.end()
    let log = try #require(stranger.disk.files.first { $0.key.hasSuffix("-end.seg") })
    desk.disk.put(log.value, at: "\(Desk.path)/log/\(sessions[0])/copy")
    let last = "\(Desk.path)/log/\(sessions[count - 1])/"
    desk.disk.take(
      desk.disk.files.keys.filter { $0.hasPrefix(last) && $0.hasSuffix(".seg") }.max()!)
    let next = try desk.resumed(mostEndedCompared: isFew ? count : count - 1)
    #expect(next.texts.contains("by hand") == isFew)
    #expect(next.folder.completeFolders.unverified.count == (isFew ? 0 : count))
    next.finishWork()
    _ = next.rescan()
    #expect(next.texts.contains("by hand"))
    #expect(try desk.fresh().texts.count == count + 2)
    // The next start sees it without the work behind.
    next.keep { true }
    let most = isFew ? count : 0
    #expect(try desk.resumed(mostEndedCompared: most).texts.contains("by hand"))
  }

  @Test
  func `a start sees what was written before, whenever files get their final names meanwhile`()
    throws
  {
    // At each call of a start, a process that lives completes its segment.
    for call in 0... {
      let desk = Desk(seed: 15)
      let writer = try desk.resumed()
      try writer.create("one")
      let other = try desk.resumed()
      try other.create("two")
      try writer.sync()
      var (left, isDone) = (call, false)
      desk.disk.watch = {
        left -= 1
        guard left == -1 else { return }
        writer.folder.seal()
        desk.disk.performSyncs()
        _ = writer.takeSyncResult()
        isDone = true
      }
      let reader = try NoteStore(
        path: Desk.path, isWatching: call % 2 == 0, on: desk.disk, makeIdentifier: makeIdentifier)
      desk.disk.watch = nil
      #expect(reader.texts.sorted() == ["one", "two"], "at call \(call)")
      if !isDone { return #expect(call > 10) }
    }
  }

  @Test func `a process that has ended its session begins another one with what it writes then`()
    throws
  {
    let desk = Desk(seed: 14)
    let store = try desk.resumed()
    try store.create("one")
    let first = try store.nextSession()
    try store.end()
    try store.create("two")
    #expect(try store.nextSession() != first)
    try store.end()
    #expect(try desk.fresh().texts.sorted() == ["one", "two"])
    #expect(desk.disk.files.keys.filter { $0.hasSuffix("-end.seg") }.count == 2)
  }

  /// What is done to a folder while nothing runs, when only some of its sessions are complete.
  enum Loss: CaseIterable {
    case completeSession, segment, everything, openFile, end, beginning
  }

  @Test(arguments: Loss.allCases)
  func `what the folder has lost between two runs is written again`(loss: Loss) throws {
    let desk = Desk(seed: 6)
    // Three segments, complete and long enough ago.
    let first = try desk.resumed()
    var notes: [NoteID] = []
    for number in 0..<3 {
      notes.append(try first.create("complete \(number)"))
      first.folder.seal()
      try first.sync()
    }
    desk.rest()
    // A file that is not complete.
    let second = try desk.resumed()
    for number in 0..<3 { notes.append(try second.create("open \(number)")) }
    try second.sync()
    second.keep()
    let revision = second.notebook.revision
    let known = desk.disk.files.keys.filter { $0.hasPrefix(Desk.path + "/log") }.sorted()
    let segments = known.filter { $0.hasSuffix(".seg") }
    let open = known.first { $0.hasSuffix(".open") }!
    #expect(segments.count == 3 && known.count == 4)
    #expect(second.folder.completeFolders.folders.count == 1)
    let bytes = desk.disk.files[open]!
    switch loss {
    case .completeSession:
      let name = second.folder.completeFolders.folders.keys.first!
      desk.disk.take("\(Desk.path)/log/\(name)")
    case .segment: desk.disk.take(segments[1])
    case .everything: desk.disk.take(Desk.path + "/log")
    case .openFile: desk.disk.take(open)
    case .end: desk.disk.put(Array(bytes.dropLast(10)), at: open)
    case .beginning: desk.disk.put([], at: open)
    }
    let third = try desk.resumed()
    #expect(third.notebook.revision == revision)
    // It is the next full look that notices what is not there of what looked complete.
    third.finishWork()
    _ = third.rescan()
    let fresh = try desk.fresh()
    #expect(fresh.notebook == third.notebook && fresh.texts.count == 6)
    #expect(fresh.notebook.revision == revision)
    // Once: who comes then finds everything there, and has no reason to look.
    try third.end()
    third.keep()
    let before = desk.disk.files
    let fourth = try desk.resumed()
    fourth.finishWork()
    #expect(fourth.folder.needsRepublish == false)
    #expect(fourth.rescan().isEmpty)
    #expect(fourth.folder.needsRepublish == false)
    try fourth.end()
    #expect(desk.disk.files == before)
    #expect(try fourth.note(notes[1])?.text.string == "complete 1")
  }

  @Test func `a folder that is gone at the first look is missed at once`() throws {
    let desk = Desk(seed: 7)
    let first = try desk.resumed()
    try first.create("note")
    try first.end()
    desk.rest()
    let second = try desk.resumed()
    try second.create("another")
    try second.end()
    second.keep()
    #expect(try desk.resumed().folder.needsRepublish == false)
    let session = second.folder.completeFolders.folders.keys.first!
    desk.disk.take("\(Desk.path)/log/\(session)")
    let third = try desk.resumed()
    #expect(third.folder.needsRepublish == true)
    try third.end()
    #expect(Set(try desk.fresh().texts) == ["another", "note"])
  }

  @Test func `a log that the power cut took, and not what was kept, is written again`() throws {
    for seed in seeds(20) {
      let desk = Desk(seed: seed)
      let first = try desk.resumed()
      for number in 0..<3 { try first.create("\(number)") }
      try first.sync()
      for number in 3..<6 { try first.create("\(number)") }
      first.keep()
      var random = SplitMix64(seed: seed)
      let after = Desk(seed: seed + 1000, desk.disk.afterPowerCut(&random))
      // It was kept on another disk.
      after.disk.put(desk.disk.files[desk.archive]!, at: desk.archive)
      let second = try after.resumed()
      #expect(second.texts.count == 6)
      try second.end()
      #expect(try after.fresh().notebook == second.notebook, "seed \(seed)")
    }
  }

  /// Whoever keeps the notebook has read a log, and not the snapshot that stands for it by then.
  @Test func `a snapshot that came after the last look is not relied on`() throws {
    let desk = Desk(seed: 8)
    let first = try desk.resumed()
    try first.create("note")
    try first.end()
    let second = try desk.resumed()
    _ = try first.compact()
    second.keep()
    var random = SplitMix64(seed: 8)
    // Files are looked at again after that.
    let after = Desk(seed: 9, desk.disk.afterPowerCut(&random))
    after.disk.put(desk.disk.files[desk.archive]!, at: desk.archive)
    after.disk.take("\(Desk.path)/log")
    after.disk.take("\(Desk.path)/\(SnapshotFormat.folder)")
    #expect(try after.fresh().texts == [])
    let third = try after.resumed()
    #expect(third.texts == ["note"])
    _ = third.rescan()
    #expect(try after.fresh().texts == ["note"])
  }

  // MARK: - Folders that are kept beside the archive

  /// A session of many segments that has ended, of which the archive has so many; and a run long after it, which finds out that its folder is complete.
  private func deskWithFolder(seed: UInt64, archived: Int, all: Int = 40) throws -> Desk {
    let desk = Desk(seed: seed)
    let writer = try desk.resumed()
    for number in 0..<all {
      try writer.create("note \(number)")
      writer.folder.seal()
      try writer.sync()
      if number + 1 == archived { writer.keep() }
    }
    try writer.end()
    desk.rest()
    let reader = try desk.resumed()
    try reader.end()
    reader.keep { true }
    return desk
  }

  private func kept(_ desk: Desk) -> String {
    desk.archive.dropLast("archive".count) + "manifest"
  }

  @Test(arguments: [1, 20, 39, 40])
  func `of a folder that the archive lacks only the files with new records are read`(
    archived: Int
  ) throws {
    let desk = try deskWithFolder(seed: 20, archived: archived)
    #expect(desk.disk.files[kept(desk)] != nil)
    let fresh = try desk.fresh()
    let resumed = try desk.resumed()
    let read = resumed.folder.reader.files.keys.filter { $0.hasSuffix(".seg") }
    #expect(read.count == 40 - archived)
    #expect(resumed.folder.completeFolders.folders.count == 1)
    #expect(resumed.notebook == fresh.notebook && resumed.damage.isEmpty)
    // A later look finds nothing new, and nothing missing.
    #expect(resumed.rescan().isEmpty && !resumed.folder.needsRepublish)
    // The next archive has the folder, and what was kept beside the old one goes.
    resumed.keep()
    #expect(desk.disk.files[kept(desk)] == nil)
    let next = try desk.resumed()
    #expect(next.folder.reader.files.isEmpty && next.notebook == fresh.notebook)
  }

  @Test func `a folder that was kept is listed when it has changed`() throws {
    let desk = try deskWithFolder(seed: 21, archived: 20)
    let segments = desk.disk.files.keys.filter { $0.hasSuffix(".seg") }
    // A file that goes, and one that comes: the records of the first are in memory by then.
    let living = try desk.resumed()
    desk.disk.take(segments.max()!)
    #expect(try desk.resumed().folder.reader.files.count >= 39)
    _ = living.rescan()
    try living.end()
    #expect(try desk.fresh().texts.count == 40)
    #expect(try desk.resumed().texts.count == 40)
  }

  /// The writer of the folder lives, and adds a record at each call that another process makes when it starts.
  @Test(arguments: [30, 40]) func `what comes into a kept folder during a start is seen at once`(
    archived: Int
  ) throws {
    var wasAdded = true
    var call = 0
    while wasAdded {
      let desk = Desk(seed: 22)
      desk.disk.isWatched = true
      let writer = try desk.resumed()
      for number in 0..<40 {
        try writer.create("note \(number)")
        writer.folder.seal()
        try writer.sync()
        if number + 1 == archived { writer.keep() }
      }
      desk.rest()
      let other = try desk.resumed()
      try other.end()
      other.keep { true }
      #expect(desk.disk.files[kept(desk)] != nil)
      var left = call
      wasAdded = false
      desk.disk.watch = {
        left -= 1
        guard left == -1 else { return }
        wasAdded = true
        do { try writer.create("late") } catch { Issue.record("\(error)") }
      }
      let reader = try desk.resumed()
      desk.disk.watch = nil
      if reader.notice() { _ = reader.mergeAll() }
      #expect(!wasAdded || reader.texts.contains("late"), "call \(call)")
      call += 1
    }
    #expect(call > 20)
  }

  @Test
  func `a kept folder that can't be opened, and goes, is written again as far as it is known`()
    throws
  {
    let desk = try deskWithFolder(seed: 23, archived: 20)
    let segment = try #require(desk.disk.files.keys.first { $0.hasSuffix(".seg") })
    let session = String(segment.split(separator: "/").dropLast().last!)
    desk.disk.closedFolder = session
    let second = try desk.resumed()
    #expect(second.texts.count == 20)
    second.keep()
    desk.disk.closedFolder = nil
    desk.disk.take("\(Desk.path)/log/\(session)")
    let third = try desk.resumed()
    #expect(third.texts.count == 20)
    _ = third.rescan()
    _ = third.rescan()
    try third.end()
    #expect(try desk.fresh().texts.count == 20)
  }

  /// Two copies of one running machine write the same session.
  @Test(arguments: [1, 20, 40])
  func `another content of a session in a folder is told by every start`(archived: Int) throws {
    let (desk, twin) = (Desk(seed: 30), Desk(seed: 30))
    let (writer, copy) = (try desk.resumed(), try twin.resumed())
    for number in 0..<40 {
      try writer.create("note \(number)")
      if number == 0 { try writer.create("another note") }
      writer.folder.seal()
      try writer.sync()
      if number + 1 == archived { writer.keep() }
    }
    try writer.end()
    try copy.create("of the copy")
    copy.folder.seal()
    try copy.sync()
    let segment = try #require(twin.disk.files.first { $0.key.hasSuffix(".seg") })
    desk.disk.put(segment.value, at: segment.key)
    desk.rest()
    for start in 0..<4 {
      let store = try desk.resumed()
      #expect(store.damage.count == 1, "start \(start)")
      try store.end()
      store.keep { true }
    }
    #expect(try desk.fresh().damage.count == 1)
  }

  @Test(arguments: seeds(20))
  func `what is kept of folders changes no answer, whatever it says`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let desk = try deskWithFolder(seed: seed, archived: random.below(40) + 1)
    let kept = kept(desk)
    let whole = try #require(desk.disk.files[kept])
    let oldArchive = desk.disk.files[desk.archive]!
    for step in 0..<12 {
      var bytes = whole
      switch random.below(4) {
      case 0: bytes = Array(whole[..<random.below(whole.count)])
      case 1: bytes[random.below(whole.count)] ^= 1 << UInt8(random.below(8))
      case 2:
        // With a right sum.
        let block = containerHeader(6).count..<whole.count
        random.forge(&bytes, in: block.dropFirst(blockPrefix), with: [whole])
        seal(&bytes, block)
      default: break
      }
      desk.disk.put(bytes, at: kept)
      if random.chance(20) { desk.disk.put(oldArchive, at: desk.archive) }
      let store = try desk.resumed()
      let fresh = try desk.fresh()
      #expect(store.texts.sorted() == fresh.texts.sorted(), at(seed, step))
      // Another process lives and writes meanwhile.
      if random.chance(50) {
        try fresh.create("meanwhile \(step)")
        if random.chance(50) { fresh.folder.seal() }
        #expect(try desk.resumed().texts.count == fresh.texts.count, at(seed, step))
      }
      _ = store.rescan()
      if random.chance(30) { store.finishWork() }
      if random.chance(30) { store.keep() } else { store.keep { true } }
      #expect(store.texts.sorted() == fresh.texts.sorted(), at(seed, step))
      #expect(try desk.resumed().texts.sorted() == fresh.texts.sorted(), at(seed, step))
      if random.chance(50) { desk.rest() }
    }
  }

  @Test func `a copy of a notebook knows what stands in it, and no more`() throws {
    let desk = Desk(seed: 5)
    let store = try desk.resumed()
    try store.create("note")
    try store.end()
    store.keep()
    func path(_ folder: String) throws -> String? {
      StateFolder(
        "/s", notebook: store.identity!, at: folder, on: desk.disk,
        closer: try desk.disk.makeSyncQueue(path: ""))?.path
    }
    #expect(try path("/home/notes") != path("/home/copy"))
  }
}
