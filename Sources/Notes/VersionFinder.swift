public import ReplicatingTypes

extension NoteBook {
  /// A state, all of which is known here, in which a note has this text: the present one, or one of the past; nil if none is found.
  ///
  /// A state that the author of a change saw after it is taken rather than one in the order of logical time, which perhaps nobody saw;
  /// the newest, if there are several. Where none of these has the text, it is looked for in what two authors saw together.
  ///
  /// - Complexity: O(elements of the text) for the first look; the rest is bounded (`VersionFinder`), so what was long ago may not be found.
  public func version(
    of note: Note, withText utf8: [UInt8]
  ) throws(ArchiveFailure) -> Version? {
    if note.text.utf8 == utf8 { return version }
    var search = VersionFinder(for: utf8, in: note, of: self)
    return try search.find()
  }
}

/// Looks for a text among the states that a note had before the present one.
struct VersionFinder {
  /// If all changes together have inserted and removed more elements than this, nothing is looked for: each is counted.
  static let mostElements = 1 << 25
  /// So many changes of the note are gone back at most.
  static let mostChanges = 65_536
  /// Of so many of them it is looked at what their authors saw.
  static let mostAuthorsViews = 1024
  /// Of so many of them it is looked at what the authors of two saw together.
  static let mostMeeting = 64
  /// So many states are read at most. The others can't have the text: its bytes have another sum.
  static let mostReads = 64
  /// So many elements are added to the text and removed from it at most, on the way through its states, and changes looked up.
  static let mostSteps = 1 << 22

  /// The changes of one author, of which the newest are taken first.
  private struct Row {
    let replica: ReplicaID
    /// Those that were not taken, in order.
    var numbers: [UInt64]
    /// The logical times of the last of these.
    var lamports: ArraySlice<UInt64> = []

    /// The later its last change is, the less: the queue has the earliest first.
    var time: LamportTimestamp {
      LamportTimestamp(
        count: ~lamports.last!, replica: ReplicaID(high: ~replica.high, low: ~replica.low))
    }
  }

  private var book: NoteBook
  private let note: Note
  private let wanted: [UInt8]
  private var wantedSum: UInt64 = 0
  private var sum = TextFingerprint(of: ReplicatingText())
  private var rows: [Row] = []
  /// The number of changes whose logical times were read.
  private var lookups = 0
  /// The number of changes of the note that were gone back.
  private(set) var changes = 0
  /// The number of states that were read.
  private(set) var reads = 0
  /// The number of elements added and removed, and changes looked up.
  var steps: Int { sum.steps - stepsToPresent + lookups }
  private var stepsToPresent = 0

  init(for wanted: [UInt8], in note: Note, of book: NoteBook) {
    self.book = book
    self.note = note
    self.wanted = wanted
  }

  mutating func find() throws(ArchiveFailure) -> Version? {
    let contributions = note.contributions
    let elements = contributions.reduce(0) {
      $1.changes.reduce($0) { $0 + $1.inserted + $1.removed }
    }
    if elements > Self.mostElements { return nil }
    sum = TextFingerprint(of: note.text, note.withdrawals)
    sum.move(to: book.version)
    wantedSum = sum.value(of: wanted)
    stepsToPresent = sum.steps
    for (replica, changes) in contributions where !changes.isEmpty {
      rows.append(Row(replica: replica, numbers: changes.map(\.number)))
    }
    var passed: [ReplicaID: [UInt64]] = [:]
    let found = try findInOrder(&passed)
    if let found, found.isSeen { return found.version }
    if let seen = try findAmongViews(of: passed) { return seen }
    if let found { return found.version }
    return try findAmongMeetings(of: passed)
  }

  private func past(of change: ChangeID) throws(ArchiveFailure) -> Version {
    var past = Version()
    try book.extend(&past, to: change)
    return past
  }

  private var isExhausted: Bool {
    changes >= Self.mostChanges || reads >= Self.mostReads || steps >= Self.mostSteps
  }

