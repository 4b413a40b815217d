internal import Bytes
internal import Notes
internal import ReplicatingTypes

// WHY A CRASH OR ANOTHER PROCESS AT ANY POINT DOES NO HARM
//
// A snapshot is written under a temporary name that is not read, put on disk, and then gets its final name, which is the
// hash of its bytes. It is never changed. It only adds to what the folder holds.
//
// A segment is removed when all of this is so:
// - A snapshot has stood for it for a day, so that synchronisation engines have delivered the snapshot before they delete the
//   segment.
// - This process has just read the segment to its end and found all of it in the notebook.
// - This process has found the bytes of the snapshot to be those of its name.
// - The segment's status is the one that it had when it was read.
//
// A snapshot is removed when greater ones stand for all of it. Greater is the one with more redactions; else the one with more changes, or as many and
// more records; else the larger one; else the one with the greater name. So two processes that see different snapshots cannot remove all of them: each snapshot is removed only for
// the sake of greater ones, and the greatest one stays.
//
// A snapshot that takes the place of others has all of their changes and records, so it is greater than they are. Its size would not tell,
// since it is compressed.
//
// What has words of notes that were purged is folded in any case. Of snapshots with such words no block is copied: their changes are
// taken from the notebook, which has them redacted. The snapshot that takes their place has more redactions than they, so it is the
// greater one though it may say less. A compaction that is to purge does not wait a day: it removes what has such words as soon as the
// snapshot in its place is on disk and was read.
//
// A removed file may come back from a machine that was away. It is read, holds nothing new, and is removed again a day later.
// Any number of processes may do all this at the same time.

/// Folds complete segments and smaller snapshots into a snapshot, and removes files that were folded a day ago. It works in
/// steps of a few milliseconds.
public final class Compaction {
  /// The result of a compaction.
  public struct Result: Equatable, Sendable {
    /// The number of segments that were folded.
    public var foldedFiles = 0
    /// The number of snapshots that were folded.
    public var foldedSnapshots = 0
    /// The bytes of the folded segments and snapshots.
    public var foldedBytes: UInt64 = 0
    /// The bytes of the snapshot that was written; 0 for none.
    public var writtenBytes: UInt64 = 0
    /// The number of segments and snapshots that were removed.
    public var removedFiles = 0
    /// The bytes of the removed files.
    public var removedBytes: UInt64 = 0
    /// The number of files that will be removed when a snapshot has stood for them for a day.
    public var waitingFiles = 0
    /// The number of files among those that have words of notes that were purged.
    public var waitingWords = 0
    /// The files that this user may not remove, by their paths in the folder: another user may.
    public var refused: [String] = []
    /// The files that have, or may have, words of purged notes and can't be folded, by their paths in the folder: another process is
    /// writing them, they wait for records that are missing, or they are no segments.
    public var unfoldable: [String] = []
  }

  private enum Stage {
    case begin
    case sweep(Sweep)
    case inspect(left: [SnapshotFile], blocks: [PackedChanges.Block]?)
    case verify(left: [SnapshotFile], hash: SHA256, offset: UInt64)
    case remove(segments: [Sweep.Segment], snapshots: [SnapshotFile])
    case plan
    case write(SnapshotWriter, unsynchronized: Int)
    case publish(SnapshotWriter)
    case check(SnapshotFile, blocks: [PackedChanges.Block])
    case done
  }

  /// The time that a snapshot must have been there before the files that it stands for are removed, in nanoseconds: a day.
  static let grace: Int64 = 86_400_000_000_000
  /// The most bytes that are written before they are put on disk: other synchronizations wait for this one.
  private static let syncSize = 4 << 20
  private static let readSize = 256 << 10

  private let isForced: Bool
  private let isPurging: Bool
  private var stage = Stage.begin
  private(set) var result = Result()
  /// The snapshots in the folder that can be read.
  private var snapshots: [SnapshotFile] = []
  private var segments: [Sweep.Segment] = []
  /// The names of the snapshots with words of notes that were purged.
  private var unredacted: Set<String> = []
  /// The number of purged notes when the new snapshot was begun.
  private var purged = 0
  private var removedSegments = 0
  /// The number of those that had words of purged notes.
  private var removedWords = 0
  /// The number of files with words of purged notes that this user may not remove.
  private var refusedWords = 0
  /// The snapshots that stand for the files to be removed.
  private var relied: [SnapshotFile] = []
  private var new: NewSnapshot?
  /// The files and folders that have to be put on disk before the next step; `isWaiting` once the first one was submitted.
  private var syncs: [(opened: OpenDescriptor, isFolder: Bool)] = []
  private(set) var isWaiting = false

