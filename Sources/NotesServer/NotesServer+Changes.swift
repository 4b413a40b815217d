internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// The notebook: looking things up in it, changing it, and merging changes of others. Only this file records changes for the open
// texts and tells the client of them.

extension NotesServer {
  // MARK: - Looking things up

  /// The note that the parameter `name` names by its identifier.
  func note(_ text: String, _ name: String = "id") throws(ResponseError) -> Note {
    let (id, note): (NoteID?, Note?)
    do {
      id = requests.batch?.note(named: text) ?? NoteID(text)
      note = try id.flatMap { id throws(StoreError) in try store?.note(id) }
    } catch { throw ResponseError(error) }
    guard let note else {
      if let id, book.isPurged(id) {
        throw .requestFailed("purged", "\(name): the note was forgotten for good")
      }
      if let id, try shownNote(id) != nil { throw .waits(name) }
      throw .requestFailed("noSuchNote", "\(name): there is no note \(text.prefix(80))")
    }
    return note
  }

  /// The note that the parameter `name` names, for reading: with what is shown of changes that wait for missing ones.
  ///
  /// - Returns: the note, and whether it is shown otherwise than it is known to be.
  func noteForReading(
    _ text: String, _ name: String = "id"
  ) throws(ResponseError) -> (note: Note, isSupposed: Bool) {
    guard store?.waitingChanges ?? 0 > 0, let id = NoteID(text), let shown = try shownNote(id)
    else { return (try note(text, name), false) }
    let known = try? note(text, name)
    return (shown, known?.version != shown.version)
  }

  /// A note as it is shown while changes wait for missing ones; nil if there is none, or nothing waits.
  func shownNote(_ id: NoteID) throws(ResponseError) -> Note? {
    guard let store, store.waitingChanges > 0 else { return nil }
    do {
      return try store.recallReadable { book throws(ArchiveFailure) in try book.note(id) }
    } catch { throw ResponseError(error) }
  }

  /// Looks something up in the notebook as it is shown.
  func recallReadable<Result>(
    _ body: (borrowing NoteBook) throws(ArchiveFailure) -> Result
  ) throws(ResponseError) -> Result {
    guard let store else { return try recall(body) }
    do { return try store.recallReadable(body) } catch { throw ResponseError(error) }
  }

  /// Reads a note that exists, without copying it.
  func read<Result>(
    _ id: NoteID, _ body: (borrowing Note) -> Result
  ) throws(ResponseError) -> Result {
    do { return try store!.read(id, body) } catch { throw ResponseError(error) }
  }

  /// The notebook, with the notes' order in memory.
  func orderedBook() throws(ResponseError) -> NoteBook {
    do { try store?.openOrder() } catch { throw ResponseError(error) }
    return book
  }

  /// Looks something up in the notebook's past.
  func recall<Result>(
    _ body: (borrowing NoteBook) throws(ArchiveFailure) -> Result
  ) throws(ResponseError) -> Result {
    guard let store else {
      do { return try body(NoteBook()) } catch { throw ResponseError(error) }
    }
    do { return try store.recall(body) } catch { throw ResponseError(error) }
  }

  /// The digests of versions, all known here.
  func digests(of versions: [Version]) throws(ResponseError) -> [[UInt64]] {
    guard let store else { return versions.map { _ in [] } }
    do { return try store.digests(of: versions) } catch { throw ResponseError(error) }
  }

  /// The digest of a version, all of it known here; nil as long as there is no notebook.
  func digest(of version: Version) throws(ResponseError) -> UInt64? {
    do { return try store?.digest(of: version) } catch { throw ResponseError(error) }
  }

  // MARK: - Changes

