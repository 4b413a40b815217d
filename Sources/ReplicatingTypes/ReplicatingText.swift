/// Text as a replicating sequence of UTF-8 bytes.
///
/// Bytes and not characters, because characters regroup when replicas meet ("e" and a combining accent, a carriage return
/// and a line feed, the two halves of a flag), group differently in each version of Unicode, and compare equal when their
/// bytes differ. Every operation begins and ends between Unicode scalars, so the text is valid at every moment; an
/// operation from outside that would tear a scalar is refused.
///
/// The sequence is the generic one. This type lives beside it so that it is compiled for bytes: used from another module,
/// unspecialised, the generic one is many times slower.
///
///     var alice = Replica(id: ReplicaID(high: 0, low: 1))
///     var bob = Replica(id: ReplicaID(high: 0, low: 2))
///     var a = ReplicatingText()
///     a.insert("Grüße".utf8.span, at: 0, by: &alice)
///     var b = a
///     a.remove(2..<7, by: &alice)
///     a.insert("een".utf8.span, at: 2, by: &alice)
///     b.insert(" from home".utf8.span, at: b.count, by: &bob)
///     a.merge(b)
///     a.string  // Green from home
///
/// All offsets and counts are in UTF-8 bytes. What is edited here must be valid UTF-8 without U+0000, between scalars: other
/// replicas refuse what isn't, so `insert`, `remove` and `replace` trap on it. Complexities are those of `ReplicatingArray`.
public struct ReplicatingText: Sendable, Replicable {
  /// An insertion or removal of bytes that has no author yet.
  public typealias Operation = ReplicatingArray<UInt8>.Operation
  /// The effect of an operation on the visible bytes.
  public typealias Effect = ReplicatingArray<UInt8>.Effect

  /// Those of the sequence.
  public struct Changes: ReplicatingChanges, Sendable {
    var bytes: ReplicatingArray<UInt8>.Changes
    public var since: Version { bytes.since }
    public var version: Version { bytes.version }
  }

  @usableFromInline
  var bytes = ReplicatingArray<UInt8>()

  /// An empty text.
  public init() {}

  init(bytes: ReplicatingArray<UInt8>) {
    self.bytes = bytes
  }

  /// The number of visible bytes. O(1).
  public var count: Int { bytes.count }
  /// The text. O(count + n).
  public var utf8: [UInt8] { bytes.values }
  /// The text in an array to which `more` bytes can be appended before it is copied. O(count + n).
  ///
  /// - Parameter more: not negative.
  public func utf8(withRoomFor more: Int) -> [UInt8] {
    bytes.elements(withRoomFor: more)
  }
  /// The text. O(count + n).
  public var string: String { String(decoding: bytes.values, as: UTF8.self) }
  public var version: Version { bytes.version }
  /// The largest logical time seen.
  public var lamport: UInt64 { bytes.lamport }

  // MARK: - Editing

  /// Replaces ranges of the text, by a change for each operation that takes. The edits are sorted and don't overlap. Traps when
  /// they do, and where one lies outside the text or tears a scalar, or puts in what is not valid UTF-8 or holds U+0000.
  public mutating func replace(_ edits: [Edit<UInt8>], by replica: inout Replica) {
    bytes.checkScalars(edits)
    bytes.replace(edits, by: &replica)
  }

  /// Inserts text, as one change. Traps when other replicas would refuse the change: `offset` must be in the text and between
  /// scalars, and the bytes valid UTF-8 without U+0000.
  public mutating func insert(
    _ utf8: borrowing Span<UInt8>, at offset: Int, by replica: inout Replica
  ) {
    if bytes.goOnTypingScalars(utf8, at: offset, by: &replica) { return }
    bytes.insertScalars(utf8, at: offset, by: &replica)
  }

  /// Removes text, as one change. Traps when other replicas would refuse the change: the range must be in the text and have whole
  /// scalars.
  public mutating func remove(_ range: Range<Int>, by replica: inout Replica) {
    if bytes.goOnRemovingScalars(range, by: &replica) { return }
    removeAnew(range, by: &replica)
  }

  @inline(never)
  private mutating func removeAnew(_ range: Range<Int>, by replica: inout Replica) {
    bytes.checkScalars(removing: range)
    // Now that its place is known to be of ASCII, one byte may go on with what was removed last.
    if range.count == 1 { return bytes.remove(range, by: &replica) }
    bytes.removeAnew(range, by: &replica)
  }