  /// The number of files, and their bytes, that were counted as new when it began.
  let unfolded: (files: Int, bytes: UInt64)
  /// The number of the notebook's redactions when it began.
  let redactions: Int

  /// - Parameters:
  ///   - isForced: whether to fold everything, however little it is.
  ///   - isPurging: whether to remove files with words of purged notes as soon as a snapshot stands for them.
  init(
    isForced: Bool, isPurging: Bool = false, unfolded: (files: Int, bytes: UInt64),
    redactions: Int = 0
  ) {
    self.isForced = isForced
    self.isPurging = isPurging
    self.unfolded = unfolded
    self.redactions = redactions
  }

  var isDone: Bool { if case .done = stage { true } else { false } }

  /// Does one step, or nothing while it waits for the disk.
  ///
  /// - Throws: the error that stops it; nothing is lost by that.
  func step(
    _ folder: inout LogFolder, _ book: NoteBook, _ catalog: inout SnapshotCatalog
  ) throws(StoreError) {
    if isWaiting {
      guard let answer = folder.disk.takeAsideAnswer() else { return }
      isWaiting = false
      let sync = syncs.removeFirst()
      guard answer == 0 else {
        throw StoreError(
          operation: sync.isFolder ? "fsync" : "fdatasync", path: sync.opened.descriptor.path,
          errno: answer)
      }
    }
    if let sync = syncs.first {
      folder.disk.synchronizeAside(sync.opened, isFolder: sync.isFolder)
      isWaiting = true
      return
    }
    let current = stage
    stage = .done  // or what is in it would be copied
    switch current {
    case .begin: try begin(folder, book, catalog)
    case .sweep(let sweep): try self.sweep(sweep, folder, book, catalog)
    case .inspect(let left, let blocks): inspect(left, blocks, folder, book, &catalog)
    case .verify(let left, let hash, let offset):
      try verify(left, hash, offset, folder, &catalog)
    case .remove(let segments, let snapshots):
      try remove(segments, snapshots, folder, &catalog)
    case .plan: try plan(folder, book, catalog)
    case .write(let writer, let count): try write(writer, count, book)
    case .publish(let writer): try publish(writer, folder)
    case .check(let file, let blocks): try check(file, blocks, folder, book, &catalog)
    case .done: break
    }
  }

  // MARK: - Reading the segments

  private func begin(
    _ folder: borrowing LogFolder, _ book: NoteBook, _ catalog: SnapshotCatalog
  ) throws(StoreError) {
    var names: [String] = []
    do {
      let root = try folder.root.open()
      root.removeLeftovers(olderThan: Self.grace)
      if let folder = try? root.folder(SnapshotFormat.folder) {
        folder.removeLeftovers(olderThan: Self.grace)
        for name in try folder.names() where !LogName.isTemporary(name) {
          // A snapshot that is still being read is not relied on, nor one that cannot be read.
          guard let known = catalog.known[name]?.status,
            (try? folder.status(of: name)) == known,
            let file = try? SnapshotFile(name, in: folder), file.status == known
          else { continue }
          snapshots.append(file)
        }
      }
      let log = try root.folder("log")
      log.removeLeftovers(olderThan: Self.grace)
      names = try log.names()
    } catch {
      // A notebook that was not written yet has no folder, and one whose segments are all folded has no log.
      guard error.reason == .notFound else { throw error }
    }
    guard !names.isEmpty else { return beginToInspect(folder, book, catalog) }
    stage = .sweep(
      Sweep(
        folders: names, coverage: snapshots.flatMap(\.coverage),
        openSession: folder.writer.session))
  }

