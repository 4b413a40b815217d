package import Foundation

// What tests do to the machine around the program: file systems of their own, tools, fewer rights.

/// Runs a command line for `sh`, in which the arguments are `"$2"` and so on; throws unless it succeeds.
///
/// - Parameter seconds: the longest silence before it counts as stuck. A compiler is silent to its end.
@discardableResult
package func shell(
  _ command: String, _ arguments: String..., silence seconds: TimeInterval = patience
) throws -> String {
  let outcome = try Outcome(arguments, shell: command, silence: seconds)
  guard outcome.ending == .status(0) else {
    throw Failure("\(command) \(arguments): \(outcome.ending) \(outcome.errors)")
  }
  return outcome.output
}

/// Writes a program that can be started.
///
/// A shell writes it: a program can't be started as long as it is open for writing, and a child that another test starts meanwhile would
/// hold our descriptor until it becomes another program, or for as long as it runs.
package func writeProgram(_ text: String, to path: String) throws {
  try shell(#"printf '%s' "$3" > "$2" && chmod 700 "$2""#, path, text)
}

/// The command line that starts the program as the owner of its files who has no other rights: root, too, is refused then
/// what the mode of a file refuses.
package let withoutCapabilities = "exec setpriv --inh-caps=-all --bounding-set=-all \"$@\""

/// Whether modes refuse anything to a process started with `shell`.
package let canDropCapabilities: Bool = {
  let file = NSTemporaryDirectory() + "decent-notes-mode-\(UUID().uuidString)"
  defer { unlink(file) }
  guard FileManager.default.createFile(atPath: file, contents: Data()), chmod(file, 0) == 0 else {
    return false
  }
  let command = "setpriv --inh-caps=-all --bounding-set=-all true && ! setpriv --inh-caps=-all"
  return (try? shell(command + " --bounding-set=-all cat \"$2\"", file)) != nil
}()

/// Whether strace is here, and may trace.
package let canTrace = hasTool("strace") && (try? shell("strace -qq -o /dev/null true")) != nil

/// A file system of its own, mounted for one test.
package final class Mount {
  package let path: String
  private var image: String?

  /// Whether this process may mount a file system.
  package static let isPossible = getuid() == 0 && (try? Mount(memory: "size=1m")) != nil

  /// Whether it may mount one that is in a file.
  package static let isPossibleFromFile =
    getuid() == 0 && (hasTool("mkfs.ext4") || access("/sbin/mkfs.ext4", X_OK) == 0)
    && (try? Mount(megabytes: 8)) != nil

  /// One in memory, with options such as `size=1m`.
  package init(memory options: String) throws {
    path = try Self.makeFolder()
    image = nil
    try shell("mount -t tmpfs -o \"$2\" tmpfs \"$3\"", options, path)
  }

  /// An ext4 in a file.
  package init(megabytes: Int) throws {
    path = try Self.makeFolder()
    image = path + ".img"
    try shell(
      """
      PATH=$PATH:/sbin:/usr/sbin
      truncate -s "$2"M "$3" && mkfs.ext4 -q -F "$3" && mount -o loop "$3" "$4"
      """, "\(megabytes)", image!, path)
  }

  deinit {
    _ = try? shell("umount -l \"$2\"", path)
    rmdir(path)
    if let image { unlink(image) }
  }

  private static func makeFolder() throws -> String {
    let path = NSTemporaryDirectory() + "decent-notes-mount-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  package func remount(_ options: String) throws {
    try shell("mount -o \"remount,$2\" \"$3\"", options, path)
  }

  #if os(Linux)
    /// Cuts the power: what was not synchronized is gone, and every further write fails.
    package func cutPower() throws {
      let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard folder >= 0 else { throw Failure("\(path): \(errno)") }
      defer { close(folder) }
      // EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: not even the journal is written.
      var flags: UInt32 = 2
      guard ioctl(folder, 0x8004_587D, &flags) == 0 else {
        throw Failure("EXT4_IOC_SHUTDOWN: \(String(cString: strerror(errno)))")
      }
    }
  #endif

  /// Starts the machine again after the power was cut.
  ///
  /// It mounts a copy of the image: the image itself would be the file system that was cut off, as long as anybody has it mounted,
  /// and a process with its own mounts that was started meanwhile has.
  package func restorePower() throws {
    let copy = image! + ".copy"
    try shell(
      "cp --sparse=always \"$3\" \"$4\" && umount -l \"$2\" && mount -o loop \"$4\" \"$2\"", path,
      image!, copy)
    unlink(image!)
    image = copy
  }
}
