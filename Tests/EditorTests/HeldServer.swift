import Foundation
import TestSupport

/// The program between a client and its server, which holds back the request by which the client resumes, as long as it is told to: what is done meanwhile
/// is done between that request and its answer, however fast the machine is.
struct HeldServer {
  /// The program's path.
  let path: String
  private let mark: String

  /// - Parameter folder: where the program is written.
  init(in folder: TemporaryFolder) throws {
    path = folder("held-server")
    mark = folder("is-held")
    let code = """
      #!/usr/bin/env python3
      import os, subprocess, sys, time
      server = subprocess.Popen([\(literal(Server.program)), *sys.argv[1:]], stdin=subprocess.PIPE)
      while part := os.read(0, 1 << 16):
          while b'"resume"' in part and os.path.exists(\(literal(mark))):
              time.sleep(0.005)
          server.stdin.write(part)
          server.stdin.flush()
      server.stdin.close()
      sys.exit(server.wait())

      """
    try writeProgram(code, to: path)
  }

  /// Holds the next request that resumes, and all after it.
  func hold() throws { try "".write(toFile: mark, atomically: false, encoding: .utf8) }

  /// Passes on what was held.
  func release() throws { try FileManager.default.removeItem(atPath: mark) }
}

/// A path as Python writes it.
private func literal(_ path: String) -> String { "r'\(path)'" }