  private func sweep(
    _ sweep: Sweep, _ folder: borrowing LogFolder, _ book: NoteBook, _ catalog: SnapshotCatalog
  ) throws(StoreError) {
    var sweep = sweep
    let log = try folder.root.open().folder("log")
    var (bytes, looks) = (0, 0)
    while bytes < Self.readSize, looks < 32 {
      guard let read = sweep.next(in: log, book) else {
        segments = sweep.segments
        result.unfoldable = sweep.unfoldable.map { "log/\($0)" }
        return beginToInspect(folder, book, catalog)
      }
      bytes += read
      looks += 1
    }
    stage = .sweep(sweep)
  }

  // MARK: - Looking for words of purged notes

  /// Looks through the snapshots, but for those that were looked through since the last note was purged.
  private func beginToInspect(
    _ folder: borrowing LogFolder, _ book: NoteBook, _ catalog: SnapshotCatalog
  ) {
    let left = snapshots.filter { catalog.known[$0.name]?.purged != book.purged.count }
    if book.purged.isEmpty || left.isEmpty { return endInspecting(folder, catalog) }
    stage = .inspect(left: left, blocks: nil)
  }

  /// Looks on in the last of the snapshots.
  private func inspect(
    _ left: [SnapshotFile], _ blocks: [PackedChanges.Block]?, _ folder: borrowing LogFolder,
    _ book: NoteBook, _ catalog: inout SnapshotCatalog
  ) {
    guard let file = left.last else { return endInspecting(folder, catalog) }
    var blocks =
      blocks ?? file.changes.ranges.flatMap { file.changes.blocks(of: $0.replica) }
    var size = 0
    while size < Self.readSize, let block = blocks.popLast() {
      guard let changes = try? file.read(block) else { continue }
      size += Self.work(changes)
      if hasWords(changes, by: file.changes.replica(of: block), of: file, book) {
        unredacted.insert(file.name)
        blocks = []
      }
    }
    if !blocks.isEmpty {
      stage = .inspect(left: left, blocks: blocks)
      return
    }
    if !unredacted.contains(file.name) { catalog.known[file.name]?.purged = book.purged.count }
    stage = .inspect(left: left.dropLast(), blocks: nil)
  }

  /// True if changes in a block say what is not in the notebook any more. A block that can't be read says nothing.
  /// The work of reading a block, in bytes of a file that take as long. The size of the block does not tell it, since it is compressed: 300
  /// bytes may be 64 KiB of changes.
  private static func work(_ changes: ChangeBlock) -> Int { changes.size / 2 + 1024 }

  private func hasWords(
    _ changes: ChangeBlock, by replica: ReplicaID, of file: SnapshotFile, _ book: NoteBook
  ) -> Bool {
    guard let mentions = file.changes.lastState(of: replica)?.mentions else { return false }
    var redactor = Redactor(book.purged, author: replica, mentions: mentions)
    return changes.numbers.contains {
      ((try? redactor.redacted(changes[$0].encoded)) ?? nil) != nil
    }
  }

  private func endInspecting(_ folder: borrowing LogFolder, _ catalog: SnapshotCatalog) {
    // What is to be purged is removed at the end, when a snapshot stands for it.
    if isPurging { stage = .plan } else { beginToVerify(folder, catalog) }
  }

  private func hasWords(_ snapshot: SnapshotFile) -> Bool { unredacted.contains(snapshot.name) }

  private func countWords() {
    result.waitingWords =
      segments.count { $0.isUnredacted } - removedWords + snapshots.count { hasWords($0) }
      - refusedWords
  }

  // MARK: - Removing

  /// The snapshots that are relied on: those that have been there for a day, or when purging all without words of purged notes.
  private func mature(_ folder: borrowing LogFolder) -> [SnapshotFile] {
    if isPurging { return snapshots.filter { !hasWords($0) } }
    let latest = folder.root.system.now - Self.grace
    return snapshots.filter { $0.status.changed <= latest }
  }

  /// The files that the snapshots `trusted` stand for.
  private func removable(
    _ trusted: [SnapshotFile]
  ) -> (segments: [Sweep.Segment], snapshots: [SnapshotFile]) {
    let coverage = Self.coverage(of: trusted)
    return (
      segments.filter { coverage.contains($0.piece) && ($0.isUnredacted || !isPurging) },
      Self.dominated(snapshots, by: trusted).filter { hasWords($0) || !isPurging }
    )
  }

