/// The index of links of a process.
struct Indexing {
  /// Nil before it was begun.
  var index: LinkIndex?
  /// True if a client may ask for links soon: whoever only lists, or exchanges changes, never does.
  var isWanted = false
  /// Looking in an archive for the notes with one name takes as long as reading so many. Fewer in tests.
  var notesForKey = 32

  /// True if there is something to read while there is nothing else to do.
  var isDue: Bool { isWanted && index.map(\.isBehind) ?? true }
}
