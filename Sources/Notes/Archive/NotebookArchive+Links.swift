internal import Bytes
internal import ReplicatingTypes

// The links of changes in an archive, run by run.

/// What a change follows, and it itself, as an archive has it: of each session whose last tick comes before a time all of its changes, of all
/// others none; but for some exceptions. Most sessions were over when the change was made, or began after it, so it is short.
struct ArchivedPast: Sendable {
  /// One with more exceptions is left out.
  static let mostExceptions = 64

  let time: UInt64
  /// The last changes of other sessions; 0 for none.
  var exceptions: [ChangeID]
}

extension NotebookArchive {
  /// A run of links as an archive has it.
  struct Run {
    let first: UInt64
    let past: ArchivedPast?
    let links: [HistoryLink]
  }

  /// The last run of a session that begins with a change up to one of them. O(log runs).
  func run(of session: Session, upTo number: UInt64) throws(ArchiveFailure) -> LinkRun? {
    var (low, high) = (0, runCount(of: session))
    while low < high {
      let middle = (low + high) / 2
      if try runEntry(middle, of: session).first <= number {
        low = middle + 1
      } else {
        high = middle
      }
    }
    if low == 0 { return nil }
    let run = try run(low - 1, of: session)
    return LinkRun(first: run.first, past: run.past.map { version(of: $0) }, links: run.links)
  }

  /// All links of a session, in order.
  func links(of session: Session) throws(ArchiveFailure) -> [HistoryLink] {
    var links: [HistoryLink] = []
    for place in 0..<runCount(of: session) { links += try run(place, of: session).links }
    return links
  }

  func runCount(of session: Session) -> Int { session.runs.size / Self.runEntrySize }

  private func runEntry(
    _ place: Int, of session: Session
  ) throws(ArchiveFailure) -> (first: UInt64, block: Container.Block) {
    let start = session.runs.start + place * Self.runEntrySize
    let entry = try read(
      Container.Block(start: start, size: Self.runEntrySize - Container.prefixSize))
    let first = entry.integer(at: 0, UInt64.self)
    let (block, size) = (entry.integer(at: 8, UInt64.self), entry.integer(at: 16, UInt32.self))
    guard first > 0, block < 1 << 48 else { throw ArchiveFailure(reason: "a run that is nowhere") }
    return (first, Container.Block(start: Int(block), size: Int(size)))
  }

  /// One of the runs of a session.
  func run(_ place: Int, of session: Session) throws(ArchiveFailure) -> Run {
    let (first, block) = try runEntry(place, of: session)
    var reader = ByteReader(try read(block))
    do {
      var past: ArchivedPast?
      if try reader.count() > 0 {
        let time = try reader.number()
        let exceptions = try reader.changes(of: sessions)
        guard exceptions.allSatisfy({ $0.number <= version[$0.replica] }) else {
          throw reader.failure("a past of changes that are not here")
        }
        past = ArchivedPast(time: time, exceptions: exceptions)
      }
      var links: [HistoryLink] = []
      var number: UInt64 = 0
      while !reader.isAtEnd {
        let step = try reader.number()
        guard step > 0, step <= session.count - number else {
          throw reader.failure("a link of no change")
        }
        number += step
        let predecessors = try reader.changes(of: sessions)
        var bases: [(note: NoteID, base: TextBase)] = []
        for _ in 0..<(try reader.count()) {
          let note = NoteID(creation: try reader.change(of: sessions))
          let previous = try reader.varint()
          let heads = try reader.changes(of: sessions)
          bases.append((note, TextBase(heads: heads, previous: previous)))
        }
        links.append(HistoryLink(number: number, predecessors: predecessors, bases: bases))
      }
      return Run(first: first, past: past, links: links)
    } catch { throw ArchiveFailure(error) }
  }

  /// The changes in a past. O(sessions).
  private func version(of past: ArchivedPast) -> Version {
    var version = self.version
    for place in sessions.indices where lasts[place] >= past.time { version[sessions[place]] = 0 }
    for change in past.exceptions { version[change.replica] = change.number }
    return version
  }
}
