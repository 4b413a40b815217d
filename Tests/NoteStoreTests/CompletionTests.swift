import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// Processes of one user on a disk in memory, some of which are killed.
private final class Machine {
  static let path = "/home/notes"
  static let state = "/home/state"
  var disk = MemoryDisk()
  var random: SplitMix64

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    disk.isShared = false
    disk.put([], at: "/home/.profile")
  }

  func open(state: String? = Machine.state) throws -> NoteStore {
    try NoteStore(path: Self.path, state: state, on: disk) {
      Identifier(high: self.random.next(), low: self.random.next())
    }
  }

  /// All files in the notebook's folder.
  var files: [String: [UInt8]] { disk.files(below: Self.path) }
  /// The names of the open segments.
  var openSegments: [String] { files.keys.filter { $0.hasSuffix(".open") }.sorted() }
  var locks: [String] {
    disk.files(below: Self.state).keys.filter { $0.contains("/sessions/") }.sorted()
  }

  /// What is known by somebody who has only the files that git's and rclone's recipes carry.
  var carried: Version {
    get throws {
      let other = MemoryDisk()
      for (path, bytes) in files where !path.hasSuffix(".open") {
        other.put(bytes, at: "\(Self.path)/\(path)")
      }
      let store = try NoteStore(path: Self.path, on: other) { Identifier(high: 0, low: 0) }
      #expect(store.damage.isEmpty, "\(store.damage)")
      return store.notebook.version
    }
  }

  /// What is known by somebody who has all files.
  var readable: Version { get throws { try open(state: nil).notebook.version } }

  /// Ends all processes at once, without their last words.
  func kill() { disk = disk.afterKill() }

  func cutPower() { disk = disk.afterPowerCut(&random) }

  /// Writes as a process that is killed: some segments are complete, and the last append may be cut.
  func leaveSomething() throws -> NoteStore {
    let store = try open()
    let note = try store.create("a note")
    // Its claim is on disk.
    disk.writeBack()
    for number in 0..<(1 + random.below(6)) {
      try store.append(" \(number)", to: note)
      switch random.below(4) {
      case 0: try store.sync()
      case 1: store.folder.seal()
      default: break
      }
    }
    return store
  }
}

@Suite(.computing) struct `What killed processes have left` {
  @Test func `is completed by the next process of its machine, whatever interrupts that`() throws {
    for seed in seeds(40) {
      let machine = Machine(seed: seed)
      _ = try machine.leaveSomething()
      if seed % 4 == 0 { machine.cutPower() } else { machine.kill() }
      if seed % 3 == 0, let name = machine.openSegments.last {
        machine.disk.extend("\(Machine.path)/\(name)", by: [0x20, 0, 0, 0x80, 1, 2])
      }
      let before = try machine.readable
      // After a power cut there may be. What is behind it stays where it is.
      let isDamaged = try !machine.open(state: nil).damage.isEmpty
      var attempts = 0
      while !machine.locks.isEmpty {
        attempts += 1
        try #require(attempts < 100, "seed \(seed)")
        let next = try machine.open()
        #expect(next.notebook.version.isSuperset(of: before), at(seed, attempts))
        let last = machine.disk.calls + attempts
        machine.disk.fault = { calls, _ in calls > last ? .error(EIO) : nil }
        next.completeAbandoned()
        machine.disk.fault = nil
        let after = try machine.readable
        #expect(after == before, at(seed, attempts))
        machine.kill()
      }
      #expect(try machine.carried == before, "seed \(seed)")
      #expect(machine.openSegments.isEmpty || isDamaged, "seed \(seed)")
      let logs = machine.files.keys.filter { $0.hasPrefix("log/") }
      #expect(logs.allSatisfy { !$0.contains(".tmp-") && !$0.contains("-end") }, "seed \(seed)")
      #expect(try machine.open().damage.isEmpty || isDamaged, "seed \(seed)")
    }
  }

  /// A power cut at each step of it, with what of the disk is kept chosen at random.
  @Test func `is there after a power cut while it is completed`() throws {
    for seed in seeds(40) {
      let machine = Machine(seed: seed)
      try machine.leaveSomething().sync()
      machine.kill()
      let before = try machine.readable
      var step = 0
      while !machine.locks.isEmpty {
        step += 1
        try #require(step < 100, "seed \(seed)")
        let next = try machine.open()
        var (left, cut) = (step, MemoryDisk?.none)
        machine.disk.watch = {
          left -= 1
          if left == 0 { cut = machine.disk.afterPowerCut(&machine.random) }
        }
        next.completeAbandoned()
        machine.disk.watch = nil
        if let cut { machine.disk = cut } else { machine.kill() }
        #expect(try machine.readable == before, at(seed, step))
      }
      machine.cutPower()
      #expect(try machine.carried == before, "seed \(seed)")
    }
  }

  /// The completion of sessions by processes that are not to complete any.
  private func touched(_ machine: Machine, by count: Int = 1) throws -> Bool {
    let before = machine.openSegments
    for _ in 0..<count { try machine.open().completeAbandoned() }
    return machine.openSegments != before
  }

