internal import NoteStore
internal import ReplicatingTypes

/// The messages about damage of the notebook that the user has been told.
struct DamageReports {
  /// True if every file is looked at, of which what was found is reported when all of it is merged.
  var isFullLook = false
  private var reported: Set<String> = []
  /// The report about waiting changes at the last full look.
  private var waitingAtFullLook: LogFolder.Damage?

  /// The messages that the user has not been told yet.
  ///
  /// - Parameters:
  ///   - damage: all damage there is.
  ///   - waiting: the report in `damage` about changes that wait for others. The user is told if it is the same at two full
  ///     looks in a row: while two processes write, changes may wait for a moment.
  ///   - isFullLook: whether every file was looked at.
  ///   - isOnlyLook: whether there is no second one.
  mutating func news(
    _ damage: [LogFolder.Damage], waiting: LogFolder.Damage?, isFullLook: Bool,
    isOnlyLook: Bool
  ) -> [String] {
    let isLasting = isFullLook && (isOnlyLook || waiting == waitingAtFullLook)
    if isFullLook { waitingAtFullLook = waiting }
    var news: [String] = []
    for damage in damage where damage != waiting || isLasting {
      let message = "\(damage.path), byte \(damage.offset): \(damage.description)"
      if reported.insert(message).inserted { news.append(message) }
    }
    return news
  }

  /// The message about branches.
  static func message(_ branches: [ReplicaID]) -> String {
    let names = branches.prefix(3).map(\.description).joined(separator: ", ")
    let more = branches.count > 3 ? " and \(branches.count - 3) others" : ""
    return
      "divergedSession: two programs went on as one session, as copies of a running machine do. What the other one wrote can be read"
      + " here as session \(names)\(more), and what this one wrote there. What follows them does not travel between the two: see"
      + " \"Copies of a running machine\" in the documentation"
  }
}