  private static func coverage(of snapshots: [SnapshotFile]) -> [Identifier: NumberRanges] {
    var coverage: [Identifier: NumberRanges] = [:]
    for snapshot in snapshots { coverage.insert(snapshot.coverage) }
    return coverage
  }

  /// The snapshots that greater ones among `others` stand for.
  private static func dominated(
    _ snapshots: [SnapshotFile], by others: [SnapshotFile]
  ) -> [SnapshotFile] {
    let others = others.sorted { $0.rank > $1.rank }
    var coverage: [Identifier: NumberRanges] = [:]
    var changes: [Identifier: NumberRanges] = [:]
    var dominated: [SnapshotFile] = []
    var next = 0
    for snapshot in snapshots.sorted(by: { $0.rank > $1.rank }) {
      while next < others.count, others[next].rank > snapshot.rank {
        coverage.insert(others[next].coverage)
        for (replica, numbers) in others[next].changes.ranges {
          changes.insert(numbers, of: replica)
        }
        next += 1
      }
      if snapshot.coverage.allSatisfy({ coverage.contains($0) }),
        snapshot.changes.ranges.allSatisfy({ changes.contains($0.numbers, of: $0.replica) })
      {
        dominated.append(snapshot)
      }
    }
    return dominated
  }

  private func beginToVerify(_ folder: borrowing LogFolder, _ catalog: SnapshotCatalog) {
    let mature = mature(folder)
    let (segments, files) = removable(mature)
    let left = mature.filter { catalog.verified[$0.name] != $0.status }
    stage =
      segments.isEmpty && files.isEmpty
      ? afterRemoving : .verify(left: left, hash: SHA256(), offset: 0)
  }

  private var afterRemoving: Stage { isPurging ? .done : .plan }

  /// Reads on in the last of the snapshots that have to be verified.
  private func verify(
    _ left: [SnapshotFile], _ hash: SHA256, _ offset: UInt64, _ folder: borrowing LogFolder,
    _ catalog: inout SnapshotCatalog
  ) throws(StoreError) {
    guard let file = left.last else {
      let verified = mature(folder).filter { catalog.verified[$0.name] == $0.status }
      let (segments, files) = removable(verified)
      relied = verified
      stage = .remove(segments: segments, snapshots: files)
      return
    }
    var (hash, offset) = (hash, offset)
    do {
      if let bytes = try file.descriptor.next(&offset, atMost: Self.readSize) {
        hash.update(bytes)
        stage = .verify(left: left, hash: hash, offset: offset)
        return
      }
      if offset == file.status.size, SnapshotFormat.name(of: hash) == file.name {
        catalog.verified[file.name] = file.status
      } else if SnapshotFile.isName(file.name) {
        folder.damageList.report(file.path, 0, SnapshotFile.otherContent)
      }
    } catch { folder.damageList.report(file.path, 0, error) }
    stage = .verify(left: left.dropLast(), hash: SHA256(), offset: 0)
  }

  private func remove(
    _ segments: [Sweep.Segment], _ files: [SnapshotFile], _ folder: borrowing LogFolder,
    _ catalog: inout SnapshotCatalog
  ) throws(StoreError) {
    let root = try folder.root.open()
    // A snapshot may have been removed since.
    let present = try root.folder(SnapshotFormat.folder)
    for file in relied where (try? present.status(of: file.name)) != file.status {
      stage = afterRemoving
      return
    }
    for segment in segments.suffix(64) {
      let log = try root.folder("log")
      guard let sessionFolder = try? log.folder(segment.folder),
        (try? sessionFolder.status(of: segment.name)) == segment.status
      else { continue }
      guard sessionFolder.tryToRemove(segment.name) else {
        result.refused.append("log/\(segment.folder)/\(segment.name)")
        if segment.isUnredacted { refusedWords += 1 }
        continue
      }
      removedSegments += 1
      if segment.isUnredacted { removedWords += 1 }
      result.removedFiles += 1
      result.removedBytes += segment.status.size
      // The folder goes with its last file. A process that was writing there begins another session.
      if segment.piece.session != folder.writer.session { log.removeFolder(segment.folder) }
    }
    if segments.count > 64 {
      stage = .remove(segments: segments.dropLast(64), snapshots: files)
      return
    }
    if !files.isEmpty, let present = try? root.folder(SnapshotFormat.folder) {
      for file in files where (try? present.status(of: file.name)) == file.status {
        guard present.tryToRemove(file.name) else {
          result.refused.append("\(SnapshotFormat.folder)/\(file.name)")
          if hasWords(file) { refusedWords += 1 }
          continue
        }
        snapshots.removeAll { $0 === file }
        catalog.known[file.name] = nil
        folder.coverage.invalidate()
        result.removedFiles += 1
        result.removedBytes += file.status.size
      }
    }
    countWords()
    stage = afterRemoving
  }

