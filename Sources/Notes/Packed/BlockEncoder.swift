internal import ReplicatingTypes

/// Writes the changes of one block, consecutive changes of one replica. The format is in PackedChanges.swift.
struct BlockEncoder {
  /// Changes that wait for more of their kind.
  private struct Run {
    /// The operation of the first, and its number.
    let operation: RawOperation
    let number: UInt64
    var count = 1
    /// The element behind which the next one comes, if this is typing.
    var next = NamedElement.none
    /// The elements that were removed, and the direction as soon as it is known.
    var range = 0..<0
    var isForward: Bool?
  }

  private var times: [Int64] = []
  private var links = ByteWriter()
  private var steps = ByteWriter()
  private var expected = ExpectedNotes()
  private var run: Run?
  private var typed: [UInt8] = []
  /// The number of the last change that has a link, and the numbers last named.
  private var lastLink: UInt64
  private var lastNumbers: [Int: UInt64] = [:]

  init(first: UInt64) { lastLink = first - 1 }

  var count: Int { times.count }

  /// Adds the next change. `jump` is by how much its logical time is later than that of the change before makes it.
  mutating func append(
    _ change: borrowing RawChange, _ bytes: ArraySlice<UInt8>, number: UInt64, jump: UInt64
  ) {
    times.append(change.elapsed)
    if jump != 0 || !change.predecessors.isEmpty { link(number, jump, change.predecessors) }
    if change.operations.count == 1 {
      append(change.operations[0], bytes, number, change.observed)
    } else {
      finishRun()
      steps.code(StepCode.several)
      steps.varint(change.operations.count)
      for operation in change.operations {
        append(operation, bytes, number, change.observed)
        finishRun()
      }
    }
  }

  private mutating func link(_ number: UInt64, _ jump: UInt64, _ predecessors: [NamedChange]) {
    links.varint(number - lastLink - 1)
    lastLink = number
    links.varint(jump)
    links.varint(predecessors.count)
    for predecessor in predecessors {
      links.varint(predecessor.author)
      let last = lastNumbers[predecessor.author] ?? 0
      links.signed(Int64(bitPattern: predecessor.number &- last))
      lastNumbers[predecessor.author] = predecessor.number
    }
  }

  /// The links of the block, and its content.
  mutating func finish() -> (links: [UInt8], content: [UInt8]) {
    finishRun()
    var content = ByteWriter(capacity: steps.bytes.count + times.count)
    PackedTimes.encode(times, into: &content)
    content.raw(steps.bytes)
    return (links.bytes, StoredBytes.encode(content.bytes))
  }

  private mutating func append(
    _ operation: RawOperation, _ bytes: ArraySlice<UInt8>, _ number: UInt64,
    _ observed: [NamedChange]
  ) {
    switch operation.tag {
    case .insert:
      let text = bytes.text(of: operation)
      if operation.count == 0, text.first?.scalarWidth == text.count {
        type(text, operation, number)
      } else {
        finishRun()
        insert(operation, text, number)
      }
    case .remove: remove(operation, number)
    default:
      finishRun()
      other(operation, bytes, number, observed)
    }
  }

  // MARK: - Runs

  private mutating func type(
    _ text: ArraySlice<UInt8>, _ operation: RawOperation, _ number: UInt64
  ) {
    if run != nil, run!.operation.tag == .insert, operation.first == run!.next,
      operation.second == run!.operation.second, operation.note == run!.operation.note
    {
      run!.count += 1
      run!.next = NamedElement(0, run!.next.offset + text.count)
    } else {
      finishRun()
      expected.begin(operation, number, &steps)
      let (author, gap) = expected.gap(behind: operation.first)
      run = Run(operation: operation, number: number)
      run!.next = NamedElement(
        0, expected.text.next(behind: gap, of: author) + text.count - 1)
    }
    typed.append(contentsOf: text)
  }

  private mutating func remove(_ operation: RawOperation, _ number: UInt64) {
    let range = operation.first.offset..<operation.first.offset + operation.count
    if run != nil, run!.operation.tag == .remove, operation.note == run!.operation.note,
      operation.first.author == run!.operation.first.author,
      operation.count == run!.operation.count, operation.count > 0,
      run!.count < StepCode.longestRemoval
    {
      let known = run!.range
      if run!.isForward != true, range.upperBound == known.lowerBound {
        run!.count += 1
        run!.range = range.lowerBound..<known.upperBound
        run!.isForward = false
        return
      }
      if run!.isForward != false, range.lowerBound == known.upperBound {
        run!.count += 1
        run!.range = known.lowerBound..<range.upperBound
        run!.isForward = true
        return
      }
    }
    finishRun()
    run = Run(operation: operation, number: number)
    run!.range = range
  }

  private mutating func finishRun() {
    guard let run else { return }
    if run.operation.tag == .insert {
      let range = StepCode.typed
      step(
        inserting: typed.count, run.operation, range.lowerBound + min(run.count, range.count) - 1)
      if run.count >= range.count { steps.varint(run.count - range.count) }
      steps.raw(typed)
      typed.removeAll(keepingCapacity: true)
    } else {
      expected.begin(run.operation, run.number, &steps)
      removal(run.operation, run.count, run.range, run.isForward)
    }
    self.run = nil
  }

  // MARK: - Steps

  private mutating func insert(
    _ operation: RawOperation, _ text: ArraySlice<UInt8>, _ number: UInt64
  ) {
    expected.begin(operation, number, &steps)
    if operation.count > 0 {
      steps.code(StepCode.divider)
      steps.varint(operation.count)
    }
    let range = StepCode.inserted
    step(
      inserting: text.count, operation, range.lowerBound + min(text.count, range.count - 1))
    if text.count >= range.count - 1 { steps.varint(text.count - (range.count - 1)) }
    steps.raw(text)
  }

