import Foundation
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

@Suite(.computing) struct `A notebook on a disk that fails` {
  private static func disk() -> MemoryDisk {
    let disk = MemoryDisk()
    disk.put([], at: "/home/.profile")
    return disk
  }

  private func open(_ disk: MemoryDisk) throws -> NoteStore {
    try NoteStore(path: Day.path, on: disk, makeIdentifier: makeIdentifier)
  }

  static let errors = [ENOSPC, EIO, EROFS, EFBIG, EACCES]

  /// The calls of a day on which nothing fails. Every other day goes the same way up to the first call that does, so a call that
  /// can't fail in the way that is asked for makes no other day.
  private static let calls: [MemoryDisk.Call] = {
    let disk = MemoryDisk()
    var calls: [MemoryDisk.Call] = []
    disk.fault = { _, call in
      calls.append(call)
      return nil
    }
    Day(disk, seed: 1).run()
    return calls
  }()

  /// The numbers of those calls for which `condition` holds.
  private static func numbers(where condition: (MemoryDisk.Call) -> Bool) -> [Int] {
    calls.indices.filter { condition(calls[$0]) }.map { $0 + 1 }
  }

  /// Checks everything there is to check after a day on a disk with faults.
  private func check(_ day: Day, _ comment: Comment) {
    let disk = day.disk
    #expect(disk.violations == [], comment)
    // The cause is gone: at the first try it works again, for both.
    disk.fault = nil
    let refused = day.promises.refused.count
    day.goOn()
    day.write("a10", in: day.first)
    day.write("b3", in: day.second)
    #expect(day.promises.refused.count == refused, comment)
    let first = day.first?.texts ?? []
    #expect(Set(first).count == first.count, comment)
    let promises = day.promises
    let killed = Day.broken(disk.afterKill(), acknowledged: promises.acknowledged, promises)
    #expect(killed == nil, comment)
    day.flush(day.first, day.second)
    #expect(day.promises.flushed == day.promises.acknowledged, comment)
    // Most power cuts leave the same, since all is on disk: that is looked at once.
    var seen: Set<MemoryDisk.State> = []
    for seed in seeds(2) {
      var random = SplitMix64(seed: seed)
      let left = disk.afterPowerCut(&random)
      guard seen.insert(left.state).inserted else { continue }
      let broken = Day.broken(left, acknowledged: promises.acknowledged, promises)
      #expect(broken == nil, "\(comment), power cut with seed \(seed)")
    }
    #expect(disk.violations == [], comment)
  }

  @Test(arguments: errors)
  func `keeps what it acknowledged, whichever call fails`(errno: Int32) {
    let numbers = Self.numbers { $0.canFail(with: errno) }
    for k in numbers {
      let disk = MemoryDisk()
      let day = Day(disk, seed: 1)
      disk.fault = { call, kind in call == k ? .error(errno) : nil }
      day.run()
      #expect(disk.hasFired)
      check(day, "errno \(errno) at call \(k)")
    }
    #expect(numbers.count > 3)
  }

  @Test(arguments: errors)
  func `reads on while every call fails from one on, and writes again afterwards`(errno: Int32) {
    let numbers = Self.numbers { $0.canFail(with: errno) }
    for k in numbers {
      let disk = MemoryDisk()
      let day = Day(disk, seed: 1)
      disk.fault = { call, kind in call >= k ? .error(errno) : nil }
      day.run()
      #expect(disk.hasFired)
      // What can only not be written can be read.
      if errno != EIO, errno != EACCES {
        let texts = day.open()?.texts ?? []
        for text in day.promises.acknowledged {
          #expect(texts.contains(text), "errno \(errno) from call \(k)")
        }
      }
      check(day, "errno \(errno) from call \(k)")
    }
    #expect(numbers.count > 3)
  }

  @Test(arguments: [0, 1, 30, 100])
  func `keeps what it acknowledged, whichever write is short`(count: Int) {
    let numbers = Self.numbers { $0 == .append }
    for k in numbers {
      let disk = MemoryDisk()
      let day = Day(disk, seed: 1)
      // The rest fits, or doesn't.
      disk.fault = { call, kind in
        call == k ? .short(count) : call == k + 1 && count > 1 ? .error(ENOSPC) : nil
      }
      day.run()
      #expect(disk.hasFired)
      check(day, "short write at call \(k)")
    }
    #expect(numbers.count > 3)
  }

