import Foundation
import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// A notebook on a disk in memory, in which several processes of one user have written.
private final class Scene {
  static let path = "/home/notes"
  static let state = "/home/state"
  var disk = MemoryDisk()
  private var random: SplitMix64
  /// The notes of each session, with the texts that they were made with.
  private(set) var notes: [ReplicaID: [NoteID: String]] = [:]

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    disk.put([], at: "/home/.profile")
  }

  func open(state: String? = Scene.state) throws -> NoteStore {
    try NoteStore(path: Self.path, state: state, on: disk) {
      Identifier(high: self.random.next(), low: self.random.next())
    }
  }

  /// A process that makes some notes, and leaves.
  ///
  /// - Parameters:
  ///   - editing: whether it writes in the notes of others, too.
  ///   - keeping: whether it leaves an archive, however little is new.
  @discardableResult
  func write(
    _ count: Int = 2, editing: Bool = true, keeping isKeeping: Bool = false
  ) throws -> ReplicaID {
    let store = try open()
    let known = notes.values.flatMap(\.keys).sorted()
    var session: ReplicaID?
    for _ in 0..<count {
      let text = "text \(random.next())"
      let note = try store.create(text)
      session = note.creation.replica
      notes[note.creation.replica, default: [:]][note] = text
    }
    if editing, let note = known.randomElement(using: &random) {
      try store.append(" more", to: note)
    }
    try leave(store, keeping: isKeeping)
    return session!
  }

  func leave(_ store: NoteStore, keeping isKeeping: Bool = false) throws {
    try store.end()
    if isKeeping { store.archiving.unkept += 1 << 20 }
    store.keep { true }
    // So that folders which are listed now count as complete.
    for _ in 0..<3 { disk.put([], at: "/home/.profile") }
  }

  func folder(of session: ReplicaID) -> String { "\(Self.path)/log/\(session)" }

  /// The files in `log` and `snap`.
  var files: [String] {
    disk.files.keys.filter {
      $0.hasPrefix(Self.path + "/") && !$0.hasSuffix(".json")
    }.sorted()
  }

  func files(of session: ReplicaID) -> [String] {
    files.filter { $0.hasPrefix(folder(of: session)) }
  }

  /// Checks that what the sessions wrote that are given is shown.
  func expectShown(
    _ sessions: some Sequence<ReplicaID>, in store: NoteStore, _ comment: Comment = ""
  ) throws {
    let book = store.readableNotebook
    for session in sessions {
      for (note, text) in notes[session] ?? [:] {
        let found = try book.note(note)
        #expect(found != nil, "\(note): \(comment)")
        #expect(found?.text.string.hasPrefix(text) != false, "\(note): \(comment)")
      }
    }
  }

  func causes(_ store: NoteStore) -> Set<FileDamage.Cause> { Set(store.gaps.map(\.cause)) }
}

/// What a notebook says of what it lacks, and what it shows in spite of it.
@Suite(.computing) struct `A notebook that is not whole` {
  @Test(arguments: [false, true])
  func `says nothing as long as it is whole`(isKeeping: Bool) throws {
    let scene = Scene(seed: 1)
    #expect(try scene.open().gaps == [])
    for _ in 0..<3 { try scene.write(keeping: isKeeping) }
    let store = try scene.open()
    #expect(store.gaps == [] && store.waitingChanges == 0)
    #expect(store.readableNotebook == store.notebook)
    #expect(try scene.open(state: nil).gaps == [])
  }

