public import ReplicatingTypes

/// The urgency of a note.
public enum Priority: UInt8, CaseIterable, Sendable {
  case low, normal, high

  /// "low", "normal" or "high".
  public var name: String {
    switch self {
    case .low: "low"
    case .normal: "normal"
    case .high: "high"
    }
  }

  /// The priority with a name; `nil` if none has it.
  public init?(name: String) {
    guard let priority = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = priority
  }
}

/// One note: a title, a text, tags, a priority and properties, each a replicating value; and whether it lies in the trash.
///
/// Deleting and editing meet like this. A deletion says what of the note's content its author had seen. The note is in the
/// trash if and only if one deletion covers all of its content: an edit of text or title that the deletion's author had
/// not seen brings the note back, with the edit, and so does any later edit. Moving, tagging and prioritising don't, nor does a path.
public struct Note: Sendable, Equatable, Identifiable {
  /// A change of a note that has no author yet.
  public enum Operation: Equatable, Sendable {
    case title(ReplicatingRegister<String>.Assignment)
    case priority(ReplicatingRegister<Priority>.Assignment)
    case tags(ReplicatingSet<Tag>.Operation)
    case text(ReplicatingText.Operation)
    /// Puts the note into the trash, as far as its content is `covered`.
    case delete(covered: Version)
    case restore
    /// The state of the text that the following edits of it in this change were made on, if it isn't that of the change's past.
    case base(TextBase)
    /// Takes back what these changes did to the text.
    case withdraw(ChangeRanges)
    case property(PropertyName, ReplicatingRegister<String>.Assignment)
    /// The note is as old as this: milliseconds since 1970. Of several behind its creation the least counts.
    case created(Int64)
    /// The note's content was last changed at this time, before it was imported: milliseconds since 1970. Of several behind its creation the least counts.
    case modified(Int64)

    /// True if it counts as content: something that a deletion must have seen to cover.
    var isContent: Bool {
      switch self {
      case .title, .text, .restore, .withdraw: true
      case .priority, .tags, .delete, .base, .created, .modified: false
      case .property(let name, _): name.isContent
      }
    }

    /// True if it counts as a change of the note (`modified`): of its text, title or tags.
    var isModification: Bool {
      switch self {
      case .title, .text, .withdraw, .tags: true
      case .priority, .property, .delete, .restore, .base, .created, .modified: false
      }
    }

    /// The logical time that it takes: a tick for each byte of text inserted.
    var ticks: UInt64 {
      if case .text(.insert(let bytes, _, _, _)) = self { UInt64(bytes.count) } else { 0 }
    }
  }

  struct Deletion: Equatable, Sendable {
    var change: ChangeID
    /// Milliseconds since 1970, by the clock of its author.
    var clock: Int64
    var covered: Version
  }

  /// The identity: the change that created the note.
  public let id: NoteID
  /// Milliseconds since 1970, by the clock of its author, or as its author has said.
  public internal(set) var created: Int64
  /// The time of the last change of text, title or tags, by the clock of its author. Milliseconds since 1970.
  ///
  /// The last one in logical order: it comes after all that its author had seen, also after a change whose clock was years
  /// ahead. Of an imported note it is never before the time that the import has taken over.
  /// Of a note that was created by a change without a time, and not changed since, the time when it was created.
  public var modified: Int64 {
    guard let imported else { return lastChange.clock == 0 ? created : lastChange.clock }
    return lastChange.logical.count == 0 ? imported : max(imported, lastChange.clock)
  }
  /// The time of the last change before the note was imported. Milliseconds since 1970.
  var imported: Int64?
  var lastChange: WallTime
  /// The title, without line breaks.
  public internal(set) var title = ReplicatingRegister("")
  /// The text, with all of its past.
  public internal(set) var text = ReplicatingText()
  /// The withdrawals of changes of the text.
  public internal(set) var withdrawals = Withdrawals()
  /// The tags.
  public internal(set) var tags = ReplicatingSet<Tag>()
  /// The priority.
  public internal(set) var priority = ReplicatingRegister(Priority.normal)
  /// The properties that were ever set; one whose value is empty isn't there.
  var properties: [PropertyName: ReplicatingRegister<String>] = [:]
  /// The changes that wrote content, of each replica the last.
  var content = Version()
  /// Sorted by change.
  var deletions: [Deletion] = []

