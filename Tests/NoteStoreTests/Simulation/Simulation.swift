import Foundation
import Notes
import ReplicatingTypes
import TestSupport

@testable import NoteStore

/// Some devices with a disk in memory each, a few processes on each that write into the same notebook, and an engine that
/// carries files between the devices as badly as real ones do. All that happens follows from one seed.
///
/// This is what users may rely on:
///
/// - What was acknowledged stands in the folder. No process of ours ever takes anything from there, and neither does its end.
/// - What was said to be on disk is there after a power cut.
/// - Somebody else may take things from the folder: a backup that is restored, an engine that brings an older copy, a user.
///   What a running process knows all the same, it writes again at its next look (`rescan`), so that whoever
///   reads nothing but the folder knows it, too. What nobody knows any more and no folder holds is lost.
/// - What a process knows it knows until its end.
/// - What was acknowledged in a folder before a process was started there is in the process's first answer, whatever it has beside the
///   folder from an earlier one, and in all later answers.
/// - When every file has come everywhere and every process has looked, all know the same, each change once.
/// - What was refused may be there, once, or not at all.
/// - A disk that is read-only for a while can be read, and as soon as it is writable again it is written.
/// - No two processes write one session.
///
/// Each is checked where it says so below. What may be lost is computed from the files that are there, and from nothing
/// that a process says.
final class Simulation {
  /// What is wrong on purpose, so that the checks have something to find.
  enum Flaw {
    /// A process gets the random numbers of the one before it.
    case repeatingIdentities
    /// No process looks whether the folder still holds what it knows.
    case neverRescanning
    /// The disks say that they have synchronized a file, and have not.
    case lyingDisks
    /// Nobody is told what happens in a folder.
    case silentFolders
    /// Archives say of every folder without open segments that its session has ended, also while the writer lives.
    case endingWhileWritersLive
    /// A process that starts with an archive takes the folders to be as they were when somebody last looked at them.
    case startingWithoutALook
  }

  /// A promise that was not kept.
  struct Violation: Error, CustomStringConvertible {
    var description: String
  }

  /// A running process.
  final class Process {
    let number: Int
    let store: NoteStore
    /// What it knew at the last look at it.
    var known = Version()
    /// What it knew when it wrote last: its own changes, and all that they follow.
    var answered = Version()
    /// Whether it may have missed what happened in the folder since its last look.
    var hasMissed = false
    /// Whether what it knows may stand in other files by now than those that it has read: because somebody has taken some
    /// away, and no look and flush of its own came after that.
    var awareness = Awareness.full
    enum Awareness { case none, looked, full }

    init(_ number: Int, _ store: NoteStore) {
      self.number = number
      self.store = store
    }
  }

  /// A machine.
  final class Device {
    let number: Int
    var disk = MemoryDisk()
    /// Whether its processes are told of changes.
    let isWatched: Bool
    var processes: [Process] = []
    /// Whether its disk is one that other machines may write to, too.
    let isShared: Bool
    /// The numbers that its processes take identities from.
    var identities: SplitMix64
    /// Milliseconds since 1970, more or less.
    var clock: Int64 = 1_767_225_600_000
    /// What whoever reads the folder now must find there, and whoever does so after a power cut.
    var held = Version()
    var durable = Version()
    /// Processes that know of a failed synchronization. No other one can know; the system tells only once.
    var informed: Set<Int> = []
    var backup: [String: [UInt8]]?
    private var lastWriteback: Int64 = 0

    init(_ number: Int, identities: SplitMix64, isWatched: Bool, isShared: Bool) {
      self.number = number
      self.isShared = isShared
      self.isWatched = isWatched
      self.identities = identities
    }

    /// Whether something copies `decent.json` and has not finished: until then the notebook can't be opened or begun.
    var isNamePartial: Bool { files[NotebookFile.name].map { $0.last != 0x0a } ?? false }

    /// All files of the notebook, by their paths in its folder.
    var files: [String: [UInt8]] { disk.files(below: Simulation.path) }

    /// Lets the system write by itself what is older than some minutes. Systems do so after half of one, and processes rely
    /// on it after ten: so a clock that somebody sets forward by more than that is the same as a rest.
    func writeBackWhatIsOld() {
      lastWriteback = min(lastWriteback, disk.now)
      guard disk.now - lastWriteback > 300_000_000_000 else { return }
      if !disk.isLying { disk.writeBack() }
      lastWriteback = disk.now
    }
  }

