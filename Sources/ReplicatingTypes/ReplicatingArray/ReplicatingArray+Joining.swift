// Joining changes: those of a value of the same history, and those from outside, of which nothing is certain.

extension ReplicatingArray {
  /// Looks by joining them to a copy: O(n + runs), and each step as an operation. Throws when they may not be joined.
  public func validate(_ changes: Changes) throws(InvalidChange) {
    _ = try joining(changes)
  }

  /// This value with changes from outside, if they are valid.
  func joining(_ changes: Changes) throws(InvalidChange) -> Self {
    var trial = self
    try trial.joinChecked(changes)
    return trial
  }

  /// Joins changes whose base is here, wherever they come from; all of them or, when it throws, nothing. A single step is made here, several
  /// on a copy: O(n + runs), and each step as an operation.
  @specialized(where Element == UInt8)
  @specialized(where Element == Character)
  @specialized(where Element == String)
  @specialized(where Element == Int)
  public mutating func joinIfValid(_ changes: Changes) throws(InvalidChange) {
    if changes.isSingleStep { try joinStep(changes) } else { self = try joining(changes) }
  }

  /// A single step is checked before it is made, so it needs no copy.
  private mutating func joinStep(_ changes: Changes) throws(InvalidChange) {
    let count = authors.count
    do { try joinChecked(changes) } catch {
      for author in authors[count...] { authorIndex[author.id] = nil }
      authors.removeSubrange(count...)
      throw error
    }
  }

  /// Takes in changes that `validate` has accepted.
  ///
  /// - Complexity: O(*n* log *m*) for *n* changes and *m* pieces here; O(*n*) as a rule if nothing is here.
  @specialized(where Element == UInt8)
  @specialized(where Element == Character)
  @specialized(where Element == String)
  @specialized(where Element == Int)
  public mutating func join(_ changes: Changes) {
    settle()
    var names = Names(changes.authors.count)
    var index = load(changes, &names)
    join(changes, from: &index, &names)
  }

  /// Takes in one by one the steps from a place on.
  mutating func join(_ changes: Changes, from index: inout Changes.StepIndex, _ names: inout Names)
  {
    while let step = changes.step(at: &index) { join(step, of: changes, &names) }
    finish(changes)
  }

  @inline(__always)
  private mutating func join(_ step: Changes.Step, of changes: Changes, _ names: inout Names) {
    switch step {
    case .insertion(let insertion, let elements):
      join(insertion, changes.content, elements.lowerBound, changes.authors, &names)
    case .removal(let removal): join(removal, changes.authors, &names)
    }
  }

  private mutating func finish(_ changes: Changes) {
    for replica in changes.version.replicas {
      let author = Int(index(of: replica))
      authors[author].lastNumber = Swift.max(authors[author].lastNumber, changes.version[replica])
    }
    take(changes.lamport, of: changes.version)
    joined.version.merge(changes.version)
  }

  /// The changes joined so far.
  @inlinable
  public var joinedVersion: JoinedVersion? {
    get { joined }
    set { joined = newValue ?? JoinedVersion() }
  }

  /// True: the steps are looked at by making them.
  public static var copiesToValidate: Bool { true }

  /// Takes in a logical time that one of the replicas of a version has reached.
  mutating func take(_ time: UInt64, of version: Version) {
    if time <= lamport { return }
    lamport = time
    latest.set(among: version)
  }

  /// Enters what of an insertion is not here yet.
  @inline(__always)
  private mutating func join(
    _ insertion: Changes.Insertion, _ content: [Element], _ start: Int, _ replicas: [ReplicaID],
    _ names: inout Names
  ) {
    let author = names.index(insertion.author, replicas, &self)
    let present = authors[Int(author)].count
    guard present < insertion.offset &+ insertion.count else { return }
    let known = Int(present &- insertion.offset)
    let left =
      known == 0
      ? names.element(insertion.left, replicas, &self) : LocalID(author, present &- 1)
    let right = names.element(insertion.right, replicas, &self)
    _ = integrate(
      content.span.extracting(start &+ known..<start &+ Int(insertion.count)), by: author,
      number: insertion.number &+ (insertion.isStepping ? UInt64(known) : 0),
      lamport: insertion.lamport &+ UInt64(known), isStepping: insertion.isStepping, left: left,
      right: right)
  }