  init(id: NoteID, created: Int64, imported: Int64? = nil) {
    self.id = id
    self.created = created
    self.imported = imported
    // Every other change follows this one.
    lastChange = Self.creation(of: id, clock: created)
    content.insert(id.creation)
  }

  /// A moment before all changes of a note.
  private static func creation(of id: NoteID, clock: Int64) -> WallTime {
    WallTime(logical: LamportTimestamp(count: 0, replica: id.creation.replica), clock: clock)
  }

  /// What is left of a note that was purged: nothing, in the trash, as if its creation had deleted it.
  init(purged id: NoteID) {
    self.init(id: id, created: 0)
    insert(Deletion(change: id.creation, clock: 0, covered: content))
  }

  /// True if a deletion covers all content.
  public internal(set) var isTrashed = false

  /// The time of the last deletion that covers all content, by the clock of its author; nil outside the trash. Milliseconds since 1970.
  public var trashed: Int64? {
    isTrashed ? deletions.filter { $0.covered.isSuperset(of: content) }.map(\.clock).max() : nil
  }

  /// The deletions that cover all content.
  var coveringDeletions: [ChangeID] {
    deletions.filter { $0.covered.isSuperset(of: content) }.map(\.change)
  }

  /// The deletion that covers what is here.
  public var deletion: Operation { .delete(covered: content) }

  /// The operations that make the tags these. Only the difference: what stays isn't touched, so that a concurrent removal
  /// of it counts.
  public func operations(settingTags wanted: Set<Tag>) -> [Operation] {
    let present = tags.values
    return present.subtracting(wanted).sorted().compactMap {
      tags.removal(of: $0).map { .tags($0) }
    }
      + wanted.subtracting(present).sorted().map { .tags(.insert($0)) }
  }

  /// Applies an operation that is in order: a local one, or one that `validate` passed. Reports what became of the text. After withdrawals
  /// `settleWithdrawals` shows the text without what they name.
  mutating func apply(
    _ operation: Operation, _ stamp: Stamp, at moment: WallTime,
    _ report: (ReplicatingText.Effect) -> Void
  ) {
    if operation.isModification { follow(moment, in: stamp.change) }
    if operation.isContent { touch(stamp.change) }
    switch operation {
    case .title(let assignment): title.apply(assignment, stamp)
    case .priority(let assignment): priority.apply(assignment, stamp)
    case .tags(let operation): tags.apply(operation, stamp)
    case .text(let operation): text.apply(operation, stamp, report)
    case .delete(let covered):
      insert(Deletion(change: stamp.change, clock: moment.clock, covered: covered))
    case .withdraw(let changes):
      withdrawals.insert(Withdrawals.Withdrawal(changes, stamp))
    case .property(let name, let assignment):
      properties[name, default: ReplicatingRegister("")].apply(assignment, stamp)
    case .created(let created):
      self.created = stamp.change == id.creation ? created : Self.older(self.created, created)
    case .modified(let modified):
      if stamp.change == id.creation {
        imported = modified
        lastChange = Self.creation(of: id, clock: created)
      } else {
        imported = min(imported ?? modified, modified)
      }
    case .restore, .base: break
    }
  }

  /// Shows the text without the changes that are withdrawn.
  mutating func settleWithdrawals(_ report: (ReplicatingText.Effect) -> Void) {
    if !withdrawals.isEmpty { text.withdraw(withdrawals.withdrawn(), report) }
  }

