// What clients have to bear: a note that is longer than any message they have seen, and programs that are none of ours.

import Foundation
import JSONRPC
import TestSupport

/// A text of 40 MB.
enum LongText {
  static let line = "The quick brown \"fox\" é jumps over the lazy dog, and so on and on.\n"
  static let lines = 40_000_000 / line.utf8.count
}

/// Makes a note of 40 MB, and returns its id.
func longNote(_ server: Server, _ title: String = "Long") throws -> String {
  let id = try server.call("note/create", ["title": .string(title)])["note"]!["id"]!.string!
  for part in 0..<5 {
    let count = LongText.lines / 5 + (part < LongText.lines % 5 ? 1 : 0)
    try server.call(
      "note/append",
      ["id": .string(id), "text": .string(String(repeating: LongText.line, count: count))])
  }
  return id
}

/// Programs that a client may have been told to start by mistake.
enum BrokenServer: String, CaseIterable {
  /// Its first line never ends.
  case endlessLine
  /// It says something else.
  case somethingElse
  /// The header of its first message never ends, though its lines do.
  case endlessHeader

  /// Writes the program into a folder, and returns its path.
  func write(in folder: TemporaryFolder) throws -> String {
    let path = folder("broken-\(rawValue)")
    let code =
      switch self {
      case .endlessLine: "tr '\\0' a </dev/zero"
      case .somethingElse: "read line; echo 'Hello, who is there?'; exec cat >/dev/null"
      case .endlessHeader: "yes 'Header: line'"
      }
    try writeProgram("#!/bin/sh\n\(code)\n", to: path)
    return path
  }
}
