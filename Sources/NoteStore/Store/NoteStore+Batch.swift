internal import Notes
public import ReplicatingTypes

// Several changes that are made together: they go to the log with one write, and a reader takes that whole or not at all.

extension NoteStore {
  /// Begins to gather the changes that `commit` makes: until `finishBatch` or `abandonBatch` nothing is written, and nothing else may be
  /// asked for that changes the notebook or reads the folder.
  ///
  /// - Throws: the error that keeps changes that are missing from being written again.
  public func beginBatch() throws(StoreError) {
    precondition(batching == nil, "a batch in a batch")
    let session = try nextSession()
    batching = Batching(session, at: notebook.version[session], before: notebook)
  }

  /// The changes that were gathered, in order.
  public var batchedChanges: [ChangeID] { batching?.changes ?? [] }

  /// Writes the changes that were gathered. When this returns, they are in the log and survive the end of the process.
  ///
  /// - Throws: the error that kept them from being written. None of them has happened then, and none of their names is used again.
  public func finishBatch() throws(StoreError) {
    guard let batch = batching else { return }
    if batch.records.isEmpty { return abandonBatch() }
    do { try append(batch.records) } catch {
      abandonBatch()
      folder.endSession()
      throw error
    }
    count(batch)
    batching = nil
  }

  /// Counts changes that were gathered, and are here to stay.
  func count(_ gathered: Batching) {
    own.written[gathered.session] += UInt64(gathered.records.count)
    archiving.unkept += gathered.size
  }

  /// Takes back the changes that were gathered. Their names may be used again.
  public func abandonBatch() {
    guard let batch = batching, let before = batch.before else { return }
    batching = nil
    notebook = before
    own.entries = OpenEntries()
  }
}