  /// Goes back through the changes in logical time. Whatever a change knows comes before it there, so what is before it is a state.
  ///
  /// - Parameter passed: the latest changes.
  /// - Returns: the newest state with the text, or the state that the author of its last change saw after it, if that has the text, too.
  private mutating func findInOrder(
    _ passed: inout [ReplicaID: [UInt64]]
  ) throws(ArchiveFailure) -> (version: Version, isSeen: Bool)? {
    var state = Version()
    var found: (version: Version, isSeen: Bool)?
    for row in rows.indices {
      state[rows[row].replica] = rows[row].numbers.last!
      try readAhead(row)
    }
    var order = LamportQueue(rows.map(\.time))
    while !isExhausted, let row = order.first {
      let replica = rows[row].replica
      let number = rows[row].numbers.removeLast()
      rows[row].lamports.removeLast()
      if changes < Self.mostAuthorsViews { passed[replica, default: []].append(number) }
      // Before it there was no note.
      if note.id.creation == ChangeID(replica: replica, number: number) { return found }
      changes += 1
      state[replica] = rows[row].numbers.last ?? 0
      try readAhead(row)
      if rows[row].numbers.isEmpty {
        order.removeFirst()
      } else {
        order.moveFirst(to: rows[row].time)
      }
      if found != nil {
        if changes >= Self.mostAuthorsViews { return found }
        continue
      }
      sum.move(replica, to: state[replica])
      guard try isWanted(at: state) else { continue }
      let last = order.first.map {
        ChangeID(replica: rows[$0].replica, number: rows[$0].numbers.last!)
      }
      let past = try past(of: last ?? note.id.creation)
      if past.isSuperset(of: state) { return (past, true) }
      sum.move(to: past)
      if try isWanted(at: past) { return (past, true) }
      found = (try book.version(of: state.changes + [note.id.creation])!, false)
    }
    return found
  }

  /// Reads the logical times of an author's next changes, if there are changes and their times were not read yet.
  private mutating func readAhead(_ row: Int) throws(ArchiveFailure) {
    guard rows[row].lamports.isEmpty, let last = rows[row].numbers.last else { return }
    let first = max(1, last - min(last, 255))
    let numbers = rows[row].numbers
    var next = numbers.count
    while next > 0, numbers[next - 1] >= first { next -= 1 }
    var lamports: [UInt64] = []
    try book.forEachEncoded(of: rows[row].replica, in: numbers[next]...last) {
      number, _, lamport in
      if number == numbers[next] {
        lamports.append(lamport)
        next += 1
      }
      return true
    }
    guard next == numbers.count else {
      throw ArchiveFailure(reason: "changes of \(rows[row].replica) are missing")
    }
    lookups += Int(last - numbers[numbers.count - lamports.count]) + 1
    rows[row].lamports = lamports[...]
  }

  /// Looks at what the authors of changes saw after them: in the order of logical time something may stand before a change that it does
  /// not know.
  private mutating func findAmongViews(
    of passed: [ReplicaID: [UInt64]]
  ) throws(ArchiveFailure) -> Version? {
    var found: [(lamport: UInt64, change: ChangeID)] = []
    for (replica, numbers) in passed.sorted(by: { $0.key < $1.key }) {
      var past = Version()
      for number in numbers.reversed() {
        let change = ChangeID(replica: replica, number: number)
        try book.extend(&past, to: change)
        sum.move(to: past)
        if steps >= Self.mostSteps { return nil }
        if sum.value == wantedSum {
          try book.openLamport(of: change)
          found.append((try book.lamport(of: change), change))
        }
      }
    }
    for (_, change) in found.sorted(by: { $0 > $1 }) where reads < Self.mostReads {
      var past = Version()
      try book.extend(&past, to: change)
      sum.move(to: past)
      if try isWanted(at: past) { return past }
    }
    return nil
  }

  /// Looks at what two authors saw together: a process has merged the one's changes, and nobody has changed the note after that.
  private mutating func findAmongMeetings(
    of passed: [ReplicaID: [UInt64]]
  ) throws(ArchiveFailure) -> Version? {
    var views: [(lamport: UInt64, change: ChangeID, version: Version)] = []
    for (replica, numbers) in passed {
      for number in numbers.prefix(Self.mostMeeting) {
        let change = ChangeID(replica: replica, number: number)
        try book.openLamport(of: change)
        views.append((try book.lamport(of: change), change, try past(of: change)))
      }
    }
    views.sort { ($0.lamport, $0.change) > ($1.lamport, $1.change) }
    views = Array(views.prefix(Self.mostMeeting))
    for (index, later) in views.enumerated() {
      for earlier in views[(index + 1)...] where !later.version.contains(earlier.change) {
        var both = later.version
        both.merge(earlier.version)
        sum.move(to: both)
        if steps >= Self.mostSteps || reads >= Self.mostReads { return nil }
        if try isWanted(at: both) { return both }
      }
    }
    return nil
  }

  /// True if the text of the state to which the sum was moved is the wanted one.
  private mutating func isWanted(at version: Version) throws(ArchiveFailure) -> Bool {
    guard sum.value == wantedSum else { return false }
    reads += 1
    return note.text.utf8(in: try book.view(of: note, at: version)) == wanted
  }
}
