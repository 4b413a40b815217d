import Bytes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore
@testable import Notes

/// A machine with a disk in memory and one process after the other.
private final class Machine {
  static let path = "/home/notes"
  static let state = "/home/state"
  let disk = MemoryDisk()
  private var random: SplitMix64
  private(set) var store: NoteStore!

  init(_ number: Int, _ seed: UInt64) throws {
    random = SplitMix64(seed: seed &* 64 &+ UInt64(number))
    disk.put([], at: "/home/.profile")
    try start()
  }

  func start() throws {
    store = try NoteStore(path: Self.path, state: Self.state, on: disk) {
      Identifier(high: self.random.next(), low: self.random.next())
    }
  }

  /// Ends the process in order, and starts another one.
  func restart() throws {
    _ = store.rescan()
    finishWork()
    try store.end()
    store.keep { true }
    try start()
  }

  func seal() {
    store.folder.seal()
    finishSyncs()
  }

  /// Completes the segment by itself, a second after the last write.
  func sealWhenIdle() {
    let now = Instant(nanoseconds: 0)
    for seconds in [0, 1] { _ = store.sealIfDue(at: now + .seconds(seconds)) }
    finishSyncs()
  }

  func finishSyncs() {
    for _ in 0..<3 {
      disk.performSyncs()
      _ = store.takeSyncResult()
    }
  }

  func finishWork() {
    while store.hasWork {
      _ = store.work()
      if store.compaction?.isWaiting == true { disk.performSyncs() }
      _ = store.takeSyncResult()
    }
  }

  /// Takes over what another machine has, as it travels.
  func pull(_ other: Machine) throws {
    let changes = other.store.notebook.changes(since: store.notebook.version)
    guard !changes.isEmpty else { return }
    _ = try store.merge(changes.encoded(of: other.store.identity!))
  }

  /// Copies files of another machine that are not here, as an engine does that brings back what was removed.
  func copyFiles(of other: Machine, where isCopied: (String) -> Bool = { _ in true }) {
    let present = disk.files(below: Self.path)
    for (name, bytes) in other.disk.files(below: Self.path) where present[name] == nil {
      guard name.hasSuffix(".seg") || name.hasSuffix(".snap") || name.hasSuffix(".json"),
        isCopied(name)
      else { continue }
      disk.put(bytes, at: "\(Self.path)/\(name)")
    }
  }

  /// A purge as the command does it: at once.
  @discardableResult
  func purgeFiles() throws -> Compaction.Result {
    seal()
    let result = try store.compact(isPurging: true)
    finishWork()
    store.keep { true }
    return result
  }

  /// The changes in the bytes of an archive; none in those of another file.
  private func archivedChanges(_ bytes: [UInt8]) throws -> [[UInt8]] {
    guard
      let archive = try? NotebookArchive(
        size: bytes.count,
        source: { range throws(ArchiveFailure) in Array(bytes[range]) })
    else { return [] }
    let book = NoteBook(archive)
    var changes: [[UInt8]] = []
    for replica in book.version.replicas {
      try book.forEachEncoded(of: replica, in: 1...book.version[replica]) { _, encoded, _ in
        changes.append(Array(encoded))
        return true
      }
    }
    return changes
  }

  /// All files of the notebook and of the state folder that have a text, in their bytes or in the changes that are packed in them.
  func files(with text: String) throws -> [String] {
    let word = Array(text.utf8)
    func isIn(_ bytes: some Collection<UInt8>) -> Bool {
      let bytes = Array(bytes)
      guard bytes.count >= word.count else { return false }
      return (0...bytes.count - word.count).contains {
        bytes[$0] == word[0] && bytes[$0..<$0 + word.count].elementsEqual(word)
      }
    }
    var found: [String] = []
    for root in [Self.path, Self.state] {
      for (name, bytes) in disk.files(below: root) {
        let isFound = isIn(bytes) ? true : try archivedChanges(bytes).contains(where: isIn)
        if isFound { found.append("\(root)/\(name)") }
      }
    }
    guard let snapshots = try? FileDescriptor.folder("\(Self.path)/snap", on: disk) else {
      return found
    }
    for name in try snapshots.names() {
      guard let file = try SnapshotFile(name, in: snapshots) else { continue }
      for (replica, _) in file.changes.ranges {
        for block in file.changes.blocks(of: replica) where isIn(try file.read(block).bytesForTest)
        {
          found.append("\(Self.path)/snap/\(name), packed")
        }
      }
    }
    return found
  }
}

