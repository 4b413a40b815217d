import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

/// Changes of some replicas, of each consecutive ones, that any test can take from.
private struct Source {
  var book: NoteBook
  private var packed: [UInt8]
  private var directory: PackedChanges

  init(_ book: NoteBook) throws {
    self.book = book
    packed = try book.packed(of: notebook)
    directory = try PackedChanges(packed)
  }

  /// Packs what is asked for of each replica.
  func packed(_ ranges: [ReplicaID: ClosedRange<UInt64>]) throws -> [UInt8] {
    var packer = ChangePacker(notebook: notebook)
    var bytes: [UInt8] = []
    for replica in ranges.keys.sorted() {
      let numbers = ranges[replica]!
      packer.begin(replica, after: try state(of: replica, number: numbers.lowerBound - 1))
      let history = book.histories[existing: replica]
      for number in numbers {
        try packer.append(history.change(number), lamport: history.lamport(number)!)
      }
      bytes += packer.takeReady()
    }
    return bytes + packer.finish()
  }

  /// What is known of a replica after a change.
  func state(of replica: ReplicaID, number: UInt64) throws -> ReplicaState {
    var state = ReplicaState()
    var mentions = ReplicaTable()
    let history = book.histories[existing: replica]
    for number in 1..<number + 1 {
      let id = ChangeID(replica: replica, number: number)
      state.time =
        try Change(id, decoding: history.change(number), after: state.time, &mentions).time
    }
    state.number = number
    state.lamport = history.lamport(number)!
    state.mentions = mentions.replicas
    return state
  }

  /// A part of what each replica made.
  func someRanges(_ generator: inout SplitMix64) -> [ReplicaID: ClosedRange<UInt64>] {
    var ranges: [ReplicaID: ClosedRange<UInt64>] = [:]
    for replica in book.version.replicas where generator.chance(80) {
      let count = Int(book.version[replica])
      let first = 1 + (generator.chance(50) ? 0 : generator.below(count))
      let last = generator.chance(50) ? count : first + generator.below(count - first + 1)
      ranges[replica] = UInt64(first)...UInt64(last)
    }
    return ranges
  }
}

/// Everything that is in packed bytes.
private func unpacked(
  _ bytes: [UInt8]
) throws -> [ChangeID: (encoded: [UInt8], lamport: UInt64)] {
  let packed = try PackedChanges(bytes)
  var changes: [ChangeID: (encoded: [UInt8], lamport: UInt64)] = [:]
  for (replica, _) in packed.ranges {
    for place in packed.blocks(of: replica) {
      let block = try packed.decode(place, bytes[place.bytes])
      for number in block.numbers {
        let (encoded, lamport) = block[number]
        changes[ChangeID(replica: replica, number: number)] = (Array(encoded), lamport)
      }
    }
  }
  return changes
}

/// Joins packed changes that begin, of each replica, where another one ends, or before: change by change, or blocks as they
/// are.
private func merged(_ files: [[UInt8]], copying isCopying: Bool) throws -> [UInt8] {
  let sources = try files.map { (bytes: $0, packed: try PackedChanges($0)) }
  var packer = ChangePacker(notebook: sources[0].packed.notebook)
  for replica in Set(sources.flatMap { $0.packed.ranges.map(\.replica) }).sorted() {
    let parts = sources.filter { $0.packed.ranges.contains { $0.replica == replica } }
      .sorted {
        $0.packed.blocks(of: replica)[0].numbers.lowerBound
          < $1.packed.blocks(of: replica)[0].numbers.lowerBound
      }
    let first = parts[0].packed.blocks(of: replica)[0]
    packer.begin(replica, after: parts[0].packed.state(before: first))
    var next = first.numbers.lowerBound
    for part in parts {
      for place in part.packed.blocks(of: replica) {
        if isCopying {
          try packer.append(place, of: part.packed, part.bytes[place.bytes])
          continue
        }
        let block = try part.packed.decode(place, part.bytes[place.bytes])
        for number in block.numbers where number == next {
          try packer.append(block[number].encoded, lamport: block[number].lamport)
          next += 1
        }
      }
    }
  }
  return packer.finish()
}

@Suite(.computing) struct `Packed changes` {
  /// A notebook with a random past: several people, all kinds of operations, merges, and typing.
  private func randomBook(_ generator: inout SplitMix64, steps: Int) throws -> NoteBook {
    let people = (1...UInt64(1 + generator.below(4))).map(Person.init)
    for _ in 0..<steps {
      let person = generator.pick(people)
      switch generator.below(10) {
      case 0, 1: try person.pull(generator.pick(people))
      case 2, 3, 4: generator.type(person)
      default: generator.actOrWithdraw(person)
      }
    }
    try exchangeAll(people)
    return people[0].book
  }

