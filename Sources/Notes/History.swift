internal import Bytes
internal import ReplicatingTypes

/// The changes of one replica, as it encoded them, one after the other: all of them, or those that are not in the archive.
///
/// A change is encoded once, by its author. From then on it is copied, into logs, to peers and here, so equal histories
/// are equal bytes.
struct History: Identifiable, Sendable {
  let id: ReplicaID
  /// The session in the archive: changes up to `archived`.
  let session: NotebookArchive.Session?
  private(set) var bytes: [UInt8] = []
  /// Where each change ends in `bytes`.
  private var ends: [Int] = []
  /// The last tick of logical time that each change takes.
  private var lamports: [UInt64] = []
  /// The changes here that follow others than their author's previous one, or were made on a base; and some that the archive has.
  private(set) var links = LinkRuns()
  private(set) var mentions: ReplicaTable
  private(set) var lastTime: Int64
  /// The times of those changes here whose numbers are multiples of `timeInterval`.
  private var times: [Int64] = []
  private static let timeInterval: UInt64 = 256
  /// The authors that changes here name, in order.
  private var ownAuthors = AuthorRuns()

  init(id: ReplicaID, session: NotebookArchive.Session? = nil) {
    self.id = id
    self.session = session
    mentions = session?.mentions ?? ReplicaTable()
    lastTime = session?.time ?? 0
  }

  /// The number of the last change that only the archive has.
  var archived: UInt64 { session?.count ?? 0 }

  /// The number of the last change.
  var count: UInt64 { archived + UInt64(ends.count) }

  /// The author of the last change.
  var lastAuthor: Author? { ownAuthors.last ?? session?.authors.last }

  /// The author of a change. O(log authors).
  func author(of number: UInt64) -> Author? {
    ownAuthors.author(of: number) ?? session?.authors.author(of: number)
  }

  /// The authors of all changes. O(authors).
  var authors: AuthorRuns {
    guard let session else { return ownAuthors }
    return session.authors.appending(ownAuthors)
  }

  /// The bytes of a change that is here. They may tell of purged notes until they are redacted: `NoteBook.forEachEncoded` reads them without
  /// that.
  func change(_ number: UInt64) -> ArraySlice<UInt8> {
    let index = Int(number - archived) - 1
    return bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
  }

  /// The link of a change that is here, if it has one.
  func link(of number: UInt64) -> HistoryLink? {
    links.run(upTo: number)?.links.link(of: number)
  }

  /// The last tick of a change; `nil` if only the archive knows.
  func lamport(_ number: UInt64) -> UInt64? {
    if number > archived { return lamports[Int(number - archived) - 1] }
    return number == archived ? session?.lamport ?? 0 : number == 0 ? 0 : nil
  }

  /// Changes that are here, up to one of them, and the time of the change before them: no more than 256.
  func stretch(upTo number: UInt64) -> (numbers: ClosedRange<UInt64>, timeBefore: Int64) {
    let before = (number - 1) / Self.timeInterval
    guard before * Self.timeInterval > archived else {
      return (archived + 1...number, session?.time ?? 0)
    }
    let place = Int(before - archived / Self.timeInterval) - 1
    return (before * Self.timeInterval + 1...number, times[place])
  }

  /// The number of the last change here whose last tick comes before one of any replica; nil if it comes before none here. O(log changes).
  func number(before time: LamportTimestamp) -> UInt64? {
    var (low, high) = (0, lamports.count)
    while low < high {
      let middle = (low + high) / 2
      if LamportTimestamp(count: lamports[middle], replica: id) < time {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low > 0 ? archived + UInt64(low) : nil
  }

  /// - Parameter past: the change and everything it follows; asked for now and then.
  mutating func append(
    _ change: Change, encoded: ArraySlice<UInt8>, lamport: UInt64, mentions: ReplicaTable,
    knowing past: @autoclosure () -> Version
  ) {
    bytes.append(contentsOf: encoded)
    ends.append(bytes.count)
    lamports.append(lamport)
    let bases = change.bases
    if !change.predecessors.isEmpty || !bases.isEmpty {
      links.append(
        HistoryLink(number: change.id.number, predecessors: change.predecessors, bases: bases),
        knowing: past())
    }
    self.mentions = mentions
    lastTime = change.time
    if change.id.number.isMultiple(of: Self.timeInterval) { times.append(lastTime) }
    if let author = change.author { ownAuthors.append(author, from: change.id.number) }
  }

  /// Leaves nothing of what changes here did to notes that were purged. O(changes here).
  mutating func redact(_ purged: Set<NoteID>) {
    var redactor = Redactor(purged, author: id, mentions: mentions)
    var redacted: (bytes: [UInt8], ends: [Int])?
    for index in ends.indices {
      let encoded = bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]]
      // What was applied can be read.
      let rest = try? redactor.redacted(encoded)
      if rest != nil, redacted == nil {
        redacted = (Array(bytes[..<encoded.startIndex]), Array(ends[..<index]))
      }
      guard redacted != nil else { continue }
      if let rest { redacted!.bytes += rest } else { redacted!.bytes += encoded }
      redacted!.ends.append(redacted!.bytes.count)
    }
    guard let redacted else { return }
    (bytes, ends) = redacted
    links.redact(purged)
  }