  /// The operations that make `edits` in the present text, or in the text of `view`.
  ///
  /// - Parameter last: the change with which the edits go on: what they insert directly behind what that inserted stays beside it, whatever was
  ///   removed there.
  public func operations(
    for edits: [Edit<UInt8>], in view: SequenceView? = nil, goingOnFrom last: ChangeID? = nil
  ) -> [Operation] {
    guard let view else { return bytes.operations(for: edits, goingOnFrom: last) }
    return bytes.operations(for: edits, in: view, goingOnFrom: last)
  }

  /// The same in the present text, one after the other: without a copy of the value, whose cursor moves.
  public mutating func forEachOperation(
    for edits: [Edit<UInt8>], goingOnFrom last: ChangeID? = nil, _ body: (Operation) -> Void
  ) {
    bytes.forEachOperation(for: edits, goingOnFrom: last, body)
  }

  /// Applies an operation whose origins and targets are here: one planned here, or one that `validate` passed. Returns what
  /// it did to what was visible.
  @discardableResult
  public mutating func apply(_ operation: Operation, _ stamp: Stamp) -> [Effect] {
    bytes.apply(operation, stamp)
  }

  /// The same, reporting each effect.
  public mutating func apply(
    _ operation: Operation, _ stamp: Stamp, _ report: (Effect) -> Void
  ) {
    bytes.apply(operation, stamp, report)
  }

  /// True if an operation, which is to be applied next, goes on from what is shown: it removes only that, and inserts behind it, at the
  /// beginning, or behind what its author has inserted with the same change. Whoever has seen all that is here does nothing else.
  ///
  /// - Complexity: O(log runs + removed pieces).
  public mutating func goesOnFromWhatIsShown(_ operation: Operation) -> Bool {
    bytes.goesOnFromWhatIsShown(operation)
  }

  /// Applies the rules of merging after changes from elsewhere were applied: finds out which equal replacements are one
  /// (DuplicateCoalescing.swift), which others are divided (Dividers.swift), and which removed separators are shown
  /// (SeparatorPreservation.swift). Only needed after changes whose
  /// authors had not seen all that is here, after those that do not go on from what is shown, and after `withdraw`; of many at once it is asked once.
  ///
  /// Changes nothing that is shown when it throws; whoever asks again gets the same.
  ///
  /// - Complexity: For each author O(pieces around the elements that it touched which are removed or which it had not seen), and for
  ///   each replacement O(pieces between its origins). Where there are separators to decide about, or equal replacements,
  ///   O(runs × log runs) once, and the elements of the gaps and of the replacements.
  public mutating func settleMerge<Asked: Causality>(
    after edits: [UnseenEdits], _ causality: inout Asked, _ report: (Effect) -> Void
  ) throws(Asked.Failure) {
    bytes.settle()
    let touched = edits.map { bytes.elements(touchedBy: $0) }
    bytes.findCopies(around: touched)
    try bytes.spareSeparators(around: touched, &causality, report)
    bytes.withholdCopies(report)
    bytes.turned = ChangeRanges()
  }

  /// Shows the text without some changes, and with those that were withdrawn before and are not any more (Withdrawals.swift). Then
  /// `settleMerge` has to be asked.
  ///
  /// - Parameter changes: all that are withdrawn now.
  /// - Complexity: O(runs), and the elements that the changes inserted and removed.
  public mutating func withdraw(_ changes: ChangeRanges, _ report: (Effect) -> Void) {
    bytes.withdraw(changes, report)
  }

  /// The changes that are withdrawn.
  public var withdrawn: ChangeRanges { bytes.withdrawn }

  /// The numbers of elements that some changes inserted and removed. Those that one inserted and removed count as neither.
  public func contribution(of changes: ChangeRanges) -> (inserted: Int, removed: Int) {
    let value = bytes.settled
    let passing = value.passing(in: changes)
    return (
      value.insertions(by: changes).reduce(-passing) { $0 + $1.count },
      value.removals(by: changes).reduce(-passing) { $0 + $1.count }
    )
  }

  /// The elements that are withheld in the state of `version`, in which these removed ones are spared and these changes withdrawn.
  public func withheldElements(
    at version: Version, sparing spared: [ElementRange], without withdrawn: ChangeRanges
  ) -> [ElementRange] {
    if bytes.copies.isEmpty, !bytes.isConcurrent, withdrawn.isEmpty { return [] }
    var value = bytes
    return value.withheldElements(at: version, sparing: spared, without: withdrawn)
  }

  /// The insertions that are copies of each other.
  public var copies: [[ElementRange]] { bytes.copiedRanges }

  /// The elements that changes of `version` removed and that are shown all the same in that state, in which these changes are withdrawn.
  public func sparedElements<Asked: Causality>(
    at version: Version, without withdrawn: ChangeRanges, _ causality: inout Asked
  ) throws(Asked.Failure) -> [ElementRange] {
    var value = bytes
    return try value.sparedElements(at: version, without: withdrawn, &causality)
  }

