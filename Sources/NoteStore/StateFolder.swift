internal import Bytes
import Notes
import ReplicatingTypes

/// The folder in which this user's programs keep what makes a notebook quick to open:
/// `<state>/decent-notes/<notebook>-<hash of the notebook's path>/`.
///
/// It is not shared between machines and may be lost at any time: files that are missing or wrong in it are made anew. So they are
/// not put on disk for good, and failures to write them are not reported.
struct StateFolder {
  /// The name of the folder of this program among those of others.
  static let name = "decent-notes"
  /// The name of the notebook's archive. A new archive takes the name; a process that has the old one open goes on reading it.
  private static let archive = "archive"
  /// A longer manifest is not read, nor written.
  private static let largestManifest: UInt64 = 16 << 20

  let path: String
  let system: any FileSystem
  /// The queue that closes archives, which are large; nil for a folder of which no archive is used.
  private let closer: (any SyncQueue)?

  /// The state folder of a notebook in the folder at `folder`, which exists. The path is a part of the name, because a copy
  /// of a notebook elsewhere must know only what is in that copy.
  init?(
    _ state: String, notebook: Identifier, at folder: String, on system: any FileSystem,
    closer: (any SyncQueue)? = nil
  ) {
    guard let real = system.resolved(folder) else { return nil }
    let digest = SHA256.hexDigest(of: Array(real.utf8)).prefix(16)
    path = "\(state)/\(Self.name)/\(notebook)-\(digest)"
    self.system = system
    self.closer = closer
  }

  /// The archive; nil if something else has its name.
  ///
  /// - Throws: the reason why there is none that can be used.
  func openArchive() throws -> NotebookArchive? {
    try Self.archive(Self.archive, in: try FileDescriptor.folder(path, on: system), closer)
  }

  /// The manifest beside the archive; an empty one if there is none that can be read.
  func manifest() -> StartManifest {
    guard let folder = try? FileDescriptor.folder(path, on: system),
      let file = try? folder.regularFile(StartManifest.name),
      let size = try? file.status().size, size <= Self.largestManifest,
      let bytes = try? file.read(Int(size), at: 0)
    else { return StartManifest() }
    return StartManifest(decoding: bytes)
  }

  /// Replaces the manifest, in one step.
  func keep(_ manifest: StartManifest) {
    let bytes = manifest.encoded()
    guard manifest != StartManifest(), bytes.count <= Self.largestManifest else {
      return remove(StartManifest.name)
    }
    guard let folder = try? create() else { return }
    let temporary = FileDescriptor.temporary + StartManifest.name
    folder.remove(temporary)
    guard let new = try? folder.createFile(temporary) else { return }
    do {
      try new.append(bytes[...])
      try folder.rename(temporary, to: StartManifest.name)
    } catch {
      folder.remove(temporary)
    }
  }

  /// Removes a file, if it is there.
  private func remove(_ name: String) {
    (try? FileDescriptor.folder(path, on: system))?.remove(name)
  }

  /// Removes the archive. A process that has it open goes on reading it.
  func removeArchive() {
    remove(Self.archive)
  }

  /// Opens the archive called `name`. It can be read as long as it is kept, even if the name is given to another file.
  private static func archive(
    _ name: String, in folder: borrowing FileDescriptor, _ closer: (any SyncQueue)?
  ) throws -> NotebookArchive? {
    guard var file = try folder.regularFile(name) else { return nil }
    file.closer = closer
    let size = try file.status().size
    let opened = OpenDescriptor(file)
    return try NotebookArchive(size: Int(clamping: size)) { range throws(ArchiveFailure) in
      guard UInt64(range.upperBound) <= size else {
        throw ArchiveFailure(reason: "a place beyond the end")
      }
      let bytes: [UInt8]
      do {
        bytes = try opened.descriptor.read(range.count, at: UInt64(range.lowerBound))
      } catch { throw ArchiveFailure(reason: "\(error)") }
      guard bytes.count == range.count else { throw ArchiveFailure(reason: "it became shorter") }
      return bytes
    }
  }

