// A server that is stopped while a client resumes with it: between the request and its answer.

import Foundation
import TestSupport

/// The state of a note that a client tells of.
enum Resuming {
  /// The request is not sent yet.
  case before
  /// The request was sent and not answered.
  case underWay
  case done
}

/// Kills the server of a client and stops the next one after the client has asked to resume and before that is answered; returns
/// the stopped process.
///
/// The process runs for a moment at a time, and the client is asked in between. Where it was too fast, the same is done again.
///
/// - Parameter editor: the process whose only child is the server.
func stopResuming(of editor: pid_t, _ state: () throws -> Resuming) throws -> pid_t {
  func server(besides old: pid_t? = nil) throws -> pid_t {
    let path = "/proc/\(editor)/task/\(editor)/children"
    // At once, as it answers within milliseconds.
    return try waitFor("a server", every: 0.0002) {
      let text = try String(contentsOfFile: path, encoding: .utf8)
      return text.split { !$0.isNumber }.compactMap { pid_t($0) }.first {
        // Until it is the program, an editor may wait for it to become that.
        $0 != old
          && (try? String(contentsOfFile: "/proc/\($0)/comm", encoding: .utf8))?.hasPrefix(
            "decent-notes") == true
      }
    }
  }
  // After five deaths within minutes a client starts no other server.
  for _ in 1...4 {
    try waitUntil("the client is connected") { try state() == .done }
    let old = try server()
    kill(old, SIGKILL)
    let process = try server(besides: old)
    kill(process, SIGSTOP)
    // On a busy machine the moments are long, in which it is to get little done.
    // 0 is PRIO_PROCESS, which is a number on one system and a case on another.
    _ = setpriority(0, id_t(process), 19)
    try waitUntil("the client has asked", every: 0) {
      guard try state() != .underWay else { return true }
      kill(process, SIGCONT)
      pause(0.0003)
      kill(process, SIGSTOP)
      return try state() == .done
    }
    // An answer that is on its way has come when the client has answered a few more questions.
    if try (1...5).allSatisfy({ _ in try state() == .underWay }) { return process }
    kill(process, SIGCONT)
  }
  throw Failure("the server has always answered before it could be stopped")
}
