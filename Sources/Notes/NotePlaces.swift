internal import ReplicatingTypes

/// A number for each of very many notes: a dictionary that grows in small steps.
///
/// A dictionary that is full moves all that it has, which takes a sixth of a second for a million notes. Here notes are divided among
/// some dictionaries by their ids, and one of them grows at a time. (Ids that somebody has chosen so that all are in one make that as
/// slow as one dictionary.)
struct NotePlaces: Sendable {
  private static let count = 256

  private var parts: [[NoteID: Int]] = Array(repeating: [:], count: Self.count)

  subscript(id: NoteID) -> Int? {
    get { parts[Self.part(of: id)][id] }
    set { parts[Self.part(of: id)][id] = newValue }
  }

  /// Two rounds of a product folded: after one, the numbers of an author's notes would be so even that all parts were full at once.
  static func part(of id: NoteID) -> Int {
    var hash = id.creation.replica.low ^ id.creation.replica.high &+ id.creation.number
    for factor: UInt64 in [0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9] {
      let product = hash.multipliedFullWidth(by: factor)
      hash = product.high ^ product.low
    }
    return Int(hash % UInt64(count))
  }
}