  /// The removed elements that are shown.
  public var sparedElements: ElementRanges { bytes.sparedElements }

  /// The elements that a change inserted; nil if it inserted none.
  public func elements(insertedBy change: ChangeID) -> ElementRange? {
    bytes.elements(insertedBy: change)
  }

  /// The change that inserted an element; nil if that is not here. O(log runs).
  public func insertion(of element: ElementID) -> ChangeID? { bytes.insertion(of: element) }

  /// False if it is certain that no removed element is shown in any state, of the past either.
  public var isContested: Bool { bytes.isContested }

  /// False if it is certain that each change knew all changes before it.
  public var isConcurrent: Bool { bytes.isConcurrent }

  /// Shows what the text did from which this one was encoded.
  ///
  /// - Parameters:
  ///   - spared: its `sparedElements`.
  ///   - copies: its `copies`.
  ///   - withdrawn: its `withdrawn`; nil if nothing was ever withdrawn.
  ///   - wasContested: its `isContested`.
  ///   - wasConcurrent: its `isConcurrent`.
  /// - Returns: false if such a text can't have had these. Then this one is not to be used.
  public mutating func restoreMerge(
    sparing spared: [ElementRange], copies: [[ElementRange]] = [],
    without withdrawn: ChangeRanges? = nil, wasContested: Bool, wasConcurrent: Bool
  ) -> Bool {
    guard wasConcurrent || !wasContested && copies.isEmpty else { return false }
    bytes.isConcurrent = wasConcurrent
    if let withdrawn { bytes.withdraw(withdrawn) { _ in } }
    guard bytes.restoreCopies(copies), bytes.restoreSpared(spared, wasContested: wasContested)
    else { return false }
    bytes.withholdCopies { _ in }
    bytes.turned = ChangeRanges()
    return true
  }

  /// True if a replica may write into the text.
  public func hasRoom(for author: ReplicaID) -> Bool { bytes.hasRoom(for: author) }

  // MARK: - Other states

  /// The text in another state.
  public func utf8(in view: SequenceView) -> [UInt8] { bytes.elements(in: view) }

  /// The edits that lead from another state to the present, in offsets of that state.
  public func edits(from view: SequenceView) -> [Edit<UInt8>] { bytes.edits(from: view) }

  /// The state that a replica at `version` sees, without the changes that are withdrawn there.
  public func view(
    at version: Version, without withdrawn: ChangeRanges = ChangeRanges()
  ) -> SequenceView { bytes.view(at: version, without: withdrawn) }

  /// All elements that were inserted later than a replica at `version` sees. O(authors × log runs).
  public func insertions(after version: Version) -> ElementRanges {
    bytes.insertions(after: version)
  }

  /// The elements that each of some changes inserted and removed. O(n) for all.
  public func touched(
    by changes: some Sequence<ChangeID>
  ) -> [ReplicatingArray<UInt8>.Touched] {
    bytes.touched(by: changes)
  }

  /// The number of elements that a replica has inserted.
  public func count(by replica: ReplicaID) -> Int { bytes.count(by: replica) }

  /// The elements before and behind places in another state, or in the present one. O(n).
  public func neighbours(
    of offsets: [Int], in view: SequenceView?
  ) -> [(left: ElementID?, right: ElementID?)] { bytes.neighbours(of: offsets, in: view) }

  /// Where elements are in the present text, visible or removed. O(n).
  public func places(
    of elements: Set<ElementID>
  ) -> [ElementID: (offset: Int, isVisible: Bool)] { bytes.places(of: elements) }

  /// The number of bytes that each change inserted and removed, of each author in the order of its changes. O(changes).
  public var contributions: [(author: ReplicaID, changes: [ReplicatingArray<UInt8>.Contribution])] {
    bytes.contributions
  }

  // MARK: - Merging

  public func changes(since version: Version) -> Changes {
    Changes(bytes: bytes.changes(since: version))
  }

  /// Looks, beside what the sequence checks: what is inserted is valid UTF-8 without U+0000, and nothing begins or ends
  /// inside a scalar. O(n + runs) to copy, and each step as an operation. Throws when they may not be joined.
  public func validate(_ changes: Changes) throws(InvalidChange) {
    try bytes.joining(changes.bytes).validateScalars(of: changes.bytes)
  }

