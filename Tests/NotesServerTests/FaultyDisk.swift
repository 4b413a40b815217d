import Foundation

@testable import NoteStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system's files, with a fault at any call that a test chooses.
///
/// Calls that writing needs are noted; those that close, lock or resolve are not, since nothing comes of their faults.
final class FaultyDisk: ForwardingDisk, @unchecked Sendable {
  enum Call {
    case openFolder, openFile, createFile, createFolder, status, look, names, read, append, rename,
      link, remove
    case removeFolder, empty
  }

  enum Fault: CaseIterable {
    /// Nothing happens.
    case refused
    /// An append takes half of the bytes, and no more.
    case half
    /// It happens, and is said to have failed: only the answer is lost.
    case answerLost
  }

  let system = SystemFiles.shared
  /// The calls since they were counted last.
  private(set) var calls: [Call] = []
  /// Chooses the fault of a call, by its number since then.
  var fault: (Int, Call) -> Fault? = { _, _ in nil }
  /// True if a fault was made.
  private(set) var hasFired = false
  /// True if the rest of an append is refused.
  private var isHalf = false

  /// Begins to count.
  func count() { (calls, hasFired, isHalf) = ([], false, false) }

  private func perform<Result>(
    _ call: Call, _ body: () throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    calls.append(call)
    guard let fault = fault(calls.count - 1, call) else { return try body() }
    hasFired = true
    if fault == .answerLost { _ = try body() }
    throw SystemError(EIO)
  }

  func append(_ bytes: ArraySlice<UInt8>, to file: Int32) throws(SystemError) -> Int {
    calls.append(.append)
    if isHalf {
      isHalf = false
      throw SystemError(ENOSPC)
    }
    let fault = fault(calls.count - 1, .append)
    if fault != nil { hasFired = true }
    switch fault {
    case nil: return try system.append(bytes, to: file)
    case .refused: throw SystemError(ENOSPC)
    case .half:
      isHalf = true
      return try system.append(bytes.prefix(max(1, bytes.count / 2)), to: file)
    case .answerLost:
      _ = try system.append(bytes, to: file)
      throw SystemError(EIO)
    }
  }

  func createFile(
    _ name: String, in folder: Int32, for users: Users
  ) throws(SystemError) -> Int32 {
    try perform(.createFile) { () throws(SystemError) in
      try system.createFile(name, in: folder, for: users)
    }
  }

  func createFolder(_ name: String, in folder: Int32?, for users: Users) throws(SystemError) {
    try perform(.createFolder) { () throws(SystemError) in
      try system.createFolder(name, in: folder, for: users)
    }
  }

  func empty(_ file: Int32) throws(SystemError) {
    try perform(.empty) { () throws(SystemError) in try system.empty(file) }
  }

  func rename(_ name: String, to new: String, in folder: Int32) throws(SystemError) {
    try perform(.rename) { () throws(SystemError) in
      try system.rename(name, to: new, in: folder)
    }
  }

  func link(_ name: String, as new: String, in folder: Int32) throws(SystemError) {
    try perform(.link) { () throws(SystemError) in try system.link(name, as: new, in: folder) }
  }

  func remove(_ name: String, in folder: Int32) throws(SystemError) {
    try perform(.remove) { () throws(SystemError) in try system.remove(name, in: folder) }
  }

  func removeFolder(_ name: String, in folder: Int32) throws(SystemError) {
    try perform(.removeFolder) { () throws(SystemError) in
      try system.removeFolder(name, in: folder)
    }
  }

  func openFolder(
    _ name: String, in folder: Int32?, followingLinks: Bool
  ) throws(SystemError) -> Int32 {
    try perform(.openFolder) { () throws(SystemError) in
      try system.openFolder(name, in: folder, followingLinks: followingLinks)
    }
  }

  func openFile(_ name: String, in folder: Int32) throws(SystemError) -> Int32 {
    try perform(.openFile) { () throws(SystemError) in try system.openFile(name, in: folder) }
  }

  func status(_ descriptor: Int32) throws(SystemError) -> FileStatus {
    try perform(.status) { () throws(SystemError) in try system.status(descriptor) }
  }

  func status(of name: String, in folder: Int32?) throws(SystemError) -> FileStatus {
    try perform(.look) { () throws(SystemError) in try system.status(of: name, in: folder) }
  }

  func names(in folder: Int32) throws(SystemError) -> [String] {
    try perform(.names) { () throws(SystemError) in try system.names(in: folder) }
  }

  func read(_ count: Int, at offset: UInt64, of file: Int32) throws(SystemError) -> [UInt8] {
    try perform(.read) { () throws(SystemError) in
      try system.read(count, at: offset, of: file)
    }
  }
}
