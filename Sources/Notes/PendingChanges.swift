public import ReplicatingTypes

/// Changes that have come and are not merged yet: some can be, others wait until everything they follow is here.
///
/// `NoteBook.drain` merges them, and may stop after any change: what it has found out so far stays here. So each of many slices takes as
/// long as what it merges, whatever else waits.
///
///     var pending = PendingChanges(changes)
///     while pending.isReady { show(book.drain(&pending, atMost: 1_000)) }
public struct PendingChanges: Sendable {
  /// The changes of one replica.
  struct Queue {
    /// Consecutive changes, of which those before `next` were looked at.
    private struct Row {
      var group: ChangeSet.Group
      var next: UInt64
    }

    enum State: Equatable {
      /// It has a turn.
      case ready
      /// It waits for this change.
      case waits(for: ChangeID)
      /// Its next change is about something that can't be read.
      case unreadable
    }

    /// Those before `head` were looked at. The others are ascending by what is next in them, as a rule; see `isAscending`. They may
    /// overlap. Neighbours are one, also when replicas take turns.
    private var rows: [Row] = []
    private var head = 0
    private var isAscending = true
    var state = State.ready

    /// The number of the next change; nil if none is left. Afterwards one that is no later, if some overlap.
    mutating func next() -> UInt64? {
      if !isAscending { sort() }
      return head < rows.count ? rows[head].next : nil
    }

    /// The number of the last change.
    var last: UInt64 { rows[head...].reduce(0) { max($0, $1.group.end - 1) } }

    /// The number of changes that were not looked at.
    var count: Int { rows[head...].reduce(0) { $0 + Int(clamping: $1.group.end - $1.next) } }

    /// The next change, which there is.
    var first: ArraySlice<UInt8> { rows[head].group[rows[head].next]! }

    /// The next change and those behind it up to `number`, as far as they stand in one row.
    func numbers(upTo number: UInt64) -> ClosedRange<UInt64> {
      rows[head].next...min(rows[head].group.end - 1, number)
    }

    /// One of these.
    subscript(number: UInt64) -> ArraySlice<UInt8> { rows[head].group[number]! }

    /// Goes on behind a change of these.
    mutating func advance(behind number: UInt64) {
      rows[head].next = number + 1
      guard rows[head].next == rows[head].group.end else { return }
      head += 1
      // Their memory is given back early, at O(1) for each.
      if head == rows.count || head > 64 && head > rows.count / 2 {
        rows.removeFirst(head)
        head = 0
      }
    }

    mutating func append(_ change: UInt64, _ encoded: some Collection<UInt8>, of replica: ReplicaID)
    {
      if rows.last?.group.end != change {
        begin(ChangeSet.Group(replica: replica, first: change))
      }
      rows[rows.count - 1].group.append(encoded)
    }

    mutating func append(_ group: ChangeSet.Group) {
      guard rows.last?.group.end == group.first else { return begin(group) }
      for number in group.first..<group.end { rows[rows.count - 1].group.append(group[number]!) }
    }

    private mutating func begin(_ group: ChangeSet.Group) {
      if let last = rows.last, last.next > group.first { isAscending = false }
      rows.append(Row(group: group, next: group.first))
    }

    private mutating func sort() {
      rows = rows[head...].sorted { $0.next < $1.next }
      head = 0
      isAscending = true
    }
  }

  private var queues: [ReplicaID: Queue] = [:]
  /// The replicas whose turn comes, and how many of them have had it.
  private var turns: [ReplicaID] = []
  private var turnsTaken = 0
  /// The replicas that wait for a change.
  private var waiting: [ChangeID: [ReplicaID]] = [:]
  /// True if a queue is unreadable.
  public private(set) var hasUnreadable = false

  /// Nothing waits.
  public init() {}

  /// The changes of a set wait.
  public init(_ changes: ChangeSet) { insert(changes) }

  /// True if nothing is left to be merged.
  public var isEmpty: Bool { queues.isEmpty }

  /// True if there may be changes that can be merged now.
  public var isReady: Bool { turnsTaken < turns.count }

  /// The number of replicas of which changes are left to be merged.
  public var count: Int { queues.count }

  /// The last change of each replica of which changes are left to be merged.
  var lasts: Version {
    var lasts = Version()
    for (replica, queue) in queues { lasts[replica] = queue.last }
    return lasts
  }

  /// The number of changes that are left to be merged. O(rows).
  public var changeCount: Int { queues.values.reduce(0) { $0 + $1.count } }

  /// True if changes of a replica are left to be merged.
  public func contains(_ replica: ReplicaID) -> Bool { queues[replica] != nil }

  /// These replicas, in order.
  public var replicas: [ReplicaID] { queues.keys.sorted() }

  /// Adds one change, as its author encoded it. O(bytes).
  public mutating func insert(_ change: ChangeID, _ encoded: [UInt8]) {
    update(change.replica) { $0.append(change.number, encoded, of: change.replica) }
  }