  static let path = "/home/notes"
  static let state = "/home/state"

  var random: SplitMix64
  let flaw: Flaw?
  var devices: [Device] = []
  /// What the engine has seen of each file, and copies that it has begun.
  var versions: [String: [[UInt8]]] = [:]
  var unfinished: [(device: Device, path: String, bytes: [UInt8], count: Int)] = []
  /// What happened, a line for each step.
  private(set) var story: [String] = []
  /// Whether to print it as it happens.
  private let isPrinting: Bool
  /// Whether nothing fails any more.
  private var isOver = false

  /// All changes that were acknowledged, in their order, and what each of them follows.
  private(set) var changes: [(id: ChangeID, past: Version)] = []
  /// What each of them wrote.
  private var words: [ChangeID: String] = [:]
  private var refused: [String] = []
  /// Acknowledged, and then taken from everywhere by somebody else.
  private var lost: Set<ChangeID> = []
  private var owners: [Identifier: Int] = [:]
  private let cache = FolderContents.Cache()
  private var lastProcess = 0
  private var lastWord = 0
  var lastConflict = 0
  private var now = Instant(nanoseconds: 0)
  /// Archives that were seen, to be restored some day.
  private var archives: [(path: String, bytes: [UInt8])] = []

  init(seed: UInt64, flaw: Flaw? = nil, isPrinting: Bool = false) {
    random = SplitMix64(seed: seed)
    self.flaw = flaw
    self.isPrinting = isPrinting
    for number in 0..<(2 + random.below(3)) {
      let device = addDevice(with: MemoryDisk())
      device.disk.moveClock(by: Int64(random.below(1 << 50)))
      device.disk.put([], at: "/home/.profile")
      precondition(device.number == number)
    }
  }

  @discardableResult
  private func addDevice(with disk: MemoryDisk) -> Device {
    let device = Device(
      devices.count, identities: SplitMix64(seed: random.next()), isWatched: random.below(2) == 0,
      isShared: random.below(2) == 0)
    devices.append(device)
    install(disk, in: device)
    return device
  }

  private func install(_ disk: MemoryDisk, in device: Device) {
    device.disk = disk
    disk.isLying = flaw == .lyingDisks
    disk.isWatched = device.isWatched
    disk.isShared = device.isShared
  }

  /// Some hundred steps, and then everything comes everywhere.
  func run() throws(Violation) {
    for _ in 0..<(60 + random.below(120)) { try take(Step.random(&random)) }
    try settle()
  }

  func tell(_ line: String) {
    story.append(line)
    if isPrinting { print(line) }
  }

  func require(_ condition: Bool, _ description: @autoclosure () -> String) throws(Violation) {
    if !condition { throw Violation(description: description()) }
  }

  private func require(
    _ version: Version, holds part: Version, _ description: String
  ) throws(Violation) {
    let missing = changes.filter { part.contains($0.id) && !version.contains($0.id) }
    let words = missing.map { self.words[$0.id]! }
    try require(words.isEmpty, "\(description): \(words.joined(separator: " "))")
  }

  // MARK: - What is where

  /// What somebody finds in a folder who knows nothing from elsewhere: what stands there with all that it follows.
  private func readable(_ files: [String: [UInt8]]) throws(Violation) -> Version {
    let contents = cache.contents(of: files)
    try require(contents.forks.isEmpty, "two histories of \(contents.forks)")
    var version = Version()
    for (id, past) in changes
    where contents.changes.contains(id) && version[id.replica] == id.number - 1
      && version.isSuperset(of: past)
    {
      version.insert(id)
    }
    return version
  }

  /// To be called whenever anybody but a process of ours has done something to a folder: what is gone there now may be gone for
  /// good.
  func acceptLosses(in device: Device) throws(Violation) {
    device.held = try readable(device.files)
    // What still can be read may be what could not be synchronized, and the copy that could be is gone.
    let worst = try readable(device.disk.afterWorstPowerCut().files(below: Self.path))
    device.durable = device.durable.intersection(worst)
    acceptLosses()
  }

