import Foundation
import JSONRPC
import TestSupport

/// A Neovim without a screen that has the client of this project: typed into as by a user, and asked about what it has.
final class Neovim {
  /// Every Neovim that is there: the one on the path, and that of `DECENT_NOTES_NVIM`.
  static let programs: [String] = {
    let variables = ProcessInfo.processInfo.environment
    let path = (variables["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    let first = path.map { String($0) + "/nvim" }.first { (file: String) in access(file, X_OK) == 0
    }
    let programs = [first, variables["DECENT_NOTES_NVIM"]].compactMap { $0 }
    // Where none is, the tests fail by name where they have to run.
    return programs.isEmpty ? ["nvim"] : programs
  }()

  static let client = projectFolder.path + "/clients/nvim"

  let process: pid_t
  private let input: FileHandle
  private let output: FileHandle
  private let errors: String
  private var ending: Ending?

  /// Starts Neovim.
  ///
  /// - Parameters:
  ///   - notebook: the folder of the notebook.
  ///   - setup: Lua that runs as the user's settings.
  init(
    _ program: String, notebook: String, in folder: TemporaryFolder, setup: String = "",
    environment: [String: String?] = [:]
  ) throws {
    let settings = folder("init-\(UUID().uuidString.prefix(8)).lua")
    try (Self.settings(notebook: notebook) + setup + Self.driver)
      .write(toFile: settings, atomically: true, encoding: .utf8)
    let (stdin, stdout) = (Pipe(), Pipe())
    input = stdin.fileHandleForWriting
    output = stdout.fileHandleForReading
    for handle in [input, output] { _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC) }
    errors = folder("errors-\(UUID().uuidString.prefix(8))")
    process = try Server.spawn(
      [program, "--headless", "-n", "-i", "NONE", "-u", settings],
      environment.merging(["PATH": pathWithProgram, "LC_ALL": "C.UTF-8"]) { mine, _ in mine },
      [
        0: stdin.fileHandleForReading.fileDescriptor,
        1: stdout.fileHandleForWriting.fileDescriptor,
      ], errors: errors)
    try stdin.fileHandleForReading.close()
    try stdout.fileHandleForWriting.close()
  }

  deinit {
    guard ending == nil else { return }
    kill(process, SIGKILL)
    var status: Int32 = 0
    waitpid(process, &status, 0)
  }

  /// The user's settings, also for a Neovim in a terminal.
  static func settings(notebook: String) -> String {
    """
    vim.opt.runtimepath:prepend([[\(client)]])
    vim.g.decent_notes_notebook = [[\(notebook)]]

    """
  }

  /// Reads lines `{"lua": …}` and answers each with `{"value": …}` or `{"error": …}`. `told` is what the user was told, and
  /// `text()` what the current buffer has.
  private static let driver = #"""

    told = {}
    vim.notify = function(message) told[#told + 1] = message end
    -- What the user was told, but for a process that a busy machine lets wait.
    function told_of_notes()
      local rest = vim.tbl_filter(function(message) return not message:find('no answer; ', 1, true) end, told)
      return table.concat(rest, '\n')
    end
    function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n') end
    local rest = ''
    local channel
    channel = vim.fn.stdioopen({ on_stdin = function(_, data)
      rest = rest .. table.concat(data, '\n')
      while true do
        local line, after = rest:match('^([^\n]*)\n(.*)$')
        if not line then return end
        rest = after
        local done, value = pcall(function() return assert(loadstring(vim.json.decode(line).lua))() end)
        local answer = done and { value = value } or { error = tostring(value) }
        pcall(vim.fn.chansend, channel, vim.json.encode(answer) .. '\n')
      end
    end })
    """#

  /// What a piece of Lua returns.
  @discardableResult
  func lua(_ code: String) throws -> JSONValue? {
    let message: JSON = ["lua": .string(code)]
    try input.write(contentsOf: Data(message.bytes + [0x0A]))
    let answer = try JSONValue(parsing: try line())
    if let error = answer["error"]?.string { throw Failure("\(error)\nin \(code)") }
    return answer["value"]
  }

  /// The answer to what was sent last. There is one at a time, so where it ends nothing more has come.
  private func line() throws -> [UInt8] {
    let deadline = Deadline()
    var received: [UInt8] = []
    while true {
      if received.last == 0x0A { return received.dropLast() }
      guard awaitInput([output.fileDescriptor], milliseconds: deadline.milliseconds) else {
        throw Failure("Neovim does not answer\n\(errorText)")
      }
      let data = output.availableData
      guard !data.isEmpty else { throw Failure("Neovim has ended\n\(errorText)") }
      received += data
    }
  }

  /// What an expression comes to, as text.
  func value(_ expression: String) throws -> String {
    try lua("return tostring(\(expression))")?.string ?? ""
  }

  /// Types, in Neovim's notation for keys: `ihello<Esc>`, with `<lt>` for `<`.
  func type(_ keys: String) throws { try lua("vim.api.nvim_input(\(luaString(keys)))") }

  /// Carries out a command line.
  func command(_ line: String) throws { try lua("vim.cmd(\(luaString(line)))") }

  /// Waits until an expression is true.
  func wait(_ what: String, _ expression: String) throws {
    try waitUntil(
      "\(what): \(expression) did not come true; the text is \(try text.prefix(300)), told: "
        + (try value("table.concat(told, '; ')")),
      every: 0.003
    ) { try value("not not (\(expression))") == "true" }
  }

  /// The text of the current buffer.
  var text: String { get throws { try lua("return text()")?.string ?? "" } }

  /// What standard error has.
  var errorText: String { (try? String(contentsOfFile: errors, encoding: .utf8)) ?? "" }

  /// The process of the client, that is the program under test, once there is one.
  func serverProcess() throws -> pid_t {
    let code = """
      for _, channel in ipairs(vim.api.nvim_list_chans()) do
        if channel.stream == 'job' then
          local is_alive, process = pcall(vim.fn.jobpid, channel.id)
          if is_alive then return tostring(process) end
        end
      end
      """
    return try waitFor("there is no process of the client", every: 0.003) {
      try lua(code)?.string.flatMap { pid_t($0) }
    }
  }

  func waitForEnd() throws -> Ending {
    if let ending { return ending }
    let status = try waitFor("Neovim did not end\n\(errorText)", every: 0.003) {
      var status: Int32 = 0
      return waitpid(process, &status, WNOHANG) == process ? status : nil
    }
    let ending = status & 0x7F == 0 ? .status(status >> 8 & 0xFF) : Ending.signal(status & 0x7F)
    self.ending = ending
    return ending
  }
}

/// A literal of Lua.
func luaString(_ text: String) -> String {
  "\"" + text.utf8.map { "\\" + String(format: "%03d", $0) }.joined() + "\""
}
