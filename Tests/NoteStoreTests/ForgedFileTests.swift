import Bytes
import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// A notebook of three processes, in logs, a snapshot and an archive, of which each may be forged.
private struct ForgedNotebook {
  static let path = "/home/notes"
  static let state = "/home/state"
  private static let built: (disk: MemoryDisk, author: ReplicaID) = build()

  /// A disk of its own with everything on it.
  let disk: MemoryDisk
  /// The only one whose records are forged, and those that know nothing of it.
  let author: ReplicaID

  init() {
    disk = Self.built.disk.afterKill()
    author = Self.built.author
  }

  private static func build() -> (MemoryDisk, ReplicaID) {
    let disk = MemoryDisk()
    disk.put([], at: "/home/.profile")
    let forged = ForgedNotebook.open(disk, seed: 1, state: state)
    let other = ForgedNotebook.open(disk, seed: 2)
    let author = try! forged.nextSession()
    let note = try! forged.create("one\ntwo")
    for (store, name) in [(other, "other"), (forged, "forged")] {
      for number in 0..<3 {
        let id = try! store.create("\(name) \(number)")
        try! store.append(" \(number)", to: id)
        store.seal(on: disk)
      }
    }
    // One that knows all.
    let third = ForgedNotebook.open(disk, seed: 3)
    try! third.append("\nthree", to: note)
    third.seal(on: disk)
    _ = try! third.compact()
    try! third.append("\nfour", to: note)
    _ = forged.rescan()
    forged.archiving.unkept += 1 << 20
    forged.keep { true }
    for store in [third, other, forged] { try! store.end() }
    return (disk, author)
  }

  static func open(_ disk: MemoryDisk, seed: UInt64, state: String? = nil) -> NoteStore {
    var random = SplitMix64(seed: seed)
    return try! NoteStore(path: path, state: state, on: disk) {
      Identifier(high: random.next(), low: random.next())
    }
  }

  func open(state: String? = nil) -> NoteStore {
    Self.open(disk, seed: 1000 + UInt64(disk.calls), state: state)
  }

  var archive: String { disk.files.keys.first { $0.hasSuffix("/archive") }! }

  /// The logs of the author, in order.
  var logs: [String] {
    disk.files.keys.filter { $0.contains("/log/\(author)/") }.sorted()
  }

  var snapshot: String { disk.files.keys.first { $0.hasSuffix(".snap") }! }
}

extension NoteStore {
  fileprivate func seal(on disk: MemoryDisk) {
    folder.seal()
    for _ in 0..<3 {
      disk.performSyncs()
      _ = takeSyncResult()
    }
  }

  /// Asks all that may be asked. What can't be read is an error, of one kind.
  fileprivate func askEverything() {
    func attempt(_ body: () throws(StoreError) -> Void) {
      do { try body() } catch { #expect(error.reason == .damaged, "\(error)") }
    }
    attempt { () throws(StoreError) in try openOrder() }
    attempt { () throws(StoreError) in
      try reading { book throws(ArchiveFailure) in try book.forEachSummary { _ in true } }
    }
    var ids: [NoteID] = []
    _ = try? notebook.forEachSummary {
      ids.append($0.id)
      return ids.count < 100
    }
    for id in ids {
      attempt { () throws(StoreError) in _ = try note(id)?.text.string }
      for change in notebook.version.changes.prefix(20) {
        attempt { () throws(StoreError) in
          _ = try reading { book throws(ArchiveFailure) in
            guard let past = try book.version(of: [change]) else { return }
            _ = try book.note(id, at: past)
          }
        }
      }
    }
    attempt { () throws(StoreError) in
      _ = try reading { book throws(ArchiveFailure) in
        _ = try book.changes(since: Version(), limit: .max)
        _ = try book.revision(of: book.version)
      }
    }
    _ = damage.map(\.description)
  }
}

/// Files with wrong contents and right checksums, as a program could write them that means ill, or one with a mistake.
@Suite struct `Forged files` {
  /// A record as bytes, without the checksum and the hash, which follow from the rest.
  private struct Record {
    var flags: UInt32
    var body: [UInt8]
  }

  /// The records of a log, taken apart.
  private static func records(_ log: [UInt8]) -> [Record] {
    var records: [Record] = []
    var at = LogFormat.headerSize
    while at < log.count {
      let prefix = log[at...].integer(at: at, as: UInt32.self)
      let end = at + 8 + Int(prefix & (1 << 27 - 1))
      records.append(Record(flags: prefix >> 27, body: Array(log[at + 8..<end - 8])))
      at = end
    }
    return records
  }