  /// To be called when a process is no more: what it knew may be nowhere else.
  private func acceptLosses() {
    for (id, _) in changes where !lost.contains(id) {
      let isThere = devices.contains { device in
        device.held.contains(id) || device.processes.contains { $0.known.contains(id) }
      }
      if !isThere {
        lost.insert(id)
        tell("  \(words[id]!) is lost")
      }
    }
  }

  /// Checks what holds at any time, after a process has done something.
  func observe(_ process: Process, on device: Device) throws(Violation) {
    let known = process.store.notebook.version
    try require(known, holds: process.known, "a process has forgotten something")
    process.known = known
    try observe(device)
    if device.disk.refusedSynchronizations > 0 { device.informed.insert(process.number) }
    device.disk.refusedSynchronizations = 0
    for session in process.store.folder.writer.sessions {
      let owner = owners.updateValue(process.number, forKey: session) ?? process.number
      try require(owner == process.number, "session \(session) is written by two processes")
    }
  }

  private func observe(_ device: Device) throws(Violation) {
    let held = try readable(device.files)
    try require(held, holds: device.held, "the folder holds less than before")
    device.held = held
    try require(device.disk.violations.isEmpty, "\(device.disk.violations)")
  }

  // MARK: - Processes

  /// Lets a process do something on a disk that may fail; returns whether it did, and what the process said.
  private func withFaults(
    on device: Device, _ body: () throws(StoreError) -> Void
  ) -> (isFailing: Bool, error: StoreError?) {
    var isFailing = false
    if !isOver, random.below(8) == 0 {
      let (first, isLasting) = (random.below(12), random.below(3) == 0)
      let fault: MemoryDisk.Fault =
        switch random.below(5) {
        case 0: .short(random.below(80))
        case 1: .error(ENOSPC)
        case 2: .error(EROFS)
        default: .error(EIO)
        }
      let isAtSynchronizing = random.below(3) == 0
      var count = 0
      device.disk.fault = { _, call in
        guard !isAtSynchronizing || call == .synchronizeFile else { return nil }
        defer { count += 1 }
        guard isAtSynchronizing ? count == 0 : isLasting ? count >= first : count == first else {
          return nil
        }
        if case .error(let errno) = fault, !call.canFail(with: errno) { return nil }
        if case .short = fault, call != .append { return nil }
        isFailing = true
        return fault
      }
    }
    var failure: StoreError?
    do { try body() } catch { failure = error }
    device.disk.fault = nil
    if isFailing { tell("  the disk fails") }
    if let failure { tell("  \(failure)") }
    return (isFailing || device.isNamePartial, failure)
  }

  func open(on device: Device, state: String?) throws(Violation) {
    lastProcess += 1
    let number = lastProcess
    if flaw == .repeatingIdentities { device.identities = SplitMix64(seed: UInt64(device.number)) }
    tell("device \(device.number): \(number) opens\(state == nil ? "" : " with state")")
    var store: NoteStore?
    device.disk.isShowingOldFolders = flaw == .startingWithoutALook
    defer { device.disk.isShowingOldFolders = false }
    let (isFailing, error) = withFaults(on: device) { () throws(StoreError) in
      // As a start does in a notebook of very many sessions.
      store = try NoteStore(
        path: Self.path, state: state, mostEndedCompared: 0, on: device.disk
      ) {
        Identifier(high: device.identities.next(), low: device.identities.next())
      }
    }
    guard let store else {
      return try require(isFailing, "it can't be opened: \(error!)")
    }
    let process = Process(number, store)
    process.hasMissed = isFailing
    device.processes.append(process)
    let held = device.held
    try observe(process, on: device)
    if !isFailing { try require(process.known, holds: held, "a start does not see everything") }
  }

