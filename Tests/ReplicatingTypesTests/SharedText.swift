import TestSupport
import Testing

@testable import ReplicatingTypes

/// A change of a text that several people write, and what its author had seen of it.
struct SharedChange {
  var stamp: Stamp
  var past: Version
  var operations: [ReplicatingText.Operation] = []
  /// What it takes back.
  var withdrawn = ChangeRanges()
  /// What its author saw after it.
  var text = ""

  var id: ChangeID { stamp.change }

  static func ticks(_ operation: ReplicatingText.Operation) -> UInt64 {
    if case .insert(let bytes, _, _, _) = operation { UInt64(bytes.count) } else { 0 }
  }
}

/// What the authors of changes had seen.
struct SharedPasts: Causality {
  let changes: [ChangeID: SharedChange]

  func knows(_ change: ChangeID, _ other: ChangeID) -> Bool {
    changes[change]!.past.contains(other)
  }

  func seen(by changes: ChangeRanges.Run) -> Version {
    var past = self.changes[changes.first]!.past
    past.insert(changes.first)
    return past
  }
}

/// All changes of a text, in an order in which each comes after those that it knows.
struct SharedLog {
  var changes: [SharedChange] = []
  var pasts: SharedPasts {
    SharedPasts(changes: Dictionary(uniqueKeysWithValues: changes.map { ($0.id, $0) }))
  }

  /// The changes of a version that another one lacks.
  func changes(of version: Version, since other: Version) -> [SharedChange] {
    changes.filter { version.contains($0.id) && !other.contains($0.id) }
  }
}

/// A writer of a text, which sees the changes of others sooner or later.
final class SharedWriter {
  var replica: Replica
  var text = ReplicatingText()
  var version = Version()
  var withdrawals = Withdrawals()
  /// The last change, with which the next one goes on.
  var last: ChangeID?

  init(_ number: UInt64) {
    replica = Replica(id: ReplicaID(high: number, low: 0))
  }

  private var lamport: UInt64 {
    max(text.lamport, withdrawals.list.last?.stamp.lamport ?? 0)
  }

  func edit(_ edits: [Edit<UInt8>], isGoingOn: Bool = false, _ log: inout SharedLog) {
    make(text.operations(for: edits, goingOnFrom: isGoingOn ? last : nil), &log)
  }

  func make(
    _ operations: [ReplicatingText.Operation], withdrawing withdrawn: ChangeRanges = ChangeRanges(),
    _ log: inout SharedLog
  ) {
    let ticks = operations.reduce(0) { $0 + SharedChange.ticks($1) }
    var change = SharedChange(
      stamp: replica.stamp(after: lamport, ticks: max(1, ticks)), past: version,
      operations: operations, withdrawn: withdrawn)
    last = change.id
    log.changes.append(change)
    take([change], log.pasts)
    change.text = text.string
    log.changes[log.changes.count - 1] = change
  }

  /// Takes in the changes of another version, so many at a time as `count` says.
  func pull(_ other: Version, _ log: SharedLog, _ count: () -> Int) {
    var rest = log.changes(of: other, since: version)[...]
    let pasts = log.pasts
    while !rest.isEmpty {
      let part = rest.prefix(max(1, count()))
      rest = rest.dropFirst(part.count)
      take(Array(part), pasts)
    }
  }

  func take(_ changes: [SharedChange], _ pasts: SharedPasts) {
    var pasts = pasts
    var unaware: [UnseenEdits] = []
    var isWithdrawing = false
    for change in changes {
      var stamp = change.stamp
      for operation in change.operations {
        do {
          try text.validate(operation, by: change.id.replica) {
            change.past.contains($0) || $0 == change.id
          }
        } catch { Issue.record("\(error)") }
        text.apply(operation, stamp)
        stamp.lamport += SharedChange.ticks(operation)
      }
      if !change.withdrawn.isEmpty {
        isWithdrawing = true
        withdrawals.insert(Withdrawals.Withdrawal(change.withdrawn, change.stamp))
      }
      if !change.past.isSuperset(of: version), !change.operations.isEmpty {
        let place = unaware.firstIndex { $0.author == change.id.replica }
        if place == nil {
          unaware.append(UnseenEdits(by: change.id.replica, knowing: change.past))
        }
        unaware[place ?? unaware.count - 1].append(change.id)
      }
      version.insert(change.id)
    }
    if isWithdrawing { text.withdraw(withdrawals.withdrawn()) { _ in } }
    if isWithdrawing || !unaware.isEmpty {
      text.settleMerge(after: unaware, &pasts) { _ in }
    }
  }

  /// The text at an earlier version.
  func string(at version: Version, _ log: SharedLog) -> String {
    var pasts = log.pasts
    let withdrawn = withdrawals.withdrawn(at: version)
    let spared = text.sparedElements(at: version, without: withdrawn, &pasts)
    var view = text.view(at: version, without: withdrawn)
    view.hidden = view.hidden.subtracting(ElementRanges(spared)).union(
      text.withheldElements(at: version, sparing: spared, without: withdrawn))
    return String(decoding: text.utf8(in: view), as: UTF8.self)
  }

  /// The same text, written to bytes and read again.
  func reopen() throws {
    var other = try ReplicatingText(encoded: text.encoded())
    let isRestored = other.restoreMerge(
      sparing: text.sparedElements.sorted, copies: text.copies,
      without: withdrawals.isEmpty ? nil : text.withdrawn, wasContested: text.isContested,
      wasConcurrent: text.isConcurrent)
    #expect(isRestored && other.string == text.string)
    other.checkInvariants()
    text = other
  }
}