  /// Adds the changes of a set. O(bytes).
  public mutating func insert(_ changes: ChangeSet) {
    for group in changes.groups { update(group.replica) { $0.append(group) } }
  }

  private mutating func update(_ replica: ReplicaID, _ append: (inout Queue) -> Void) {
    if case .waits(let change)? = queues[replica]?.state, change.replica == replica {
      // It waits for a change of its own, which may have come.
      queues[replica]!.state = .ready
      turns.append(replica)
    } else if queues[replica] == nil {
      queues[replica] = Queue()
      turns.append(replica)
    }
    append(&queues[replica]!)
  }

  /// Lets everything that waits be looked at again: when the notebook has got changes in another way, or what could not be read may be
  /// read now. O(replicas).
  public mutating func retry() {
    waiting = [:]
    hasUnreadable = false
    for replica in replicas where queues[replica]!.state != .ready {
      queues[replica]!.state = .ready
      turns.append(replica)
    }
  }

  // MARK: - Turns

  /// Takes out the queue whose turn it is; nil if there is none. `endTurn` is called with it before anything else is.
  mutating func takeTurn() -> (replica: ReplicaID, queue: Queue)? {
    guard isReady else { return nil }
    let replica = turns[turnsTaken]
    // Otherwise it would be copied.
    return (replica, queues.removeValue(forKey: replica)!)
  }

  /// Puts a queue back in its state, if something is left of it. One that is ready goes on with its turn.
  mutating func endTurn(_ replica: ReplicaID, _ queue: consuming Queue?) {
    if let queue {
      let state = queue.state
      queues[replica] = queue
      switch state {
      case .ready: return
      case .unreadable: hasUnreadable = true
      case .waits(let change):
        if change.replica != replica { waiting[change, default: []].append(replica) }
      }
    }
    turnsTaken += 1
    if turnsTaken == turns.count || turnsTaken > 1024 && turnsTaken > turns.count / 2 {
      turns.removeFirst(turnsTaken)
      turnsTaken = 0
    }
  }

  /// Lets the replicas have their turn that have waited for a change, which is known now.
  mutating func release(_ change: ChangeID) {
    guard !waiting.isEmpty, let released = waiting.removeValue(forKey: change) else { return }
    for replica in released {
      queues[replica]!.state = .ready
      turns.append(replica)
    }
  }

  /// The changes that what is left waits for, when nothing is ready.
  var blockers: [ChangeID] {
    queues.values.compactMap {
      if case .waits(let change) = $0.state { change } else { nil }
    }
  }

  /// Those of them of which nothing is among what is left, in order, and the replica that waits for each: all others wait for these.
  public var missing: [(change: ChangeID, waiter: ReplicaID)] {
    queues.compactMap { replica, queue in
      guard case .waits(let change) = queue.state,
        change.replica == replica || queues[change.replica] == nil
      else { return nil }
      return (change, replica)
    }.sorted { ($0.change, $0.waiter) < ($1.change, $1.waiter) }
  }

  /// Forgets the changes of a replica; returns their number. Call it when nothing is ready, and `retry` after it.
  mutating func drop(_ replica: ReplicaID) -> Int {
    queues.removeValue(forKey: replica)?.count ?? 0
  }
}

/// The changes of a notebook for readers that count as known without being there, and what was left out of those that follow them.
struct Supposed: Sendable {
  /// The texts of which an author's later edits are left out.
  var hidden: Set<Edited> = []
  /// The number of changes of which something was left out.
  var incomplete = 0
  /// The last changes of replicas that are here and may still be merged. What names something of them waits for it: the change through which
  /// its author had seen that may be missing.
  var coming = Version()

  struct Edited: Hashable, Sendable {
    let author: ReplicaID
    let note: NoteID
  }
}

/// A queue of rows of changes, in the logical time of each row's next change. The rows are their owner's; here they are
/// numbers.
///
///     var order = LamportQueue(rows.map(\.time))
///     while let row = order.first {
///       use(rows[row].removeFirst())
///       if rows[row].isEmpty { order.removeFirst() } else { order.moveFirst(to: rows[row].time) }
///     }
public struct LamportQueue: Sendable {
  /// A heap: each is no later than the two at twice its place.
  private var heap: [(time: LamportTimestamp, row: Int)]

  /// The rows 0, 1, 2, …, each with the time of its next change. O(rows).
  public init(_ times: [LamportTimestamp]) {
    heap = times.enumerated().map { (time: $0.element, row: $0.offset) }
    for place in heap.indices.reversed() { sink(place) }
  }

  /// The row whose next change comes first; nil if none is left.
  public var first: Int? { heap.first?.row }

  /// Says when the first row goes on now: not before it did. O(log rows).
  public mutating func moveFirst(to time: LamportTimestamp) {
    heap[0].time = time
    sink(0)
  }

  /// The first row has ended. O(log rows).
  public mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    sink(0)
  }

  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < heap.count && heap[child].time < heap[least].time { least = child }
      if least == place { return }
      heap.swapAt(place, least)
      place = least
    }
  }
}
