package import Foundation

/// A terminal in which a program runs, to be typed into and looked at: the one window of a tmux of its own.
package final class Terminal {
  package static let isPossible = hasTool("tmux")

  private let socket: String

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - command: a command line for `sh`.
  ///   - environment: variables in addition to those of the tests. Those that name a notebook or the state folder are set
  ///     as they are for a `Server`.
  package init(
    _ command: String, columns: Int = 80, rows: Int = 24, environment: [String: String] = [:]
  ) throws {
    // Short: the name of a socket may have no more than 107 bytes.
    socket = NSTemporaryDirectory() + "dn-tmux-\(UUID().uuidString.prefix(13))"
    var variables = [
      "PATH": pathWithProgram, "XDG_STATE_HOME": stateFolder, "LC_ALL": "C.UTF-8",
      "TERM": "xterm-256color",
    ]
    variables.merge(environment) { $1 }
    let settings = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\(quoted($0.value))" }
    try shell(
      """
      unset TMUX DECENT_NOTES; export LC_ALL=C.UTF-8
      tmux -u -S "$2" -f /dev/null new-session -d -x \(columns) -y \(rows) "$3"
      """, socket, "exec env \(settings.joined(separator: " ")) sh -c \(quoted(command))")
  }

  deinit { _ = try? tmux("kill-server") }

  /// Types text as it stands.
  package func type(_ text: String) throws {
    // One argument of a command must not become too long.
    var rest = text[...]
    while !rest.isEmpty {
      try tmux("send-keys -l -- \(quoted(String(rest.prefix(1000))))")
      rest = rest.dropFirst(1000)
    }
  }

  /// Presses keys by tmux's names for them: `Escape`, `Enter`, `C-x`, `M-f`, `Up`.
  package func press(_ keys: String...) throws {
    try tmux("send-keys -- \(keys.map(quoted).joined(separator: " "))")
  }

  /// Pastes text as a terminal does for a program that has asked for brackets around it.
  package func paste(_ text: String) throws {
    let file = socket + "-paste"
    try text.write(toFile: file, atomically: false, encoding: .utf8)
    defer { unlink(file) }
    try tmux("load-buffer \(quoted(file))")
    try tmux("paste-buffer -p -r")
  }

  /// The lines on the screen, without the spaces at their ends.
  package func screen() throws -> [String] {
    try tmux("capture-pane -p").split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
  }

  /// The number of the background colour, of 256, of the last occurrence of a word in a row; nil if it has none, or is not there.
  package func background(of word: String, inRow row: Int) throws -> String? {
    let lines = try tmux("capture-pane -e -p").split(
      separator: "\n", omittingEmptySubsequences: false)
    guard let place = lines[row].range(of: word, options: .backwards)?.lowerBound,
      let color = lines[row][..<place].range(of: "48;5;", options: .backwards)?.upperBound
    else { return nil }
    return String(lines[row][color...].prefix { $0.isNumber })
  }

  /// Looks at the screen until it is as it should be.
  package func wait(
    within seconds: TimeInterval = patience, _ what: String,
    until isMet: ([String]) throws -> Bool
  ) throws {
    var last: [String] = []
    try waitUntil("\(what):\n\(last.joined(separator: "\n"))", within: seconds, every: 0.02) {
      last = try screen()
      return try isMet(last)
    }
  }

  /// Whether the program still runs.
  package var isRunning: Bool { (try? tmux("has-session")) != nil }

  /// Waits until the program has ended by itself.
  package func waitForEnd(within seconds: TimeInterval = patience) throws {
    try waitUntil(
      "the program did not end:\n" + (try screen().joined(separator: "\n")), within: seconds,
      every: 0.02
    ) { !isRunning }
  }

  @discardableResult
  private func tmux(_ command: String) throws -> String {
    try shell("LC_ALL=C.UTF-8 tmux -u -S \"$2\" \(command)", socket)
  }
}

/// The PATH of the tests with the program under test before everything else: how editors find it.
package let pathWithProgram: String = {
  let folder = URL(fileURLWithPath: Server.program).deletingLastPathComponent().path
  return folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
}()

/// A word of a command line for `sh`, whatever is in it.
package func quoted(_ word: String) -> String {
  "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
}
