/// A file of entries beside the notebook, in the user's state folder: it may be lost at any time.
///
/// One process at a time may hold it for appending (`hold`); any may read it.
public final class StateFile {
  private let folder: OpenDescriptor
  private let name: String
  private var file: OpenDescriptor?
  private var lock: OpenDescriptor?

  /// The size of the largest one that is read, in bytes.
  private static let largest: UInt64 = 256 << 20

  fileprivate init(_ name: String, in folder: consuming FileDescriptor) {
    self.name = name
    self.folder = OpenDescriptor(folder)
  }

  /// Its bytes; empty if there is none.
  ///
  /// - Throws: the error that keeps it from being read: what it says must not be taken for nothing, and written anew.
  public func read() throws(StoreError) -> [UInt8] {
    do throws(StoreError) {
      guard let file = try folder.descriptor.regularFile(name) else { return [] }
      let size = try file.status().size
      guard size <= Self.largest else {
        throw StoreError(
          operation: "read", path: file.path, reason: .tooLarge, detail: "it has \(size) bytes")
      }
      return try file.read(Int(size), at: 0)
    } catch {
      guard error.reason == .notFound else { throw error }
      return []
    }
  }

  /// Keeps other processes from holding it, as long as this object exists; false if another one does.
  public func hold() throws(StoreError) -> Bool {
    if lock != nil { return true }
    let name = "\(name).lock"
    if try folder.descriptor.status(of: name) == nil { _ = try? folder.descriptor.createFile(name) }
    guard let file = try folder.descriptor.regularFile(name) else { return false }
    guard try file.lock(exclusively: true) else { return false }
    lock = OpenDescriptor(file)
    return true
  }

  /// Appends to what `replace` has written.
  ///
  /// - Throws: the disk's error; then a part of it may be there, and nothing must be appended any more until it was replaced.
  public func append(_ bytes: [UInt8]) throws(StoreError) {
    guard let file else { return try replace(with: bytes) }
    try file.descriptor.append(bytes[...])
  }

  /// Replaces all of it, in one step.
  ///
  /// - Throws: the disk's error; then it is as it was.
  public func replace(with bytes: [UInt8]) throws(StoreError) {
    let temporary = "\(FileDescriptor.temporary)\(name)"
    folder.descriptor.remove(temporary)
    let new = try folder.descriptor.createFile(temporary)
    do {
      try new.append(bytes[...])
      try folder.descriptor.rename(temporary, to: name)
    } catch {
      folder.descriptor.remove(temporary)
      throw error
    }
    file = OpenDescriptor(new)
  }
}

extension NoteStore {
  /// A file of this notebook in the state folder; nil where there is no such folder, or as long as the notebook has no identity.
  ///
  /// - Parameter name: letters, digits and hyphens.
  public func stateFile(_ name: String) throws(StoreError) -> StateFile? {
    guard let stateFolder else { return nil }
    return StateFile(name, in: try stateFolder.create())
  }

  /// The names of the files of this notebook in the state folder that begin like this.
  public func stateFileNames(beginning prefix: String) -> [String] {
    guard let stateFolder,
      let folder = try? FileDescriptor.folder(stateFolder.path, on: stateFolder.system)
    else { return [] }
    return ((try? folder.names()) ?? []).filter { $0.hasPrefix(prefix) && !$0.contains(".") }
  }
}

extension NoteStore {
  /// Gives the notebook an identity before anything is written to it, if it has none.
  public func establish() throws(StoreError) {
    if identity == nil { _ = try folder.root.establish() }
  }
}