  @Test func `come back as they were, with what is derived from them`() throws {
    for seed in seeds(30) {
      var generator = SplitMix64(seed: seed)
      let source = try Source(randomBook(&generator, steps: 60))
      let book = source.book
      let ranges =
        generator.chance(30)
        ? book.version.changes.reduce(into: [:]) { $0[$1.replica] = 1...$1.number }
        : source.someRanges(&generator)
      let bytes = try source.packed(ranges)
      let changes = try unpacked(bytes)
      #expect(changes.count == ranges.values.reduce(0) { $0 + $1.count }, at(seed))
      let packed = try PackedChanges(bytes)
      #expect(packed.notebook == notebook)
      for (replica, numbers) in ranges {
        let history = book.histories[existing: replica]
        for number in numbers {
          let change = changes[ChangeID(replica: replica, number: number)]
          #expect(change?.encoded == Array(history.change(number)), at(seed))
          #expect(change?.lamport == history.lamport(number)!, at(seed))
        }
        let merges = history.links.runs.flatMap(\.links).filter {
          numbers.contains($0.number) && !$0.predecessors.isEmpty
        }
        let found = try packed.merges(of: replica)
        #expect(found.map(\.number) == merges.map(\.number), at(seed))
        #expect(found.map(\.predecessors) == merges.map(\.predecessors), at(seed))
        for block in packed.blocks(of: replica) {
          let before = try source.state(of: replica, number: block.numbers.lowerBound - 1)
          #expect(packed.state(before: block) == before, at(seed))
        }
        let last = try source.state(of: replica, number: numbers.upperBound)
        #expect(packed.lastState(of: replica) == last, at(seed))
      }
    }
  }

  @Test func `are the same bytes however they were cut and joined`() throws {
    for seed in seeds(30) {
      var generator = SplitMix64(seed: seed &+ 1000)
      let source = try Source(randomBook(&generator, steps: 40))
      let ranges = source.someRanges(&generator)
      if ranges.isEmpty { continue }
      let whole = try source.packed(ranges)
      var parts: [[UInt8]] = []
      for _ in 0..<1 + generator.below(4) {
        // Some overlap: what is cut off on one side begins earlier on the other.
        var left: [ReplicaID: ClosedRange<UInt64>] = [:]
        var right: [ReplicaID: ClosedRange<UInt64>] = [:]
        for (replica, numbers) in ranges {
          let cut = numbers.randomElement(using: &generator)!
          let overlap = UInt64(generator.below(3))
          left[replica] = numbers.lowerBound...cut
          if cut < numbers.upperBound {
            right[replica] =
              max(numbers.lowerBound, cut + 1 - min(cut, overlap))...numbers.upperBound
          }
        }
        parts += [try source.packed(left), try source.packed(right)]
      }
      for isCopying in [true, false] {
        #expect(try merged([whole], copying: isCopying) == whole, at(seed))
        let shuffled = parts.shuffled(using: &generator)
        #expect(try merged(shuffled, copying: isCopying) == whole, at(seed))
      }
    }
  }

  @Test func `of withdrawals come back as they were, also where they name much`() throws {
    for seed in seeds(10) {
      var generator = SplitMix64(seed: seed &+ 6000)
      let people = (1...4).map { Person($0) }
      let note = people[0].create("", "a b")
      for person in people.dropFirst() { try person.pull(people[0]) }
      for _ in 0..<40 {
        let person = generator.pick(people)
        if generator.chance(30) { try person.pull(generator.pick(people)) }
        let known = person.book.version.changes.flatMap { last in
          (1...last.number).map { ChangeID(replica: last.replica, number: $0) }
        }
        let named = known.filter { _ in generator.chance(40) }
        if generator.chance(50), !named.isEmpty {
          let runs = named.map { ChangeRanges.Run($0.replica, $0.number...$0.number) }
          person.withdraw(note, ChangeRanges(runs))
        } else {
          person.setText(note, person.book[note]!.text.string + "x")
        }
      }
      try exchangeAll(people, at(seed))
      let book = people[0].book
      let bytes = try book.packed(of: notebook)
      let changes = try unpacked(bytes)
      #expect(changes.count == book.version.changes.reduce(0) { $0 + Int($1.number) }, at(seed))
      for (id, change) in changes {
        let history = book.histories[existing: id.replica]
        #expect(change.encoded == Array(history.change(id.number)), at(seed))
        #expect(change.lamport == history.lamport(id.number)!, at(seed))
      }
      for isCopying in [true, false] {
        #expect(try merged([bytes], copying: isCopying) == bytes, at(seed))
      }
    }
  }

