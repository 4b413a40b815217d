internal import ReplicatingTypes

/// The notes of a notebook: those in use open, those that changed lately packed, which takes a small part of the memory,
/// and all others in the archive.
///
/// A note is opened before it is looked at or changed, and stays open until `tidy` closes those that were not used for
/// longest. That is called between changes and never within one, so within one everything that was opened is open.
struct NoteCache: Sendable {
  /// A note that is not, or not as it is, in the archive; or that is open.
  private struct Slot: Sendable {
    let id: NoteID
    /// Its place in the archive's index; −1 if it isn't there.
    let archived: Int
    /// Where among the open notes it is; −1 when it is none.
    var place: Int
    /// The summary and the note, when it is not open and the archive doesn't have it like that.
    var packed: [UInt8] = []
    var isTrashed: Bool
    /// The use of the note cache with which it was changed last; 0 if the archive has it as it is.
    var changed: UInt64
  }

  private struct Open: Sendable {
    var note: Note
    /// The slot it belongs to.
    var slot: Int
    /// The use it was last opened for.
    var use: UInt64
    /// Bytes of its text when that was counted last.
    var bytes: Int
  }

  private var slots = SegmentedArray<Slot>()
  /// In which slot each note is.
  private var places = NoteIndex()
  private var open: [Open] = []
  /// The slot that was used last: as a rule the one that is wanted again, found without hashing.
  private var latest = 0
  private var use: UInt64 = 0
  private var openBytes = 0
  private(set) var trashedCount = 0
  /// The bytes of all notes that were opened, and 1 KiB for each: what that takes is not seen in what is done with them.
  private(set) var unpacked = 0

  /// No more notes stay open, and no more bytes of text, but for the note used last. Fewer in tests.
  var mostOpen = 256
  var mostOpenBytes = 16 << 20

  private(set) var archive: NotebookArchive?
  /// The number of notes here that are in the archive too.
  private var archivedCount = 0

  init() {}

  init(_ archive: NotebookArchive) {
    self.archive = archive
    trashedCount = archive.trashedCount
  }

  var count: Int { slots.count - archivedCount + (archive?.count ?? 0) }
  var openCount: Int { open.count }

  /// All notes, sorted. O(notes), and what sorting those that are not in the archive takes.
  var ids: [NoteID] {
    var new: [NoteID] = []
    for slot in slots.indices where slots[slot].archived < 0 { new.append(slots[slot].id) }
    // As a rule they are, or in a few runs that are: a session's notes came one after the other.
    new.sort()
    guard let archive else { return new }
    var ids: [NoteID] = []
    ids.reserveCapacity(count)
    var next = 0
    for place in 0..<archive.count {
      let id = archive.id(at: place)
      while next < new.count, new[next] < id {
        ids.append(new[next])
        next += 1
      }
      ids.append(id)
    }
    ids += new[next...]
    return ids
  }

  /// The notes in the trash, in no order. O(notes), but for none.
  var trashed: [NoteID] {
    if trashedCount == 0 { return [] }
    var ids: [NoteID] = []
    for slot in slots.indices where slots[slot].isTrashed { ids.append(slots[slot].id) }
    guard let archive else { return ids }
    for place in 0..<archive.count where archive.isTrashed(at: place) {
      let id = archive.id(at: place)
      if places[id] == nil { ids.append(id) }
    }
    return ids
  }

  private func slot(of id: NoteID) -> Int? {
    latest < slots.count && slots[latest].id == id ? latest : places[id]
  }

  /// O(1) if it is here, else O(log notes).
  func contains(_ id: NoteID) -> Bool { slot(of: id) != nil || archive?.place(of: id) != nil }

  /// True if a note that is here, or in the archive, is in the trash.
  func isTrashed(_ id: NoteID) -> Bool {
    if let slot = slot(of: id) { return slots[slot].isTrashed }
    return archive!.isTrashed(at: archive!.place(of: id)!)
  }

  /// A note; one that is closed is opened for the moment.
  func note(_ id: NoteID) throws(ArchiveFailure) -> Note? {
    guard let slot = slot(of: id) else {
      guard let archive, let place = archive.place(of: id) else { return nil }
      return try Self.unpack(id, try archive.note(at: place), hasSummary: false)
    }
    let place = slots[slot].place
    return place >= 0 ? open[place].note : try unpack(slots[slot])
  }