  func write(_ process: Process, on device: Device) throws(Violation) {
    lastWord += 1
    let word = "«\(lastWord)»"
    tell("device \(device.number): \(process.number) writes \(word)")
    let store = process.store
    // If not, somebody has taken away what it follows, and that will be found out by the next look.
    let lengths = cache.contents(of: device.files).lengths
    let isPastHeld =
      device.held.isSuperset(of: process.known)
      && process.session.map { lengths[$0.identity] ?? 0 == $0.count } ?? true
    let (isFailing, error) = withFaults(on: device) { () throws(StoreError) in
      let notes = store.notes
      if notes.isEmpty || random.below(3) == 0 {
        try store.create(word, at: device.clock)
      } else {
        try store.append(word, to: notes[random.below(notes.count)], at: device.clock)
      }
    }
    if let error {
      refused.append(word)
      try require(isFailing || device.isReadOnly, "refused: \(error)")
      return try observe(process, on: device)
    }
    let (past, known) = (process.known, store.notebook.version)
    let new = known.changes.filter { !past.contains($0) }
    try require(new.count == 1, "a change makes \(new)")
    changes.append((new[0], past))
    words[new[0]] = word
    process.answered = known
    try observe(process, on: device)
    try require(!isPastHeld || device.held.contains(new[0]), "what was acknowledged isn't there")
  }

  /// Takes the word of a process that what it has answered is on disk.
  private func believe(_ process: Process, on device: Device) throws(Violation) {
    // What somebody has taken from the folder since is not meant.
    var promised = process.answered.intersection(device.held)
    let worst = try readable(device.disk.afterWorstPowerCut().files(below: Self.path))
    // What another process could not synchronize looks to this one as if it were.
    if process.awareness != .full || !device.informed.subtracting([process.number]).isEmpty {
      promised = promised.intersection(worst)
    }
    try require(worst, holds: promised, "what was said to be on disk isn't")
    device.durable.merge(promised)
  }

  func flush(_ process: Process, on device: Device) throws(Violation) {
    tell("device \(device.number): \(process.number) flushes")
    let (isFailing, error) = withFaults(on: device) { () throws(StoreError) in
      try process.store.sync()
    }
    if isFailing, !device.isNamePartial { device.informed.insert(process.number) }
    try observe(process, on: device)
    guard let error else {
      if process.awareness == .looked { process.awareness = .full }
      return try believe(process, on: device)
    }
    try require(isFailing || device.isReadOnly, "not flushed: \(error)")
  }

  /// Lets the disk do some of what a process asked for, if it did.
  func synchronize(_ process: Process, on device: Device) throws(Violation) {
    tell("device \(device.number): \(process.number) synchronizes")
    let store = process.store
    let (isFailing, _) = withFaults(on: device) { () throws(StoreError) in
      if random.below(2) == 0 { store.requestSync() }
      for _ in 0..<random.below(8) { _ = process.queue.performNext() }
      _ = store.takeSyncResult()
    }
    if isFailing, !device.isNamePartial { device.informed.insert(process.number) }
    try observe(process, on: device)
    if store.isDurable { try believe(process, on: device) }
  }

  func rescan(_ process: Process, on device: Device) throws(Violation) {
    if flaw == .neverRescanning { return try refresh(process, on: device) }
    tell("device \(device.number): \(process.number) rescans")
    let (isFailing, _) = withFaults(on: device) { () throws(StoreError) in
      // What has gone from the folder of an ended session is noticed by this alone.
      while process.store.folder.isVerifying { _ = process.store.work() }
      _ = process.store.rescan()
    }
    let held = device.held
    try observe(process, on: device)
    // What the disk has interrupted is looked at again by the next rescan, not before.
    if isFailing {
      process.hasMissed = true
      return
    }
    if process.awareness == .none { process.awareness = .looked }
    process.hasMissed = false
    try require(process.known, holds: held, "a look does not see everything")
    if device.isReadOnly { return }
    try require(device.held, holds: process.known, "what was missing isn't written again")
  }

  func refresh(_ process: Process, on device: Device) throws(Violation) {
    tell("device \(device.number): \(process.number) refreshes")
    let watcher = process.store.folder.watch.watcher as? MemoryWatcher
    if let watcher { loseEvents(of: watcher, process) }
    let isAll = watcher?.next == nil
    let (isFailing, _) = withFaults(on: device) { () throws(StoreError) in
      _ = process.store.refresh()
    }
    let held = device.held
    try observe(process, on: device)
    if isFailing { process.hasMissed = true }
    if isAll, !process.hasMissed {
      try require(process.known, holds: held, "not all that happened was noticed")
    }
  }