  /// Applies everything of an operation but a change of text: a past text is read off the present one.
  mutating func record(_ operation: Operation, _ stamp: Stamp, at moment: WallTime) {
    switch operation {
    case .text, .withdraw:
      follow(moment, in: stamp.change)
      touch(stamp.change)
    default: apply(operation, stamp, at: moment) { _ in }
    }
  }

  /// The time of the older of two creations; 0 for one whose time is not known.
  private static func older(_ one: Int64, _ other: Int64) -> Int64 {
    one == 0 || other == 0 ? one + other : min(one, other)
  }

  /// Notes when a change was made. The one that creates an imported note is none of its content.
  private mutating func follow(_ moment: WallTime, in change: ChangeID) {
    if imported == nil || change != id.creation { follow(moment) }
  }

  private mutating func follow(_ moment: WallTime) {
    if lastChange.logical < moment.logical { lastChange = moment }
  }

  /// Content that comes now is covered by no deletion that came before: the author of that can't have seen it.
  private mutating func touch(_ change: ChangeID) {
    content.insert(change)
    isTrashed = false
  }

  private mutating func insert(_ deletion: Deletion) {
    isTrashed = isTrashed || deletion.covered.isSuperset(of: content)
    let place = deletions.lastIndex { $0.change <= deletion.change }
    if let place, deletions[place] == deletion { return }
    deletions.insert(deletion, at: place.map { $0 + 1 } ?? 0)
  }

  mutating func validate(
    _ operation: Operation, of change: ChangeID, _ awareness: Awareness,
    isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) {
    switch operation {
    case .title(let assignment):
      try ReplicatingRegister<String>.validate(assignment)
      guard Self.isTitle(assignment.value) else {
        throw InvalidChange("a title with a line break or U+0000")
      }
    case .priority(let assignment):
      try ReplicatingRegister<Priority>.validate(assignment)
    case .tags(.insert(let tag)):
      guard Self.isTag(tag.name) else { throw InvalidChange("a tag that can be none") }
    case .tags(.remove(_, let observed)):
      guard !observed.isEmpty else { throw InvalidChange("a removal of no addition of a tag") }
      for seen in observed where seen == change || !isKnown(seen) {
        throw InvalidChange("a removal of what its author could not know")
      }
    case .text(let operation):
      try text.validate(operation, by: change.replica, awareness, isKnown: isKnown)
    case .delete(let covered):
      for replica in covered.replicas
      where replica == change.replica && covered[replica] >= change.number
        || !isKnown(ChangeID(replica: replica, number: covered[replica]))
      {
        throw InvalidChange("a deletion of what its author could not know")
      }
    case .restore, .created, .modified: break
    case .property(let name, let assignment):
      try ReplicatingRegister<String>.validate(assignment)
      guard name.isValid else { throw InvalidChange("a property that can be none") }
    case .base(let base):
      guard base.heads.allSatisfy({ $0 < change || $0.replica != change.replica }),
        base.heads.allSatisfy(isKnown)
      else { throw InvalidChange("a base that its author could not know") }
    case .withdraw(let changes):
      guard changes.runs.allSatisfy({ $0.replica != change.replica || $0.last < change }),
        changes.runs.allSatisfy({ isKnown($0.last) })
      else { throw InvalidChange("a withdrawal of what its author could not know") }
    }
  }

  /// The most bytes of a title that a client may write. Earlier versions of the program knew no limit.
  public static let longestTitle = 4096

  /// A title holds any text without line breaks and U+0000.
  public static func isTitle(_ title: String) -> Bool {
    !title.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }
  }

  /// A tag is a title of 1 to 200 bytes.
  public static func isTag(_ tag: String) -> Bool {
    isTitle(tag) && (1...200).contains(tag.utf8.count)
  }
}

