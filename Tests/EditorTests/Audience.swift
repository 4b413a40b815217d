// An editor whose server tells it of whom a test wants, whatever a real one would refuse.

import Foundation
import JSONRPC
import TestSupport

/// A participant as `note/presence` names one, with its cursor behind a line.
struct OtherParticipant {
  var name: String
  var line: Int
  var color = 0
}

/// An editor that shows a note of numbered lines, and is told of the participants that a test names, and of no others.
final class Audience {
  /// The lines of the note, each of which is `lineLength` columns long.
  static let lines = (0..<20).map { String(format: "line %02d", $0) }
  static let lineLength = 7

  let typist: Typist
  /// Another process on the notebook.
  let other: Server
  let note: String
  private let folder = TemporaryFolder()
  private let attachment: JSON
  private var cursor = 0

  init(_ editor: Editor) throws {
    other = try Server(folder("notes"), environment: ["XDG_STATE_HOME": folder("state")])
    try other.initialize()
    let text = Self.lines.joined(separator: "\n")
    let made = try other.call("note/create", ["title": "Note", "text": .string(text)])["note"]!
    note = made["id"]!.string!
    attachment = JSON(
      try other.call("note/open", ["id": .string(note), "mode": "edit"])["attachment"]!)
    try FileManager.default.createDirectory(
      atPath: folder("bin"), withIntermediateDirectories: true)
    try writeProgram(Self.teller(folder("told")), to: folder("bin") + "/decent-notes")
    try Self.write([:], to: folder("told"))
    typist = try Typist(
      editor, note: note, places: [], notebook: folder("notes"), folder: folder, seed: 1,
      environment: ["PATH": folder("bin") + ":" + pathWithProgram])
  }

  /// Hands on what a client and its server say to each other, but has in `note/presence` the fields that the file has.
  private static func teller(_ file: String) -> String {
    """
    #!/usr/bin/env python3
    import json, os, subprocess, sys, threading

    server = subprocess.Popen(['\(Server.program)'] + sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def listen():
        while data := os.read(0, 65536):
            server.stdin.write(data)
            server.stdin.flush()
        server.stdin.close()

    threading.Thread(target=listen, daemon=True).start()
    while line := server.stdout.readline():
        is_framed = line.startswith(b'Content-Length: ')
        if is_framed:
            server.stdout.readline()
            line = server.stdout.read(int(line.split()[1]))
        if b'"note/presence"' in line:
            message = json.loads(line)
            with open('\(file)') as file:
                message['params'].update(json.load(file))
            line = json.dumps(message, ensure_ascii=False).encode() + (b'' if is_framed else b'\\n')
        if is_framed:
            line = b'Content-Length: %d\\r\\n\\r\\n' % len(line) + line
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    sys.exit(server.wait())

    """
  }

  private static func write(_ params: JSON, to file: String) throws {
    try Data(params.bytes).write(to: URL(fileURLWithPath: file), options: .atomic)
  }

  /// Has the editor told of these participants.
  ///
  /// - Parameter fields: what else is said.
  func tell(_ participants: [OtherParticipant], _ fields: JSON = [:]) throws {
    var params = fields
    params["peers"] = .array(
      participants.enumerated().map { number, participant in
        let place: JSON = [
          "line": JSON(participant.line), "character": JSON(Self.lineLength),
        ]
        return [
          "id": .string("\(number)"), "name": .string(participant.name),
          "color": JSON(participant.color), "ranges": [["start": place, "end": place]],
        ]
      })
    try Self.write(params, to: folder("told"))
    // The editor is told when a cursor moves.
    cursor = (cursor + 1) % 7
    let place: JSON = ["line": 0, "character": JSON(cursor)]
    try other.notify(
      "note/cursor",
      [
        "attachment": attachment, "version": 0, "rev": 0,
        "ranges": [["start": place, "end": place]],
      ])
  }
}
