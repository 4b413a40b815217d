internal import ReplicatingTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The folder of a notebook: its path, the identities of the notebook, and how both come to be on disk.
///
/// Nothing is created before `establish()`.
final class NotebookRoot {
  /// The folder's path, as given, without slashes at the end.
  let path: String
  let system: any FileSystem
  /// Makes 128 random bits.
  let makeIdentifier: () -> Identifier
  /// The identities that any file in the folder names: `decent.json`, its conflict copies, logs, snapshots.
  private(set) var identities: Set<Identifier>
  /// The reasons why conflict copies of `decent.json` could not be read.
  private(set) var unreadable: [StoreError] = []
  /// The identity for a notebook that has none yet.
  private var adopted: Identifier?
  /// The folders above the notebook's folder whose entries lead to it and may not be on disk.
  private var unsyncedParents: [String] = []

  /// Reads the identities of the notebook. A folder that does not exist is a notebook without any.
  ///
  /// - Throws: also if `log` or `snap` is something else than a folder.
  init(
    path: String, on system: any FileSystem, makeIdentifier: @escaping () -> Identifier
  ) throws(StoreError) {
    var path = path.isEmpty ? "." : path
    while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
    (identities, unreadable) = try Self.identities(at: path, on: system)
    try Self.checkFolders(at: path, on: system)
    self.path = path
    self.system = system
    self.makeIdentifier = makeIdentifier
  }

  /// The notebook's identity; nil for a new notebook.
  ///
  /// A notebook has several identities when several machines wrote to its folder before they met. The smallest one
  /// names the notebook on every machine.
  var notebook: Identifier? { identities.min() ?? adopted }

  /// True if `identity` is one of this notebook's.
  func isOurs(_ identity: Identifier) -> Bool {
    identities.contains(identity) || identity == adopted
  }

  /// Sets the identity that `establish()` writes. Does nothing when the notebook has one.
  func adopt(notebook: Identifier) {
    if self.notebook == nil { adopted = notebook }
  }

  /// Adds an identity that was read from a file of the folder.
  func learn(_ identity: Identifier) { identities.insert(identity) }

  /// Opens the folder.
  func open() throws(StoreError) -> FileDescriptor {
    var root = try FileDescriptor.folder(path, followingLinks: true, on: system)
    root.users = .ofFolder
    return root
  }

  /// Reads `decent.json` and its conflict copies, which may have come or changed since the last time.
  func readIdentities() throws(StoreError) {
    let (found, unreadable) = try Self.identities(at: path, on: system)
    identities.formUnion(found)
    self.unreadable = unreadable
  }

  /// The identities in `decent.json` and its conflict copies in the folder at `path`, and the reasons why copies could not be read.
  private static func identities(
    at path: String, on system: any FileSystem
  ) throws(StoreError) -> (Set<Identifier>, unreadable: [StoreError]) {
    do {
      let folder = try FileDescriptor.folder(path, followingLinks: true, on: system)
      return try NotebookFile.readAll(in: folder)
    } catch {
      // A missing folder can be created; a path through something that is no folder never can.
      guard error.reason == .notFound, error.errno != ENOTDIR else { throw error }
      return ([], [])
    }
  }

  /// Throws if the folder of the logs, or that of the snapshots, is something else, or can't be opened. Else the notes in it would not be
  /// there, without a word about it.
  private static func checkFolders(
    at path: String, on system: any FileSystem
  ) throws(StoreError) {
    do throws(StoreError) {
      let root = try FileDescriptor.folder(path, followingLinks: true, on: system)
      for name in ["log", SnapshotFormat.folder] {
        guard let kind = try root.status(of: name)?.kind else { continue }
        guard kind == .folder else { throw misplaced("\(root.path)/\(name)") }
        do { _ = try root.folder(name) } catch {
          // It may have been removed meanwhile.
          guard error.reason == .notFound else { throw error }
        }
      }
    } catch {
      guard error.reason == .notFound else { throw error }
    }
  }

  /// The error about something in the place of a folder.
  static func misplaced(_ path: String) -> StoreError {
    StoreError(
      operation: "open", path: path, reason: .other,
      detail: "this is no folder (a link to one is not followed)")
  }