  @Test(arguments: [ENOSPC, EIO])
  func `keeps what it acknowledged, whichever call says that it failed and did not`(errno: Int32) {
    let numbers = Self.numbers { $0.isMutating }
    for k in numbers {
      let disk = MemoryDisk()
      let day = Day(disk, seed: 1)
      disk.fault = { call, _ in call == k ? .errorAfterEffect(errno) : nil }
      day.run()
      #expect(disk.hasFired)
      check(day, "errno \(errno) after call \(k)")
    }
    #expect(numbers.count > 3)
  }

  /// Another process may have read it. If its file were removed, that process would know what no file holds.
  @Test func `leaves the first append where it arrived whole and the disk says that it did not`()
    throws
  {
    let disk = Self.disk()
    let (first, second) = (try open(disk), try open(disk))
    disk.fault = { _, call in
      call == .append && disk.files.keys.contains { $0.hasSuffix("/0.open") } && !disk.hasFired
        ? .errorAfterEffect(EIO) : nil
    }
    #expect(throws: StoreError.self) { try first.create("a1") }
    #expect(disk.hasFired)
    let path = try #require(disk.files.keys.first { $0.hasSuffix("/0.open") })
    let left = disk.files[path]
    _ = second.rescan()
    #expect(second.texts == ["a1"] && second.damage == [])
    // Its own process has taken nothing back, and makes its next change under another identity.
    try first.create("a2")
    #expect(disk.files[path] == left)
    _ = first.rescan()
    _ = second.rescan()
    #expect(Set(first.texts) == ["a1", "a2"] && first.notebook == second.notebook)
    #expect(try Set(open(disk.afterKill()).texts) == ["a1", "a2"])
  }

  @Test func `survives the end of its process and of the machine at every call`() {
    for seed in seeds(1) {
      let disk = MemoryDisk()
      let day = Day(disk, seed: seed)
      var moments: [(disk: MemoryDisk, promises: Day.Promises)] = []
      disk.watch = { moments.append((disk.afterKill(), day.promises)) }
      day.run()
      let all = day.promises
      #expect(all.refused == [])
      #expect(all.flushed.count == 11)
      // Few calls change anything, so most moments leave what another has left: that is looked at once.
      struct Left: Hashable {
        var state: MemoryDisk.State
        var acknowledged: [String]
      }
      var seen: Set<Left> = []
      // What is under way may have happened: `all` is what may be there.
      func check(_ disk: MemoryDisk, _ acknowledged: [String], _ comment: String) {
        guard seen.insert(Left(state: disk.state, acknowledged: acknowledged)).inserted else {
          return
        }
        let broken = Day.broken(disk, acknowledged: acknowledged, all)
        #expect(broken == nil, "\(comment), seed \(seed)")
      }
      for (call, moment) in moments.enumerated() {
        check(moment.disk.afterKill(), moment.promises.acknowledged, "killed at call \(call)")
        for cut in 1...4 {
          var random = SplitMix64(seed: seed << 32 + UInt64(call) << 8 + UInt64(cut))
          check(
            moment.disk.afterPowerCut(&random), moment.promises.flushed,
            "power cut \(cut) at call \(call)")
        }
      }
    }
  }