  /// A log put together, with all checksums and hashes right; also returns the last hash.
  private static func log(_ header: [UInt8], _ records: [Record]) -> (bytes: [UInt8], hash: [UInt8])
  {
    var log = header
    log.replaceSubrange(64..<72, with: Self.hash(header[..<64]))
    var hash = Array(log[64..<72])
    for record in records {
      var bytes: [UInt8] = []
      let prefix = record.flags << 27 | UInt32(record.body.count + 8)
      bytes.appendInteger(prefix)
      bytes += record.body
      let sum = CRC32C.checksum(of: bytes[...])
      bytes.removeFirst(4)
      var whole: [UInt8] = []
      whole.appendInteger(prefix)
      whole.appendInteger(sum)
      whole += bytes
      hash = Self.hash((hash + whole)[...])
      log += whole + hash
    }
    return (log, hash)
  }

  private static func hash(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var hash: [UInt8] = []
    hash.appendInteger(SHA256.prefix64(of: bytes).byteSwapped)
    return hash
  }

  private static func forgeLog(
    _ notebook: ForgedNotebook, _ generator: inout SplitMix64
  ) -> (old: String, new: String, bytes: [UInt8]) {
    let path = generator.pick(notebook.logs)
    let all = notebook.logs.map { notebook.disk.files[$0]! }
    let log = notebook.disk.files[path]!
    var header = Array(log[..<LogFormat.headerSize])
    var records = records(log)
    let bodies = all.flatMap { Self.records($0).map(\.body) }
    for _ in 0..<1 + generator.below(2) {
      let index = generator.below(max(1, records.count))
      switch generator.below(10) {
      case 0: generator.forge(&header, in: generator.chance(50) ? 12..<16 : 48..<64)
      case 1: records.remove(at: index)
      case 2: records.insert(generator.pick(records), at: index)
      case 3: records.swapAt(index, generator.below(records.count))
      case 4: records[index].flags ^= generator.pick([1 << 4, 1])
      case 5: records[index].body[0] = UInt8(generator.below(4))
      default: generator.forge(&records[index].body, with: bodies)
      }
      if records.isEmpty { break }
    }
    let (bytes, hash) = Self.log(header, records)
    // A complete file has its last hash in its name.
    let digits = hash.prefix(4).map {
      String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
    }
    var name = path.split(separator: "/").last!.split(separator: "-").map(String.init)
    if name.count > 1 {
      name[1] = digits.joined() + name[1].dropFirst(8)
    }
    let folder = (path as NSString).deletingLastPathComponent
    return (path, folder + "/" + name.joined(separator: "-"), bytes)
  }

  /// What has to hold after a log was forged: all that others wrote is there, and work goes on.
  private static func checkOthers(
    _ store: NoteStore, _ before: Version, _ author: ReplicaID, _ comment: Comment
  ) {
    store.askEverything()
    for replica in before.replicas where replica != author {
      // The third one's changes follow those of the author.
      let isFree = store.notebook.version[replica] >= before[replica]
      #expect(
        isFree || !store.merging.pending.isEmpty || !store.damage.isEmpty,
        "\(comment): a change is gone")
    }
    do {
      let id = try store.create("afterwards")
      try store.append("!", to: id)
      #expect(try store.note(id)?.text.string == "afterwards!", "\(comment): another text")
    } catch { Issue.record("nothing can be written any more: \(error), \(comment)") }
  }

