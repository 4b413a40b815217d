public import ReplicatingTypes

// A notebook as it was a moment ago.

extension NoteBook {
  /// The notebook without the changes of `replica` that come after number `last`: nothing else follows them, and they are in no archive.
  ///
  /// It is made anew, from the archive and the changes in memory, so a notebook that never has to go back pays nothing for it. O(changes
  /// that are not in the archive).
  public func without(
    changesOf replica: ReplicaID, after last: UInt64
  ) throws(ArchiveFailure) -> NoteBook {
    var book = archive.map { NoteBook($0) } ?? NoteBook()
    var changes = PendingChanges()
    for known in version.replicas {
      let (start, end) = (book.version[known], known == replica ? last : version[known])
      if start >= end { continue }
      try forEachEncoded(of: known, in: start + 1...end) { number, encoded, _ in
        changes.insert(ChangeID(replica: known, number: number), Array(encoded))
        return true
      }
    }
    let merged = book.drain(&changes)
    if let failure = merged.unreadable { throw failure }
    var before = version
    before[replica] = last
    guard book.version == before else { throw ArchiveFailure(reason: "changes are missing") }
    // It only grows.
    book.redactions = max(book.redactions, redactions)
    return book
  }
}