  /// The summary of a note that is here. `all` are the archive's summaries, if they were read already.
  func summary(of id: NoteID, among all: [UInt8]?) throws(ArchiveFailure) -> NoteSummary {
    var packed: [UInt8] = []
    if let slot = slot(of: id), slots[slot].archived < 0 || slots[slot].changed > 0 {
      let place = slots[slot].place
      if place >= 0 { return NoteSummary(open[place].note) }
      packed = slots[slot].packed
    } else {
      guard let archive, let place = archive.place(of: id) else {
        throw ArchiveFailure(reason: "a place of a note that is not here")
      }
      packed = try archive.summary(at: place, among: all)
    }
    var reader = ByteReader(packed)
    do { return try NoteSummary(id, from: &reader) } catch { throw ArchiveFailure(error) }
  }

  /// A note that is open, in its place.
  subscript(existing id: NoteID) -> Note {
    _read { yield open[slots[slot(of: id)!].place].note }
    _modify {
      latest = slot(of: id)!
      let place = slots[latest].place
      slots[latest].changed = use
      let wasTrashed = slots[latest].isTrashed
      defer {
        let isTrashed = open[place].note.isTrashed
        if isTrashed != wasTrashed {
          slots[open[place].slot].isTrashed = isTrashed
          trashedCount += isTrashed ? 1 : -1
        }
      }
      yield &open[place].note
    }
  }

  /// Opens a note if it is here; returns whether it is. O(1) if it is open, else O(its history). When it throws, nothing has changed.
  @discardableResult
  mutating func open(_ id: NoteID) throws(ArchiveFailure) -> Bool {
    use += 1
    if let slot = slot(of: id) {
      latest = slot
      let place = slots[slot].place
      if place >= 0 {
        open[place].use = use
      } else {
        append(try unpack(slots[slot]), slot)
        unpacked += 1024 + slots[slot].packed.count
        slots[slot].packed = []
      }
      return true
    }
    guard let archive, let place = archive.place(of: id) else { return false }
    let bytes = try archive.note(at: place)
    let note = try Self.unpack(id, bytes, hasSummary: false)
    unpacked += 1024 + bytes.count
    archivedCount += 1
    append(
      note,
      insert(Slot(id: id, archived: place, place: -1, isTrashed: note.isTrashed, changed: 0)))
    return true
  }

  private mutating func insert(_ slot: Slot) -> Int {
    latest = slots.count
    places[slot.id] = latest
    slots.append(slot)
    return latest
  }

  private mutating func append(_ note: Note, _ slot: Int) {
    // While it was the only one, its bytes were not counted again.
    if open.count == 1 { countBytes(at: 0) }
    slots[slot].place = open.count
    let bytes = note.text.count
    openBytes += bytes
    open.append(Open(note: note, slot: slot, use: use, bytes: bytes))
  }

  /// Puts in a note that is not here yet, open.
  mutating func insert(_ note: Note) {
    use += 1
    if note.isTrashed { trashedCount += 1 }
    append(
      note,
      insert(Slot(id: note.id, archived: -1, place: -1, isTrashed: note.isTrashed, changed: use)))
  }

  /// Leaves nothing of a note, which is open, but that it was here.
  mutating func purge(_ id: NoteID) { self[existing: id] = Note(purged: id) }

  /// Takes back the note that was inserted last, with nothing opened since.
  mutating func removeLast() {
    let last = open.removeLast()
    precondition(last.slot == slots.count - 1, "another note was opened since")
    openBytes -= last.bytes
    if slots[last.slot].isTrashed { trashedCount -= 1 }
    places[slots.removeLast().id] = nil
  }

  /// Finds out whether `tidy` will pack notes. O(1).
  mutating func isFull() -> Bool {
    if open.count < 2 { return false }
    if latest < slots.count, slots[latest].place >= 0 { countBytes(at: slots[latest].place) }
    return open.count > mostOpen || openBytes > mostOpenBytes
  }

