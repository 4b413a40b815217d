// A rule of merging that ends the process, by a mistake of this program, must not end each later one with all other notes in it.
//
// A trap can't be caught. So while the rules are applied to a text, the name of its note stands at an address that a handler of signals
// reads (`decent-notes/RuleFailures.swift`). The handler writes the name down, and later processes show this note without the rules: all
// that was written in it, perhaps twice.

internal import ReplicatingTypes

/// The notes to which the rules of merging are not applied, and the one to which they are being applied.
///
/// Both are of the process, as its signals are. They are set before the first notebook is opened, and not after that.
public enum RuleGuard {
  /// Notes with which the rules have ended an earlier process.
  nonisolated(unsafe) public private(set) static var excluded: Set<NoteID> = []
  /// Where the name of a note is put: its length, and its bytes. `nil` where nothing reads them.
  nonisolated(unsafe) private static var name: UnsafeMutableBufferPointer<UInt8>?

  #if DEBUG
    /// A note with which the rules end the process, for tests.
    nonisolated(unsafe) public static var failing: NoteID?
  #endif

  /// Has the rules not be applied to some notes.
  ///
  /// - Parameter name: where to put the length of a note's name, 0 for none, and behind it the name, while the rules are applied to the note. It is never freed, and has
  ///   room for 128 bytes.
  public static func begin(excluding notes: Set<NoteID>, name: UnsafeMutableBufferPointer<UInt8>) {
    excluded = notes
    self.name = name
  }

  /// Runs `body`, which applies rules to a note's text.
  static func applying<Failure, Result>(
    to note: NoteID, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard let name else { return try body() }
    var end = 1
    for byte in note.description.utf8.prefix(name.count - 1) {
      name[end] = byte
      end += 1
    }
    // The length comes last: until then there is no name.
    name[0] = UInt8(end - 1)
    defer { name[0] = 0 }
    #if DEBUG
      precondition(note != failing, "a rule of merging that fails")
    #endif
    return try body()
  }
}