  /// Joins changes whose base is here, wherever they come from; all of them or, when it throws, nothing. A single insertion of whole scalars
  /// is made here, everything else on a copy first: O(n + runs), and each step as an operation.
  public mutating func joinIfValid(_ changes: Changes) throws(InvalidChange) {
    // Text that is still open is looked at, too.
    bytes.settle()
    if changes.bytes.isSingleStep, bytes.areWholeScalars(changes.bytes) {
      return try bytes.joinIfValid(changes.bytes)
    }
    var trial = bytes
    try trial.joinIfValid(changes.bytes)
    try trial.validateScalars(of: changes.bytes)
    bytes = trial
  }

  public mutating func join(_ changes: Changes) { bytes.join(changes.bytes) }

  /// True: the steps are looked at by making them.
  public static var copiesToValidate: Bool { true }

  /// The changes joined so far.
  @inlinable
  public var joinedVersion: JoinedVersion? {
    get { bytes.joinedVersion }
    set { bytes.joinedVersion = newValue }
  }

  /// Looks whether an operation from outside may be applied, and throws when not. Beside what the sequence checks: an
  /// insertion is valid UTF-8 without U+0000, and nothing begins or ends inside a scalar.
  public mutating func validate(
    _ operation: Operation, by author: ReplicaID, _ awareness: Awareness? = nil,
    isKnown: (ChangeID) -> Bool
  ) throws(InvalidChange) {
    try bytes.validate(operation, by: author, awareness, isKnown: isKnown)
    switch operation {
    case .insert(let inserted, let left, let right, let divider):
      guard divider == 0 || ReplicatingArray.isDivider(inserted.suffix(divider)) else {
        throw InvalidChange("a divider that can be none")
      }
      guard !inserted.span.containsZero, String(validating: inserted, as: UTF8.self) != nil else {
        throw InvalidChange("text that is not valid UTF-8, or holds U+0000")
      }
      if let left, !isBoundary(left.author, left.offset + 1) {
        throw InvalidChange("an insertion inside a scalar")
      }
      if let right, !isBoundary(right.author, right.offset) {
        throw InvalidChange("an insertion inside a scalar")
      }
    case .remove(let range):
      guard isBoundary(range.author, range.offset), isBoundary(range.author, range.end) else {
        throw InvalidChange("a removal of part of a scalar")
      }
    }
  }

  /// True if a scalar begins at `offset` of what `author` inserted, or its text ends there.
  private func isBoundary(_ author: ReplicaID, _ offset: Int) -> Bool {
    bytes.isScalarBoundary(author, offset)
  }

  /// Checks what must always hold. O(count and what was removed): for tests.
  public func checkInvariants() {
    bytes.checkInvariants()
    precondition(String(validating: utf8, as: UTF8.self) != nil, "text that is not UTF-8")
  }
}

/// As the sequence of its bytes is encoded.
extension ReplicatingText: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { bytes.encode(into: &writer) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    bytes = try ReplicatingArray(from: &reader)
    do { try bytes.validateScalars() } catch { throw reader.failure(error.reason) }
  }
}

extension ReplicatingText.Changes: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { bytes.encode(into: &writer) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    bytes = try ReplicatingArray.Changes(from: &reader)
  }
}

// Lines at the end of a text, planned so that they stay whole lines beside what others write there unseen.
//
// A line end that a change inserts and removes stands in front of the lines: by the rule of spared separators (SeparatorPreservation.swift) it is shown where
// text that the change did not know stands directly before it, and nowhere else. It is no divider, which ends an insertion.

extension ReplicatingText {
  /// The operations that add lines to the end, as one change.
  ///
  /// A text that ends with a line end, or is empty, ends with one afterwards. Any other text has none at its end afterwards either: with a line end there,
  /// two authors who append unseen would leave an empty line between their lines. Only behind an empty line that is added there is one.
  ///
  /// - Parameters:
  ///   - lines: lines without the line end of the last one.
  ///   - lineEnd: the line end of the text.
  ///   - author: the replica that makes the change.
  public func operations(
    appending lines: [UInt8], endedBy lineEnd: [UInt8], by author: ReplicaID
  ) -> [Operation] {
    let end = count..<count
    let whole = operations(for: [Edit(range: end, replacement: lineEnd + lines + lineEnd)])
    let hidden = ElementRange(
      author: author, offset: count(by: author), count: lineEnd.count)
    if count == 0 || utf8.last == 0x0A { return whole + [.remove(hidden)] }
    if lines.isEmpty || lines.last == 0x0A { return whole }
    // The line end behind the lines comes first: as the right origin of the lines it stays behind them.
    let behind = operations(for: [Edit(range: end, replacement: lineEnd)])
    guard case .insert(_, let left, _, _) = behind.first else { return whole }
    let first = ElementID(author: author, offset: hidden.offset)
    let insertion = Operation.insert(lineEnd + lines, after: left, before: first, divider: 0)
    return behind + [insertion, .remove(hidden)]
  }
}
