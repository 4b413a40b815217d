public import Notes
public import ReplicatingTypes

// Looking up what may not be in memory. An archive that can't be read is given up: all that stands in it stands in the folder, too.

extension NoteStore {
  /// The changes that no other one follows.
  public var heads: [ChangeID] { Self.heads(of: &notebook) }

  /// Handed on in place, so that the notebook is not copied.
  private static func heads(of notebook: inout NoteBook) -> [ChangeID] { notebook.revision.heads }

  /// A copy of a note; nil if there is none.
  ///
  /// - Throws: `damaged` when the note can be read neither from the archive nor from the folder.
  public func note(_ id: NoteID) throws(StoreError) -> Note? {
    try reading { book throws(ArchiveFailure) in try book.open(id) ? book.note(id) : nil }
  }

  /// Calls `body` with a note that exists, without copying it.
  ///
  /// - Throws: `damaged` when the note can be read neither from the archive nor from the folder.
  public func read<Result>(
    _ id: NoteID, _ body: (borrowing Note) -> Result
  ) throws(StoreError) -> Result {
    let isHere = try reading { book throws(ArchiveFailure) in try book.open(id) }
    // An archive may say that there are notes which are in no log.
    guard isHere else { throw unreadable(ArchiveFailure(reason: "the note \(id) is missing")) }
    return notebook.read(id, body)
  }

  /// The digest of a version, all known here: see `NoteBook.digest(of:)`.
  ///
  /// - Throws: `damaged` when the archive that holds the changes cannot be read.
  public func digest(of version: Version) throws(StoreError) -> UInt64 {
    try reading { book throws(ArchiveFailure) in try book.digest(of: version) }
  }

  /// The digests of versions, all known here: see `NoteBook.digests(of:)`.
  ///
  /// - Throws: `damaged` when the archive that holds the changes cannot be read.
  public func digests(of versions: [Version]) throws(StoreError) -> [[UInt64]] {
    try reading { book throws(ArchiveFailure) in try book.digests(of: versions) }
  }

  /// Loads the order of the notes, which lists and places need.
  ///
  /// - Throws: `damaged` when it can be read neither from the archive nor from the folder.
  public func openOrder() throws(StoreError) {
    try reading { book throws(ArchiveFailure) in try book.openOrder() }
  }

  /// Looks something up in the notebook's past. `body` is called again if the archive had to be given up.
  ///
  /// - Throws: `damaged` when it can be read neither from the archive nor from the folder.
  public func recall<Result>(
    _ body: (borrowing NoteBook) throws(ArchiveFailure) -> Result
  ) throws(StoreError) -> Result {
    try reading { book throws(ArchiveFailure) in try body(book) }
  }

  /// Looks something up that may not be in memory. `body` is called again if the archive had to be given up.
  func reading<Result>(
    _ body: (inout NoteBook) throws(ArchiveFailure) -> Result
  ) throws(StoreError) -> Result {
    do { return try body(&notebook) } catch {
      guard giveUpArchive() else { throw unreadable(error) }
    }
    do { return try body(&notebook) } catch { throw unreadable(error) }
  }

  /// Removes the archive, which can't be read, so that no later start relies on it, and makes the notebook anew from the folder.
  ///
  /// The version stays the same, since clients show texts of it: what the folder has besides is read, and told, as ever. O(folder).
  ///
  /// - Returns: false if there is no archive, or the folder does not hold all that is known. Then the next start reads what it
  ///   holds.
  @discardableResult
  public func giveUpArchive() -> Bool {
    // The changes of a group are not in the folder yet.
    guard archiving.size > 0, own.group == nil else { return false }
    stateFolder?.removeArchive()
    guard let found = try? NoteStore(rereading: path, on: folder.root.system),
      let book = rebuilt(from: found.notebook)
    else { return false }
    notebook = book
    archiving.giveUp()
    return true
  }

  /// The notebook at the present version, from another one that has read the folder; nil if that does not have all of it.
  private func rebuilt(from found: NoteBook) -> NoteBook? {
    if found.version == notebook.version { return found }
    var book = NoteBook()
    var changes = PendingChanges()
    for replica in notebook.version.replicas {
      let (known, end) = (found.version[replica], notebook.version[replica])
      func take(_ source: NoteBook, _ numbers: ClosedRange<UInt64>) {
        _ = try? source.forEachEncoded(of: replica, in: numbers) { number, encoded, _ in
          changes.insert(ChangeID(replica: replica, number: number), Array(encoded))
          return true
        }
      }
      if known > 0 { take(found, 1...min(known, end)) }
      // What is in memory only: the folder may have lost it a moment ago.
      if known < end { take(notebook, known + 1...end) }
    }
    _ = book.drain(&changes)
    return book.version == notebook.version ? book : nil
  }
}