  /// Lets events come late, or never.
  private func loseEvents(of watcher: MemoryWatcher, _ process: Process) {
    if flaw == .silentFolders { return watcher.lose(saying: false) }
    guard !isOver, !watcher.events.isEmpty else { return }
    switch random.below(6) {
    case 0:
      tell("  some events come late")
      watcher.next = random.below(watcher.events.count)
    case 1:
      tell("  an event is lost")
      watcher.lose(at: random.below(watcher.events.count))
      process.hasMissed = true
    case 2:
      let isSaid = random.below(2) == 0
      tell("  all events are lost\(isSaid ? ", which is said" : "")")
      watcher.lose(saying: isSaid)
      process.hasMissed = process.hasMissed || !isSaid
    default: break
    }
  }

  /// Lets ten seconds pass, so that files are completed.
  func rest(_ process: Process, on device: Device) throws(Violation) {
    tell("device \(device.number): \(process.number) rests")
    let (isFailing, _) = withFaults(on: device) { () throws(StoreError) in
      _ = process.store.sealIfDue(at: now)
      now += .seconds(10)
      _ = process.store.sealIfDue(at: now)
      if random.below(2) == 0 {
        while process.queue.performNext() {}
        _ = process.store.takeSyncResult()
      }
    }
    if isFailing, !device.isNamePartial { device.informed.insert(process.number) }
    device.disk.moveClock(by: 10_000_000_000)
    try observe(process, on: device)
  }

  /// Lets a process write something of an archive, or all of it.
  func keep(_ process: Process, on device: Device) throws(Violation) {
    tell("device \(device.number): \(process.number) keeps what it knows")
    if flaw == .endingWhileWritersLive {
      for (name, var folder) in process.store.folder.completeFolders.folders {
        folder.isEnded = true
        process.store.folder.completeFolders.remember(name, folder)
      }
    }
    let (isFailing, _) = withFaults(on: device) { () throws(StoreError) in
      process.store.archiving.unkept += 1 << 21
      for _ in 0..<(1 + random.below(20)) where process.store.hasWork {
        _ = process.store.work()
      }
    }
    // It may have been reading.
    if isFailing { process.hasMissed = true }
    for (path, bytes) in device.disk.files(below: Self.state).sorted(by: { $0.key < $1.key })
    where archives.last?.bytes != bytes { archives.append((path, bytes)) }
    try observe(process, on: device)
  }

  /// Lets a process complete what killed ones have left, or some of it.
  func complete(_ process: Process, on device: Device) throws(Violation) {
    tell("device \(device.number): \(process.number) completes what killed processes have left")
    let (isFailing, _) = withFaults(on: device) { () throws(StoreError) in
      guard process.store.archiving.state != nil, process.store.compaction == nil else { return }
      process.store.completing.isDue = true
      for _ in 0..<(1 + random.below(20)) where process.store.hasCompletion {
        process.store.proceedCompleting()
        if random.below(4) > 0 { _ = process.queue.performNext() }
        _ = process.store.takeSyncResult()
      }
    }
    if isFailing, !device.isNamePartial { device.informed.insert(process.number) }
    try observe(process, on: device)
  }

  func end(_ process: Process, on device: Device) throws(Violation) {
    tell("device \(device.number): \(process.number) ends")
    let (isFailing, error) = withFaults(on: device) { () throws(StoreError) in
      try process.store.end()
    }
    if isFailing, !device.isNamePartial { device.informed.insert(process.number) }
    try observe(process, on: device)
    if let error {
      try require(isFailing || device.isReadOnly, "it can't end: \(error)")
    } else {
      try believe(process, on: device)
    }
    device.processes.removeAll { $0 === process }
    acceptLosses()
  }

  /// Ends processes in the midst of what they do. Nobody else may hold them.
  func kill(_ doomed: Range<Int>, on device: Device) throws(Violation) {
    for process in device.processes[doomed] {
      tell("device \(device.number): \(process.number) is killed")
      process.queue.abandon()
    }
    // Nothing that happens while their memory is freed may reach the disk.
    device.disk.fault = { _, _ in .error(EIO) }
    device.processes.removeSubrange(doomed)
    device.disk.fault = nil
    try require(
      !device.processes.isEmpty || device.disk.openCount == 0, "they left descriptors open")
    try observe(device)
    acceptLosses()
  }

  // MARK: - Machines and people

