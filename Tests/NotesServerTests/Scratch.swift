import Foundation

/// A folder of its own for one test, removed at the end.
final class Scratch {
  let path: String

  init() {
    path = NSTemporaryDirectory() + "notes-server-tests-" + UUID().uuidString
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// A folder that does not exist yet.
  func folder(_ name: String) -> String { path + "/" + name }
}

/// The project's folder `Protocol`.
let protocolFolder = URL(fileURLWithPath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  .appendingPathComponent("Protocol")

func contents(of file: URL) throws -> String {
  String(decoding: try Data(contentsOf: file), as: UTF8.self)
}