  /// Makes what of a removal comes after the changes of its author that were known.
  private mutating func join(
    _ removal: Changes.Removal, _ replicas: [ReplicaID], _ names: inout Names
  ) {
    let author = names.index(removal.author, replicas, &self)
    let known = names.known[Int(removal.author)]
    guard removal.run.lastNumber > known else { return }
    var run = removal.run.dropping(upTo: known)
    run.target = names.index(run.target, replicas, &self)
    bury(run, &names.tombstones)
    authors[Int(author)].record(run)
  }

  // MARK: - Looking at what comes from outside

  /// Joins changes of which nothing is certain but that their parts fit together. When it throws, some may have been made.
  ///
  /// Each must satisfy these rules: it is its author's next, in number and in logical time; what it refers to is here
  /// and earlier in logical time; its origins stand in order, and nothing is between them that its author is
  /// known to have seen.
  ///
  /// - Parameter isWhole: true for all changes of a value: of what their authors had seen nothing is known, since they may have made some on
  ///   earlier states.
  mutating func joinChecked(_ changes: Changes, isWhole: Bool = false) throws(InvalidChange) {
    settle()
    try changes.checkVersion()
    guard changes.lamport == 0 || !changes.version.isEmpty else {
      throw InvalidChange("a logical time before the first change")
    }
    try LamportTimestamp.validate(changes.lamport, after: lamport)
    let room = changes.authors.count { authorIndex[$0] == nil } + authors.count
    guard room <= Self.maximumAuthors else {
      throw InvalidChange("more than \(Self.maximumAuthors) replicas in one sequence")
    }
    for replica in changes.version.replicas
    where changes.version[replica] > Self.maximumNumber {
      throw InvalidChange("change \(changes.version[replica]) of one replica")
    }
    var names = Names(changes.authors.count)
    var index = load(changes, &names)
    while let step = changes.step(at: &index) {
      switch step {
      case .insertion(let insertion, _): try check(insertion, in: changes, &names, isWhole: isWhole)
      case .removal(let removal): try check(removal, in: changes, &names)
      }
      join(step, of: changes, &names)
    }
    finish(changes)
  }

  /// The largest number of a change that touches a sequence.
  static var maximumNumber: UInt64 { UInt64(Int32.max) }

  private mutating func check(
    _ insertion: Changes.Insertion, in changes: Changes, _ names: inout Names, isWhole: Bool
  ) throws(InvalidChange) {
    let id = changes.authors[Int(insertion.author)]
    guard insertion.number > changes.since[id], insertion.lastNumber <= changes.version[id] else {
      throw InvalidChange("an insertion by a change that its version does not name")
    }
    let author = names.index(insertion.author, changes.authors, &self)
    let present = Int(authors[Int(author)].count)
    guard insertion.offset <= present else { throw InvalidChange("elements are left out") }
    guard Int(insertion.offset) + Int(insertion.count) <= Self.maximumCount else {
      throw InvalidChange("more than \(Self.maximumCount) elements by one author")
    }
    let known = present - Int(insertion.offset)
    if known >= insertion.count { return }
    let number = insertion.number + (insertion.isStepping ? UInt64(known) : 0)
    guard number > names.known[Int(insertion.author)], number >= authors[Int(author)].lastNumber
    else { throw InvalidChange("an insertion by an earlier change than the one before it") }
    let time = insertion.lamport + UInt64(known)
    guard insertion.lamport + UInt64(insertion.count - 1) <= changes.lamport,
      time >= leastTime(ofNext: number, by: author),
      time > lamport || time > names.latestRemoved.time(of: author, in: self)
    else { throw InvalidChange("a logical time that does not grow") }
    // The elements that are here already have been looked at.
    let left =
      known == 0
      ? try origin(insertion.left, of: insertion, changes.authors, &names)
      : LocalID(author, UInt32(present - 1))
    let right = try origin(insertion.right, of: insertion, changes.authors, &names)
    try checkGap(left, right, by: author, isWhole: isWhole)
  }