  func cutPower(of device: Device) throws(Violation) {
    tell("device \(device.number): the power goes")
    let disk = device.disk.afterPowerCut(&random)
    try kill(device.processes.indices, on: device)
    install(disk, in: device)
    device.informed = []
    let held = try readable(device.files)
    try require(held, holds: device.durable, "the power cut took what was on disk")
    try acceptLosses(in: device)
  }

  func moveClock(of device: Device) {
    let seconds = Int64(random.below(7_200)) - 3_600
    tell("device \(device.number): the clock moves by \(seconds) s")
    device.disk.moveClock(by: seconds * 1_000_000_000 + Int64(random.below(1 << 29)))
    device.clock = random.below(4) == 0 ? 0 : device.clock + seconds * 1_000
  }

  /// Makes a disk read-only for the processes that use it, or writable again.
  func remount(_ device: Device) {
    let disk = device.disk
    if device.isReadOnly {
      disk.mount = .writable
    } else {
      disk.mount = random.below(2) == 0 ? .readOnly : .readOnlyAfterError
    }
    tell("device \(device.number): the disk is \(disk.mount)")
  }

  func backUp(_ device: Device) {
    tell("device \(device.number): is backed up")
    device.backup = device.completeFiles
  }

  /// Puts all files of the backup back, and perhaps takes away those that are not in it.
  func restore(_ device: Device) throws(Violation) {
    guard let backup = device.backup else { return }
    let isMirror = random.below(2) == 0
    tell("device \(device.number): is restored\(isMirror ? ", and only that" : "")")
    if isMirror {
      for path in device.files.keys where backup[path] == nil { device.take(path) }
    }
    for (path, bytes) in backup.sorted(by: { $0.key < $1.key }) where device.files[path] != bytes {
      device.put(bytes, at: path)
    }
    try acceptLosses(in: device)
  }

  /// Makes a device a copy of another one: of its disk, or of its notebook, without anything beside it.
  func copy(_ source: Device, to device: Device) throws(Violation) {
    guard source !== device else { return }
    let isWhole = random.below(2) == 0
    tell(
      "device \(device.number): is \(isWhole ? "a copy of" : "given the folder of") \(source.number)"
    )
    try finishCopies()
    try kill(device.processes.indices, on: device)
    if isWhole {
      install(source.disk.afterKill(), in: device)
      // No two disks stay the same by the nanosecond.
      device.disk.moveClock(by: Int64(random.below(1 << 30)))
      device.informed = source.informed
    } else {
      for path in device.files.keys { device.take(path) }
      for (path, bytes) in source.files.sorted(by: { $0.key < $1.key }) {
        device.put(bytes, at: path)
      }
    }
    device.durable = Version()
    try acceptLosses(in: device)
  }

  /// Makes another machine of one that runs: its disk is copied while a process writes there, and both go on. What is copied is
  /// what its programs see, or what is on the disk, as that of another machine.
  func fork(_ device: Device) throws(Violation) {
    guard devices.count < 6, let process = device.processes.first else { return }
    try finishCopies()
    var (copy, left): (MemoryDisk?, Int) = (nil, random.below(60))
    let isCold = random.below(2) == 0
    tell("device \(devices.count): becomes a copy of \(device.number), which goes on")
    device.disk.watch = { [unowned self, disk = device.disk] in
      left -= 1
      if left == 0 { copy = isCold ? disk.afterPowerCut(&random) : disk.afterKill() }
    }
    switch random.below(5) {
    case 0: try rest(process, on: device)
    case 1: try keep(process, on: device)
    case 2: try foldSome(process, on: device)
    case 3: try rescan(process, on: device)
    default: try write(process, on: device)
    }
    device.disk.watch = nil
    let other = addDevice(with: copy ?? device.disk.afterKill())
    other.disk.moveClock(by: Int64(random.below(1 << 30)))
    other.clock = device.clock
    // Where it did less than that, the copy is what its programs see.
    if !isCold || copy == nil { other.informed = device.informed }
    try acceptLosses(in: other)
  }

  func forgetState(of device: Device) {
    tell("device \(device.number): the state is deleted")
    for path in device.disk.files(below: Self.state).keys {
      device.disk.take("\(Self.state)/\(path)")
    }
  }

