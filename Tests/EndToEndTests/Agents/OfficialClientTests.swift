import Foundation
import TestSupport
import Testing

/// The official SDK of the Model Context Protocol as the client: `.ci/run` installs it.
@Suite(.waiting, .tags(.tool))
struct `The official client of agents` {
  /// A Python that has the SDK; nil if there is none.
  private static let python: String? = {
    let named = ProcessInfo.processInfo.environment["DECENT_NOTES_MCP_PYTHON"]
    let path = named ?? projectFolder.path + "/.build/mcp/bin/python"
    return access(path, X_OK) == 0 ? path : nil
  }()

  @Test(
    .enabled(
      if: python != nil || isContinuousIntegration,
      "the SDK of the Model Context Protocol is missing: DECENT_NOTES_MCP_PYTHON names a Python that has it"
    ), arguments: ["auto", "legacy", "2026-07-28"])
  func `finds all that it knows of a server`(_ mode: String) throws {
    let python = try #require(Self.python)
    let folder = TemporaryFolder()
    let script = projectFolder.path + "/Tests/EndToEndTests/Agents/official_client.py"
    let command = [python, script, Server.program, folder("notes"), mode].map(quoted)
    let outcome = try Outcome(
      [], environment: ["XDG_STATE_HOME": folder("state"), "PYTHONWARNINGS": "ignore"],
      shell: command.joined(separator: " "))
    #expect(outcome.ending == .status(0), "\(outcome.output)\n\(outcome.errors)")
    #expect(outcome.output.split(separator: "\n").count == 8, "\(outcome.output)")
    #expect(outcome.output.hasSuffix("named in history"))
  }
}
