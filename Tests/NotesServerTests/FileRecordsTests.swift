import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NotesServer

/// The records of files as a machine keeps them: a kill may leave a part of the last entry, and a disk may damage any.
@Suite("What is known of files") struct FileRecordsTests {
  private typealias Entry = (path: FilePath, record: FileRecords.Record?)

  private static func change(_ random: inout SplitMix64) -> ChangeID {
    ChangeID(
      replica: ReplicaID(high: 0, low: UInt64(1 + random.below(9))),
      number: UInt64(1 + random.below(99)))
  }

  private static func entry(_ random: inout SplitMix64) -> Entry {
    let path = FilePath(random.pick(["a.md", "b/c.md", "é.txt", "e\u{301}.txt"]))
    if random.chance(25) { return (path, nil) }
    let states = (0..<1 + random.below(2)).map { _ in
      FileState(
        hash: random.next(), heads: (0..<random.below(3)).map { _ in change(&random) },
        own: (0..<random.below(2)).map { _ in change(&random) },
        title: random.pick(["", "title", "é"]),
        tags: (0..<random.below(3)).map { Tag("tag \($0)") },
        priority: random.pick([.low, .normal, .high]),
        header: (0..<random.below(3)).map { .init(key: "key \($0)", hash: random.next()) })
    }
    return (
      path,
      .init(
        note: NoteID(creation: change(&random)), states: states, folder: random.pick(["", "/é"]))
    )
  }

  /// What some entries say: of two with one path the last.
  private static func records(_ entries: some Sequence<Entry>) -> [FilePath: FileRecords.Record] {
    entries.reduce(into: [:]) { $0[$1.path] = $1.record }
  }

  @Test(arguments: seeds(10))
  func `is read up to the first entry that is damaged, wherever it is damaged`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let entries = (0..<6).map { _ in Self.entry(&random) }
    var bytes = FileRecords().encoded
    var ends = [bytes.count]
    for entry in entries {
      bytes += FileRecords.entry(entry.path, entry.record)
      ends.append(bytes.count)
    }
    let all = FileRecords(decoding: bytes)
    #expect(all.byPath == Self.records(entries))
    #expect(FileRecords(decoding: all.encoded).byPath == all.byPath)
    for count in bytes.indices {
      let whole = ends.count { $0 <= count } - 1
      let found = FileRecords(decoding: Array(bytes[..<count])).byPath
      #expect(found == Self.records(entries.prefix(max(whole, 0))), "seed \(seed), \(count) bytes")
    }
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 1 << UInt8(random.below(8))
      let before = ends.count { $0 <= place } - 1
      let found = FileRecords(decoding: damaged).byPath
      #expect(found == Self.records(entries.prefix(max(before, 0))), "seed \(seed), byte \(place)")
    }
  }
}
