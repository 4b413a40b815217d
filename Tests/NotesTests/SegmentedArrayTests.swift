import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite struct `What grows in small steps` {
  @Test func `is an array, at the ends of segments, too`() {
    for seed in seeds(8) {
      var random = SplitMix64(seed: seed)
      var (ours, plain) = (SegmentedArray<Int>(), [Int]())
      for _ in 0..<6000 {
        // Around multiples of a segment's length it goes back and forth.
        let isGrowing = plain.count % 1024 > 4 || Bool.random(using: &random)
        if plain.isEmpty || isGrowing && plain.count % 1024 < 1020
          || Bool.random(using: &random)
        {
          plain.append(Int.random(in: 0..<1000, using: &random))
          ours.append(plain.last!)
        } else {
          #expect(ours.removeLast() == plain.removeLast())
        }
        guard let index = plain.indices.randomElement(using: &random) else { continue }
        ours[index] += 1
        plain[index] += 1
      }
      #expect(plain.count > 1024, "\(seed)")
      #expect(ours.count == plain.count)
      #expect(ours.indices.map { ours[$0] } == plain)
      while !plain.isEmpty { #expect(ours.removeLast() == plain.removeLast()) }
      #expect(ours.indices.isEmpty)
    }
  }

  @Test func `is another value in a copy`() {
    var one = SegmentedArray<Int>()
    for number in 0..<3000 { one.append(number) }
    var other = one
    other[2000] = -1
    #expect(other.removeLast() == 2999)
    #expect(one.count == 3000 && one[2000] == 2000 && other[2000] == -1)
  }

  @Test func `is a dictionary of notes`() {
    for seed in seeds(4) {
      var random = SplitMix64(seed: seed)
      var (ours, plain) = (NoteIndex(), [NoteID: Int]())
      let replicas = (0..<3).map { _ in
        ReplicaID(high: random.next(), low: random.next())
      }
      for place in 0..<4000 {
        let id = NoteID(
          creation: ChangeID(
            replica: replicas.randomElement(using: &random)!,
            number: UInt64.random(in: 1...2000, using: &random)))
        #expect(ours[id] == plain[id])
        let value = Bool.random(using: &random) ? place : nil
        ours[id] = value
        plain[id] = value
      }
      for (id, place) in plain { #expect(ours[id] == place) }
    }
  }

  /// The work of growing is divided: no part of it may have all notes, and not all of them may be full at once.
  @Test func `divides the notes of one author, and of many, among its parts`() {
    for isOne in [true, false] {
      var parts: [Int: Int] = [:]
      for number in UInt64(1)...100_000 {
        let replica = ReplicaID(
          high: isOne ? 7 : number &* 0x9E37_79B9_7F4A_7C15, low: isOne ? 9 : number)
        let id = NoteID(creation: ChangeID(replica: replica, number: isOne ? number : 1))
        parts[NoteIndex.part(of: id), default: 0] += 1
      }
      #expect(parts.count == 256)
      // 391 on average; by chance, they differ by some tens.
      #expect(parts.values.max()! < 500 && parts.values.min()! > 290)
      #expect(parts.values.max()! - parts.values.min()! > 40)
    }
  }
}
