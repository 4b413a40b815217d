import Foundation
import TestSupport
import Testing

@testable import NoteStore

@Suite(.computing)
struct `Files that are carried` {
  private static let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Golden").path

  /// Whether a file with these bytes is whole.
  private func isWhole(_ name: String, _ bytes: Data) throws -> Bool {
    let folder = NSTemporaryDirectory() + "decent-notes-complete-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try bytes.write(to: URL(fileURLWithPath: folder + "/" + name))
    let file = CompleteFile(folder + "/" + name)
    while true {
      if let answer = file.isWhole() { return answer }
    }
  }

  @Test
  func `A file is whole as it was written, and neither cut, nor longer, nor damaged, nor renamed`()
    throws
  {
    var kinds: Set<String> = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: Self.golden) {
      let name = (path as NSString).lastPathComponent
      let kind = (name as NSString).pathExtension
      guard ["seg", "snap", "json"].contains(kind) else { continue }
      guard kinds.insert(kind).inserted || kind == "snap" else { continue }
      let bytes = FileManager.default.contents(atPath: Self.golden + "/" + path)!
      #expect(try isWhole(name, bytes), "\(path)")
      for length in stride(from: 0, to: bytes.count, by: 7) where kind != "json" || length < 60 {
        #expect(try !isWhole(name, bytes.prefix(length)), "\(path) cut at \(length)")
      }
      if kind == "json" { continue }
      #expect(try !isWhole(name, bytes + [0]), "\(path) longer")
      for place in stride(from: 0, to: bytes.count, by: 31) {
        var damaged = bytes
        damaged[damaged.startIndex + place] ^= 1
        #expect(try !isWhole(name, damaged), "\(path) damaged at \(place)")
      }
      #expect(try !isWhole("1" + name, bytes))
      #expect(try !isWhole(name + ".cut", bytes))
    }
    #expect(kinds == ["seg", "snap", "json"])
    #expect(CompleteFile("/nowhere/0-00000000.seg").isWhole() == false)
    #expect(CompleteFile("").isWhole() == false)
  }
}
