/// The time and the number that the next step of each author in a history is expected to have.
struct ExpectedSteps {
  private struct Next {
    var number: UInt64 = 1
    var lamport: UInt64 = 1
    var leastSkew = 0
  }

  /// Of each author, as it was when another one went on.
  private var others: [Next]
  private var next = Next()
  private var latest: UInt64 = 0
  /// Whose step comes next.
  private(set) var author = 0

  var number: UInt64 {
    get { next.number }
    set { next.number = newValue }
  }
  var lamport: UInt64 {
    get { next.lamport }
    set { next.lamport = newValue }
  }
  /// By how much at least the logical time of the author's next insertion exceeds its number: time grew by one at least
  /// with each change since the last.
  var leastSkew: Int { next.leastSkew }

  init(_ count: Int) {
    others = Array(repeating: Next(), count: count)
  }

  /// Another author goes on, having seen everything.
  mutating func turn(to author: Int) {
    others[self.author] = next
    self.author = author
    next = others[author]
    next.lamport = max(next.lamport, latest + 1)
  }

  @inline(__always)
  mutating func make(_ step: Step, number: UInt64, lamport: UInt64) {
    next.number = number &+ step.changes
    next.lamport = lamport &+ step.ticks
    latest = max(latest, next.lamport &- 1)
    if !step.isRemoval { next.leastSkew = Int(next.lamport) &- Int(next.number) }
  }
}