  // MARK: - Creating

  /// Makes sure that the folder exists and that `decent.json` names the notebook; opens the folder.
  func establish() throws(StoreError) -> FileDescriptor {
    try readIdentities()
    try createFolders()
    let root = try open()
    try establishIdentity(in: root)
    return root
  }

  /// Makes another notebook's identity one of this notebook's, with a file beside `decent.json` that reads like a
  /// conflict copy of it.
  ///
  /// - Throws: the disk's error; then the identity was not added.
  func join(_ identity: Identifier) throws(StoreError) {
    if isOurs(identity) { return }
    guard !identities.isEmpty else { return adopt(notebook: identity) }
    try publish(identity, as: NotebookFile.name(besides: identity), in: try open())
    identities.insert(identity)
  }

  /// Makes sure that `decent.json` exists, and reads it.
  private func establishIdentity(in root: borrowing FileDescriptor) throws(StoreError) {
    if let found = try NotebookFile.read(in: root) {
      // Another process may have written it since the notebook was opened.
      identities.insert(found)
      return
    }
    try publish(notebook ?? makeIdentifier(), as: NotebookFile.name, in: root)
    // The file that is there now counts, whichever process wrote it.
    guard let found = try NotebookFile.read(in: root) else {
      throw StoreError(
        operation: "open", path: "\(path)/\(NotebookFile.name)", reason: .notFound,
        detail: "it vanished")
    }
    identities.insert(found)
  }

  private func publish(
    _ identity: Identifier, as name: String, in root: borrowing FileDescriptor
  ) throws(StoreError) {
    let temporary = "\(FileDescriptor.temporary)\(makeIdentifier())-\(NotebookFile.name)"
    let file = try root.createFile(temporary)
    defer { root.remove(temporary) }
    try file.append(NotebookFile.encoded(identity)[...])
    try file.synchronizeFile()
    _ = try root.publish(temporary, as: name)
    try root.synchronizeFolder()
  }

  /// Creates the folder and those above it, as far as they are missing, and puts their names on disk.
  private func createFolders() throws(StoreError) {
    var missing: [String] = []
    var folder = path
    while true {
      // Noted before the attempt: if putting the name on disk fails, the next attempt finds the folder there.
      if let parent = folder.parentPath, !unsyncedParents.contains(parent) {
        unsyncedParents.append(parent)
      }
      do {
        try system.createFolder(folder, in: nil, for: .owner)
        break
      } catch {
        if error.errno == EEXIST || error.errno == EISDIR { break }
        guard error.errno == ENOENT, let parent = folder.parentPath else {
          throw StoreError("mkdir", folder, error)
        }
        missing.append(folder)
        folder = parent
      }
    }
    try system.createFolders(missing.reversed())
    while let parent = unsyncedParents.last {
      do {
        try FileDescriptor.folder(parent, followingLinks: true, on: system).synchronizeFolder()
      } catch {
        // A path may lead through folders that this user may not open.
        guard error.reason == .permission else { throw error }
      }
      unsyncedParents.removeLast()
    }
  }

  // MARK: - Room

  /// The folder in which a session begins; the notebook's as long as there are no logs. Nil if there is none.
  private func openPlace() throws(StoreError) -> FileDescriptor? {
    do { return try open().folder("log") } catch {
      guard error.reason == .notFound else { throw error }
    }
    do { return try open() } catch {
      guard error.reason == .notFound else { throw error }
      return nil
    }
  }

  /// The error with which a new session would be refused; nil if this user may write.
  var refusal: StoreError? {
    do {
      try openPlace()?.checkWritable()
      return nil
    } catch { return error }
  }

  /// True if `count` bytes can be written into the folder now. Writes them to a file and removes it again.
  func canWrite(_ count: Int) -> Bool {
    let name = "\(FileDescriptor.temporary)\(makeIdentifier())"
    do {
      guard let place = try openPlace() else { return false }
      let file = try place.createFile(name)
      defer { place.remove(name) }
      let piece = [UInt8](repeating: 0, count: 1 << 16)
      var left = count
      while left > 0 {
        try file.append(piece.prefix(left))
        left -= piece.count
      }
      return true
    } catch { return false }
  }
}