  // MARK: - Writing

  private func plan(
    _ folder: borrowing LogFolder, _ book: NoteBook, _ catalog: SnapshotCatalog
  ) throws(StoreError) {
    let coverage = Self.coverage(of: snapshots)
    let new = segments.filter { !coverage.contains($0.piece) }
    let size = new.reduce(0) { $0 + $1.status.size }
    let dominated = Self.dominated(snapshots, by: snapshots)
    let present = snapshots.filter { snapshot in !dominated.contains { $0 === snapshot } }
    result.waitingFiles =
      segments.count - new.count - removedSegments + dominated.count - result.refused.count
    countWords()
    let known = present.filter { Self.isKnown($0, book) }
    let isEnough =
      isForced
      ? !new.isEmpty || present.count > 1
      : new.count >= catalog.enough.files || size >= catalog.enough.bytes
    let isUnredacted = known.contains(where: hasWords) || new.contains { $0.isUnredacted }
    guard isEnough || isUnredacted else {
      if isPurging { beginToVerify(folder, catalog) }
      return
    }
    var folded = Self.folded(known, with: size, isForced: isForced)
    folded += known.filter { snapshot in
      hasWords(snapshot) && !folded.contains { $0 === snapshot }
    }
    let kept = present.filter { snapshot in !folded.contains { $0 === snapshot } }
    let redactions =
      folded.map { min($0.redactions + (hasWords($0) ? 1 : 0), SnapshotFormat.mostRedactions) }
      .max() ?? 0
    purged = book.purged.count
    let writer = SnapshotWriter(
      of: folder.notebook!, coverage: Self.joined(new.map(\.piece) + folded.flatMap(\.coverage)),
      redactions: redactions, parts: Self.parts(new, folded, kept),
      folding: folded.filter { !hasWords($0) })
    result.foldedFiles = new.count
    result.foldedSnapshots = folded.count
    result.foldedBytes = size + folded.reduce(0) { $0 + $1.status.size }
    let root = try folder.root.open()
    let isFirst = try root.createFolder(SnapshotFormat.folder)
    self.new = try NewSnapshot(in: root, folder.root.makeIdentifier())
    if isFirst { syncs.append((OpenDescriptor(root), true)) }
    stage = .write(writer, unsynchronized: 0)
  }

  private static func isKnown(_ snapshot: SnapshotFile, _ book: NoteBook) -> Bool {
    snapshot.changes.ranges.allSatisfy { $0.numbers.upperBound <= book.version[$0.replica] }
  }

  /// The snapshots to fold together with `size` bytes that are new. Each byte is written again only with at least half as many
  /// others, so O(log n) times; compressed ones count for less than they were, so a few times more.
  private static func folded(
    _ snapshots: [SnapshotFile], with size: UInt64, isForced: Bool
  ) -> [SnapshotFile] {
    var folded: [SnapshotFile] = []
    var sum = size
    for snapshot in snapshots.sorted(by: { ($0.status.size, $0.name) < ($1.status.size, $1.name) })
    {
      guard isForced || snapshot.status.size / 2 <= sum else { break }
      folded.append(snapshot)
      sum += snapshot.status.size
    }
    return folded
  }