  /// Puts any archive of the past beside the notebook, of this device or another one.
  func restoreState(of device: Device) {
    guard !archives.isEmpty else { return }
    tell("device \(device.number): old state is restored")
    let (path, bytes) = archives[random.below(archives.count)]
    device.disk.put(bytes, at: "\(Self.state)/\(path)")
  }

  // MARK: - Compaction

  /// Folds everything complete into a snapshot, and removes what was folded a day ago: perhaps that day has just passed.
  func fold(_ process: Process, on device: Device) throws(Violation) {
    tell("device \(device.number): \(process.number) folds")
    if random.below(3) == 0 {
      tell("  a day later")
      device.disk.moveClock(by: Compaction.grace + 100_000_000_000)
      device.writeBackWhatIsOld()
    }
    let (isFailing, error) = withFaults(on: device) { () throws(StoreError) in
      _ = try process.store.compact()
    }
    if isFailing, !device.isNamePartial { device.informed.insert(process.number) }
    try observe(process, on: device)
    if let error { try require(isFailing || device.isReadOnly, "not folded: \(error)") }
  }

  /// Does some of a compaction, to go on with some other time.
  func foldSome(_ process: Process, on device: Device) throws(Violation) {
    tell("device \(device.number): \(process.number) folds for a while")
    let store = process.store
    store.compaction = store.compaction ?? Compaction(isForced: true, unfolded: (0, 0))
    let (isFailing, _) = withFaults(on: device) { () throws(StoreError) in
      for _ in 0..<random.below(20) where store.compaction != nil {
        store.proceedCompacting()
        if random.below(2) == 0 { _ = process.queue.performNext() }
        _ = store.takeSyncResult()
      }
    }
    if isFailing, !device.isNamePartial { device.informed.insert(process.number) }
    try observe(process, on: device)
  }

  // MARK: - The end

  /// Lets everything come everywhere and everybody look, and checks what everybody knows then.
  private func settle() throws(Violation) {
    tell("everything comes everywhere")
    isOver = true
    for device in devices { device.disk.mount = .writable }
    try finishCopies()
    try bringEverythingEverywhere()
    // Somebody may have left knowledge beside a folder that is nowhere else.
    for device in devices { try open(on: device, state: Self.state) }
    var before: [[String: [UInt8]]] = []
    var rounds = 0
    while before != devices.map(\.files) {
      rounds += 1
      try require(rounds < 12, "they never come to rest")
      before = devices.map(\.files)
      try bringEverythingEverywhere()
      for device in devices {
        for process in device.processes {
          device.writeBackWhatIsOld()
          try rescan(process, on: device)
          // It would write again then, too.
          if flaw != .neverRescanning { try flush(process, on: device) }
        }
      }
    }
    let first = devices[0].processes[0].store
    try checkWords(first.texts.joined())
    for device in devices {
      var stores = device.processes.map { ("process \($0.number)", $0.store) }
      for state in [nil, Self.state] {
        let store = try? NoteStore(path: Self.path, state: state, on: device.disk) {
          Identifier(high: 0, low: 0)
        }
        guard let store else { throw Violation(description: "it can't be opened") }
        let name = "who opens device \(device.number)\(state == nil ? "" : " with state")"
        stores.append((name, store))
      }
      for (name, store) in stores {
        try require(store.notebook == first.notebook, "\(name) differs from the first process")
      }
    }
  }

  /// Checks that a text holds what was acknowledged once, and what was refused at most once.
  private func checkWords(_ text: String) throws(Violation) {
    var counts: [String: Int] = [:]
    for word in text.split(separator: "«") { counts["«\(word)", default: 0] += 1 }
    for (word, count) in counts { try require(count == 1, "\(count) times \(word)") }
    let all = Set(words.values).union(refused)
    for word in counts.keys { try require(all.contains(word), "\(word) was never written") }
    for (id, _) in changes where !lost.contains(id) {
      try require(counts[words[id]!] == 1, "\(words[id]!) is missing")
    }
  }
}

extension NoteStore {
  /// All notes in their order, as far as they can be read.
  fileprivate var notes: [NoteID] {
    var notes: [NoteID] = []
    try? notebook.forEachSummary {
      notes.append($0.id)
      return true
    }
    return notes
  }
}
