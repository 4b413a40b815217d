internal import Notes
internal import ReplicatingTypes

/// The open texts before a group of changes, as far as it has changed them. Nothing is copied but the attachments through which changes are made.
struct OpenTextsUndo {
  /// The attachments that have changed, as they were.
  private(set) var attachments: [Attachment] = []
  /// The number of arrivals that each changed text had.
  private(set) var counts: [(note: NoteID, count: Int)] = []
  /// The changes for the lists of steps, which are recorded when the group is written: a list may be long, and a copy of it, too.
  private(set) var steps: [(attachment: Int, change: ChangeID?, isJoined: Bool)] = []

  /// True if it is known how the attachment was.
  func knows(_ attachment: Int) -> Bool {
    // As a rule it is the last one again.
    attachments.last?.id == attachment || attachments.contains { $0.id == attachment }
  }

  mutating func append(_ attachment: Attachment) { attachments.append(attachment) }

  /// Notes that a text which has so many arrivals is to get another.
  mutating func willAppend(to note: NoteID, after count: Int) {
    if counts.last?.note == note || counts.contains(where: { $0.note == note }) { return }
    counts.append((note, count))
  }

  /// Notes a change for the list of steps of an attachment; nil for one that has changed nothing.
  mutating func append(step change: ChangeID?, joining isJoined: Bool, of attachment: Int) {
    if change == nil && isJoined { return }
    steps.append((attachment, change, isJoined))
  }

  /// The last change of an attachment in the group; nil if it has made none.
  func lastChange(of attachment: Int) -> ChangeID? {
    steps.last { $0.attachment == attachment && $0.change != nil }?.change
  }

  /// True if the next change of an attachment may become a part of its last step; nil if it has made no change in the group.
  func isStepOpen(of attachment: Int) -> Bool? {
    steps.last { $0.attachment == attachment }.map { $0.change != nil }
  }
}