  @Test(arguments: [nil, Scene.state])
  func `names the folder of a session that may not be read, and shows what others made after it`(
    state: String?
  ) throws {
    let scene = Scene(seed: 2)
    let first = try scene.write()
    let others = [try scene.write(), try scene.write()]
    // Nothing is kept but how much there was.
    scene.disk.closedFolder = first.description
    let store = try scene.open(state: state)
    let unreadable = try #require(store.gaps.first { $0.cause == .unreadable })
    #expect(unreadable.path == scene.folder(of: first))
    #expect(unreadable.description.contains("Permission denied"))
    let waiting = try #require(store.gaps.first { $0.cause == .waiting })
    #expect(waiting.path == Scene.path)
    #expect(waiting.description.contains("\(first)"))
    #expect(waiting.description.hasPrefix("\(store.waitingChanges) changes must wait for others"))
    #expect(scene.causes(store).contains(.missing) == (state != nil))
    #expect(store.notebook.isEmpty && store.waitingChanges == 6)
    try scene.expectShown(others, in: store)
    // It comes back while the notebook is open.
    scene.disk.closedFolder = nil
    _ = store.rescan()
    #expect(store.gaps == [] && store.readableNotebook == store.notebook)
    try scene.expectShown([first] + others, in: store)
    #expect(try scene.open().gaps == [])
  }

  @Test func `says of a start from an archive that a folder may not be read any more`() throws {
    let scene = Scene(seed: 3)
    let sessions = [try scene.write(), try scene.write(keeping: true)]
    let file = try #require(scene.files(of: sessions[0]).first)
    // It has changed since, so it may hold more than the archive has.
    scene.disk.put(scene.disk.files[file]!, at: file)
    scene.disk.closedFolder = sessions[0].description
    let store = try scene.open()
    #expect(store.gaps.map(\.path) == [scene.folder(of: sessions[0])])
    #expect(scene.causes(store) == [.unreadable])
    try scene.expectShown(sessions, in: store)
  }

  @Test func `names a log with a sector of zeros, and shows what others made after it`() throws {
    let scene = Scene(seed: 4)
    let first = try scene.write(12)
    let others = [try scene.write(), try scene.write()]
    let file = try #require(scene.files(of: first).first)
    let whole = scene.disk.files[file]!
    var bytes = whole
    bytes.replaceSubrange(100..<612, with: repeatElement(0, count: 512))
    scene.disk.put(bytes, at: file)
    let store = try scene.open(state: nil)
    #expect(store.gaps.map(\.cause) == [.damaged, .waiting])
    #expect(store.gaps[0].path == file)
    try scene.expectShown(others, in: store)
    // What stands in another file is no loss.
    scene.disk.put(whole, at: file + "-copy")
    _ = store.rescan()
    #expect(store.gaps == [] && store.damage.map(\.path) == [file])
  }

  @Test func `says when the log is gone, or the folder is an older one, what it was known up to`()
    throws
  {
    let scene = Scene(seed: 5)
    let first = try scene.write()
    let older = scene.disk.files.filter { $0.key.hasPrefix(Scene.path) }
    let second = try scene.write()
    for file in scene.files(of: second) { scene.disk.take(file) }
    let store = try scene.open()
    #expect(scene.causes(store) == [.missing])
    #expect(store.gaps[0].description.contains("change 3 of session \(second)"))
    try scene.expectShown([first], in: store)
    // Also when it was told before, and whoever has told it has left.
    try scene.leave(store)
    #expect(scene.causes(try scene.open()) == [.missing])
    // All logs are gone.
    for file in scene.files { scene.disk.take(file) }
    #expect(scene.causes(try scene.open()) == [.missing])
    // They come back.
    for (file, bytes) in older { scene.disk.put(bytes, at: file) }
    #expect(scene.causes(try scene.open()) == [.missing])
    // The user takes it as it is.
    let repairing = try scene.open()
    #expect(try repairing.repair([]).forgotten == 1)
    #expect(repairing.gaps == [])
    try scene.leave(repairing)
    #expect(try scene.open().gaps == [])
  }