  @Test func `of long typing come block by block, and any one alone`() throws {
    for seed in seeds(1) {
      var generator = SplitMix64(seed: seed &+ 2000)
      let person = Person(1)
      let note = person.create("title", "text")
      for _ in 0..<60 { generator.type(person, in: note, keys: 150) }
      person.setText(note, String(repeating: "long ", count: 20_000))
      for _ in 0..<20 { generator.type(person, in: note, keys: 40) }
      let source = try Source(person.book)
      let bytes = try person.book.packed(of: notebook)
      let packed = try PackedChanges(bytes)
      let history = person.book.histories[existing: person.id]
      #expect(packed.blocks(of: person.id).count > 2)
      for _ in 0..<20 {
        let number = 1 + UInt64(generator.below(Int(history.count)))
        let place = packed.block(of: ChangeID(replica: person.id, number: number))!
        let block = try packed.decode(place, bytes[place.bytes])
        #expect(Array(block[number].encoded) == Array(history.change(number)), at(seed))
      }
      #expect(packed.block(of: ChangeID(replica: person.id, number: history.count + 1)) == nil)
      #expect(packed.block(of: ChangeID(replica: replicaID(9), number: 1)) == nil)
      let cut = 1 + UInt64(generator.below(Int(history.count - 1)))
      let parts = try [
        source.packed([person.id: 1...cut]), source.packed([person.id: cut + 1...history.count]),
      ]
      for isCopying in [true, false] {
        #expect(try merged(parts, copying: isCopying) == bytes, at(seed))
      }
    }
  }

  @Test func `cost about a byte for each byte typed`() throws {
    let person = Person(1)
    let note = person.create("title")
    let text = "The quick brown fox jumps over the lazy dog. "
    for number in 0..<10_000 {
      person.now += 100
      let letter = Array(text.utf8)[number % text.utf8.count]
      person.make(
        person.book.plan(
          for: [Edit(range: number..<number, replacement: [letter])], in: note))
    }
    #expect(try person.book.packed(of: notebook).count < 10_000 * 105 / 100 + 100)
  }