  /// Its own process would write it again, but is no more.
  @Test func `writes again what another process has written and the disk did not take`() throws {
    for seed in seeds(20) {
      let disk = MemoryDisk()
      disk.put([], at: "/home/.profile")
      var random = SplitMix64(seed: seed)
      var identities = SplitMix64(seed: seed)
      func open() throws -> NoteStore {
        try NoteStore(path: Day.path, on: disk) {
          Identifier(high: identities.next(), low: identities.next())
        }
      }
      let first = try open()
      try first.create("a1")
      try first.sync()
      try first.create("a2")
      let second = try open()
      try second.create("b1")
      disk.fault = { _, call in call == .synchronizeFile && !disk.hasFired ? .error(EIO) : nil }
      try second.sync()
      #expect(disk.hasFired && second.isDurable && disk.violations == [])
      let after = try NoteStore(
        path: Day.path, on: disk.afterPowerCut(&random), makeIdentifier: makeIdentifier)
      #expect(Set(after.texts) == ["a1", "a2", "b1"] && after.texts.count == 3, "seed \(seed)")
      // The first finds out by itself if it is there all the same.
      try first.create("a3")
      try first.sync()
      _ = second.rescan()
      _ = first.rescan()
      #expect(second.notebook == first.notebook && disk.violations == [])
    }
  }

  @Test func `is not done with a flush before it could open what another process has written`()
    throws
  {
    for call in [MemoryDisk.Call.openFolder, .openFile, .status] {
      let disk = MemoryDisk()
      disk.put([], at: "/home/.profile")
      func open(_ disk: MemoryDisk) throws -> NoteStore {
        try NoteStore(path: Day.path, on: disk, makeIdentifier: makeIdentifier)
      }
      try open(disk).create("a1")
      let second = try open(disk)
      try second.create("b1")
      disk.fault = { _, called in called == call && !disk.hasFired ? .error(EIO) : nil }
      second.requestSync()
      #expect(disk.hasFired && !second.isDurable, "\(call)")
      try second.sync()
      #expect(try Set(open(disk.afterWorstPowerCut()).texts) == ["a1", "b1"], "\(call)")
    }
  }

  @Test func `writes again what follows in a session of which the disk has refused something`()
    throws
  {
    let disk = Self.disk()
    let first = try open(disk)
    try first.create("a1")
    let second = try open(disk)
    try second.create("b1")
    disk.fault = { _, call in call == .synchronizeFolder && !disk.hasFired ? .error(EIO) : nil }
    try second.sync()
    #expect(disk.hasFired)
    try first.create("a2")
    _ = second.rescan()
    try second.create("b2")
    try second.sync()
    #expect(try Set(open(disk.afterWorstPowerCut()).texts) == ["a1", "a2", "b1", "b2"])
  }

  /// Of the same session, whose folder it has synchronized before.
  @Test func `puts the next file of another process on disk, too`() throws {
    let disk = Self.disk()
    let first = try open(disk)
    try first.create("a1")
    let second = try open(disk)
    try second.create("b1")
    try second.sync()
    let now = Instant(nanoseconds: 0)
    for seconds in [0, 10] { _ = first.sealIfDue(at: now + .seconds(seconds)) }
    try first.create("a2")
    _ = second.rescan()
    try second.create("b2")
    try second.sync()
    #expect(try Set(open(disk.afterWorstPowerCut()).texts) == ["a1", "a2", "b1", "b2"])
  }

  /// Its own changes are on disk, and could not be read without those.
  @Test func `puts on disk what another process has written again`() throws {
    let disk = Self.disk()
    let first = try open(disk)
    try first.create("a1")
    try first.sync()
    let second = try open(disk)
    try second.create("b1")
    try second.sync()
    disk.take("\(Day.path)/log/\(try first.nextSession())")
    _ = first.rescan()
    _ = second.rescan()
    try second.sync()
    #expect(try Set(open(disk.afterWorstPowerCut()).texts) == ["a1", "b1"])
  }

  @Test func `leaves no descriptor open`() {
    let disk = MemoryDisk()
    do {
      let day = Day(disk, seed: 1)
      day.run()
      day.write("later", in: day.first)
      #expect(disk.openCount > 0)
    }
    #expect(disk.openCount == 0)
  }

