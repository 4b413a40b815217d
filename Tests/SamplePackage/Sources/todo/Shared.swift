import Foundation
import ReplicatingTypes

/// The list as one process has it, in a folder in which every process keeps its own.
struct Shared: ~Copyable {
  var list = List()
  var replica: Replica
  private let folder: URL
  private let name: String

  init(_ folder: URL, _ name: String) throws {
    (self.folder, self.name) = (folder, name)
    replica = Replica(id: .random())
    if let own = try? Data(contentsOf: folder.appending(path: "\(name).list")) {
      list = try List(encoded: [UInt8](own))
    }
    try resume()
    for file in try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    where file.pathExtension == "list" {
      let theirs = try List(encoded: [UInt8](Data(contentsOf: file)))
      try list.apply(theirs.changes(since: list.version))
    }
  }

  /// A replica is resumed once: what was saved is gone before its next change, so who is killed begins another.
  private mutating func resume() throws {
    let file = folder.appending(path: "\(name).replica")
    guard let bytes = try? Data(contentsOf: file) else { return }
    try FileManager.default.removeItem(at: file)
    let saved = try SavedReplica(encoded: [UInt8](bytes))
    if let resumed = try? Replica(resuming: saved, in: list.version) { replica = resumed }
  }

  func save() throws {
    try Data(list.encoded()).write(to: folder.appending(path: "\(name).list"), options: .atomic)
    try Data(replica.saved.encoded()).write(
      to: folder.appending(path: "\(name).replica"), options: .atomic)
  }
}