  /// The same without what an archive has that was made of this one, or of it as it was before.
  func adopting(_ session: NotebookArchive.Session) -> History {
    var rest = History(id: id, session: session)
    let known = Int(session.count - archived)
    let start = known == 0 ? 0 : ends[known - 1]
    rest.bytes = Array(bytes[start...])
    rest.ends = ends[known...].map { $0 - start }
    rest.lamports = Array(lamports[known...])
    rest.links = links.after(session.count)
    rest.mentions = mentions
    rest.lastTime = lastTime
    let interval = Self.timeInterval
    rest.times = Array(times[Int(session.count / interval - archived / interval)...])
    rest.ownAuthors = ownAuthors.after(session.count)
    return rest
  }
}

// Digests of histories, by which two notebooks find out whether they know the same changes under the same names.
//
// A name says who made a change, not what it is. Two processes that go on as one (a machine that was resumed twice, a container's
// checkpoint, a forgery) give the same names to different changes, and every comparison of versions calls them known.
//
// The digest of a replica's first n changes is the first 8 bytes of SHA-256 of the digest before the last of them and the hash of that
// change (ContentAddressedChange.swift), 8 bytes each, big-endian; before the first change it is 0. So what is redacted changes no digest. The digest of a version is the same of
// each replica in order, 16 bytes, with its number and the digest up to there, 8 bytes each, big-endian.
//
// They are made when they are asked for, not with each change, and the archive keeps those of its last changes. 64 bits are enough
// against accidents. An attacker may find two histories of a session of its own with one digest by 2^32 tries; a second history of another session
// takes 2^64.

/// The digest of the first changes of a replica.
struct HistoryDigest: Sendable {
  /// The number of these changes.
  private(set) var number: UInt64 = 0
  private(set) var value: UInt64 = 0

  /// Of no changes.
  init() {}

  init(number: UInt64, value: UInt64) {
    self.number = number
    self.value = value
  }

  /// Adds the next change. `buffer` is memory for the bytes that are hashed.
  mutating func append(_ encoded: ArraySlice<UInt8>, _ buffer: inout [UInt8]) {
    buffer.removeAll(keepingCapacity: true)
    buffer.appendBigEndian(value)
    buffer.appendBigEndian(ChangeHash.hash(of: encoded))
    number += 1
    value = SHA256.prefix64(of: buffer[...])
  }
}

extension [UInt8] {
  mutating func appendBigEndian(_ word: UInt64) {
    Swift.withUnsafeBytes(of: word.bigEndian) { append(contentsOf: $0) }
  }
}

/// The replicas that an author has named in its changes, in that order.
struct ReplicaTable: Equatable, Sendable {
  private(set) var replicas: [ReplicaID] = []
  /// The index of each, as soon as they are many: comparing a few takes less time than hashing.
  private var places: [ReplicaID: Int] = [:]

  func place(of replica: ReplicaID) -> Int? {
    places.isEmpty ? replicas.firstIndex(of: replica) : places[replica]
  }

  mutating func append(_ replica: ReplicaID) {
    replicas.append(replica)
    if replicas.count > 16 {
      places[replica] = replicas.count - 1
    } else if replicas.count == 16 {
      for (place, replica) in replicas.enumerated() { places[replica] = place }
    }
  }

  /// Forgets those that were named last, down to `count` of them.
  mutating func removeLast(downTo count: Int) {
    while replicas.count > count { places[replicas.removeLast()] = nil }
    if count < 16 { places = [:] }
  }
}

/// An array that never moves what it has: for what grows to a million while a client waits.
///
/// Growing moves the elements of one segment at most. So an append is O(1), not only on average; and in a copy a change copies one segment.
struct SegmentedArray<Element>: RandomAccessCollection {
  /// Elements of a segment, a power of two.
  private static var segment: Int { 1024 }

  /// All but the last are full; the last isn't empty.
  private var segments: [[Element]] = []
  private(set) var count = 0

  var startIndex: Int { 0 }
  var endIndex: Int { count }

  subscript(index: Int) -> Element {
    _read { yield segments[index / Self.segment][index % Self.segment] }
    _modify { yield &segments[index / Self.segment][index % Self.segment] }
  }

  mutating func append(_ element: Element) {
    if count % Self.segment == 0 { segments.append([]) }
    segments[count / Self.segment].append(element)
    count += 1
  }

  mutating func removeLast() -> Element {
    count -= 1
    if count % Self.segment == 0 { return segments.removeLast()[0] }
    return segments[count / Self.segment].removeLast()
  }
}

extension SegmentedArray: Sendable where Element: Sendable {}
