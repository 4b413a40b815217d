import TestSupport
import Testing

@testable import ReplicatingTypes

private typealias Slots = MovableList<ChangeID>

/// An oracle for `MovableList`, which answers by a look at every slot where the list asks its tree.
private struct NaiveOrder {
  var slots: [(element: ChangeID, id: ElementID, time: LamportTimestamp)] = []

  init(_ value: Slots) {
    value.sequence.forEachSlot { slots.append(($0, $1, $2)) }
  }

  func newest(of element: ChangeID) -> ElementID? {
    slots.filter { $0.element == element }.max { $0.time < $1.time }?.id
  }

  var elements: [ChangeID] { slots.filter { newest(of: $0.element) == $0.id }.map(\.element) }

  func placement(
    of element: ChangeID, at index: Int, counting isCounted: (ChangeID) -> Bool
  ) -> Slots.Placement {
    if index == 0 { return Slots.Placement(element, after: nil, before: slots.first?.id) }
    var passed = 0
    for (place, slot) in slots.enumerated()
    where newest(of: slot.element) == slot.id && slot.element != element && isCounted(slot.element)
    {
      if passed == index {
        return Slots.Placement(
          element, after: place > 0 ? slots[place - 1].id : nil, before: slot.id)
      }
      passed += 1
    }
    return Slots.Placement(element, after: slots.last?.id, before: nil)
  }
}

/// Somebody who places the names of changes.
private final class Placer {
  var slots: Slots
  var replica: Replica

  init(_ number: UInt64, _ sizes: PieceNodes.Sizes) {
    slots = Slots(ReplicatingArray(nodeSizes: sizes))
    replica = Replica(id: replicaID(number))
  }

  func take(_ other: Placer) {
    slots.join(other.slots.sequence.changes(since: slots.sequence.version))
  }

  /// One change: the placements that `plan` makes of its name, one after the other.
  func change(
    _ count: Int, _ plan: (_ name: ChangeID, _ index: Int) -> Slots.Placement
  ) -> [(Slots.Placement, Stamp)] {
    var stamp = replica.stamp(after: slots.sequence.lamport, ticks: UInt64(count))
    return (0..<count).map { index in
      let placement = plan(stamp.change, index)
      slots.apply(placement, stamp)
      defer { stamp.lamport += 1 }
      return (placement, stamp)
    }
  }
}

