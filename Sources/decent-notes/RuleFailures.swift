// Which notes the rules of merging have ended a process with. This file owns `failed-rules-VERSION` in the folder of states: the name of
// a note in each line, appended by the process while it ends. Another version of the program has other rules, and a file of its own.

internal import Notes
internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The name of the note to which rules are applied, as `RuleGuard` puts it.
nonisolated(unsafe) private let inProgress: UnsafeMutableBufferPointer<UInt8> = {
  let name = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 128)
  name.initialize(repeating: 0)
  return name
}()
/// The folder of states, our folder in it, and the file, as the handler needs them.
nonisolated(unsafe) private var stateFolderPath: UnsafeMutablePointer<CChar>?
nonisolated(unsafe) private var ownFolderPath: UnsafeMutablePointer<CChar>?
nonisolated(unsafe) private var filePath: UnsafeMutablePointer<CChar>?

/// Appends the note in progress to the file, with calls that a handler of signals may make.
private func noteFailure() {
  guard inProgress[0] > 0, let stateFolderPath, let ownFolderPath, let filePath else { return }
  _ = mkdir(stateFolderPath, 0o700)
  _ = mkdir(ownFolderPath, 0o700)
  let file = open(filePath, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
  if file < 0 { return }
  let count = Int(inProgress[0])
  inProgress[0] = UInt8(ascii: "\n")
  _ = write(file, inProgress.baseAddress! + 1, count)
  _ = write(file, inProgress.baseAddress!, 1)
  close(file)
}

/// The notes with which the rules of merging have ended a process.
enum RuleFailures {
  /// The signals by which a process ends that breaks a rule of Swift or of memory.
  private static let signals = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS]

  private static func path(in stateFolder: String) -> String {
    "\(stateFolder)/decent-notes/failed-rules-\(NotesServer.programVersion)"
  }

  /// Excludes the notes that earlier processes have noted, and notes the one with which this process may end.
  static func watch(in stateFolder: String) {
    let file = path(in: stateFolder)
    stateFolderPath = strdup(stateFolder)
    ownFolderPath = strdup("\(stateFolder)/decent-notes")
    filePath = strdup(file)
    RuleGuard.begin(excluding: notes(in: file), name: inProgress)
    for number in signals {
      var action = sigaction()
      let handler: @convention(c) (Int32) -> Void = { number in
        noteFailure()
        signal(number, SIG_DFL)
        // The instruction is carried out again, and ends the process.
      }
      #if canImport(Glibc)
        action.__sigaction_handler.sa_handler = handler
      #else
        action.__sigaction_u.__sa_handler = handler
      #endif
      sigaction(number, &action, nil)
    }
  }

  /// Has the rules be applied to all notes again, by this process, which has opened no notebook yet, and by those that begin later.
  static func forget(in stateFolder: String) {
    unlink(path(in: stateFolder))
    RuleGuard.begin(excluding: [], name: inProgress)
  }

  private static func notes(in file: String) -> Set<NoteID> {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if descriptor < 0 { return [] }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = read(descriptor, &bytes, bytes.count)
    return Set(
      bytes.prefix(max(count, 0)).split(separator: UInt8(ascii: "\n")).compactMap {
        NoteID(String(decoding: $0, as: UTF8.self))
      })
  }
}
