// Accounts of the machine, for tests of what users may do to each other's files.

package import Foundation

/// A Unix account: processes of it may do what modes allow it, and nothing besides. The system's list of users need not have it.
package struct Account: Sendable {
  package let user: uid_t
  /// The groups that it is in besides its own, which has the number of the user.
  package let groups: [gid_t]

  package init(_ user: uid_t, groups: [gid_t] = []) {
    self.user = user
    self.groups = groups
  }

  /// True if tests may use accounts: only root may become another user.
  package static let areUsable =
    getuid() == 0
    && (try? shell("exec setpriv --reuid=31001 --regid=31001 --clear-groups true")) != nil

  /// The program under test, where every account may run it.
  private static let program: String = {
    if (try? shell(Account(31001).command("test -x \"$2\""), Server.program)) != nil {
      return Server.program
    }
    let copy = NSTemporaryDirectory() + "decent-notes-tests-program-\(UUID().uuidString)"
    _ = try? shell("cp \"$2\" \"$3\" && chmod 755 \"$3\"", Server.program, copy)
    return copy
  }()

  /// A command line for `sh` that runs another one as this account.
  private func command(_ command: String) -> String {
    let groups =
      groups.isEmpty
      ? "--clear-groups" : "--groups=\(groups.map(String.init).joined(separator: ","))"
    return "exec setpriv --reuid=\(user) --regid=\(user) \(groups) -- \(command)"
  }

  /// A command line for `Server` and `Outcome` that starts the program as this account.
  ///
  /// - Parameters:
  ///   - umask: as the command of the shell takes it.
  ///   - before: words in front of the program and its arguments.
  package func running(umask: String = "022", before: String = "") -> String {
    "shift; umask \(umask); " + command("\(before) \(Self.program) \"$@\"")
  }

  /// Makes an empty folder that is this account's alone.
  package func makeFolder(_ path: String) throws {
    guard mkdir(path, 0o700) == 0, chown(path, user, user) == 0 else {
      throw Failure("\(path): \(String(cString: strerror(errno)))")
    }
  }
}
