internal import Notes
internal import ReplicatingTypes

/// The text of one note while clients have it open, and the effects of changes on it since it was opened.
struct OpenText {
  /// An effect on the text after a client had opened it.
  struct Arrival {
    var effect: ReplicatingText.Effect
    /// The attachment that made the change; nil if it came from elsewhere.
    var source: Int?
    /// True if the effect left the present text as it was, because the same elements had been removed before. Only the text that
    /// its source shows has changed.
    var isRepetition = false
  }

  /// The attachments through which clients have it open, in order.
  var attachments: [Int] = []
  /// The effects, in the order in which they came here. The first `dropped` are forgotten: every client has seen them.
  private var arrivals: [Arrival] = []
  private var dropped = 0
  /// A text that need not be read from the notebook again, and after how many arrivals it was the present one.
  private var kept: TextBuffer?
  private var keptCount = 0
  /// The length of the kept text in bytes.
  private(set) var keptSize = 0

  /// The number of arrivals so far.
  var count: Int { dropped + arrivals.count }

  // MARK: - Arrivals

  mutating func append(_ effect: ReplicatingText.Effect, from source: Int?) {
    arrivals.append(Arrival(effect: effect, source: source))
  }

  /// Notes removals by an attachment of elements that were removed before, or have never been shown. They leave the present text as it is.
  mutating func append(repeated removals: [ElementRange], from source: Int) {
    let isPresent = keptCount == count
    arrivals += removals.map {
      Arrival(effect: .removed($0), source: source, isRepetition: true)
    }
    if isPresent { keptCount += removals.count }
  }

  /// Makes the arrivals after the first `count` those of somebody who is not here.
  mutating func disown(after count: Int) {
    for index in (count - dropped)..<arrivals.count { arrivals[index].source = nil }
    keepNothing()
  }

  /// Takes back the arrivals after the first `count`.
  mutating func takeBack(to count: Int) {
    arrivals.removeLast(self.count - count)
    keepNothing()
  }

  /// Forgets the first `seen` arrivals, if there are many.
  mutating func trim(seenByAll seen: Int) {
    guard seen - dropped > arrivals.count / 2 else { return }
    arrivals.removeFirst(seen - dropped)
    dropped = seen
  }

  /// True if there are so many arrivals that `trim` is worth calling.
  var isLong: Bool { arrivals.count > 256 }

  /// True if `shown` is the present text, as it is as a rule.
  func isPresent(_ shown: Attachment.Shown) -> Bool { shown.seen == count && shown.hidden == nil }

  /// The view of the text `shown` with the changes of the attachment itself since; nil if that is the present text.
  ///
  /// - Complexity: O(arrivals that are not in `shown`).
  func view(of shown: Attachment.Shown, by attachment: Int) -> SequenceView? {
    if isPresent(shown) { return nil }
    let late = arrivals[(shown.seen - dropped)...]
    var insertions: [ElementRange] = []
    var removals: [ElementRange] = []
    var own: [ElementRange] = []
    for arrival in late {
      switch arrival.effect {
      case .inserted(let range):
        if arrival.source != attachment { insertions.append(range) }
      case .removed(let range):
        if arrival.source == attachment {
          own.append(range)
        } else if !arrival.isRepetition {
          removals.append(range)
        }
      case .returned(let range):
        // The state that a resumed client shows does not depend on which elements are removed.
        if shown.hidden != nil { continue }
        // The client may not have been told that they were removed. Then it shows them all along, unless it has removed them itself.
        let returned = ElementRanges([range])
        let lacking = returned.subtracting(ElementRanges(removals))
          .union(returned.subtracting(returned.subtracting(ElementRanges(own))).sorted)
        removals = ElementRanges(removals).subtracting(returned).sorted
        insertions += lacking.sorted
      case .withdrawn(let range): removals.append(range)
      }
    }
    if let hidden = shown.hidden {
      return SequenceView(hidden: hidden.union(insertions).union(own), revealed: nil)
    }
    if insertions.isEmpty && removals.isEmpty { return nil }
    return SequenceView(
      hidden: ElementRanges(insertions),
      revealed: ElementRanges(removals).subtracting(ElementRanges(own)))
  }

  // MARK: - The kept text

  /// The present text, if it is kept.
  var present: TextBuffer? { keptCount == count ? kept : nil }

  /// Takes the present text out, so that it can be changed in place.
  mutating func takePresent() -> TextBuffer? {
    if keptCount != count { keepNothing() }
    return takeKept()
  }

  mutating func keep(present text: consuming TextBuffer) {
    keptSize = text.count
    keptCount = count
    kept = text
  }

  mutating func keepNothing() {
    keptSize = 0
    kept = nil
  }

  private mutating func takeKept() -> TextBuffer? {
    keptSize = 0
    return kept.take()
  }

  /// Takes out the text that an attachment shows, if it is kept, so that it can be changed in place.
  mutating func take(_ shown: Attachment.Shown, by attachment: Int) -> TextBuffer? {
    guard keptCount == shown.seen, shown.hidden == nil,
      !arrivals[(shown.seen - dropped)...].contains(where: { $0.source == attachment })
    else { return nil }
    return takeKept()
  }
}