  /// The same pieces, with those that touch or overlap joined.
  private static func joined(_ pieces: [SessionPiece]) -> [SessionPiece] {
    var joined: [SessionPiece] = []
    for piece in pieces.sorted(by: {
      $0.session == $1.session
        ? $0.start.number < $1.start.number : $0.session < $1.session
    }) {
      if let last = joined.last, last.session == piece.session,
        piece.start.number <= last.end.number
      {
        if piece.end.number > last.end.number { joined[joined.count - 1].end = piece.end }
      } else {
        joined.append(piece)
      }
    }
    return joined
  }

  /// The changes to write: those in the new segments and the folded snapshots that are not in the kept snapshots.
  private static func parts(
    _ new: [Sweep.Segment], _ folded: [SnapshotFile], _ kept: [SnapshotFile]
  ) -> [SnapshotWriter.Part] {
    var lasts = Version()
    for segment in new {
      let changes = segment.piece.end.changes
      if changes > 0 { lasts.insert(ChangeID(replica: segment.piece.session, number: changes)) }
      for change in segment.carried { lasts.insert(change) }
    }
    var replicas = Set(lasts.replicas)
    for snapshot in folded { replicas.formUnion(snapshot.changes.ranges.map(\.replica)) }
    var reaches: [Identifier: NumberRanges] = [:]
    for snapshot in kept {
      for (replica, numbers) in snapshot.changes.ranges where replicas.contains(replica) {
        reaches.insert(numbers, of: replica)
      }
    }
    var parts: [SnapshotWriter.Part] = []
    for replica in replicas {
      let reach = reaches[replica]?.reach ?? 0
      var numbers: ClosedRange<UInt64>?
      var state = ReplicaState()
      if lasts[replica] > reach {
        numbers = reach + 1...lasts[replica]
        for snapshot in kept where snapshot.changes.numbers(of: replica)?.upperBound == reach {
          state = snapshot.changes.lastState(of: replica)!
        }
      }
      for snapshot in folded {
        guard let more = snapshot.changes.numbers(of: replica) else { continue }
        if more.lowerBound < numbers?.lowerBound ?? .max {
          state = snapshot.changes.state(before: snapshot.changes.blocks(of: replica)[0])
        }
        numbers =
          numbers.map {
            min($0.lowerBound, more.lowerBound)...max($0.upperBound, more.upperBound)
          } ?? more
      }
      if let numbers {
        parts.append(SnapshotWriter.Part(replica: replica, numbers: numbers, state: state))
      }
    }
    return parts
  }

  private func write(
    _ writer: SnapshotWriter, _ count: Int, _ book: NoteBook
  ) throws(StoreError) {
    guard let new else { return }
    var writer = writer
    guard let bytes = try writer.next(book) else {
      syncs.append((new.file, false))
      stage = .publish(writer)
      return
    }
    try new.file.descriptor.append(bytes[...])
    let count = count + bytes.count
    if count >= Self.syncSize { syncs.append((new.file, false)) }
    stage = .write(writer, unsynchronized: count >= Self.syncSize ? 0 : count)
  }

  /// Gives the file, which is on disk, its final name.
  private func publish(
    _ writer: SnapshotWriter, _ folder: borrowing LogFolder
  ) throws(StoreError) {
    guard let new else { return }
    let file = try new.publish(as: writer.name)
    self.new = nil
    folder.coverage.invalidate()
    result.writtenBytes = writer.size
    syncs.append((new.folder, true))
    stage = .check(
      file, blocks: file.changes.ranges.flatMap { file.changes.blocks(of: $0.replica) })
  }

  /// Reads the snapshot that was written, to check it.
  private func check(
    _ file: SnapshotFile, _ blocks: [PackedChanges.Block], _ folder: borrowing LogFolder,
    _ book: NoteBook, _ catalog: inout SnapshotCatalog
  ) throws(StoreError) {
    var size = 0
    var left = blocks[...]
    while size < Self.readSize, let block = left.popLast() {
      size += Self.work(try file.read(block))
    }
    if left.isEmpty {
      catalog.known[file.name] = KnownSnapshot(file)
      catalog.known[file.name]!.purged = purged
      if !isPurging { return }
      snapshots.append(file)
      beginToVerify(folder, catalog)
    } else {
      stage = .check(file, blocks: Array(left))
    }
  }
}
