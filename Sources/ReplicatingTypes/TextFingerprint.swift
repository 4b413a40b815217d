/// The bytes of a text in some state, added up: a number that equal texts have in common, and different texts hardly ever.
///
/// Going from one state to another takes as long as what differs between them. So a text is looked for in many states, and few are read.
///
///     var sum = TextFingerprint(of: text)
///     sum.move(to: text.version)
///     sum.value == sum.value(of: text.utf8)  // true
public struct TextFingerprint: Sendable {
  /// Only what is withdrawn in it changes, while it is asked for the elements that are withheld.
  private var text: ReplicatingArray<UInt8>
  private let withdrawals: Withdrawals
  /// The authors of withdrawals, the state as far as these are concerned, and the changes that are withdrawn in it.
  private let withdrawers: Set<ReplicaID>
  private var state = Version()
  private var withdrawn = ChangeRanges()
  /// By byte, whether it is added. Where removed separators and dividers may be shown in a state, what these consist of is not.
  private var isCounted = Array(repeating: true, count: 256)
  /// Of each author the last change of the state, and the number of elements that it had inserted by then.
  private var numbers: [UInt64]
  private var counts: [UInt32]
  /// By author and offset, the number of reasons in the state for which the element is not shown: removals by changes that are not
  /// withdrawn, and a withdrawn insertion.
  private var removals: [[UInt32]]
  /// By author, the runs of changes that decide which copies are withheld (DuplicateCoalescing.swift).
  private var deciding: [[ClosedRange<UInt64>]] = []
  /// The sum in the state without regard to copies, and the part of it that is withheld.
  private var plain: UInt64 = 0
  private var withheld: UInt64 = 0
  /// The sum in the state.
  public var value: UInt64 { plain &- withheld }
  /// The number of elements that were added and removed so far, on the way through the states.
  public private(set) var steps = 0

  /// The sum in the state without any change.
  ///
  /// - Complexity: O(elements).
  public init(of text: ReplicatingText, _ withdrawals: Withdrawals = Withdrawals()) {
    self.text = text.bytes.settled
    self.withdrawals = withdrawals
    withdrawers = Set(withdrawals.list.map(\.stamp.change.replica))
    if text.isContested {
      var value = self.text
      value.findDividers()
      for byte in value.bytesOfDividers { isCounted[Int(byte)] = false }
      for byte in UInt8(0)...0x20 where ReplicatingArray.isWhite(byte) {
        isCounted[Int(byte)] = false
      }
    }
    numbers = self.text.authors.map { _ in 0 }
    counts = self.text.authors.map { _ in 0 }
    removals = self.text.authors.map { Array(repeating: 0, count: $0.content.count) }
    if !self.text.copies.isEmpty { deciding = self.text.changesDecidingCopies() }
  }

  /// The sum of a text that may be this one in some state.
  public func value(of utf8: [UInt8]) -> UInt64 { utf8.reduce(0) { $0 &+ summand($1) } }

  /// Goes to the state of a version.
  public mutating func move(to version: Version) {
    var isDecided = withdrawals.isEmpty || !withdraw(in: version)
    for index in numbers.indices where move(index, to: version[text.authors[index].id]) {
      isDecided = false
    }
    if !isDecided { withhold() }
  }

  /// Goes to the state with the changes of one replica up to `number`, and the same ones of the others.
  public mutating func move(_ replica: ReplicaID, to number: UInt64) {
    var isDecided = true
    if withdrawers.contains(replica) {
      var version = state
      version[replica] = number
      if withdraw(in: version) { isDecided = false }
    }
    if let index = text.index(known: replica), move(Int(index), to: number) { isDecided = false }
    if !isDecided { withhold() }
  }

  /// - Returns: whether other copies may be withheld.
  private mutating func move(_ index: Int, to number: UInt64) -> Bool {
    let old = numbers[index]
    if number == old { return false }
    numbers[index] = number
    let author = text.authors[index]
    let (count, before) = (author.count(upTo: number), counts[index])
    counts[index] = count
    if count > before {
      for offset in before..<count where removals[index][Int(offset)] == 0 {
        plain &+= summand(author.content[Int(offset)])
      }
    } else {
      for offset in count..<before where removals[index][Int(offset)] == 0 {
        plain &-= summand(author.content[Int(offset)])
      }
    }
    steps += abs(Int(count) - Int(before))
    let (first, last) = (min(old, number), max(old, number))
    let crossed = ChangeRanges([ChangeRanges.Run(author.id, first + 1...last)])
    addUp(text.removals(by: crossed.subtracting(withdrawn)), isMore: number > old)
    return !deciding.isEmpty && deciding[index].contains { $0.overlaps(first + 1...last) }
  }

  /// Adds up what is withheld in the state.
  private mutating func withhold() {
    if deciding.isEmpty { return }
    var version = Version()
    for (author, number) in zip(text.authors, numbers) { version[author.id] = number }
    withheld = 0
    for range in text.withheldElements(at: version, sparing: [], without: withdrawn) {
      guard let target = text.index(known: range.author).map({ Int($0) }) else { continue }
      steps += range.count
      for offset in range.offset..<min(range.end, Int(counts[target]))
      where removals[target][offset] == 0 {
        withheld &+= summand(text.authors[target].content[offset])
      }
    }
  }

  /// Goes to a state as far as what is withdrawn in it is concerned.
  ///
  /// - Returns: whether something else is withdrawn.
  private mutating func withdraw(in version: Version) -> Bool {
    state = version
    let now = withdrawals.withdrawn(at: version)
    let (gone, back) = (now.subtracting(withdrawn), withdrawn.subtracting(now))
    withdrawn = now
    addUp(text.insertions(by: gone) + countedRemovals(by: back), isMore: true)
    addUp(text.insertions(by: back) + countedRemovals(by: gone), isMore: false)
    return !gone.isEmpty || !back.isEmpty
  }

  /// The removals by some changes, as far as the sum has come to them.
  private func countedRemovals(by changes: ChangeRanges) -> [ElementRange] {
    var version = Version()
    for (author, number) in zip(text.authors, numbers) { version[author.id] = number }
    return text.removals(by: changes.intersection(version))
  }

  /// Counts reasons for which elements are not shown, or that there are no more.
  private mutating func addUp(_ ranges: [ElementRange], isMore: Bool) {
    for range in ranges {
      guard let target = text.index(known: range.author) else { continue }
      steps += range.count
      for offset in range.offset..<range.end {
        if isMore {
          remove(UInt32(offset), of: Int(target))
        } else {
          restore(UInt32(offset), of: Int(target))
        }
      }
    }
  }

  private mutating func remove(_ offset: UInt32, of target: Int) {
    if offset < counts[target], removals[target][Int(offset)] == 0 {
      plain &-= summand(text.authors[target].content[Int(offset)])
    }
    removals[target][Int(offset)] += 1
  }

  private mutating func restore(_ offset: UInt32, of target: Int) {
    removals[target][Int(offset)] -= 1
    if offset < counts[target], removals[target][Int(offset)] == 0 {
      plain &+= summand(text.authors[target].content[Int(offset)])
    }
  }

  private func summand(_ byte: UInt8) -> UInt64 {
    isCounted[Int(byte)] ? Self.summands[Int(byte)] : 0
  }

  /// A number for each byte, such that the sums of different bytes differ.
  private static let summands = (1...256 as ClosedRange<UInt64>).map { place in
    // SplitMix64.
    var bits = place &* 0x9E37_79B9_7F4A_7C15
    bits = (bits ^ bits &>> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits &>> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits &>> 31
  }
}
