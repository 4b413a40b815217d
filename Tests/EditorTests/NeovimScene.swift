// What tests of the client for Neovim have in common.

import Foundation
import JSONRPC
import TestSupport

/// Whether Neovim can be tried. Where it has to be there, tests fail by name without it.
let isNeovimReady = hasTool("nvim") || isContinuousIntegration

/// A note that is open in Neovim, and another process on the same folder.
final class NeovimScene {
  let folder: TemporaryFolder
  let other: Server
  let editor: Neovim
  let note: JSON

  init(
    _ program: String, text: String = "", title: String = "Shopping", setup: String = "",
    environment: [String: String?] = [:], link: String? = nil
  ) throws {
    if let link { symlink(Server.program, link) }
    folder = TemporaryFolder()
    other = try Server(folder("notes"))
    try other.initialize()
    let made = try other.call("note/create", ["title": .string(title), "text": .string(text)])
    note = .raw(made["note"]!["id"]!.written)
    editor = try Neovim(
      program, notebook: folder("notes"), in: folder, setup: setup, environment: environment)
    try open()
  }

  func open() throws { try editor.command("edit note://\(id)") }

  var id: String { String(note.text.dropFirst().dropLast()) }

  /// The note's text as the other process has it.
  var stored: String {
    get throws { try other.call("note/get", ["id": note])["text"]!.string! }
  }

  /// Replaces the text in the other process.
  func set(_ text: String) throws {
    try other.call("note/setText", ["id": note, "text": .string(text)])
  }

  /// Waits until the other process and the buffer have this text, all is acknowledged, and Neovim waits for a key.
  func expect(_ text: String, _ what: String = "", line: Int = #line) throws {
    var (here, there) = ("", "")
    try waitUntil(
      "line \(line) \(what): wanted \(text.debugDescription.prefix(300)), Neovim has "
        + "\(here.debugDescription.prefix(300)), the other process "
        + "\(there.debugDescription.prefix(300)), told \(try editor.value("vim.inspect(told)"))",
      every: 0.003
    ) {
      // The texts may be long: neither is asked for before it can be the last that is missing.
      guard try isAcknowledged else { return false }
      here = try editor.text
      guard here == text else { return false }
      there = try stored
      return try there == text && isAcknowledged
    }
  }

  private var isAcknowledged: Bool {
    get throws { try editor.value("vim.bo.modified") == "false" }
  }

  /// Types and waits for the text that is to come of it.
  func type(_ keys: String, _ text: String, line: Int = #line) throws {
    try editor.type(keys)
    try expect(text, keys, line: line)
  }

  /// Has the other process set a text and waits until it is shown.
  func receive(_ text: String, line: Int = #line) throws {
    try set(text)
    try expect(text, "received", line: line)
  }
}