  /// Opens the folder, which is created with those above it as far as they are missing.
  func create() throws(StoreError) -> FileDescriptor {
    var missing: [String] = []
    var above = path
    while (try? FileDescriptor.folder(above, followingLinks: true, on: system)) == nil {
      missing.append(above)
      guard let parent = above.parentPath else { break }
      above = parent
    }
    try system.createFolders(missing.reversed())
    return try FileDescriptor.folder(path, on: system)
  }

  /// Copies a file into the folder `quarantine`, under its own name behind the beginning of its hash; returns the path of the
  /// copy, nil if there is no such file, or if it can't be read.
  func quarantine(_ file: String) throws(StoreError) -> String? {
    guard let parent = file.parentPath, let name = file.split(separator: "/").last,
      let source = try? FileDescriptor.folder(parent, followingLinks: true, on: system)
        .regularFile(String(name))
    else { return nil }
    var hash = SHA256()
    var offset: UInt64 = 0
    while let bytes = try source.next(&offset) { hash.update(bytes) }
    let folder = try create()
    try folder.createFolder("quarantine")
    let quarantine = try folder.folder("quarantine")
    let copy = "\(hash.hexDigest.prefix(16))-\(name)"
    if try quarantine.status(of: copy) == nil {
      let temporary = FileDescriptor.temporary + copy
      quarantine.remove(temporary)
      let target = try quarantine.createFile(temporary)
      offset = 0
      do {
        while let bytes = try source.next(&offset) { try target.append(bytes[...]) }
        try target.synchronizeFile()
        try quarantine.rename(temporary, to: copy)
      } catch {
        // On a full disk the unfinished copy would only take room.
        quarantine.remove(temporary)
        throw error
      }
      try quarantine.synchronizeFolder()
    }
    return "\(quarantine.path)/\(copy)"
  }

  /// Removes the copies in the folder `quarantine`; returns how many.
  func removeQuarantine() -> Int {
    guard let folder = try? FileDescriptor.folder(path, on: system),
      let quarantine = try? folder.folder("quarantine"), let names = try? quarantine.names()
    else { return 0 }
    for name in names { quarantine.remove(name) }
    folder.removeFolder("quarantine")
    return names.count
  }

  /// Notes that the user is told of something; false if that was noted before, by whichever process.
  func noteTelling(of name: String) -> Bool {
    guard let folder = try? create() else { return true }
    return (try? folder.createFile("told-\(name)")) != nil
  }

  /// A new archive, to be written piece by piece. `name` must be new.
  func createArchive(_ name: String) throws(StoreError) -> NewArchive {
    let folder = try create()
    // An unfinished archive that has not grown for an hour was left by a process that was killed.
    folder.removeLeftovers(olderThan: 3_600_000_000_000)
    let temporary = FileDescriptor.temporary + name
    return NewArchive(
      name: temporary, file: try folder.createFile(temporary), folder: OpenDescriptor(folder),
      closer: closer)
  }

  /// An archive that is being written. It vanishes unless it is finished.
  final class NewArchive {
    private let name: String
    private let file: OpenDescriptor
    private let folder: OpenDescriptor
    private let closer: (any SyncQueue)?
    private var isFinished = false

    fileprivate init(
      name: String, file: consuming FileDescriptor, folder: OpenDescriptor, closer: (any SyncQueue)?
    ) {
      self.name = name
      self.closer = closer
      self.file = OpenDescriptor(file)
      self.folder = folder
    }

    deinit {
      if !isFinished { folder.descriptor.remove(name) }
    }

    func append(_ bytes: [UInt8]) throws(StoreError) { try file.descriptor.append(bytes[...]) }

    /// Puts it in the place of the old one, and opens it. (Not by its new name: another process may give that to its own
    /// archive at the same moment, which holds other changes.)
    func finish() throws -> NotebookArchive? {
      let archive = try StateFolder.archive(name, in: folder.descriptor, closer)
      // Removed before the renaming: when a rename replaces a file, some systems wait until the new one is on disk.
      folder.descriptor.remove(StateFolder.archive)
      try folder.descriptor.rename(name, to: StateFolder.archive)
      isFinished = true
      return archive
    }
  }
}
