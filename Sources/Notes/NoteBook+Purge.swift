internal import ReplicatingTypes

// Forgetting notes for good: what it does to the notebook. What it does to changes is in Redactor.swift.
//
// A note counts as purged as soon as a change purges it, or is known redacted: who has redacted has known that. From then on nothing is
// done to it, whatever was or is known: its changes take their logical time, and nothing else. So two notebooks that know the same
// changes are equal, in whichever order these came, redacted or not, once they know what was purged.

extension NoteBook {
  /// Forgets a note, which is open.
  mutating func purge(_ id: NoteID, _ effects: inout Effects) {
    guard purged.insert(id).inserted else { return }
    unredacted.insert(id)
    redactions += 1
    shelf.purge(id)
    undecided[id] = nil
    withdrawing.remove(id)
    effects.insert(.purged, id)
  }

  /// Leaves nothing in memory of what changes did to notes that were purged. O(1) if none was since the last time, else O(changes in
  /// memory). It changes no answer: who reads changes in memory redacts them until then. So it is done once for many notes.
  public mutating func redactHistories() {
    if unredacted.isEmpty { return }
    histories.redact(unredacted)
    unredacted = []
  }

  /// The next change of a replica without what it does to notes that were purged.
  ///
  /// - Parameters:
  ///   - previous: the time of the change before.
  ///   - mentions: whom the replica has named with it and before.
  func redacted(
    _ id: ChangeID, _ encoded: ArraySlice<UInt8>, after previous: Int64, _ mentions: Mentions
  ) throws(DecodingFailure) -> (Change, ArraySlice<UInt8>) {
    var redactor = Redactor(purged, author: id.replica, mentions: mentions)
    guard let redacted = try redactor.redacted(encoded) else {
      throw DecodingFailure(offset: 0, reason: "nothing to redact")
    }
    var before = histories.end(of: id.replica).mentions
    return (try Change(id, decoding: redacted[...], after: previous, &before), redacted[...])
  }
}