extension ChangeBlock {
  fileprivate var bytesForTest: [UInt8] { numbers.flatMap { Array(self[$0].encoded) } }
}

extension NoteStore {
  fileprivate func purge(_ notes: NoteID...) throws {
    for note in notes {
      let deletion = try read(note) { $0.deletion }
      try commit([.edit(note, deletion)], at: 1_767_225_600_000)
    }
    try commit(notes.map { .purge($0) }, at: 1_767_225_600_000)
  }

  fileprivate var ids: [NoteID] {
    var ids: [NoteID] = []
    try! openOrder()
    try! notebook.forEachSummary {
      ids.append($0.id)
      return true
    }
    return ids
  }
}

@Suite struct `Purged notes in the folder` {
  @Test func `its words are in no file as soon as it is purged, and other words are`() throws {
    let machine = try Machine(1, 1)
    let note = try machine.store.create("abracadabra")
    let other = try machine.store.create("simsalabim")
    machine.seal()
    _ = try machine.store.compact()
    try machine.store.append(" hocuspocus", to: note)
    try machine.store.append(" fidibus", to: other)
    try machine.restart()
    for word in ["abracadabra", "hocuspocus", "simsalabim", "fidibus"] {
      #expect(try !machine.files(with: word).isEmpty, "\(word)")
    }
    try machine.store.purge(note)
    let result = try machine.purgeFiles()
    #expect(result.removedFiles > 0 && result.waitingWords == 0 && result.unfoldable.isEmpty)
    for word in ["abracadabra", "hocuspocus"] { #expect(try machine.files(with: word) == []) }
    for word in ["simsalabim", "fidibus"] { #expect(try !machine.files(with: word).isEmpty) }
    for state in [nil, Machine.state] {
      let fresh = try NoteStore(
        path: Machine.path, state: state, on: machine.disk, makeIdentifier: makeIdentifier)
      #expect(fresh.texts == ["simsalabim fidibus"] && fresh.notebook.isPurged(note))
      #expect(fresh.notebook == machine.store.notebook && fresh.damage.isEmpty)
    }
    // Nothing is left to do.
    let again = try machine.store.compact(isPurging: true)
    #expect(again.removedFiles == 0 && again.writtenBytes == 0)
  }

  @Test
  func
    `by itself a process folds its words when the purge is on disk, and removes them a day later`()
    throws
  {
    let machine = try Machine(1, 2)
    let note = try machine.store.create("abracadabra")
    try machine.store.create("simsalabim")
    machine.seal()
    _ = try machine.store.compact()
    try machine.store.append(" hocuspocus", to: note)
    try machine.store.purge(note)
    #expect(machine.store.isPurgeDue && !machine.store.hasCompaction, "it is not on disk")
    machine.sealWhenIdle()
    #expect(machine.store.hasCompaction)
    #expect(!machine.store.notebook.unredacted.isEmpty)
    machine.finishWork()
    #expect(!machine.store.isPurgeDue)
    #expect(machine.store.notebook.unredacted.isEmpty, "memory")
    #expect(try !machine.files(with: "abracadabra").isEmpty)
    for _ in 0..<2 {
      machine.disk.pass(86_500)
      machine.finishWork()
    }
    machine.store.keep { true }
    for word in ["abracadabra", "hocuspocus"] { #expect(try machine.files(with: word) == []) }
    #expect(try !machine.files(with: "simsalabim").isEmpty)
  }

  @Test func `notes that are purged one after the other leave one file, not one each`() throws {
    let machine = try Machine(1, 6)
    let notes = try (0..<20).map { try machine.store.create("abracadabra \($0)") }
    var now = Instant(nanoseconds: 0)
    for note in notes {
      try machine.store.purge(note)
      #expect(machine.store.sealIfDue(at: now) != nil)
      machine.disk.performSyncs()
      _ = machine.store.takeSyncResult()
      #expect(machine.store.folder.writer.open?.isComplete == false && !machine.store.hasCompaction)
      now = now + .milliseconds(100)
    }
    _ = machine.store.sealIfDue(at: now + .seconds(1))
    #expect(machine.store.folder.writer.open?.isComplete == true)
    machine.finishSyncs()
    let files = machine.disk.files(below: Machine.path).map(\.0).filter { $0.hasPrefix("log/") }
    #expect(files.count == 1, "\(files)")
    #expect(machine.store.hasCompaction)
    machine.finishWork()
    #expect(!machine.store.isPurgeDue)
    #expect(try machine.purgeFiles().unfoldable == [])
    #expect(try machine.files(with: "abracadabra") == [])
  }

  @Test func `a compaction that begins for another reason does not count as the look for words`()
    throws
  {
    let machine = try Machine(1, 7)
    try machine.store.create("simsalabim")
    machine.seal()
    machine.store.snapshots.enough = (1, 1)
    let note = try machine.store.create("abracadabra")
    try machine.store.purge(note)
    try machine.store.sync()
    machine.store.folder.reader.countUnfolded(1, 1)
    #expect(machine.store.hasCompaction && machine.store.folder.writer.open?.isComplete == false)
    machine.finishWork()
    #expect(machine.store.isPurgeDue && !machine.store.hasCompaction)
    machine.sealWhenIdle()
    #expect(machine.store.hasCompaction)
    machine.finishWork()
    #expect(!machine.store.isPurgeDue)
  }

  @Test func `what an engine brings back is folded again, and does not bring it back`() throws {
    let (one, away) = (try Machine(1, 3), try Machine(2, 3))
    let note = try one.store.create("abracadabra")
    try one.store.create("simsalabim")
    one.seal()
    away.copyFiles(of: one)
    _ = away.store.rescan()
    try away.store.append(" hocuspocus", to: note)
    away.seal()
    _ = try away.store.compact()
    try one.store.purge(note)
    try one.purgeFiles()
    #expect(try one.files(with: "abracadabra") == [])
    // All old files come back, and the snapshot with what was written meanwhile.
    one.copyFiles(of: away)
    _ = one.store.rescan()
    one.finishWork()
    #expect(try !one.files(with: "abracadabra").isEmpty)
    #expect(one.store.isPurgeDue || one.store.snapshots.sweepDue != nil)
    try one.purgeFiles()
    for word in ["abracadabra", "hocuspocus"] { #expect(try one.files(with: word) == []) }
    #expect(one.store.texts == ["simsalabim"] && one.store.damage.isEmpty)
    // And the other way.
    away.copyFiles(of: one)
    _ = away.store.rescan()
    away.finishWork()
    #expect(away.store.notebook == one.store.notebook)
    try away.purgeFiles()
    for word in ["abracadabra", "hocuspocus"] { #expect(try away.files(with: word) == []) }
  }

  @Test func `the open file of another process is told of, and removed when that has completed it`()
    throws
  {
    let machine = try Machine(1, 4)
    let first = machine.store!
    let note = try first.create("abracadabra")
    try first.sync()
    try machine.start()
    try machine.store.purge(note)
    let result = try machine.purgeFiles()
    #expect(result.unfoldable.count == 1 && result.unfoldable[0].hasSuffix("/0.open"))
    #expect(try machine.files(with: "abracadabra").count == 1)
    _ = first.rescan()
    #expect(first.notebook.isPurged(note) && first.isPurgeDue)
    let now = Instant(nanoseconds: 0)
    for seconds in [0, 1] { _ = first.sealIfDue(at: now + .seconds(seconds)) }
    for _ in 0..<3 {
      machine.disk.performSyncs()
      _ = first.takeSyncResult()
    }
    _ = machine.store.rescan()
    #expect(try machine.purgeFiles().unfoldable == [])
    #expect(try machine.files(with: "abracadabra") == [])
  }

  @Test func `a snapshot that was purged takes the place of a larger one that was not`() throws {
    let machine = try Machine(1, 5)
    // Different words, or it would be compressed to nothing.
    let words = (0..<5000).map { "abracadabra \($0 &* 2_654_435_761 % 1_000_003)" }
    let note = try machine.store.create(words.joined(separator: " "))
    try machine.store.create("simsalabim")
    machine.seal()
    let large = try machine.store.compact().writtenBytes
    machine.disk.pass(86_500)
    _ = try machine.store.compact()
    try machine.store.purge(note)
    machine.seal()
    let small = try machine.store.compact().writtenBytes
    #expect(small < large / 10)
    machine.disk.pass(86_500)
    _ = try machine.store.compact()
    #expect(try machine.files(with: "abracadabra") == [])
    let fresh = try NoteStore(path: Machine.path, on: machine.disk, makeIdentifier: makeIdentifier)
    #expect(fresh.notebook == machine.store.notebook && fresh.damage.isEmpty)
  }

  @Test func `copies of damaged files are removed when it is asked for`() throws {
    let machine = try Machine(1, 6)
    try machine.store.create("abracadabra")
    try machine.restart()
    let state = machine.store.stateFolder!
    let log = machine.disk.files(below: Machine.path).keys.first { $0.hasSuffix(".seg") }!
    #expect(try state.quarantine("\(Machine.path)/\(log)") != nil)
    #expect(machine.store.removeCopies() == 1 && machine.store.removeCopies() == 0)
    #expect(machine.disk.files(below: Machine.state).keys.allSatisfy { !$0.contains("quarantine") })
  }

  // MARK: - Simulation

  @Test
  func `machines that are away and come back end with none of its words, and with all others`()
    throws
  {
    var purgedCount = 0
    for seed in seeds(12) {
      var random = SplitMix64(seed: seed)
      let machines = try (1...3).map { try Machine($0, seed) }
      var words: [NoteID: [String]] = [:]
      var purged: Set<NoteID> = []
      func word() -> String { "word\(words.values.reduce(0) { $0 + $1.count })x\(seed)z" }
      let first = word()
      words[try machines[0].store.create(first)] = [first]
      machines[0].seal()
      for machine in machines.dropFirst() {
        machine.copyFiles(of: machines[0])
        _ = machine.store.rescan()
        machine.finishWork()
      }
      for _ in 0..<60 {
        let machine = random.pick(machines)
        let other = random.pick(machines)
        let store = machine.store!
        let notes = store.ids
        switch random.below(14) {
        case 0, 1:
          let word = word()
          words[try store.create(word)] = [word]
        case 2, 3, 4, 5:
          guard let note = notes.randomElement(using: &random) else { continue }
          let word = word()
          try store.append(" \(word)", to: note)
          words[note]!.append(word)
        case 6:
          guard notes.count > 1, let note = notes.randomElement(using: &random) else { continue }
          try store.purge(note)
          purged.insert(note)
        case 7 where other !== machine: try machine.pull(other)
        case 8 where other !== machine:
          machine.copyFiles(of: other) { _ in random.chance(70) }
          _ = store.rescan()
          machine.finishWork()
        case 9: machine.seal()
        case 10:
          machine.seal()
          _ = try store.compact(isForced: random.chance(50))
        case 11:
          machine.disk.pass(Int64(random.pick([3600, 86_500])))
          machine.finishWork()
        case 12: try machine.restart()
        default: if random.chance(30) { try machine.purgeFiles() }
        }
      }
      purgedCount += purged.count
      for _ in 0..<2 {
        for machine in machines {
          for other in machines where other !== machine { try machine.pull(other) }
        }
      }
      // An engine that has brought some files only may have left some that wait for others. It brings all others, too.
      for machine in machines {
        machine.seal()
        let left = try machine.purgeFiles().unfoldable.map { "\(Machine.path)/\($0)" }
        for (note, words) in words where purged.contains(note) {
          for word in words {
            #expect(try Set(machine.files(with: word)).isSubset(of: left), "\(word), \(at(seed))")
          }
        }
      }
      for machine in machines + machines {
        for other in machines where other !== machine { machine.copyFiles(of: other) }
      }
      for machine in machines {
        for _ in 0..<2 {
          machine.seal()
          _ = machine.store.rescan()
          machine.finishWork()
          try machine.purgeFiles()
        }
        let text = machine.store.texts.joined(separator: " ") + " "
        for (note, words) in words {
          #expect(machine.store.notebook.isPurged(note) == purged.contains(note), at(seed))
          for word in words {
            if purged.contains(note) {
              #expect(try machine.files(with: word) == [], "\(word), \(at(seed))")
            } else {
              #expect(text.contains("\(word) "), "\(word), \(at(seed))")
            }
          }
        }
        #expect(machine.store.notebook == machines[0].store.notebook, at(seed))
        #expect(machine.store.damage.isEmpty, at(seed))
        let fresh = try NoteStore(
          path: Machine.path, on: machine.disk, makeIdentifier: makeIdentifier)
        #expect(fresh.notebook == machines[0].store.notebook && fresh.damage.isEmpty, at(seed))
      }
    }
    #expect(purgedCount > 10)
  }
}