  @Test func `that are logs leave what other sessions wrote, and do no harm`() async {
    let trace = ForgingTrace()
    await #expect(processExitsWith: .success) { [path = trace.path as String] in
      try feed(seeds(120), trace: path) { seed in
        var generator = SplitMix64(seed: seed)
        let notebook = ForgedNotebook()
        // As a start finds it, or a process that runs.
        let running = generator.chance(50) ? notebook.open() : nil
        let before = notebook.open().notebook.version
        let other = before.replicas.first { replica in
          replica != notebook.author && before[replica] == 6
        }!
        if running == nil { notebook.disk.take(notebook.snapshot) }
        let (old, new, bytes) = Self.forgeLog(notebook, &generator)
        notebook.disk.take(old)
        notebook.disk.put(bytes, at: new)
        if let running {
          _ = running.rescan()
          #expect(running.notebook.version.isSuperset(of: before), "\(at(seed)): it knows less")
          Self.checkOthers(running, before, notebook.author, at(seed))
        }
        let store = notebook.open()
        #expect(
          store.notebook.version[other] == before[other],
          "\(at(seed)): another has \(store.notebook.version[other]) of \(before[other]) changes, damage \(store.damage)"
        )
        Self.checkOthers(store, before, notebook.author, at(seed))
        let (first, second) = (notebook.open(), notebook.open())
        #expect(first.notebook == second.notebook, "\(at(seed)): two read different things")
      }
    }
    trace.check()
  }

  /// A snapshot says which records it stands for. One that is forged may hide them, until it is gone.
  @Test func `that are snapshots do no harm that lasts`() async {
    let trace = ForgingTrace()
    await #expect(processExitsWith: .success) { [path = trace.path as String] in
      try feed(seeds(120), trace: path) { seed in
        var generator = SplitMix64(seed: seed)
        let notebook = ForgedNotebook()
        let running = generator.chance(50) ? notebook.open() : nil
        let before = notebook.open().notebook
        var bytes = notebook.disk.files[notebook.snapshot]!
        var reader = ByteReader(bytes)
        try reader.header(.snapshot)
        var forged = Array(try reader.block())
        let start = reader.offset
        if generator.chance(50) {
          generator.forge(&forged)
          bytes = containerHeader(2) + containerBlock(forged) + bytes[start...]
        } else {
          var packed = Array(bytes[start...])
          Self.forgePacked(&packed, &generator)
          bytes = Array(bytes[..<start]) + packed
        }
        let name = SHA256.hexDigest(of: bytes).prefix(32)
        let path = "\(ForgedNotebook.path)/snap/\(name).snap"
        notebook.disk.put(bytes, at: path)
        if let running {
          _ = running.rescan()
          while running.hasWork, running.snapshots.reading != nil { _ = running.work() }
          running.askEverything()
          #expect(running.notebook.version.isSuperset(of: before.version), at(seed))
          try running.create("running")
        }
        let store = notebook.open()
        store.askEverything()
        store.verifySnapshots()
        try store.create("started")
        notebook.disk.take(path)
        let version = notebook.open().notebook.version
        #expect(version.isSuperset(of: before.version), at(seed))
      }
    }
    trace.check()
  }

  private static func forgePacked(_ bytes: inout [UInt8], _ generator: inout SplitMix64) {
    let footer = bytes.count - 16
    let start = Int(bytes[footer...].integer(at: footer, as: UInt64.self))
    var directory = Array(bytes[start + blockPrefix..<footer])
    if generator.chance(60) { generator.forge(&directory) }
    var blocks = Array(bytes[..<start])
    if let packed = try? PackedChanges(bytes) {
      for block in packed.ranges.flatMap({ packed.blocks(of: $0.replica) })
      where generator.chance(40) {
        generator.forge(&blocks, in: block.bytes.dropFirst(blockPrefix), with: [directory])
        seal(&blocks, block.bytes)
      }
    }
    bytes = blocks + containerBlock(directory)
    bytes.appendInteger(UInt64(start))
    bytes.appendInteger(UInt64(directory.count))
  }

  /// Blocks of an archive, and its head with the appendix: where the notes are, what was read of which file, and of how many changes.
  @Test func `that are archives are given up, and the logs read`() async {
    let trace = ForgingTrace()
    await #expect(processExitsWith: .success) { [path = trace.path as String] in
      try feed(seeds(120), trace: path) { seed in
        var generator = SplitMix64(seed: seed)
        let notebook = ForgedNotebook()
        let before = notebook.open()
        var bytes = notebook.disk.files[notebook.archive]!
        let footer = bytes.count - 16
        let start = Int(bytes[footer...].integer(at: footer, as: UInt64.self))
        if generator.chance(70) {
          var head = Array(bytes[start + blockPrefix..<footer])
          // The appendix is at its end.
          let from = generator.chance(60) ? head.count / 2 : 0
          var part = Array(head[from...])
          generator.forge(&part)
          head.replaceSubrange(from..., with: part)
          bytes = Array(bytes[..<start]) + containerBlock(head)
          bytes.appendInteger(UInt64(start))
          bytes.appendInteger(UInt64(head.count))
        } else {
          let blocks = Self.blocks(bytes)
          let block = generator.pick(blocks)
          generator.forge(
            &bytes, in: block.dropFirst(blockPrefix), with: blocks.map { Array(bytes[$0]) })
          seal(&bytes, block)
        }
        let archive = notebook.archive
        notebook.disk.put(bytes, at: archive)
        let store = notebook.open(state: ForgedNotebook.state)
        store.askEverything()
        _ = store.rescan()
        while store.hasWork { _ = store.work() }
        if let id = try? store.create("afterwards") { try? store.append("!", to: id) }
        // The sessions that are known go on.
        let other = notebook.open()
        var notes: [NoteID] = []
        try other.notebook.forEachSummary {
          notes.append($0.id)
          return true
        }
        for note in notes { try other.append("+", to: note) }
        _ = store.rescan()
        store.askEverything()
        store.keep { true }
        #expect(notebook.open().notebook.version.isSuperset(of: before.notebook.version), at(seed))
      }
    }
    trace.check()
  }

  /// The blocks of an archive.
  private static func blocks(_ bytes: [UInt8]) -> [Range<Int>] {
    final class Reads: @unchecked Sendable { var ranges: Set<Range<Int>> = [] }
    let reads = Reads()
    guard
      let archive = try? NotebookArchive(
        size: bytes.count,
        source: { range throws(ArchiveFailure) in
          reads.ranges.insert(range)
          return Array(bytes[range])
        })
    else { return [] }
    var book = NoteBook(archive)
    try? book.forEachSummary { _ in true }
    _ = try? book.changes(since: Version(), limit: .max)
    for change in book.version.changes { _ = try? book.note(NoteID(creation: change)) }
    try? book.openOrder()
    return reads.ranges.filter { $0.count > blockPrefix && isBlock(bytes[$0]) }
      .sorted { $0.lowerBound < $1.lowerBound }
  }
}