@Suite struct `Replicating slots` {
  /// Checks what can be asked of an order.
  private func check(_ slots: Slots, _ generator: inout SplitMix64, _ comment: Comment) {
    slots.checkInvariants()
    let naive = NaiveOrder(slots)
    let elements = naive.elements
    #expect(slots.elements == elements && slots.count == elements.count, comment)
    let start = generator.below(elements.count + 2)
    var rest: [ChangeID] = []
    slots.forEachElement(from: start) {
      rest.append($0)
      return true
    }
    #expect(rest == Array(elements.dropFirst(start)), comment)
    let stranger = ChangeID(replica: replicaID(1), number: 1_000_000)
    #expect(slots.position(of: stranger) == nil, comment)
    for _ in 0..<4 {
      let element = generator.chance(20) ? stranger : elements.randomElement(using: &generator)
      guard let element else { return }
      let index = generator.below(elements.count + 2)
      let percent = generator.pick([0, 10, 50, 100])
      let uncounted = elements.indices.filter { _ in generator.chance(percent) }
      let planned = slots.placement(of: element, at: index, notCounting: uncounted)
      let hidden = Set(uncounted.map { elements[$0] })
      #expect(
        planned == naive.placement(of: element, at: index) { !hidden.contains($0) }, comment)
      if element != stranger {
        var moved = slots
        moved.apply(
          planned,
          Stamp(
            change: ChangeID(replica: replicaID(99), number: 1),
            lamport: slots.sequence.lamport + 1))
        #expect(slots.isPlaced(planned) == (moved.elements == elements), comment)
      }
      let neighbour = generator.pick(elements)
      guard neighbour != element else { continue }
      let isAfter = generator.chance(50)
      let others = elements.filter { $0 != element }
      let place = others.firstIndex(of: neighbour)! + (isAfter ? 1 : 0)
      #expect(
        slots.placement(of: element, beside: neighbour, isAfter: isAfter)
          == naive.placement(of: element, at: place) { _ in true }, comment)
    }
  }

  private func snapshot(_ slots: Slots) -> [UInt8] {
    var writer = ByteWriter()
    slots.encodeSnapshot(into: &writer)
    return writer.bytes
  }

  private func history(
    _ generator: inout SplitMix64, steps: Int, _ comment: Comment
  ) throws -> [Placer] {
    let tiny = PieceNodes.Sizes(leaf: 4, block: 2, piece: 3)
    let people = (1...3).map { Placer($0, generator.chance(70) ? tiny : PieceNodes.Sizes()) }
    // Gets every change by itself, as from outside.
    var follower = Slots()
    for _ in 0..<steps {
      let person = generator.pick(people)
      if generator.chance(30) { person.take(generator.pick(people)) }
      let elements = person.slots.elements
      let known = person.slots.sequence.version
      let isAtEnd = generator.chance(20)
      let made = person.change(generator.pick([1, 1, 1, 2, 3])) { name, index in
        let isMove = generator.chance(index == 0 ? 45 : 70)
        let element = isMove ? elements.randomElement(using: &generator) ?? name : name
        let index = isAtEnd ? elements.count : generator.below(elements.count + 2)
        return person.slots.placement(of: element, at: index)
      }
      for (placement, stamp) in made {
        try follower.validate(placement, by: stamp.change.replica) {
          $0 == stamp.change || known.contains($0)
        }
        follower.apply(placement, stamp)
      }
      check(person.slots, &generator, comment)
    }
    for _ in 0..<2 {
      for person in people { for other in people where other !== person { person.take(other) } }
    }
    for person in people {
      check(person.slots, &generator, comment)
      #expect(person.slots == follower && person.slots.elements == follower.elements, comment)
      #expect(snapshot(person.slots) == snapshot(follower), comment)
    }
    return people
  }

  @Test func `knows of the order what looking at every slot tells`() throws {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      _ = try history(&generator, steps: 30, at(seed))
    }
  }

  @Test func `a snapshot is the same slots, and goes on as they would`() throws {
    for seed in seeds(40) {
      var generator = SplitMix64(seed: seed)
      let people = try history(&generator, steps: 25, at(seed))
      let bytes = snapshot(people[0].slots)
      var reader = ByteReader(bytes)
      let again = try Slots(snapshot: &reader)
      #expect(reader.isAtEnd && again == people[0].slots, at(seed))
      #expect(snapshot(again) == bytes, at(seed))
      check(again, &generator, at(seed))
      people[1].slots = again
      for _ in 0..<10 {
        let elements = people[1].slots.elements
        _ = people[1].change(1) { name, _ in
          people[1].slots.placement(
            of: generator.chance(50) ? name : generator.pick(elements),
            at: generator.below(elements.count))
        }
      }
      people[0].take(people[1])
      check(people[1].slots, &generator, at(seed))
      #expect(people[0].slots == people[1].slots, at(seed))
      #expect(people[0].slots.elements == people[1].slots.elements, at(seed))
    }
  }

  @Test func `no slots have a snapshot`() throws {
    var reader = ByteReader(snapshot(Slots()))
    let none = try Slots(snapshot: &reader)
    none.checkInvariants()
    let name = ChangeID(replica: replicaID(1), number: 1)
    #expect(
      none == Slots()
        && none.placement(of: name, at: 0) == Slots.Placement(name, after: nil, before: nil))
    #expect(none.placement(of: name, at: .max) == Slots.Placement(name, after: nil, before: nil))
  }

  @Test func `damaged bytes of a snapshot are refused or are slots`() throws {
    var generator = SplitMix64(seed: 5)
    let person = try history(&generator, steps: 12, "")[0]
    let bytes = snapshot(person.slots)
    for length in bytes.indices {
      var reader = ByteReader(bytes[..<length])
      #expect(throws: DecodingFailure.self) { try Slots(snapshot: &reader) }
    }
    for bit in 0..<8 * bytes.count {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      var reader = ByteReader(damaged)
      guard var slots = try? Slots(snapshot: &reader) else { continue }
      let stamp = Stamp(change: ChangeID(replica: replicaID(9), number: 1), lamport: 1 << 20)
      for element in slots.elements {
        #expect(slots.position(of: element) != nil)
        let placement = slots.placement(of: element, at: slots.count / 2)
        _ = slots.isPlaced(placement)
      }
      slots.apply(slots.placement(of: stamp.change, at: 1), stamp)
      #expect(!snapshot(slots).isEmpty)
    }
  }

  /// Of counts that are not paid for in bytes nothing is allocated.
  @Test func `a snapshot of nothing but large numbers is refused`() {
    for number: UInt64 in [1 << 20, 1 << 31 - 1, 1 << 62, .max] {
      for field in 0..<3 {
        var writer = ByteWriter()
        writer.varint(field == 0 ? number : 1)
        writer.varint(field == 1 ? number : 1)
        writer.identifier(replicaID(1))
        writer.varint(1 as UInt64)
        writer.varint(field == 2 ? number : 1)
        var reader = ByteReader(writer.bytes)
        #expect(throws: DecodingFailure.self) { try Slots(snapshot: &reader) }
      }
    }
  }
}
