import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// Processes of one request each, on a disk in memory with a folder that is in memory only.
private final class Shell {
  static let path = "/home/notes"
  static let state = "/home/state"
  var disk = MemoryDisk()
  var random: SplitMix64
  /// All log files that there ever were, with a name for each content.
  private var everything: [[UInt8]: String] = [:]
  private let cache = FolderContents.Cache()

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    disk.isShared = false
    disk.put([], at: "/home/.profile")
    disk.put([], at: "\(MemoryDisk.memory)/.here")
  }

  func open(memory: String? = MemoryDisk.memory) throws -> NoteStore {
    try NoteStore(path: Self.path, state: Self.state, memory: memory, on: disk) {
      Identifier(high: self.random.next(), low: self.random.next())
    }
  }

  /// One request: a change, as a rule.
  func write(_ store: NoteStore, _ word: String) throws {
    var first: NoteID?
    try store.openOrder()
    try! store.notebook.forEachSummary {
      first = $0.id
      return false
    }
    if let first {
      try store.append(word, to: first)
    } else {
      try store.create(word)
    }
    see()
  }

  @discardableResult
  func call(_ word: String) throws -> NoteStore {
    let store = try open()
    try write(store, word)
    try store.end()
    see()
    return store
  }

  func see() {
    for (path, bytes) in disk.files(below: Self.path)
    where path.hasPrefix("log/") && everything[bytes] == nil {
      everything[bytes] = "\(path)-\(everything.count)"
    }
  }

  /// The sessions of which there ever were two histories.
  var forks: Set<Identifier> {
    cache.contents(of: Dictionary(uniqueKeysWithValues: everything.map { ($0.value, $0.key) }))
      .forks
  }

  var logs: [String] {
    disk.files(below: Self.path).keys.filter { $0.hasPrefix("log/") }.sorted()
  }

  /// What is in memory.
  var memory: [String: [UInt8]] { disk.files(below: MemoryDisk.memory) }

  func setMemory(_ files: [String: [UInt8]]) {
    for path in memory.keys where path != ".here" { disk.take("\(MemoryDisk.memory)/\(path)") }
    for (path, bytes) in files.sorted(by: { $0.key < $1.key }) {
      disk.put(bytes, at: "\(MemoryDisk.memory)/\(path)")
    }
  }
}

@Suite(.computing) struct `Processes of one request` {
  @Test func `leave few files and one session`() throws {
    let shell = Shell(seed: 1)
    for number in 0..<60 {
      let store = try shell.call(" \(number)")
      #expect(store.notebook.version.count == 1)
      #expect(shell.logs.count == 1 && shell.logs[0].hasSuffix(".seg"), "\(shell.logs)")
      if number % 10 == 0 { store.keep(folding: { true }, while: { true }) }
    }
    #expect(try shell.open(memory: nil).texts == [(0..<60).map { " \($0)" }.joined()])
    #expect(try shell.open(memory: nil).damage.isEmpty)
    #expect(shell.disk.files(below: Shell.state).keys.allSatisfy { !$0.contains("/sessions/") })
    // Without a folder in memory each has its own.
    for _ in 0..<3 {
      let store = try shell.open(memory: nil)
      try store.create("own")
      try store.end()
    }
    #expect(shell.logs.count { $0.hasSuffix("-end.seg") } == 3)
  }

  @Test func `begin a further segment when one is large, and fold many`() throws {
    let shell = Shell(seed: 2)
    for number in 0..<40 {
      let store = try shell.call(
        " \(number)" + String(repeating: "x", count: 20_000 + shell.random.below(9)))
      store.snapshots.enough.bytes = 1 << 18
      store.keep(folding: { true }, while: { true })
    }
    let files = shell.disk.files(below: Shell.path)
    #expect(files.keys.contains { $0.hasPrefix("snap/") })
    // What is folded goes after a day.
    for _ in 0..<4 {
      shell.disk.pass(90_000)
      let store = try shell.call(String(repeating: "y", count: 80_000))
      store.snapshots.enough.bytes = 1 << 18
      store.archiving.unkept += 1 << 17
      store.keep(folding: { true }, while: { true })
    }
    #expect(shell.logs.count < 20, "\(shell.logs)")
    #expect(shell.forks.isEmpty)
    let all = try shell.open(memory: nil)
    // A session whose last segment was removed is not gone on with.
    #expect(all.notebook.version.count <= 5 && all.damage.isEmpty)
  }

  @Test func `read the segment that began in a process whose archive lacks its file`() throws {
    let shell = Shell(seed: 4)
    let words = ["a", "b"].map { String(repeating: $0, count: 200_000) }
    try shell.call(words[0])
    let store = try shell.open()
    try shell.write(store, words[1])
    // The archive knows the records, and not yet the name that their file gets at the end.
    store.archiving.unkept += 1 << 20
    store.keep(folding: { false }, while: { true })
    try store.end()
    let next = try shell.open()
    #expect(next.texts == [words.joined()])
    #expect(next.damage.isEmpty, "\(next.damage)")
    #expect(shell.logs.count == 2, "\(shell.logs)")
  }