  /// Counts the bytes of an open note again.
  private mutating func countBytes(at place: Int) {
    let bytes = open[place].note.text.count
    openBytes += bytes - open[place].bytes
    open[place].bytes = bytes
  }

  /// Packs the notes that were not used for longest, if too many are open, or too much of text. O(1) if not.
  mutating func tidy() {
    guard isFull() else { return }
    // Down to three quarters, so that the next ones needn't do it again.
    var rest = open.count
    var closed: [Int] = []
    for place in open.indices.sorted(by: { open[$0].use < open[$1].use }) {
      guard rest > 1, rest > mostOpen / 4 * 3 || openBytes > mostOpenBytes / 4 * 3 else { break }
      rest -= 1
      openBytes -= open[place].bytes
      closed.append(place)
    }
    for place in closed.sorted(by: >) { close(place) }
  }

  /// Closes an open note; the last of them takes its place.
  private mutating func close(_ place: Int) {
    let slot = open[place].slot
    if slots[slot].changed > 0 { slots[slot].packed = Self.pack(open[place].note) }
    slots[slot].place = -1
    open.swapAt(place, open.count - 1)
    open.removeLast()
    if place < open.count { slots[open[place].slot].place = place }
  }

  private static func pack(_ note: borrowing Note) -> [UInt8] {
    var writer = ByteWriter()
    NoteSummary(note).encode(into: &writer)
    note.encode(into: &writer)
    return writer.bytes
  }

  private func unpack(_ slot: Slot) throws(ArchiveFailure) -> Note {
    if slot.changed > 0 { return try Self.unpack(slot.id, slot.packed, hasSummary: true) }
    return try Self.unpack(slot.id, try archive!.note(at: slot.archived), hasSummary: false)
  }

  private static func unpack(
    _ id: NoteID, _ bytes: [UInt8], hasSummary: Bool
  ) throws(ArchiveFailure) -> Note {
    var reader = ByteReader(bytes)
    do {
      if hasSummary { _ = try NoteSummary(id, from: &reader) }
      return try RuleGuard.applying(to: id) { () throws(DecodingFailure) in
        try Note(id, from: &reader)
      }
    } catch { throw ArchiveFailure(error) }
  }

  // MARK: - Looking through all notes

  /// A note that is not only in the archive, for who looks through all of them.
  enum Content {
    case open(Note)
    /// As `Note` encodes itself, perhaps behind its summary.
    case encoded(ArraySlice<UInt8>, hasSummary: Bool)
  }

  /// What a note that is here holds.
  func content(of id: NoteID) throws(ArchiveFailure) -> Content {
    if let slot = slot(of: id) {
      if slots[slot].place >= 0 { return .open(open[slots[slot].place].note) }
      if slots[slot].changed > 0 { return .encoded(slots[slot].packed[...], hasSummary: true) }
    }
    return .encoded(try archive!.note(at: archive!.place(of: id)!)[...], hasSummary: false)
  }

  /// Calls `body` with each note that has one title, in UTF-8, in no order. O(notes / 8).
  func forEachNote(
    titled title: [UInt8], _ body: (NoteID) throws(ArchiveFailure) -> Void
  ) throws(ArchiveFailure) {
    for slot in slots where slot.archived < 0 || slot.changed > 0 {
      if try self.title(of: slot) == title { try body(slot.id) }
    }
    guard let archive else { return }
    var places: [Int] = []
    try archive.forEachPlace(mayHave: [Feature(title: title)]) { places.append($0) }
    for place in places where try archive.title(at: place) == title[...] {
      let id = archive.id(at: place)
      if !hasChanged(id) { try body(id) }
    }
  }

  /// Calls `body` with each note whose title, in UTF-8, is wanted, in no order, until it returns false. O(bytes of all titles).
  func forEachNote(
    withTitle isWanted: (Span<UInt8>) -> Bool, _ body: (NoteID) throws(ArchiveFailure) -> Bool
  ) throws(ArchiveFailure) {
    var replaced: [Int] = []
    for slot in slots where slot.archived < 0 || slot.changed > 0 {
      if slot.archived >= 0 { replaced.append(slot.archived) }
      let title = try title(of: slot)
      if isWanted(title.span) { guard try body(slot.id) else { return } }
    }
    guard let archive else { return }
    // Of those the archive has another title.
    var skipped = replaced.sorted()[...]
    try archive.forEachTitle { place, title throws(ArchiveFailure) in
      if skipped.first == place {
        skipped.removeFirst()
        return true
      }
      return isWanted(title) ? try body(archive.id(at: place)) : true
    }
  }

