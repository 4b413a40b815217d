/// The index of links of a process.
struct Indexing {
  /// Nil before it was begun.
  var index: LinkIndex?
  /// True if a client may ask for links soon: whoever only lists, or exchanges changes, never does.
  var isWanted = false

  /// True if there is something to read while there is nothing else to do.
  var isDue: Bool { isWanted && index.map(\.isBehind) ?? true }
}
