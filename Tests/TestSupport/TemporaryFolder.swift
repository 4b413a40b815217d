// Folders of tests, and what is in them.

package import Foundation

/// A folder of its own for one test, removed with the last reference to it.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() {
    path = NSTemporaryDirectory() + "decent-notes-tests-\(UUID().uuidString)"
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A path inside, where nothing is yet.
  package func callAsFunction(_ name: String) -> String { path + "/" + name }
}

/// The folder that holds Package.swift.
package let projectFolder = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// The programs under test keep there what they keep beside notebooks: not with the user's own.
package let stateFolder = NSTemporaryDirectory() + "decent-notes-tests-state"

/// A folder in memory for the programs under test, where the system has one.
package let memoryFolder: String = {
  let folder = "/dev/shm/decent-notes-tests"
  guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { return stateFolder }
  return folder
}()

/// The text of a file.
package func contents(of file: URL) throws -> String {
  String(decoding: try Data(contentsOf: file), as: UTF8.self)
}

/// Every file below a folder, with its contents and the time of its last change.
package func contents(of folder: String) throws -> [String: String] {
  var found: [String: String] = [:]
  for name in try FileManager.default.subpathsOfDirectory(atPath: folder) + [""] {
    let path = folder + "/" + name
    var status = stat()
    guard lstat(path, &status) == 0 else { throw Failure("\(path) vanished") }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    let bytes = FileManager.default.contents(atPath: path) ?? Data()
    found[name] = "\(status.st_mode) \(time.tv_sec).\(time.tv_nsec) \(bytes.base64EncodedString())"
  }
  return found
}

/// The logs below a notebook's folder.
package func logs(of folder: String) throws -> [String] {
  try FileManager.default.subpathsOfDirectory(atPath: folder)
    .filter { $0.hasSuffix(".open") || $0.hasSuffix(".seg") }
    .map { folder + "/" + $0 }
}
