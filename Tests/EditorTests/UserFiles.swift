import Foundation
import JSONRPC
import TestSupport

/// Writes the files of a user, with their texts by their paths below `folder`.
func writeFiles(_ files: [String: String], in folder: String) throws {
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  for (path, text) in files {
    let file = URL(fileURLWithPath: folder + "/" + path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: false, encoding: .utf8)
  }
}

/// Makes this many notes that are in the trash.
func fillTrash(_ server: Server, _ count: Int) throws {
  for number in 0..<count {
    let note = try server.call("note/create", ["title": .string("Note \(number)")])["note"]!
    try server.call("note/delete", ["id": .string(note["id"]!.string!)])
  }
}

/// Has a process that is stopped run for some milliseconds: what it does takes longer then than it takes to look at it.
func runBriefly(_ process: pid_t) throws {
  kill(process, SIGCONT)
  pause(0.005)
  kill(process, SIGSTOP)
}
