internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A text in a file while an editor works on it, in a folder of its own that is the user's alone.
struct EditedFile {
  let path: String
  let folder: String
  /// A longer one no note can have.
  private static let mostBytes = 64 << 20

  /// The beginning of the names of such folders.
  private static let prefix = "decent-notes-"

  /// A file that is there, in a folder of its own.
  init(at path: String) {
    self.path = path
    folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
  }

  /// The name of the folder.
  var folderName: String { String(folder.split(separator: "/").last ?? "") }

  /// True if the folder has a name that this type gives: it is the file's own, and may be removed with all that is in it.
  var hasOwnFolder: Bool {
    path.hasPrefix("/") && folderName.hasPrefix(Self.prefix)
      && folderName.utf8.count == Self.prefix.utf8.count + 6
  }

  /// Writes the file.
  ///
  /// - Parameters:
  ///   - above: the folder for temporary files.
  ///   - name: the name of the file.
  init(_ text: [UInt8], in above: String, named name: String) throws(CommandFailure) {
    guard let folder = Self.makeFolder("\(above)/\(Self.prefix)XXXXXX") else {
      throw Self.failure(above)
    }
    self.folder = folder
    path = "\(folder)/\(name)"
    do throws(CommandFailure) { try Self.write(text, to: path) } catch {
      remove()
      throw error
    }
  }

  /// The bytes that are in the file now.
  func read() throws(CommandFailure) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    if file < 0 { throw Self.failure(path) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = buffer.withUnsafeMutableBytes { readBytes(file, $0) }
      if count == 0 { return bytes }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw Self.failure(path) }
      bytes += buffer[..<count]
      if bytes.count > Self.mostBytes {
        throw CommandFailure("\(path): there are more than \(Self.mostBytes) bytes")
      }
    }
  }

  /// Removes the file, and what the editor has left beside it.
  func remove() {
    if let listing = opendir(folder) {
      while let entry = readdir(listing) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
        }
        unlink("\(folder)/\(name)")
      }
      closedir(listing)
    }
    rmdir(folder)
  }

  /// Keeps the text where nothing removes it, in the folder `unsent` of the state folder; returns the path of its file. Where that can't be
  /// written it stays where it is.
  func keep(_ text: [UInt8], for id: String, in stateFolder: String?) -> String {
    guard let stateFolder else { return path }
    let above = "\(stateFolder)/decent-notes"
    for folder in [stateFolder, above, "\(above)/unsent"] { _ = mkdir(folder, 0o700) }
    guard let kept = Self.makeFolder("\(above)/unsent/\(id)-XXXXXX") else { return path }
    let copy = "\(kept)/\(path.split(separator: "/").last!)"
    do throws(CommandFailure) { try Self.write(text, to: copy) } catch { return path }
    remove()
    return copy
  }

  /// Makes a folder whose name ends in random letters; nil if that fails.
  private static func makeFolder(_ template: String) -> String? {
    var bytes = Array(template.utf8CString)
    return mkdtemp(&bytes).map { String(cString: $0) }
  }

  private static func write(_ text: [UInt8], to path: String) throws(CommandFailure) {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if file < 0 { throw failure(path) }
    var rest = text[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { writeBytes(file, $0) }
      if count < 0, errno != EINTR {
        let failure = failure(path)
        close(file)
        unlink(path)
        throw failure
      }
      rest = rest.dropFirst(max(0, count))
    }
    if close(file) < 0 { throw failure(path) }
  }

  private static func failure(_ path: String) -> CommandFailure {
    CommandFailure("\(path): \(String(cString: strerror(errno)))")
  }
}

// The functions of the system, which methods above hide.

private func readBytes(_ file: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
  read(file, bytes.baseAddress, bytes.count)
}

private func writeBytes(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(file, bytes.baseAddress, bytes.count)
}
