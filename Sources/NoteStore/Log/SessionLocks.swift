internal import ReplicatingTypes

// THE FOLDER `sessions/`
//
// It is in the state folder, never in the notebook's. Each process has one file there for each session that it writes:
//
//     <identity of the session>-<inode of this file>-<inode of the notebook's folder>-<start of the machine>
//
// where that start is `FileSystem.boot`. A file is created under a temporary name, locked (`flock`), and gets its name then, before
// anything of the session is in the notebook's folder. It is removed when all segments of the session are complete. So a file that
// no process has locked tells of a session whose writer was killed, and `SessionCompletion` completes its open segments.
//
// It is not put on disk, which would take as long as putting the session there. It is empty because file systems put a name on disk
// with what is put there later, but not the bytes of the file. If a power cut takes it all the same, the session stays as it is.
//
// WHY NO SESSION OF A LIVING PROCESS IS TAKEN FOR A DEAD ONE
//
// The lock is held until the process ends, however that happens, and it means the same in all containers of one system. But a file may
// be there that its writer has not locked:
//
// - A process of an earlier version, or one without a state folder, has no file: its sessions are never touched.
// - A file that was copied, or restored from a backup, has another inode than its name says.
// - The state folder of several notebooks with one path and one identity, in containers, may be the same: the notebook's folder has
//   another inode than the name says.
// - Locks of another system don't count on a network's disk, or not always. So a file that was written during another start of a
//   system counts only where no other system writes, and then that one has ended.
//
// Where a file can't be locked, or not be read, its session counts as living.

/// The files by which the processes of a user tell each other which sessions are being written.
///
/// Failures are not reported: a session without its file is not completed by another process, and that is all.
struct SessionLocks {
  private static let name = "sessions"

  /// The age of an unfinished file whose writer was killed, in nanoseconds.
  private static let leftoverAge: Int64 = 60_000_000_000

  private let state: String?
  private let root: NotebookRoot
  /// The sessions that this process has claimed. Open, and thereby locked.
  private var held: [Identifier: Claim] = [:]

  /// A file that this process has locked.
  struct Claim {
    let session: Identifier
    fileprivate let name: String
    /// Keeps the lock.
    fileprivate let file: OpenDescriptor
    fileprivate let folder: OpenDescriptor

    /// Removes the file.
    func remove() { folder.descriptor.remove(name) }
  }

  /// - Parameter state: the folder for the state of this user's programs; nil for none.
  init(_ root: NotebookRoot, state: String?) {
    self.root = root
    self.state = state
  }

  // MARK: - Our own sessions

  /// Claims a session that is about to be written. The notebook has an identity and its folder exists.
  mutating func add(_ session: Identifier) {
    guard held[session] == nil, let identity = root.notebook, let state = folder(of: identity)
    else { return }
    held[session] = try? create(session, in: state)
  }

  private func create(
    _ session: Identifier, in state: StateFolder
  ) throws(StoreError) -> Claim? {
    let above = try state.create()
    try above.createFolder(Self.name)
    let folder = OpenDescriptor(try above.folder(Self.name))
    let temporary = FileDescriptor.temporary + session.description
    let file = OpenDescriptor(try folder.descriptor.createFile(temporary))
    do {
      let name = try self.name(of: session, file.descriptor, boot: root.system.boot)
      if try file.descriptor.lock(exclusively: true) {
        try folder.descriptor.rename(temporary, to: name)
        return Claim(session: session, name: name, file: file, folder: folder)
      }
    } catch {
      folder.descriptor.remove(temporary)
      throw error
    }
    folder.descriptor.remove(temporary)
    return nil
  }

  /// Gives up the claims of sessions that have no open segment left.
  mutating func releaseComplete() {
    for (session, claim) in held where !hasOpenSegment(session) {
      claim.remove()
      held[session] = nil
    }
  }

  private func hasOpenSegment(_ session: Identifier) -> Bool {
    do {
      return try root.open().folder("log").folder(session.description).names()
        .contains { $0.hasSuffix(SegmentName.openSuffix) }
    } catch { return error.reason != .notFound }
  }

  // MARK: - Sessions of others

  /// The sessions whose writers have ended without completing them. They are locked by this process until the result is gone,
  /// so that no other one completes them at the same time.
  func abandoned() -> [Claim] {
    var found: [Claim] = []
    // A notebook that others became one with may have had another identity when a session began.
    for identity in root.identities.sorted() {
      guard let state = folder(of: identity),
        let opened = try? FileDescriptor.folder("\(state.path)/\(Self.name)", on: root.system)
      else { continue }
      let folder = OpenDescriptor(opened)
      folder.descriptor.removeLeftovers(olderThan: Self.leftoverAge)
      for name in (try? folder.descriptor.names()) ?? [] {
        guard let session = Identifier(name.prefix { $0 != "-" }), held[session] == nil,
          let file = try? abandoned(session, name, in: folder.descriptor)
        else { continue }
        found.append(Claim(session: session, name: name, file: file, folder: folder))
      }
    }
    return found
  }

  /// Locks a file whose writer has ended; nil if it has not, or if that is not certain.
  private func abandoned(
    _ session: Identifier, _ name: String, in folder: borrowing FileDescriptor
  ) throws(StoreError) -> OpenDescriptor? {
    let parts = name.split(separator: "-", maxSplits: 3)
    guard parts.count == 4, let opened = try folder.regularFile(name) else { return nil }
    let file = OpenDescriptor(opened)
    let boot = String(parts[3])
    guard try self.name(of: session, file.descriptor, boot: boot) == name,
      boot == root.system.boot || !root.system.isSilent(folder.number),
      try file.descriptor.lock(exclusively: true)
    else { return nil }
    // Another process may have completed the session and removed the file since it was opened.
    let status = try file.descriptor.status()
    return try folder.status(of: name)?.isSameFile(as: status) == true ? file : nil
  }

  /// The name of the file `file`.
  private func name(
    of session: Identifier, _ file: borrowing FileDescriptor, boot: String
  ) throws(StoreError) -> String {
    "\(session)-\(try file.status().inode)-\(try root.open().status().inode)-\(boot)"
  }

  private func folder(of identity: Identifier) -> StateFolder? {
    state.flatMap { StateFolder($0, notebook: identity, at: root.path, on: root.system) }
  }
}