  @Test func `says what a later version has written, and leaves it for one`() throws {
    let scene = Scene(seed: 9)
    let session = try scene.write()
    let later = try scene.open()
    let other = try later.create("of a later version")
    // An operation of a kind that there is not, of a change like any other.
    let news: [UInt8] = [0, 0, 0x7F]
    try later.append(.change, news)
    try scene.leave(later)
    func holds(_ bytes: [UInt8]) -> Bool {
      bytes.indices.contains { bytes[$0...].starts(with: news) }
    }
    func isKept() -> Bool {
      scene.files(of: other.creation.replica).contains { holds(scene.disk.files[$0] ?? []) }
    }
    #expect(isKept())
    for _ in 0..<3 {
      let store = try scene.open()
      #expect(scene.causes(store) == [.newer])
      let told = try #require(store.gaps.first).description
      #expect(told.contains("an operation of an unknown kind, 127"))
      #expect(told.hasSuffix("A later version of this program has written it"))
      try scene.expectShown([session], in: store)
      #expect(try store.notebook.note(other) != nil)
      let mine = try store.create("beside it")
      _ = try store.compact()
      #expect(try store.notebook.note(mine) != nil)
      #expect(isKept())
      try scene.leave(store, keeping: true)
    }
  }

  @Test func `writes again what an archive knows, and is whole`() throws {
    let scene = Scene(seed: 6)
    let sessions = [try scene.write(), try scene.write(keeping: true)]
    for file in scene.files { scene.disk.take(file) }
    let store = try scene.open()
    try scene.expectShown(sessions, in: store)
    #expect(store.gaps == [])
    try store.sync()
    #expect(try scene.open(state: nil).notebook == store.notebook)
  }

  @Test func `names a snapshot that is damaged, unless all of it is known`() throws {
    let scene = Scene(seed: 7)
    for _ in 0..<3 { try scene.write() }
    let folding = try scene.open()
    _ = try folding.compact(isForced: true)
    try scene.leave(folding, keeping: true)
    // Without the logs that it stands for.
    for file in scene.files where file.contains("/log/") { scene.disk.take(file) }
    let file = try #require(scene.files.first)
    let bytes = scene.disk.files[file]!
    for place in [0, bytes.count / 2] {
      var damaged = bytes
      damaged[place] ^= 1
      scene.disk.put(damaged, at: file)
      let fresh = try scene.open(state: nil)
      #expect(fresh.gaps.map(\.path) == [file] && scene.causes(fresh) == [.damaged])
      #expect(fresh.notebook.version != folding.notebook.version)
      #expect(try scene.open().gaps == [])
    }
  }

  // MARK: - Errors of the system

  @Test(arguments: [EMFILE, ENFILE, ENOMEM])
  func `does not open where too little is there to read all files`(errno: Int32) throws {
    for isKeeping in [false, true] {
      let scene = Scene(seed: 8)
      for _ in 0..<3 { try scene.write(keeping: isKeeping) }
      let whole = try scene.open(state: isKeeping ? Scene.state : nil).notebook
      var opened = 0
      for number in 1... {
        scene.disk.fault = nil
        let start = scene.disk.calls
        scene.disk.fault = { count, _ in count == start + number ? .error(errno) : nil }
        do {
          let store = try scene.open(state: isKeeping ? Scene.state : nil)
          // It was a call without which all can be read.
          #expect(store.notebook.version == whole.version, "call \(number)")
          #expect(store.gaps == [], "call \(number)")
          opened += 1
          if scene.disk.calls < start + number { break }
        } catch let error as StoreError {
          #expect(error.errno == errno, "call \(number): \(error)")
          #expect(error.description.contains("/home/"), "call \(number): \(error)")
        }
      }
      #expect(opened > 0)
    }
  }