  @Test func `is not what a living process is writing`() throws {
    let machine = Machine(seed: 1)
    let writer = try machine.open()
    let note = try writer.create("a note")
    #expect(try !touched(machine, by: 3))
    try writer.append(" more", to: note)
    // It looks again now and then.
    let other = try machine.open()
    other.completeAbandoned()
    _ = other.rescan()
    #expect(other.hasCompletion)
    while other.hasWork { _ = other.work() }
    #expect(machine.openSegments.count == 1)
    try writer.end()
    #expect(machine.openSegments.isEmpty && machine.locks.isEmpty)
  }

  /// If the lock did not count, this would be seen; and even then nothing is lost, and no session has two histories.
  @Test func `would be what a living process is writing if locks did not count`() throws {
    let machine = Machine(seed: 2)
    let writer = try machine.open()
    let note = try writer.create("a note")
    machine.disk.isIgnoringLocks = true
    #expect(try touched(machine))
    for number in 0..<3 {
      try writer.append(" \(number)", to: note)
      _ = try touched(machine)
    }
    _ = writer.rescan()
    try writer.end()
    let all = try machine.open(state: nil)
    #expect(all.notebook == writer.notebook && all.damage.isEmpty, "\(all.damage)")
  }

  @Test func `is completed once, also by two processes at the same time`() throws {
    for seed in seeds(60) {
      let machine = Machine(seed: seed)
      _ = try machine.leaveSomething()
      machine.kill()
      let before = try machine.readable
      // If they keep each other from it by locks, and if not.
      machine.disk.isIgnoringLocks = seed % 2 == 0
      let stores = [try machine.open(), try machine.open()]
      for _ in 0..<400 {
        let store = stores[machine.random.below(2)]
        if store.hasCompletion { store.proceedCompleting() }
        machine.disk.performSyncs()
        _ = store.takeSyncResult()
        _ = stores.map { $0.hasCompletion }
      }
      machine.kill()
      try machine.open().completeAbandoned()
      #expect(try machine.carried == before, "seed \(seed)")
      #expect(machine.openSegments.isEmpty && machine.locks.isEmpty, "seed \(seed)")
      #expect(try machine.open().damage.isEmpty, "seed \(seed)")
    }
  }

  @Test func `is left alone if the writer may live somewhere else`() throws {
    func machine(_ change: (Machine, String) throws -> Void) throws -> Machine {
      let machine = Machine(seed: 3)
      let writer = try machine.open()
      try writer.create("a note")
      let claim = try #require(machine.locks.first)
      machine.kill()
      try change(machine, "\(Machine.state)/\(claim)")
      return machine
    }
    func replace(_ machine: Machine, _ claim: String) {
      let bytes = machine.disk.files[claim]!
      machine.disk.take(claim)
      machine.disk.put([], at: "/home/.other")
      machine.disk.put(bytes, at: claim)
    }
    // Nothing is changed: this one is completed.
    #expect(try touched(machine { _, _ in }))
    // Its file is a copy, or it has none.
    #expect(try !touched(machine(replace)))
    #expect(try !touched(machine { machine, claim in machine.disk.take(claim) }))
    // Another system wrote it, on a disk of several machines. On one of its own it has ended.
    let cut = { (machine: Machine, _: String) in
      machine.disk = machine.disk.afterKill()
      machine.disk = machine.disk.afterPowerCut(&machine.random)
    }
    func synced(isShared: Bool) throws -> Machine {
      let machine = Machine(seed: 4)
      try machine.open().create("a note")
      machine.disk.writeBack()
      cut(machine, "")
      machine.disk.isShared = isShared
      return machine
    }
    #expect(try touched(synced(isShared: false)))
    #expect(try !touched(synced(isShared: true)))
  }

  @Test func `stays where it is behind damage, and is completed before it`() throws {
    let machine = Machine(seed: 5)
    let writer = try machine.open()
    let note = try writer.create("a note")
    try writer.append(" more", to: note)
    let end = Int(writer.folder.writer.open!.status.size)
    for number in 0..<3 { try writer.append(" \(number)", to: note) }
    machine.kill()
    let name = try #require(machine.openSegments.first)
    var bytes = try #require(machine.files[name])
    bytes[end + 20] ^= 1
    machine.disk.take("\(Machine.path)/\(name)")
    machine.disk.put(bytes, at: "\(Machine.path)/\(name)")
    let before = try machine.readable
    try machine.open().completeAbandoned()
    #expect(machine.files[name] == bytes)
    #expect(try machine.readable == before)
    #expect(try machine.carried.changes.map(\.number) == [2])
  }

  @Test func `is nothing after a session has ended in order, and costs a start nothing`() throws {
    let machine = Machine(seed: 6)
    for _ in 0..<3 {
      let store = try machine.open()
      try store.create("a note")
      #expect(machine.locks.count == 1)
      try store.end()
      #expect(machine.locks.isEmpty)
    }
    let store = try machine.open()
    let calls = machine.disk.calls
    store.completeAbandoned()
    #expect(machine.disk.calls - calls < 5)
  }
}