extension Note: Replicable {
  /// The changes that a note at one version has and one at another lacks.
  public struct Changes: ReplicatingChanges, Sendable {
    public var since: Version
    var title: ReplicatingRegister<String>.Changes
    var priority: ReplicatingRegister<Priority>.Changes
    var tags: ReplicatingSet<Tag>.Changes
    var text: ReplicatingText.Changes
    var properties: [PropertyName: ReplicatingRegister<String>.Changes]
    var withdrawals: [Withdrawals.Withdrawal]
    var content: Version
    var deletions: [Deletion]
    var imported: Int64?
    var lastChange: WallTime
    var created: Int64

    public var version: Version {
      var version = content
      for part in [title.version, priority.version, tags.version, text.version] {
        version.merge(part)
      }
      for property in properties.values { version.merge(property.version) }
      for deletion in deletions { version.insert(deletion.change) }
      version.merge(since)
      return version
    }
  }

  public var version: Version {
    var version = content
    for part in [title.version, priority.version, tags.version, text.version] {
      version.merge(part)
    }
    for property in properties.values { version.merge(property.version) }
    for deletion in deletions { version.insert(deletion.change) }
    return version
  }

  public func changes(since version: Version) -> Changes {
    Changes(
      since: version.intersection(self.version), title: title.changes(since: version),
      priority: priority.changes(since: version),
      tags: tags.changes(since: version), text: text.changes(since: version),
      properties: properties.mapValues { $0.changes(since: version) },
      withdrawals: withdrawals.list.filter { !version.contains($0.stamp.change) }, content: content,
      deletions: deletions.filter { !version.contains($0.change) }, imported: imported,
      lastChange: lastChange, created: created)
  }

  public func validate(_ changes: Changes) throws(InvalidChange) {
    try text.validate(changes.text)
    try validateBesideText(changes)
  }

  /// Joins changes, if they are valid. A step in the text is looked at without a copy of it.
  public mutating func joinIfValid(_ changes: Changes) throws(InvalidChange) {
    try validateBesideText(changes)
    try text.joinIfValid(changes.text)
    joinBesideText(changes)
  }

  private func validateBesideText(_ changes: Changes) throws(InvalidChange) {
    try title.validate(changes.title)
    try priority.validate(changes.priority)
    try tags.validate(changes.tags)
    for (name, changes) in changes.properties {
      try (properties[name] ?? ReplicatingRegister("")).validate(changes)
    }
  }

  public mutating func join(_ changes: Changes) {
    text.join(changes.text)
    joinBesideText(changes)
  }

  private mutating func joinBesideText(_ changes: Changes) {
    title.join(changes.title)
    priority.join(changes.priority)
    tags.join(changes.tags)
    for (name, changes) in changes.properties {
      properties[name, default: ReplicatingRegister("")].join(changes)
    }
    for withdrawal in changes.withdrawals { withdrawals.insert(withdrawal) }
    settleWithdrawals { _ in }
    content.merge(changes.content)
    for deletion in changes.deletions { insert(deletion) }
    isTrashed = deletions.contains { $0.covered.isSuperset(of: content) }
    imported = [imported, changes.imported].compactMap { $0 }.min()
    follow(changes.lastChange)
    created = Self.older(created, changes.created)
  }
}

extension Note {
  /// True if the text would be another one if some changes, which are known, were withdrawn now; the rules of merging are left aside.
  /// O(runs + elements).
  public func isTextChanged(withdrawing changes: ChangeRanges) -> Bool {
    var isChanged = false
    _ = text(withdrawing: changes) { _ in isChanged = true }
    return isChanged
  }

  /// The text without some changes, which are known, as if they were withdrawn now; the rules of merging are left aside. O(runs + elements).
  func text(
    withdrawing changes: ChangeRanges, _ report: (ReplicatingText.Effect) -> Void
  ) -> ReplicatingText {
    var later = withdrawals
    let change = ChangeID(replica: ReplicaID(high: .max, low: .max), number: 1)
    later.insert(Withdrawals.Withdrawal(changes, Stamp(change: change, lamport: .max)))
    var text = text
    text.withdraw(later.withdrawn(), report)
    return text
  }
}

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