  @Test func `that only read leave the session as it was`() throws {
    let shell = Shell(seed: 3)
    try shell.call("a")
    let files = shell.disk.files(below: Shell.path)
    for _ in 0..<3 { try shell.open().end() }
    #expect(shell.disk.files(below: Shell.path) == files)
    #expect(try shell.call("b").notebook.version.count == 1)
  }

  @Test func `that run at the same time have sessions of their own, and no more than that`() throws
  {
    let shell = Shell(seed: 4)
    try shell.call("begin")
    for round in 0..<10 {
      let stores = try (0..<3).map { _ in try shell.open() }
      for (index, store) in stores.enumerated() { try shell.write(store, " \(round).\(index)") }
      for store in stores { try store.end() }
    }
    let all = try shell.open(memory: nil)
    #expect(all.notebook.version.count == 3)
    #expect(shell.forks.isEmpty && all.damage.isEmpty)
    // One that looks at the notebook all the time sees everything.
    #expect(try shell.open().notebook.version.changes.map(\.number).reduce(0, +) == 31)
  }

  /// What may happen between two processes and in the midst of one.
  private func run(_ shell: Shell, isMemoryRestored: Bool = false) throws {
    var backups: [[String: [UInt8]]] = []
    var disks: [(disk: MemoryDisk, memory: [String: [UInt8]])] = []
    for step in 0..<60 {
      switch shell.random.below(12) {
      case 0: backups.append(shell.disk.files(below: Shell.path))
      case 1: disks.append((shell.disk.afterKill(), shell.memory))
      case 2:
        // The folder is restored, with everything or only what is missing.
        guard let backup = backups.last else { continue }
        let isAll = shell.random.below(2) == 0
        if isAll { for log in shell.logs { shell.disk.take("\(Shell.path)/\(log)") } }
        for (path, bytes) in backup.sorted(by: { $0.key < $1.key }) {
          shell.disk.put(bytes, at: "\(Shell.path)/\(path)")
        }
      case 3:
        // The disk is set back, with all that identifies its files, and the system goes on.
        guard let (disk, memory) = disks.last else { continue }
        let (now, present) = (shell.disk.now, shell.memory)
        shell.disk = disk.afterKill()
        shell.disk.moveClock(by: now - disk.now)
        shell.setMemory(isMemoryRestored ? memory : present)
      case 4:
        // A process is killed, before or after it has written.
        let store = try shell.open()
        if shell.random.below(3) > 0 { try shell.write(store, " \(step)") }
        shell.disk = shell.disk.afterKill()
      case 5:
        // Nothing is left in memory after a start of the machine.
        shell.disk = shell.disk.afterKill()
        shell.setMemory([:])
      case 6:
        // The disk fails.
        let store = try shell.open()
        let last = shell.disk.calls + shell.random.below(60)
        shell.disk.fault = { call, _ in call >= last ? .error(EIO) : nil }
        try? shell.write(store, " \(step)")
        try? store.end()
        shell.disk.fault = nil
        shell.see()
        shell.disk = shell.disk.afterKill()
      default: try shell.call(" \(step)")
      }
      shell.see()
    }
  }

  @Test func `never go on twice from one record, whatever is killed, restored or set back`() throws
  {
    for seed in seeds(40) {
      let shell = Shell(seed: seed)
      try run(shell)
      #expect(shell.forks.isEmpty, "seed \(seed)")
      let all = try shell.open(memory: nil)
      #expect(all.damage.isEmpty, "seed \(seed): \(all.damage)")
    }
  }

  /// That is why it must be memory.
  @Test func `would, if what they leave were restored with the disk`() throws {
    #expect(
      try (1...UInt64(40)).contains { seed in
        let shell = Shell(seed: seed)
        try run(shell, isMemoryRestored: true)
        return !shell.forks.isEmpty
      })
  }

  @Test func `fold where no folder is in memory, and leave few files after a day`() throws {
    let shell = Shell(seed: 6)
    for number in 0..<200 {
      // The next day has begun.
      if number == 150 { shell.disk.pass(90_000) }
      let store = try shell.open(memory: nil)
      try shell.write(store, " \(number)" + String(repeating: "x", count: 2_000))
      try store.end()
      store.keep(folding: { true }, while: { true })
    }
    #expect(shell.logs.count < 130, "\(shell.logs.count)")
    let files = shell.disk.files(below: Shell.path)
    #expect(files.keys.contains { $0.hasPrefix("snap/") })
    let all = try shell.open(memory: nil)
    #expect(all.texts[0].split(separator: " ").count == 200 && all.damage.isEmpty)
  }

  @Test func `leave nothing where no folder is in memory`() throws {
    let shell = Shell(seed: 5)
    for _ in 0..<3 {
      let store = try shell.open(memory: "/home/run")
      try store.create("a")
      try store.end()
    }
    #expect(shell.logs.count { $0.hasSuffix("-end.seg") } == 3)
    #expect(shell.disk.files(below: "/home/run").isEmpty)
  }
}