  /// The title, in UTF-8, of a note that the archive does not have as it is.
  private func title(of slot: Slot) throws(ArchiveFailure) -> [UInt8] {
    if slot.place >= 0 { return Array(open[slot.place].note.title.value.utf8) }
    var reader = ByteReader(slot.packed)
    do { return Array(try reader.counted()) } catch { throw ArchiveFailure(error) }
  }

  /// The notes of the archive that have all of some tags, and a few others; nil if there is no archive. A note that is not as it is there counts as one of
  /// them. O(notes).
  func candidates(tagged tags: [Tag]) throws(ArchiveFailure) -> Candidates? {
    guard let archive else { return nil }
    var candidates = Candidates(of: archive.count, all: true)
    var folded = FoldedText()
    // Of the same tag in other characters one is an unusual one, or they are folded to the same. So of an unusual one nothing is known.
    for tag in tags where Feature.isUsual(tag.name) {
      folded.fold(Array(tag.name.utf8)[...])
      var tagged = Candidates(of: archive.count, all: false)
      for feature in [Feature(tagFolded: folded.utf8), .unusualTag] {
        try archive.forEachPlace(mayHave: [feature]) { tagged.insert($0) }
      }
      candidates.formIntersection(tagged)
    }
    insertChanged(into: &candidates)
    return candidates
  }

  /// The notes of the archive that have all of some features, and a few others. A note that is not as it is there counts as one of them. O(notes).
  func candidates(
    with features: [Feature], in archive: NotebookArchive
  ) throws(ArchiveFailure) -> Candidates {
    if features.isEmpty { return Candidates(of: archive.count, all: true) }
    var candidates = Candidates(of: archive.count, all: false)
    try archive.forEachPlace(mayHave: features) { candidates.insert($0) }
    insertChanged(into: &candidates)
    return candidates
  }

  private func insertChanged(into candidates: inout Candidates) {
    for slot in slots where slot.archived >= 0 && slot.changed > 0 {
      candidates.insert(slot.archived)
    }
  }

  /// The candidates and the notes that are not in the archive, in no order; nil if they are more than `limit`, which is found out at once. O(notes).
  func ids(among candidates: Candidates, atMost limit: Int) -> [NoteID]? {
    guard let archive, candidates.count + slots.count - archivedCount <= limit else { return nil }
    return slots.lazy.filter { $0.archived < 0 }.map(\.id)
      + candidates.places.map { archive.id(at: $0) }
  }

  /// The notes that may have one of some features: those of the archive that do, and a few others, and all that are not, or not as they are, in the archive.
  /// In no order. O(notes / 8 × features).
  func ids(mayHaveOneOf features: [Feature]) throws(ArchiveFailure) -> Set<NoteID> {
    var ids: Set<NoteID> = []
    for slot in slots where slot.archived < 0 || slot.changed > 0 { ids.insert(slot.id) }
    guard let archive else { return ids }
    for feature in features {
      try archive.forEachPlace(mayHave: [feature]) { ids.insert(archive.id(at: $0)) }
    }
    return ids
  }

  /// The notes whose ids have this number, in no order.
  func ids(numbered number: UInt64) -> [NoteID] {
    var ids: [NoteID] = []
    for slot in slots where slot.archived < 0 && slot.id.creation.number == number {
      ids.append(slot.id)
    }
    guard let archive else { return ids }
    for place in 0..<archive.count where archive.number(at: place) == number {
      ids.append(archive.id(at: place))
    }
    return ids
  }

  /// The slot of a note; nil if only the archive has it. Nothing is hashed if it is beside `near`, as those are that one session has made one after the other.
  func slot(of id: NoteID, near: Int) -> Int? {
    if near > 0, near <= slots.count, slots[near - 1].id == id { return near - 1 }
    if near >= -1, near + 1 < slots.count, slots[near + 1].id == id { return near + 1 }
    return slot(of: id)
  }

