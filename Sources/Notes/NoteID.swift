public import ReplicatingTypes

/// The name of a note: that of the change that created it. So it needs no randomness, and no note is created
/// twice.
public struct NoteID: Hashable, Comparable, Sendable {
  /// The change that created the note.
  public var creation: ChangeID

  /// The name of the note that a change creates.
  public init(creation: ChangeID) {
    self.creation = creation
  }

  public static func < (a: Self, b: Self) -> Bool { a.creation < b.creation }
}

extension NoteID: CustomStringConvertible {
  /// The number, a hyphen, the replica: the beginning tells the notes of one session apart.
  public var description: String { "\(creation.number)-\(creation.replica)" }

  /// Reads what `description` writes; `nil` for anything else.
  public init?(_ description: String) {
    let parts = description.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = UInt64(canonical: parts[0]), number > 0,
      let replica = ReplicaID(parts[1])
    else { return nil }
    self.init(creation: ChangeID(replica: replica, number: number))
  }
}

extension UInt64 {
  /// A number written the one way it is written here: decimal digits, no sign, no leading zero.
  init?(canonical digits: some StringProtocol) {
    guard let number = UInt64(digits), String(number) == digits else { return nil }
    self = number
  }
}