  @Test func `takes all that it has refused when it takes something again, and few copies before`()
    throws
  {
    let disk = Self.disk()
    let store = try open(disk)
    try store.create("0")
    try store.sync()
    disk.fault = { _, call in call == .synchronizeFile ? .error(EIO) : nil }
    for number in 1...20 {
      try store.create("\(number)")
      store.requestSync()
      disk.performSyncs()
      _ = store.takeSyncResult()
    }
    #expect(!store.isDurable && store.doubt != nil)
    // Each in a session of its own. With a copy of everything for each it would be 20,000 bytes.
    #expect(disk.files.values.reduce(0) { $0 + $1.count } < 10_000)
    disk.fault = nil
    try store.create("21")
    for _ in 0..<3 {
      store.requestSync()
      disk.performSyncs()
      _ = store.takeSyncResult()
    }
    #expect(store.isDurable && store.doubt == nil)
    let texts = try open(disk.afterWorstPowerCut()).texts
    #expect(Set(texts) == Set((0...21).map { "\($0)" }) && texts.count == 22)
  }
}

@Suite struct `The disk in memory` {
  private func folder(_ disk: MemoryDisk) throws -> Int32 {
    try disk.createFolder("/folder", in: nil, for: .owner)
    let root = try disk.openFolder("/", in: nil, followingLinks: true)
    try disk.synchronize(folder: root)
    return try disk.openFolder("/folder", in: nil, followingLinks: true)
  }

  /// How many of some power cuts leave each content of the file; nil where there is none.
  private func outcomes(_ disk: MemoryDisk, _ path: String) -> [[UInt8]?: Int] {
    var outcomes: [[UInt8]?: Int] = [:]
    for seed in 0..<200 {
      var random = SplitMix64(seed: UInt64(seed))
      outcomes[disk.afterPowerCut(&random).files[path], default: 0] += 1
    }
    return outcomes
  }

  @Test func `forgets at a power cut what was not synchronized, or not`() throws {
    let disk = MemoryDisk()
    let folder = try folder(disk)
    let file = try disk.createFile("file", in: folder, for: .owner)
    _ = try disk.append([1, 2][...], to: file)
    try disk.synchronize(file: file)
    #expect(Set(outcomes(disk, "/folder/file").keys) == [nil, [1, 2]])
    try disk.synchronize(folder: folder)
    #expect(Set(outcomes(disk, "/folder/file").keys) == [[1, 2]])
    _ = try disk.append([3, 4][...], to: file)
    #expect(
      Set(outcomes(disk, "/folder/file").keys)
        == [[1, 2], [1, 2, 3], [1, 2, 3, 4], [1, 2, 0], [1, 2, 0, 0]])
    try disk.rename("file", to: "new", in: folder)
    #expect(outcomes(disk, "/folder/file")[nil]! > 50)
    #expect(outcomes(disk, "/folder/new")[nil]! > 50)
    try disk.synchronize(folder: folder)
    #expect(outcomes(disk, "/folder/new")[nil] == nil)
    #expect(disk.afterKill().files["/folder/new"] == [1, 2, 3, 4])
  }

  @Test func `never keeps for sure what a synchronization failed for`() throws {
    let disk = MemoryDisk()
    let folder = try folder(disk)
    let file = try disk.createFile("file", in: folder, for: .owner)
    try disk.synchronize(folder: folder)
    _ = try disk.append([1, 2][...], to: file)
    let next = disk.calls + 1
    disk.fault = { call, _ in call == next ? .error(EIO) : nil }
    #expect(throws: SystemError(EIO)) { try disk.synchronize(file: file) }
    try disk.synchronize(file: file)
    #expect(outcomes(disk, "/folder/file").keys.contains([0, 0]))
    #expect(disk.violations.count == 1)
  }

  @Test func `tells of a failed synchronization whoever had the file open, once`() throws {
    let disk = MemoryDisk()
    let folder = try folder(disk)
    let writer = try disk.createFile("file", in: folder, for: .owner)
    _ = try disk.append([1, 2][...], to: writer)
    let reader = try disk.openFile("file", in: folder)
    disk.fault = { _, call in call == .synchronizeFile && !disk.hasFired ? .error(EIO) : nil }
    #expect(throws: SystemError(EIO)) { try disk.synchronize(file: reader) }
    let late = try disk.openFile("file", in: folder)
    try disk.synchronize(file: late)
    #expect(throws: SystemError(EIO)) { try disk.synchronize(file: writer) }
    try disk.synchronize(file: writer)
  }
}