  /// True if the note of a slot is to be looked for in the archive.
  func isAsArchived(inSlot slot: Int) -> Bool {
    slots[slot].place < 0 && slots[slot].changed == 0
  }

  func isTrashed(inSlot slot: Int) -> Bool { slots[slot].isTrashed }

  /// The note of a slot if it is open.
  func openNote(inSlot slot: Int) -> Note? {
    let place = slots[slot].place
    return place >= 0 ? open[place].note : nil
  }

  /// The summary and the note of a slot that is neither open nor in the archive as it is.
  func packed(inSlot slot: Int) -> [UInt8] { slots[slot].packed }

  // MARK: - Putting away

  /// A moment: what changed before it can be told from what changes after it.
  mutating func mark() -> UInt64 {
    defer { use += 1 }
    return use
  }

  /// True if a note is not as it is in the archive, which has one of its name.
  func hasChanged(_ id: NoteID) -> Bool { slot(of: id).map { slots[$0].changed > 0 } ?? false }

  /// A note as an archive keeps it: its summary and itself.
  func bytes(
    of id: NoteID, among all: [UInt8]?
  ) throws(ArchiveFailure) -> (summary: [UInt8], note: [UInt8]) {
    guard let slot = slot(of: id), slots[slot].changed > 0 else {
      let place = archive!.place(of: id)!
      return (try archive!.summary(at: place, among: all), try archive!.note(at: place))
    }
    let place = slots[slot].place
    let packed = place >= 0 ? Self.pack(open[place].note) : slots[slot].packed
    var reader = ByteReader(packed)
    do { _ = try NoteSummary(id, from: &reader) } catch { throw ArchiveFailure(error) }
    return (Array(packed[..<reader.offset]), Array(packed[reader.offset...]))
  }

  /// Lets go of what an archive has that was made of the note cache when it was marked.
  mutating func adopt(_ archive: NotebookArchive, markedAt time: UInt64) {
    var kept = SegmentedArray<Slot>()
    places = NoteIndex()
    archivedCount = 0
    latest = 0
    self.archive = archive
    for index in slots.indices where slots[index].place >= 0 || slots[index].changed > time {
      let slot = slots[index]
      let place = archive.place(of: slot.id) ?? -1
      if place >= 0 { archivedCount += 1 }
      if slot.place >= 0 { open[slot.place].slot = kept.count }
      places[slot.id] = kept.count
      kept.append(
        Slot(
          id: slot.id, archived: place, place: slot.place, packed: slot.packed,
          isTrashed: slot.isTrashed, changed: slot.changed > time ? slot.changed : 0))
    }
    slots = kept
  }
}

extension NoteCache: Equatable {
  /// The same notes, open or not, in whichever order they came. Notes that can't be read are not equal.
  static func == (a: Self, b: Self) -> Bool {
    a.count == b.count
      && a.ids.allSatisfy { id in
        guard let one = try? a.note(id), let other = try? b.note(id) else { return false }
        return one == other
      }
  }
}

/// The notes of an archive that a search may have to show: all that it looks for, and others.
struct Candidates: Sendable {
  /// Of each note, by its place in the archive's index, whether it is one.
  private var isOne: [Bool]
  /// The number of candidates.
  private(set) var count: Int

  /// All notes of an archive, whose number is `notes`, or none of them.
  init(of notes: Int, all isAll: Bool) {
    isOne = [Bool](repeating: isAll, count: notes)
    count = isAll ? notes : 0
  }

  /// The number of notes among which they are.
  var total: Int { isOne.count }

  subscript(place: Int) -> Bool { isOne[place] }

  mutating func insert(_ place: Int) {
    if !isOne[place] { count += 1 }
    isOne[place] = true
  }

  /// Leaves those that are candidates of others, too. O(notes).
  mutating func formIntersection(_ other: Candidates) {
    for place in isOne.indices where isOne[place] && !other[place] {
      isOne[place] = false
      count -= 1
    }
  }

  /// Their places, in order. O(notes).
  var places: [Int] { isOne.indices.filter { isOne[$0] } }
}