  /// The least logical time of an author's next insertion, by what is known of its own: it grew by one at least with each
  /// change since its last. Else its removals, whose time isn't kept, would seem to be later than what it did afterwards.
  func leastTime(ofNext number: UInt64, by author: AuthorIndex) -> UInt64 {
    let author = authors[Int(author)]
    guard let stamps = author.stamps.last, let skew = author.skews.last?.skew else { return number }
    // Of the last element that it inserted, its number with the elements before it, and the number of its change.
    let counted = stamps.number &+ UInt64(author.count &- 1 &- stamps.first)
    let last = stamps.isStepping ? counted : stamps.number
    return UInt64(bitPattern: Int64(counted) &+ skew) &+ Swift.max(1, number &- last)
  }

  private mutating func origin(
    _ element: LocalID, of insertion: Changes.Insertion, _ replicas: [ReplicaID],
    _ names: inout Names
  ) throws(InvalidChange) -> LocalID {
    if element.isNone { return element }
    let author = names.index(element.author, replicas, &self)
    guard element.offset < authors[Int(author)].count else {
      throw InvalidChange("an origin that is not here")
    }
    // Later than everything is later than this too.
    guard
      insertion.lamport > lamport
        || authors[Int(author)].lamport(of: element.offset) < insertion.lamport
    else { throw InvalidChange("an origin that is not earlier") }
    return LocalID(author, element.offset)
  }

  /// Origins stand in order. Behind the left one there is not an element that the author of the insertion must have seen,
  /// since it or the author of an origin inserted that element first.
  private mutating func checkGap(
    _ left: LocalID, _ right: LocalID, by author: AuthorIndex, isWhole: Bool
  ) throws(InvalidChange) {
    let next: LocalID
    if left.isNone {
      if tree.isEmpty { return }
      tree.moveToStart()
      next = tree.current.first
    } else {
      locate(left)
      next =
        tree.current.contains(LocalID(left.author, left.offset + 1))
        ? LocalID(left.author, left.offset + 1) : tree.following
    }
    if next == right { return }
    try checkOrder(left, right)
    if isWhole { return }
    guard next.author != author, next.author != left.author || next.offset > left.offset,
      next.author != right.author || next.offset > right.offset
    else { throw InvalidChange("origins that never stood side by side") }
  }

  private mutating func checkOrder(_ left: LocalID, _ right: LocalID) throws(InvalidChange) {
    if left.isNone || right.isNone { return }
    if !isIndexed { buildIndex() }
    guard left != right, isOrdered(left, before: right) else {
      throw InvalidChange("a right origin that stands before the left one")
    }
  }

  private mutating func check(
    _ removal: Changes.Removal, in changes: Changes, _ names: inout Names
  ) throws(InvalidChange) {
    let id = changes.authors[Int(removal.author)]
    let run = removal.run
    guard UInt64(run.number) > changes.since[id], run.lastNumber <= changes.version[id] else {
      throw InvalidChange("a removal by a change that its version does not name")
    }
    let author = names.index(removal.author, changes.authors, &self)
    let known = names.known[Int(removal.author)]
    if run.lastNumber <= known { return }
    let new = run.dropping(upTo: known)
    guard new.number >= authors[Int(author)].lastNumber else {
      throw InvalidChange("a removal by an earlier change than the one before it")
    }
    let target = names.index(run.target, changes.authors, &self)
    guard UInt64(run.offset) + UInt64(run.count) <= authors[Int(target)].count else {
      throw InvalidChange("a removal of elements that are not here")
    }
    guard !removesUnseen(new, of: target, by: author) else {
      throw InvalidChange("a removal of what its change has not seen")
    }
  }

  /// True if the first change of a removal, which is its author's latest, has inserted something before that is not later
  /// than what it removes of another.
  func removesUnseen(_ run: RemovalRun, of target: AuthorIndex, by author: AuthorIndex) -> Bool {
    if target == author { return false }
    let change = UInt64(run.number)
    let first = authors[Int(author)].count(upTo: change - 1)
    guard first < authors[Int(author)].count else { return false }
    let removed = run.range(upTo: change)
    return authors[Int(target)].lamport(of: removed.offset + removed.count - 1)
      >= authors[Int(author)].lamport(of: first)
  }
}
