import Foundation
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

/// An identity that comes out of no other call in this process.
let makeIdentifier: @Sendable () -> Identifier = {
  Identifier(high: .random(in: 0...UInt64.max), low: .random(in: 0...UInt64.max))
}

extension TemporaryFolder {
  /// The notebook most tests use; it does not exist at first.
  var notebook: String { path + "/notebook" }

  func open() throws(StoreError) -> LogFolder {
    try LogFolder(path: notebook, makeIdentifier: makeIdentifier)
  }
}

func contents(_ path: String) -> [UInt8] {
  Array(FileManager.default.contents(atPath: path)!)
}

func write(_ bytes: [UInt8], to path: String) {
  let folder = (path as NSString).deletingLastPathComponent
  try! FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  #expect(FileManager.default.createFile(atPath: path, contents: Data(bytes)))
}

/// Overwrites or extends a file without replacing it.
func append(_ bytes: [UInt8], to path: String) {
  let handle = FileHandle(forWritingAtPath: path)!
  handle.seekToEndOfFile()
  handle.write(Data(bytes))
  try! handle.close()
}

/// Every path below `path`, with mode, size and content.
func listing(_ path: String) -> [String] {
  guard let walk = FileManager.default.enumerator(atPath: path) else { return [] }
  var lines: [String] = []
  for case let name as String in walk {
    let attributes = try! FileManager.default.attributesOfItem(atPath: path + "/" + name)
    let content = FileManager.default.contents(atPath: path + "/" + name)
    lines.append(
      "\(name) \(attributes[.posixPermissions]!) \(attributes[.modificationDate]!) \(content as Any)"
    )
  }
  return lines.sorted()
}

func mode(_ path: String) -> Int {
  let attributes = try! FileManager.default.attributesOfItem(atPath: path)
  return (attributes[.posixPermissions] as! NSNumber).intValue
}

/// What a record says, in a form that can be compared.
struct Line: Equatable, Hashable {
  var session: String
  var number: UInt64
  var type: UInt8
  var payload: [UInt8]

  init(_ record: LogRecord) {
    session = record.session.description
    number = record.number
    type = record.type
    payload = record.payload
  }
}

extension LogFolder {
  /// The file of the session that the last append went to.
  mutating func livePath() -> String {
    "\(path)/log/\(session().description)/0.open"
  }

  mutating func append(_ texts: String...) throws(StoreError) {
    var records: [(type: UInt8, payload: [UInt8])] = []
    for text in texts { records.append((type: 1, payload: Array(text.utf8))) }
    try append(records)
  }

  /// The payloads of `readNew()` as texts.
  mutating func newTexts(_ scope: Scope = .everything) -> [String] {
    readNew(scope).map { String(decoding: $0.payload, as: UTF8.self) }
  }
}
