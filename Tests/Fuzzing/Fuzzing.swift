// A target of libFuzzer: what comes from outside, with every checksum and hash around it made right. Tests/README.md says how to run it.
//
// The first byte of an input chooses the kind of the rest (`Kind`). A trap, an input that takes longer than libFuzzer allows, and more memory
// than that are findings; so is what `precondition` holds here.

import Foundation

/// The parts that are fuzzed, by the first byte of an input.
enum Kind: UInt8, CaseIterable {
  case changes, packed, archive, log, messages, file, text

  var name: String { "\(self)" }
}

/// Valid input of each kind, made once.
private let sample = Sample()

@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> CInt {
  // With DECENT_NOTES_CORPUS=FOLDER the valid inputs are written there, to begin with.
  if let folder = ProcessInfo.processInfo.environment["DECENT_NOTES_CORPUS"] {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
      for (kind, inputs) in sample.inputs {
        for (number, input) in inputs.enumerated() {
          try Data([kind.rawValue] + input).write(
            to: URL(fileURLWithPath: "\(folder)/\(kind.name)-\(number)"))
        }
      }
    } catch { fatalError("\(folder): \(error)") }
  }
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = [UInt8](UnsafeBufferPointer(start: start, count: count))
  guard let first = bytes.first else { return 0 }
  let input = Array(bytes.dropFirst())
  switch Kind(rawValue: first % UInt8(Kind.allCases.count))! {
  case .changes: sample.feedChanges(input)
  case .packed: feedPacked(input)
  case .archive: sample.feedArchive(input)
  case .log: sample.feedLog(input)
  case .messages: sample.feedMessages(input)
  case .file: feedFile(input)
  case .text: feedText(input)
  }
  return 0
}
