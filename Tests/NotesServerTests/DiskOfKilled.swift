import Foundation

@testable import NoteStore

/// The system's files, for a process that is killed: what is on the disk before one of its calls is kept. It goes on to run in memory for a
/// moment, which nobody sees.
final class DiskOfKilled: ForwardingDisk, @unchecked Sendable {
  private let folders: [String]
  let system = SystemFiles.shared
  /// So many calls that change something are left before the process is killed; nil if it is not killed there.
  var callsLeft: Int?
  /// True while calls are counted.
  var isWatched = true
  /// Called when it is killed.
  var didKill: () -> Void = {}
  private var isOver = false

  /// - Parameter folders: all that it writes to.
  init(_ folders: [String]) { self.folders = folders }

  /// The process is killed.
  func kill() {
    if isOver { return }
    isOver = true
    for folder in folders {
      try? FileManager.default.removeItem(atPath: folder + ".copy")
      try? FileManager.default.copyItem(atPath: folder, toPath: folder + ".copy")
    }
    didKill()
  }

  /// Makes the folders what they were when it was killed.
  func restore() {
    kill()
    for folder in folders where FileManager.default.fileExists(atPath: folder + ".copy") {
      try? FileManager.default.removeItem(atPath: folder)
      try? FileManager.default.moveItem(atPath: folder + ".copy", toPath: folder)
    }
  }

  private func count() {
    guard isWatched, let left = callsLeft else { return }
    callsLeft = left == 0 ? nil : left - 1
    if left == 0 { kill() }
  }

  // MARK: - Calls that change something

  func createFile(
    _ name: String, in folder: Int32, for users: Users
  ) throws(SystemError) -> Int32 {
    count()
    return try system.createFile(name, in: folder, for: users)
  }

  func createFolder(_ name: String, in folder: Int32?, for users: Users) throws(SystemError) {
    count()
    try system.createFolder(name, in: folder, for: users)
  }

  func append(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int {
    // A part of it may be there.
    guard isWatched, callsLeft == 0, bytes.count > 1 else {
      count()
      return try system.append(bytes, to: file)
    }
    let half = bytes.startIndex + bytes.count / 2
    let written = try system.append(bytes[..<half], to: file)
    count()
    return try written + system.append(bytes[half...], to: file)
  }

  func empty(_ file: Int32) throws(SystemError) {
    count()
    try system.empty(file)
  }

  func rename(_ name: String, to new: String, in folder: Int32) throws(SystemError) {
    count()
    try system.rename(name, to: new, in: folder)
  }

  func link(_ name: String, as new: String, in folder: Int32) throws(SystemError) {
    count()
    try system.link(name, as: new, in: folder)
  }

  func remove(_ name: String, in folder: Int32) throws(SystemError) {
    count()
    try system.remove(name, in: folder)
  }

  func removeFolder(_ name: String, in folder: Int32) throws(SystemError) {
    count()
    try system.removeFolder(name, in: folder)
  }
}