  /// Makes one change of these operations; none, if there are none.
  ///
  /// - Parameters:
  ///   - session: the session that the operations were planned for, if they name it.
  ///   - source: the attachment that makes the change, if any.
  ///   - isTold: whether the client is told of it, because it is not the client that makes it.
  ///   - isImport: whether the change is made from files that the client imports.
  ///   - announce: called with the change's name before the change is written. When it throws, the change is not made.
  @discardableResult
  mutating func commit(
    _ operations: [Change.Operation], as session: ReplicaID? = nil,
    from source: Int? = nil, telling isTold: Bool = false,
    importing isImport: Bool = false,
    announce: (ChangeID) throws(StoreError) -> Void = { _ in }
  ) throws(ResponseError) -> Effects {
    guard !operations.isEmpty else { return Effects() }
    do {
      let effects = try store!.commit(
        operations, as: session, at: environment.now(), by: client.participant, isImport: isImport,
        request: requests.mark, announce: announce)
      if requests.batch != nil {
        requests.batch!.effects.merge(effects)
      } else if isTold {
        take(effects)
      } else {
        record(effects, from: source)
      }
      return effects
    } catch {
      throw ResponseError(error)
    }
  }

  /// The session of the next change, for operations that name what it inserts.
  func nextSession() throws(ResponseError) -> ReplicaID {
    do { return try store!.nextSession() } catch { throw ResponseError(error) }
  }

  /// Makes changes that are named by their content, and one that follows them; returns whether they were made: not if the first is known.
  ///
  /// - Parameters:
  ///   - created: at least one; each follows the one before it.
  ///   - plan: the operations of the change that follows them. A function of the notebook with them. When it throws, none is made.
  ///   - isTold: true if the client is told of its effects, as of those of other replicas.
  ///   - announce: called before the changes are written. When it throws, none is made.
  mutating func commit(
    _ created: [ContentAddressedChange],
    then plan: (borrowing NotesServer) throws(ResponseError) -> [Change.Operation],
    telling isTold: Bool = false, importing isImport: Bool = false,
    announce: () throws(StoreError) -> Void = {}
  ) throws(ResponseError) -> Bool {
    let effects: Effects?
    var refusal: ResponseError?
    func planned() -> [Change.Operation]? {
      do throws(ResponseError) { return try plan(self) } catch {
        refusal = error
        return nil
      }
    }
    do {
      effects = try store!.commit(
        created, then: planned, at: environment.now(), by: client.participant,
        isImport: isImport, announce: announce)
    } catch { throw ResponseError(error) }
    if let refusal { throw refusal }
    guard let effects else { return false }
    if isTold { take(effects) } else { record(effects, from: nil) }
    return true
  }

  /// Merges an encoded `ChangeSet`, and tells the client of its effects.
  ///
  /// - Parameter isAdopting: whether changes of another notebook make that one and this one the same.
  /// - Returns: its effects, and the version of who knows the changes of the set.
  @discardableResult
  mutating func merge(
    changes: [UInt8], adopting isAdopting: Bool = false
  ) throws(ResponseError) -> (effects: Effects, version: Version) {
    guard let store else { return (Effects(), Version()) }
    let merged: (effects: Effects, version: Version)
    do { merged = try store.merge(changes, adopting: isAdopting) } catch {
      throw ResponseError(error)
    }
    take(merged.effects)
    return merged
  }

  /// Merges a slice of what other processes have written, as far as it is noticed.
  mutating func mergeSlice() {
    guard let store, store.isMerging else { return }
    take(store.mergeSlice())
    endMerging()
  }

  /// Merges everything that other processes have written, as far as it is noticed; returns whether there was something.
  mutating func mergeAll() -> Bool {
    guard let store, store.isMerging else { return false }
    take(store.mergeAll())
    endMerging()
    return true
  }

  /// Reads and merges what other processes have written, everywhere and at once.
  mutating func readFolder() {
    store?.beginRescan()
    damageReports.isFullLook = true
    _ = mergeAll()
  }

  private mutating func endMerging() {
    if store?.isMerging == true { return }
    reportDamage(afterFullLook: damageReports.isFullLook)
    damageReports.isFullLook = false
  }