  @Test func `are cut as if a change that is refused had never come`() throws {
    let person = Person(1)
    for number in 0..<30 { person.create("note", String(repeating: "x", count: 100 * number)) }
    let history = person.book.histories[existing: person.id]
    var packer = ChangePacker(notebook: notebook)
    packer.begin(person.id)
    // It names somebody before it breaks off.
    var broken = Array(history.change(1).prefix(2)) + [0x17, 1] + replicaID(9).encoded() + [1]
    broken += [UInt8](repeating: 0xFF, count: 70_000)
    for number in 1...history.count {
      #expect(throws: DecodingFailure.self) { try packer.append(broken[...], lamport: .max) }
      let early = history.lamport(number)! - 1
      #expect(throws: DecodingFailure.self) {
        try packer.append(history.change(number), lamport: early - early / 2)
      }
      try packer.append(history.change(number), lamport: history.lamport(number)!)
    }
    #expect(try packer.finish() == person.book.packed(of: notebook))
  }

  @Test func `are packed and refused as nonsense is, whatever it says`() throws {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed &+ 3000)
      let book = try randomBook(&generator, steps: 20)
      var forgery = Forgery(book.changes(since: Version()))
      for _ in 0..<1 + generator.below(8) { forgery.mutate(&generator) }
      var packer = ChangePacker(notebook: notebook)
      var expected: [ChangeID: [UInt8]] = [:]
      for replica in Set(forgery.groups.map(\.replica)).sorted() {
        packer.begin(replica)
        var number: UInt64 = 0
        var lamport: UInt64 = 0
        for change in forgery.groups.filter({ $0.replica == replica }).flatMap(\.changes) {
          lamport += 1 + UInt64(change.count) + UInt64(generator.below(3))
          do { try packer.append(change[...], lamport: lamport) } catch { continue }
          number += 1
          expected[ChangeID(replica: replica, number: number)] = change
        }
      }
      let bytes = packer.finish()
      #expect(try unpacked(bytes).mapValues(\.encoded) == expected, at(seed))
      #expect(try merged([bytes], copying: false) == bytes, at(seed))
    }
  }

  // MARK: - Damage

  @Test func `are refused where a bit or the end is missing`() throws {
    var generator = SplitMix64(seed: 4000)
    let bytes = try randomBook(&generator, steps: 15).packed(of: notebook)
    let changes = try unpacked(bytes).mapValues(\.encoded)
    for count in bytes.indices {
      #expect(throws: DecodingFailure.self) { try unpacked(Array(bytes.prefix(count))) }
      for bit in 0..<8 {
        var damaged = bytes
        damaged[count] ^= 1 << UInt8(bit)
        if let read = try? unpacked(damaged) { #expect(read.mapValues(\.encoded) == changes) }
      }
    }
  }

  @Test func `that are forged are refused or read, and never more than they pay for`() throws {
    for seed in seeds(150) {
      var generator = SplitMix64(seed: seed &+ 5000)
      let bytes = try randomBook(&generator, steps: 10).packed(of: notebook)
      for _ in 0..<20 {
        var forged = bytes
        forge(&forged, &generator)
        for isCopying in [true, false] { _ = try? merged([forged, bytes], copying: isCopying) }
        if let packed = try? PackedChanges(forged) {
          for (replica, _) in packed.ranges {
            _ = try? packed.merges(of: replica)
            _ = packed.lastState(of: replica)
          }
        }
        guard let read = try? unpacked(forged) else { continue }
        let size = read.values.reduce(0) { $0 + $1.encoded.count }
        #expect(size <= forged.count * 24 * 64, at(seed))
      }
    }
  }

  /// Changes something and makes all checksums right again.
  private func forge(_ bytes: inout [UInt8], _ generator: inout SplitMix64) {
    // A notebook may be empty.
    guard let packed = try? PackedChanges(bytes), !packed.ranges.isEmpty else { return }
    let blocks = packed.ranges.flatMap { packed.blocks(of: $0.replica) }.map(\.bytes)
    var directory: Range<Int> { blocks.last!.upperBound..<bytes.count - 16 }
    let others = blocks.map { Array(bytes[$0]) }
    for _ in 0..<1 + generator.below(2) {
      if generator.chance(30) {
        let start = directory.lowerBound
        var forged = Array(bytes[directory].dropFirst(blockPrefix))
        generator.forge(&forged)
        bytes = Array(bytes[..<start]) + containerBlock(forged)
        for value in [start, forged.count] {
          bytes += (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
      } else {
        let block = generator.pick(blocks)
        generator.forge(&bytes, in: block.dropFirst(blockPrefix), with: others)
      }
    }
    for block in blocks { seal(&bytes, block) }
  }

  @Test func `of a run of removals are no more than their block may hold`() throws {
    // 4,096 removals in about as few bytes as there can be; one more block of them takes as many again.
    let person = Person(1)
    let note = person.create("", String(repeating: "x", count: 9_000))
    for _ in 0..<8_500 {
      person.make(person.book.plan(for: [Edit(range: 0..<1, replacement: [])], in: note))
    }
    let bytes = try person.book.packed(of: notebook)
    let packed = try PackedChanges(bytes)
    let blocks = packed.blocks(of: person.id)
    #expect(blocks.allSatisfy { $0.numbers.count <= PackedBlock.largestCount })
    for block in blocks {
      let content = try StoredBytes.decode(bytes[block.bytes].dropFirst(blockPrefix))
      #expect(content.count >= block.numbers.count / StepCode.longestRemoval)
    }
    #expect(try unpacked(bytes).count == 8_501)
  }
}

extension SplitMix64 {
  /// Types, and takes back some of it, a key a change.
  fileprivate mutating func type(_ person: Person) {
    guard let note = person.book.notes.randomElement(using: &self) else { return }
    type(person, in: note.id, keys: 1 + below(12))
  }

  fileprivate mutating func type(_ person: Person, in note: NoteID, keys: Int) {
    var place = 0
    var widths = person.book[note]!.text.string.unicodeScalars.map { $0.utf8.count }
    if !widths.isEmpty { place = below(widths.count + 1) }
    var offset = widths[..<place].reduce(0, +)
    for _ in 0..<keys {
      person.now &+= chance(90) ? 80 + Int64(below(320)) : 100
      var edit = Edit<UInt8>(range: 0..<0, replacement: [])
      switch below(6) {
      case 0 where place > 0:
        place -= 1
        let width = widths.remove(at: place)
        edit = Edit(range: offset - width..<offset, replacement: [])
        offset -= width
      case 1 where place < widths.count:
        edit = Edit(range: offset..<offset + widths.remove(at: place), replacement: [])
      default:
        let letter = Array(pick(["a", "b", "é", "ж", "中", "😀"]).utf8)
        edit = Edit(range: offset..<offset, replacement: letter)
        widths.insert(letter.count, at: place)
        place += 1
        offset += letter.count
      }
      person.make(person.book.plan(for: [edit], in: note))
    }
  }
}
