/// Elements of one author that were removed: by one change, or one by one by consecutive changes, forward or backward. 16
/// bytes.
struct RemovalRun: Equatable, Sendable {
  enum Order: UInt32, Sendable { case atOnce, forward, backward }

  var number: UInt32
  var offset: UInt32
  var count: UInt32
  /// The author of the elements, and, in the two lowest bits, the order.
  private var bits: UInt32

  init(number: UInt32, offset: UInt32, count: UInt32, target: AuthorIndex, order: Order) {
    self.number = number
    self.offset = offset
    self.count = count
    bits = target &<< 2 | order.rawValue
  }

  var target: AuthorIndex {
    get { bits &>> 2 }
    set { bits = newValue &<< 2 | bits & 3 }
  }
  var order: Order {
    get { Order(rawValue: bits & 3)! }
    set { bits = bits & ~3 | newValue.rawValue }
  }

  /// The same as comparing `order`, without a jump for each of its cases.
  @inline(__always) var isAtOnce: Bool { bits & 3 == Order.atOnce.rawValue }
  @inline(__always) var isForward: Bool { bits & 3 == Order.forward.rawValue }

  /// The number of the last change.
  @inline(__always)
  var lastNumber: UInt64 { UInt64(number) + (isAtOnce ? 0 : UInt64(count) - 1) }

  /// Adds what the next changes removed, on in the same direction.
  mutating func extend(_ more: UInt32, _ order: Order) {
    count &+= more
    self.order = order
    if order == .backward { offset &-= more }
  }

  /// The element that was removed last, of those removed one by one.
  var latest: UInt32 { order == .backward ? offset : offset &+ count &- 1 }

  mutating func dropLatest() {
    if order == .backward { offset &+= 1 }
    count &-= 1
    if count == 1 { order = .atOnce }
  }

  /// The part of it that changes up to `last` removed.
  func range(upTo last: UInt64) -> (offset: UInt32, count: UInt32) {
    guard last >= UInt64(number) else { return (offset, 0) }
    let steps = UInt32(min(last - UInt64(number) + 1, UInt64(count)))
    switch order {
    case .atOnce: return (offset, count)
    case .forward: return (offset, steps)
    case .backward: return (offset + count - steps, steps)
    }
  }

  /// Leaves what changes up to `last` removed of it.
  mutating func keep(upTo last: UInt64) {
    (offset, count) = range(upTo: last)
  }

  /// The part of it that changes after `number` removed.
  func dropping(upTo number: UInt64) -> RemovalRun {
    let seen = range(upTo: number).count
    var rest = self
    guard seen > 0 else { return rest }
    rest.number += seen
    rest.count -= seen
    if order == .forward { rest.offset += seen }
    return rest
  }

  /// Its parts by changes, of its author, that are not withdrawn.
  func parts(of author: ReplicaID, without withdrawn: ChangeRanges) -> [RemovalRun] {
    if withdrawn.isEmpty { return [self] }
    var left: [RemovalRun] = []
    var next = UInt64(number)
    while next <= lastNumber {
      let part = withdrawn.run(of: author, from: next, to: lastNumber)
      if !part.isMember {
        var kept = dropping(upTo: next - 1)
        kept.keep(upTo: part.last)
        left.append(kept)
      }
      next = part.last + 1
    }
    return left
  }
}

extension [RemovalRun] {
  /// The first run of one author of which changes after `number` are a part. O(log n).
  func firstIndex(after number: UInt64) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].lastNumber <= number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
