import Foundation
import JSONRPC
import TestSupport
import Testing

/// A peer that keeps to the protocol until its link stands, and then sends something without end.
enum Flood: String, CaseIterable, CustomTestStringConvertible {
  /// Changes that it was sent itself.
  case changes
  /// A thousand participants, of whom each message tells that all have moved.
  case cursors
  /// Other participants in each message, a hundred thousand and more.
  case participants
  /// A name of 10 MB.
  case names
  /// One message that never ends.
  case drip
  /// Messages that are none of the protocol.
  case others

  var testDescription: String { rawValue }

  /// Whether the link is given up for it.
  var endsLink: Bool { self == .names || self == .drip }

  /// The command of the peer.
  func write(in folder: TemporaryFolder, note: String) throws -> String {
    let script = """
      import base64, json, os, sys, threading, time

      def frame(message):
          body = json.dumps(message).encode()
          return b'Content-Length: %d\\r\\n\\r\\n' % len(body) + body

      lock = threading.Lock()
      def send(data):
          with lock:
              while data:
                  data = data[os.write(1, data):]

      def varint(number):
          digits = []
          while number > 127:
              digits.append(number & 127 | 128)
              number >>= 7
          return bytes(digits + [number])

      number, replica = '\(note)'.split('-')
      def participant(process, moves, name):
          return (process.to_bytes(16, 'big') + varint(1) + varint(moves) + varint(0) + varint(len(name)) + name
                  + bytes.fromhex(replica) + varint(int(number)) + b'\\1\\0\\0')

      def presence(participants):
          content = varint(len(participants)) + b''.join(participants)
          return frame({'method': 'notebook/presence', 'jsonrpc': '2.0',
                        'params': {'participants': base64.b64encode(content).decode()}})

      changes = None

      def flood():
          kind, round = '\(rawValue)', 0
          while True:
              round += 1
              if kind == 'changes':
                  send(frame({'method': 'notebook/newChanges', 'jsonrpc': '2.0', 'params': {'changes': changes}}) * 100)
              elif kind == 'cursors':
                  send(presence([participant(k, round, b'Mallory %d' % k) for k in range(300)]))
              elif kind == 'participants':
                  send(presence([participant(300 * round + k, 1, b'M' * 100) for k in range(300)]))
              elif kind == 'names':
                  send(presence([participant(1, round, b'M' * 10000000)]))
              elif kind == 'drip':
                  send(b'Content-Length: 30000000\\r\\n\\r\\n' if round == 1 else b' ')
                  time.sleep(0.01)
              else:
                  send(frame({'method': 'window/showMessage', 'jsonrpc': '2.0', 'params': {'type': 1, 'message': 'M' * 1000}}) * 100)

      while line := sys.stdin.buffer.readline():
          if not line.startswith(b'Content-Length:'):
              continue
          sys.stdin.buffer.readline()
          message = json.loads(sys.stdin.buffer.read(int(line.split()[1])))
          method, result = message['method'], {}
          if method == 'notebook/merge':
              changes = changes or message['params']['changes']
          elif method == 'initialize':
              result = {'notebook': {'id': None, 'revision': '0'}, 'capabilities': {'notebook': {'follow': True}}}
          elif method == 'notebook/follow':
              result = {'revision': '0'}
          if 'id' in message:
              send(frame({'jsonrpc': '2.0', 'id': message['id'], 'result': result}))
          if method == 'notebook/follow' and 'since' in message['params']:
              threading.Thread(target=flood, daemon=True).start()

      """
    let path = folder(rawValue + ".py")
    try script.write(toFile: path, atomically: true, encoding: .utf8)
    return "python3 \(path)"
  }
}

@Suite(.waiting, .tags(.slow)) struct `A link to a peer that does harm` {
  @Test(arguments: Flood.allCases)
  func `holds up no editor, and takes little memory`(_ flood: Flood) throws {
    var random = SplitMix64(seed: 1)
    let folder = TemporaryFolder()
    let server = try serve(folder("a"), environment: ["XDG_STATE_HOME": folder("state")])
    let note = JSON(try server.call("note/create", ["text": "first\n"])["note"]!["id"]!)
    let peer = try flood.write(in: folder, note: note.string!)
    let ana = try AttachedClient(server, note)
    let before = server.peakMemory
    try server.call("notebook/sync", ["peer": .string(peer), "stay": true])
    for number in 0..<100 {
      try ana.type("w\(number)w", &random)
      try run([ana]) { ana.isIdle }
    }
    if flood.endsLink {
      try server.wait(for: "the end of the link", within: 30 + patience) {
        try server.peer(peer)?["failure"] != nil
      }
    } else {
      #expect(try server.peer(peer)?["live"]?.boolean == true)
    }
    #expect(Set(ana.words.values) == [1])
    // The flood may begin only after the last word.
    if flood == .cursors || flood == .participants {
      try server.wait(for: "the participants", within: 30 + patience) {
        _ = try server.peer(peer)
        return server.notifications.contains { $0["method"]?.string == "note/presence" }
      }
    }
    // What is said of participants is bounded.
    let told = server.notifications.filter { $0["method"]?.string == "note/presence" }
    for presence in told { #expect((presence["params"]?["peers"]?.array?.count ?? 0) <= 1000) }
    #expect((flood == .cursors || flood == .participants) == !told.isEmpty)
    if let before, let after = server.peakMemory { #expect(after < before + 200 << 20) }
    try server.leave()
  }
}