  private mutating func step(inserting count: Int, _ operation: RawOperation, _ code: Int) {
    let (author, gap) = expected.gap(behind: operation.first)
    if author != expected.text.author {
      steps.code(StepCode.author)
      steps.varint(author)
    }
    if operation.second != expected.text.element(behind: gap, of: author) {
      steps.code(StepCode.before)
      steps.element(operation.second)
    }
    steps.step(code, distance: gap - expected.text.gap(of: author))
    expected.text.insert(count, behind: gap, of: author, before: operation.second)
  }

  private mutating func removal(
    _ operation: RawOperation, _ count: Int, _ range: Range<Int>, _ isKnownForward: Bool?
  ) {
    let author = operation.first.author
    let backward = range.upperBound - expected.text.gap(of: author)
    let forward = range.lowerBound - expected.text.ahead(of: author)
    // A single one is written whichever way is nearer.
    let farther = 1 << 40
    let isForward =
      isKnownForward
      ?? (abs(forward) + (author == expected.text.ahead.author ? 0 : farther)
        < abs(backward) + (author == expected.text.author ? 0 : farther))
    if author != (isForward ? expected.text.ahead.author : expected.text.author) {
      steps.code(StepCode.author)
      steps.varint(author)
    }
    let distance = isForward ? forward : backward
    let width = operation.count
    if count == 1 && width != expected.text.width {
      let codes = isForward ? StepCode.removedBehind : StepCode.removedBefore
      let isShort = (2..<2 + codes.count - 1).contains(width)
      steps.step(isShort ? codes.lowerBound + width - 2 : codes.upperBound - 1, distance: distance)
      if !isShort { steps.varint(width) }
    } else {
      if width != expected.text.width {
        steps.code(StepCode.width)
        steps.varint(width)
        expected.text.width = width
      }
      let codes = isForward ? StepCode.removedForward : StepCode.removedBackward
      steps.step(codes.lowerBound + count - 1, distance: distance)
    }
    expected.text.remove(range, of: author, isForward: isForward)
  }

  private mutating func other(
    _ operation: RawOperation, _ bytes: ArraySlice<UInt8>, _ number: UInt64,
    _ observed: [NamedChange]
  ) {
    if operation.tag == .create {
      expected.move(to: NamedChange(author: 0, number: number))
    } else if !operation.tag.isMark {
      expected.begin(operation, number, &steps)
    }
    steps.code(StepCode.other)
    steps.byte(operation.tag.rawValue)
    switch operation.tag {
    case .create, .restore, .insert, .dividedInsertion, .remove, .purge, .imported,
      .contentAddressed:
      break
    case .original: steps.raw(bytes.text(of: operation))
    case .author, .request: steps.counted(bytes.text(of: operation))
    case .entry: steps.varint(operation.count)
    case .place:
      steps.element(operation.first)
      steps.element(operation.second)
    case .created, .modified: steps.signed(operation.time)
    case .title, .property:
      steps.signed(operation.time)
      steps.counted(bytes.text(of: operation))
    case .priority:
      steps.signed(operation.time)
      steps.byte(UInt8(truncatingIfNeeded: operation.count))
    case .insertTag: steps.counted(bytes.text(of: operation))
    case .removeTag:
      steps.counted(bytes.text(of: operation))
      steps.changes(observed[operation.observed])
    case .delete, .withdraw: steps.changes(observed[operation.observed])
    case .base:
      steps.varint(operation.count)
      steps.changes(observed[operation.observed])
    case .redacted:
      steps.varint(operation.count)
      steps.varint(operation.observed.count)
      for name in observed[operation.observed] { steps.varint(name.author) }
    }
  }
}

extension ArraySlice<UInt8> {
  /// The text of an operation of the change that this is.
  fileprivate func text(of operation: RawOperation) -> ArraySlice<UInt8> {
    self[startIndex + operation.text.lowerBound..<startIndex + operation.text.upperBound]
  }
}

extension ExpectedNotes {
  /// The gap behind an element. The beginning of the text is one that all authors share.
  fileprivate func gap(behind element: NamedElement) -> (author: Int, gap: Int) {
    element.isNone ? (text.author, 0) : (element.author, element.offset + 1)
  }

  /// Goes to the note of an operation, and writes that if it is another one.
  fileprivate mutating func begin(
    _ operation: RawOperation, _ number: UInt64, _ steps: inout ByteWriter
  ) {
    if operation.note == current { return }
    steps.code(StepCode.note)
    steps.varint(operation.note.author)
    if operation.note.author == 0 {
      steps.signed(Int64(bitPattern: number &- operation.note.number))
    } else {
      steps.varint(operation.note.number)
    }
    move(to: operation.note)
  }
}

extension ByteWriter {
  /// A step, and how far from where it is expected it is.
  fileprivate mutating func step(_ code: Int, distance: Int) {
    byte(UInt8(code << 1 | (distance == 0 ? 0 : 1)))
    if distance != 0 { varint((distance << 1 ^ distance >> 63) - 1) }
  }

  /// Something that isn't at a distance from anything.
  fileprivate mutating func code(_ code: Int) { byte(UInt8(code << 1)) }

  fileprivate mutating func element(_ element: NamedElement) {
    if element.isNone { return varint(0) }
    varint(element.author + 1)
    varint(element.offset)
  }

  fileprivate mutating func changes(_ changes: ArraySlice<NamedChange>) {
    varint(changes.count)
    for change in changes {
      varint(change.author)
      varint(change.number)
    }
  }
}
