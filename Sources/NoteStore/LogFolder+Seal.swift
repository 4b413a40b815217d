internal import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that we wrote and write no more.
struct KeptFile {
  var session: Identifier
  var path: String
  var size: UInt64
  /// How many records were appended before those in it.
  var first: UInt64
  /// The numbers of the records in it.
  var numbers: ClosedRange<UInt64>

  init(_ file: LiveFile) {
    session = file.session
    path = file.path
    size = file.status.size
    first = file.first
    numbers = file.header.recordsBefore + 1...file.end.number
  }
}

extension LogFolder {
  /// A file is complete when it has so many bytes, or has not grown for so long, or has been there for so long.
  private static let fullSize: UInt64 = 65_536
  private static let idleTime = Duration.seconds(5)
  private static let longestTime = Duration.seconds(60)

  /// Completes our file if it is time: a file that nobody writes is safe from the accidents that happen to one that
  /// somebody writes. Never waits.
  ///
  /// Call it whenever something may have been appended; what was appended since the last call counts as appended
  /// now.
  ///
  /// - Returns: when to call it at the latest, if nothing is appended until then.
  public mutating func sealIfDue(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard let live, !live.isComplete, live.last > live.first else { return nil }
    let began = live.began ?? now
    live.began = began
    if live.seenLast != live.last { (live.seenLast, live.grew) = (live.last, now) }
    let due = min(began + Self.longestTime, (live.grew ?? now) + Self.idleTime)
    if live.status.size < Self.fullSize, now < due { return due }
    seal()
    return nil
  }

  /// Leaves the current file as it is: the next append goes to the next segment of the session. As soon as all of it
  /// is on disk, it gets its final name.
  ///
  /// Never waits. Whatever fails, nothing is lost: under its first name the file is read as well.
  public mutating func seal() {
    guard let file = live, !file.isComplete else { return }
    file.isComplete = true
    remember(file, isUnread: false)
    kept.append(KeptFile(file))
    closing.append(file)
    if file.needsSync { requestSync() } else { finishClosed() }
  }

  /// Completes our file and ends its session in order. The next append begins another session.
  ///
  /// The name of the last segment says that the session has ended, so that no start has to look into its folder again. It does not say
  /// so where the segment got its name before: it would be another file for synchronisation engines.
  public mutating func finishSession() {
    live?.endsSession = true
    seal()
    endSession()
  }

  /// Lets go of the files that are on disk, under their final names.
  mutating func finishClosed() {
    let finished = closing.filter { !$0.needsSync }
    closing.removeAll { !$0.needsSync }
    for file in finished where file.isComplete && !file.isLost { rename(file) }
  }

  private mutating func rename(_ file: LiveFile) {
    switch file.place {
    case .touched: return
    case .gone:
      isLacking = true
      return lose(file, from: file.first, Self.replaced(file.path))
    case .ours: break
    }
    let (key, path) = (file.key, file.path)
    guard (try? file.seal()) != nil else { return }
    files[file.key] = files.removeValue(forKey: key)
    files[file.key]?.isCounted = true
    unfolded.files += 1
    unfolded.bytes += file.status.size
    if let index = kept.firstIndex(where: { $0.path == path }) { kept[index].path = file.path }
    jobs.append(SyncJob(file: file, before: file.folder, through: file.synced, isRename: true))
    syncs.submit(file.folder.descriptor.number, isFolder: true)
  }

  /// Looks whether the files we wrote before are there.
  mutating func checkKept() {
    for file in kept {
      // Only what is certain counts: a disk that cannot be read says nothing about what is on it.
      do throws(SystemError) {
        if try system.status(of: file.path, in: nil).size >= file.size { continue }
      } catch {
        guard error.errno == ENOENT || error.errno == ENOTDIR else { continue }
      }
      kept.removeAll { $0.path == file.path }
      if isCovered(file.session, file.numbers) { continue }
      isLacking = true
      lose(file.session, from: file.first, Self.replaced(file.path))
    }
  }
}