  /// Records the effects of changes that the client did not make, and tells the client of them.
  mutating func take(_ effects: Effects) {
    guard !effects.isEmpty else { return }
    record(effects, from: nil)
    forgetFiles()
    untoldChanges.merge(effects.notes(by: client.participant)) { known, new in
      var both = known
      both.merge(new)
      return both
    }
  }

  /// Records the effects of changes on open texts. The attachments of notes that were purged end.
  mutating func record(_ effects: Effects, from source: Int?) {
    openTexts.record(effects, from: source)
    for note in effects.purged { openTexts.end(note) }
    // Later, with those that are purged by other requests that came together.
    notesToForget.formUnion(effects.purged)
    mirroring.mirror?.note(effects)
    indexing.index?.note(effects)
  }

  /// At most so many changed notes are told of in one message.
  private static let mostTold = 1024

  /// Tells the client which notes have changed since it was told last, and in what, as far as there is room. Not in the middle of a merge:
  /// a client that then asks for more would wait for the rest of it.
  mutating func tellChanges() {
    if untoldChanges.isEmpty || store?.isMerging == true { return }
    // A client that follows is told the changes themselves.
    guard client.follower == nil else {
      untoldChanges = [:]
      return
    }
    let revision = revision
    while !untoldChanges.isEmpty, connection.hasRoomForPushes {
      // Each message has the revision, which may be long.
      tell(takeUntold(max(Self.mostTold, revision.utf8.count / 32)), revision)
    }
  }

  private mutating func takeUntold(_ count: Int) -> [NoteID: Effects.NoteEffect] {
    if untoldChanges.count <= count {
      defer { untoldChanges = [:] }
      return untoldChanges
    }
    let some = untoldChanges.prefix(count)
    for (note, _) in some { untoldChanges[note] = nil }
    return Dictionary(uniqueKeysWithValues: some.map { ($0, $1) })
  }

  private mutating func tell(_ changes: [NoteID: Effects.NoteEffect], _ revision: String) {
    currentOutbox.notify("notebook/didChange") {
      $0.beginObject()
      $0.member("revision", revision)
      $0.key("changed")
      $0.beginArray()
      for (id, effect) in changes.sorted(by: { $0.key < $1.key }) {
        $0.beginObject()
        $0.member("id", "\(id)")
        $0.member("what", effect.facets.names)
        if let author = effect.author { $0.author(author) }
        $0.endObject()
      }
      $0.endArray()
      $0.endObject()
    }
  }
}

extension Effects.Facets {
  /// Their names on the wire.
  fileprivate var names: [String] {
    let all: [(Effects.Facets, String)] = [
      (.created, "created"), (.title, "title"), (.text, "text"), (.tags, "tags"),
      (.priority, "priority"), (.position, "position"), (.trashed, "trashed"),
      (.path, "path"), (.header, "header"),
      (.purged, "purged"),
    ]
    return all.filter { contains($0.0) }.map(\.1)
  }
}

extension [Change.Operation] {
  /// The elements of a text that these remove.
  var removals: [ElementRange] {
    compactMap { if case .edit(_, .text(.remove(let range))) = $0 { range } else { nil } }
  }

  /// The dividers that these have brought to a text.
  ///
  /// - Parameter count: how many elements of the text their author has inserted, with these.
  func dividers(by author: ReplicaID, of count: Int) -> [ElementRange] {
    var end = count
    var dividers: [ElementRange] = []
    for case .edit(_, .text(.insert(let bytes, _, _, let divider))) in reversed() {
      if divider > 0 {
        dividers.append(ElementRange(author: author, offset: end - divider, count: divider))
      }
      end -= bytes.count
    }
    return dividers
  }
}

extension ResponseError {
  /// The error about a note that is shown, and can't be changed.
  static func waits(_ parameter: String) -> ResponseError {
    .requestFailed(
      "missingChanges",
      "\(parameter): the note, or its text, can only be read: it follows changes that are missing, which the notebook's status names"
    )
  }
}
