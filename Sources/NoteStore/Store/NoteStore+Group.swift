internal import Notes
public import ReplicatingTypes

// A group of changes: each is planned on those before it, and all are written together.

extension NoteStore {
  /// Begins a group: the changes that `commit` makes from now on are in the notebook, and not in the log, until `finishGroup`. Until then
  /// the caller tells no client of them, and calls no other method that changes the notebook or reads the folder.
  ///
  /// A group takes no copy of the notebook. Without one, each change is a group of its own, which is written before it is applied.
  ///
  /// - Throws: the error that keeps changes that are missing from being written again.
  public func beginGroup() throws(StoreError) { try beginGroup(creating: []) }

  func beginGroup(creating created: [ContentAddressedChange]) throws(StoreError) {
    precondition(own.group == nil, "a group in a group")
    let session = try nextSession()
    let records =
      created.isEmpty ? [] : [record(ContentAddressedChange.changeSet(of: created))]
    own.group = ChangeGroup(session, after: notebook.version[session], creating: created, records)
  }

  /// The changes of the group, in order.
  public var groupedChanges: [ChangeID] { own.group?.changes ?? [] }

  /// The error that kept a group from being written.
  public struct GroupFailure: Error {
    /// The disk's error.
    public let cause: StoreError
    /// True if the notebook is what it was before the group. False where there is no way back, because neither the archive nor the folder can
    /// be read: then the changes stay, and are written again from memory when that can be done.
    public let isTakenBack: Bool
  }

  /// Writes the changes of the group, with one write. When this returns, they are in the log and survive the end of the process.
  ///
  /// - Throws: the failure. None of the changes has happened then, and none of their names is used again. If the disk has taken them all the
  ///   same, as where only its answer was lost, they count as changes of others, and are read like those.
  public func finishGroup() throws(GroupFailure) {
    guard let done = own.group else { return }
    defer { own.group = nil }
    if done.count == 0 { return }
    do throws(StoreError) { try append(done.records) } catch {
      // Otherwise the next change would have the name of one of these.
      folder.endSession()
      throw GroupFailure(cause: error, isTakenBack: takeBack(done))
    }
    count(done)
  }

  /// Takes back the changes of the group, if there is one. None of them is written, and their names may be used again.
  ///
  /// - Returns: false if the changes stay, as in a `GroupFailure`.
  @discardableResult
  public func abandonGroup() -> Bool {
    guard let group = own.group else { return true }
    return takeBack(group)
  }

  /// Counts changes that are here to stay.
  private func count(_ group: ChangeGroup) {
    own.written[group.session] += group.count
    archiving.unkept += group.size
  }

  /// Goes back to the notebook before a group that was not written; returns false if nothing is there from which that could be made.
  private func takeBack(_ undone: ChangeGroup) -> Bool {
    // `giveUpArchive`, which `takeOut` may need, does nothing as long as there is a group.
    own.group = nil
    // A change that was not made has no entry, and the entries that are open are looked up again.
    own.entries = OpenEntries()
    var isTakenBack = takeOut(changesOf: undone.session, after: undone.number)
    if !isTakenBack { count(undone) }
    for change in undone.created.reversed() where isTakenBack {
      isTakenBack = takeOut(changesOf: change.id.replica, after: 0)
    }
    return isTakenBack
  }

  /// Takes the changes of a replica after number `last` out of the notebook. Nothing follows them, and they are not written.
  private func takeOut(changesOf replica: ReplicaID, after last: UInt64) -> Bool {
    if notebook.version[replica] <= last { return true }
    func book() -> NoteBook? { try? notebook.without(changesOf: replica, after: last) }
    guard let before = book() ?? (giveUpArchive() ? book() : nil) else {
      folder.needsRepublish = true
      return false
    }
    notebook = before
    // The archive that is being written is one of the notebook that was left.
    archiving.writing = nil
    return true
  }
}