  @Test(arguments: [EIO, ESTALE, EACCES])
  func `says so whenever a file or folder can't be read for any other reason`(errno: Int32) throws {
    let scene = Scene(seed: 9)
    for _ in 0..<3 { try scene.write() }
    let whole = try scene.open(state: nil).notebook
    for number in 1... {
      scene.disk.fault = nil
      let start = scene.disk.calls
      scene.disk.fault = { count, _ in count == start + number ? .error(errno) : nil }
      do {
        let store = try scene.open(state: nil)
        #expect(
          store.notebook.version == whole.version || !store.gaps.isEmpty, "call \(number)")
        if scene.disk.calls < start + number { break }
      } catch let error as StoreError {
        #expect(error.errno == errno, "call \(number): \(error)")
      }
    }
  }

  // MARK: - Anything

  /// Zeros in files, files that are cut or gone, older copies of all of it, folders that may not be read.
  @Test(arguments: 1...UInt64(60 * seedFactor))
  func `lacks nothing without a word, and shows what can be read`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let scene = Scene(seed: seed)
    var sessions: [ReplicaID] = []
    var older: [[String: [UInt8]]] = []
    for _ in 0..<2 + random.below(4) {
      older.append(scene.disk.files)
      sessions.append(try scene.write(1 + random.below(8), keeping: random.chance(20)))
    }
    let isFolded = random.chance(30)
    if isFolded {
      let folding = try scene.open()
      _ = try folding.compact(isForced: true)
      if random.chance(50) {
        scene.disk.pass(100_000)
        _ = try folding.compact(isForced: true)
      }
      try scene.leave(folding, keeping: random.chance(50))
    }
    let full = try scene.open().notebook.version
    var touched: Set<String> = []
    for _ in 0...random.below(3) {
      guard let file = scene.files.randomElement(using: &random) else { break }
      var bytes = scene.disk.files[file]!
      touched.insert(file)
      switch random.below(6) {
      case 0, 1:
        let start = random.below(bytes.count)
        let end = min(bytes.count, start + random.pick([1, 16, 512, 4096]))
        bytes.replaceSubrange(start..<end, with: repeatElement(0, count: end - start))
        scene.disk.put(bytes, at: file)
      case 2: scene.disk.put(Array(bytes.prefix(random.below(bytes.count))), at: file)
      case 3: scene.disk.take(file)
      case 4:
        let session = random.pick(sessions)
        touched.formUnion(scene.files(of: session))
        scene.disk.closedFolder = session.description
      default:
        let copy = random.pick(older)
        for file in scene.files where copy[file] != scene.disk.files[file] {
          touched.insert(file)
          scene.disk.take(file)
          if let bytes = copy[file] { scene.disk.put(bytes, at: file) }
        }
      }
    }
    let comment = Comment(rawValue: "seed \(seed)")
    let intact = sessions.filter { session in !touched.contains { $0.contains("\(session)") } }
    for state in [nil, Scene.state] {
      // Each on its own, since a process writes again what it knows.
      let disk = scene.disk
      scene.disk = disk.afterKill()
      scene.disk.closedFolder = disk.closedFolder
      defer { scene.disk = disk }
      let store = try scene.open(state: state)
      if state != nil, !store.notebook.version.isSuperset(of: full) {
        #expect(!store.gaps.isEmpty, comment)
      }
      if store.gaps.isEmpty, state != nil { #expect(store.notebook.version == full, comment) }
      if !isFolded { try scene.expectShown(intact, in: store, comment) }
      let before = scene.disk.files
      _ = store.rescan()
      _ = try? store.compact(isForced: true)
      // Nothing that is there was changed by it.
      for (file, bytes) in before where file.hasPrefix(Scene.path) {
        let isFoldable = file.hasSuffix(".seg") || file.hasSuffix(".snap")
        if let now = scene.disk.files[file] { #expect(now == bytes, "\(file), \(comment)") }
        if !isFoldable { #expect(scene.disk.files[file] != nil, "\(file), \(comment)") }
        if touched.contains(file), scene.disk.files[file] == nil {
          // It had proved to be whole all the same.
          #expect(try scene.open(state: nil).notebook.version.isSuperset(of: full), comment)
        }
      }
    }
  }
}
