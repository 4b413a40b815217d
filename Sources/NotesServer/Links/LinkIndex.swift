internal import NoteFiles
internal import Notes

/// Which notes there are under which names, and which of them link to which names.
///
/// It is derived from the notes. In the beginning all notes are unread; a change makes its notes unread again, in their names or in their texts, and
/// costs nothing more. Whoever asks for all names or links reads what is unread first, and whoever asks for a few reads of the unread notes those that an
/// archive says may have them (`NotesServer+LinkIndex.swift`).
///
/// Names are looked up by hashes, and compared then: two names with one hash cost time and change nothing. Of a note in the trash, and of one that was
/// forgotten, it knows nothing.
struct LinkIndex {
  /// What is read of a note.
  enum Part { case names, all }

  private struct Slot {
    let id: NoteID
    /// Nil where there is nothing to know.
    var names: NoteNames?
    var tags: [Tag] = []
    /// The keys of the names that it links to, sorted, each once.
    var targets: [UInt64] = []
  }

  private var slots: [Slot] = []
  private var places: [NoteID: Int32] = [:]
  /// By the key of a name, the slots of the notes that may have it, sorted.
  private var named: [UInt64: [Int32]] = [:]
  /// By the key of a name, the slots of the notes that may link to it, sorted.
  private var linking: [UInt64: [Int32]] = [:]
  private(set) var tags = TagCounts()

  /// The notes that were not read when all began to be read, some of which may have been since; nil before that, for all notes that have no slot.
  private var unread: [NoteID]?
  /// Those whose names, and those whose texts, have changed since they were read.
  private var renamed: Set<NoteID> = []
  private var edited: Set<NoteID> = []
  private var latestEdited: NoteID?

  /// With more than so many changed notes, they are read while there is nothing else to do: fewer wait until somebody asks, since a note that is
  /// typed in changes again at once.
  private static let many = 64

  // MARK: - What is unread

  /// Notes that notes have changed. O(effects).
  mutating func note(_ effects: Effects) {
    effects.forEachChange { note, facets in
      if facets == .text, note == latestEdited { return }
      if !facets.isDisjoint(with: [.created, .text, .trashed, .purged, .path, .header]) {
        edited.insert(note)
        latestEdited = note
      }
      if !facets.isDisjoint(with: [.created, .title, .tags, .trashed, .path, .header, .purged]) {
        renamed.insert(note)
      }
    }
  }

  /// True if notes were never read.
  var hasUnread: Bool { unread?.isEmpty != true }

  /// True if so much is unread that it is not left to who asks.
  var isBehind: Bool { hasUnread || renamed.count + edited.count > Self.many }

  /// Begins to read all notes, which are these, unless it has begun.
  mutating func begin(_ notes: @autoclosure () -> [NoteID]) {
    if unread == nil { unread = notes().reversed() }
  }

  /// True if a note was read, and is not in the trash.
  func hasRead(_ note: NoteID) -> Bool { places[note] != nil }

  /// The next note that is to be read, with its text or without it; nil if there is none. It counts as read from now on.
  mutating func takeUnread(_ part: Part) -> (note: NoteID, hasText: Bool)? {
    if let note = unread?.popLast() { return (note, true) }
    return takeChanged(part)
  }

  /// The next note that was changed since it was read, as `takeUnread`.
  mutating func takeChanged(_ part: Part) -> (note: NoteID, hasText: Bool)? {
    if part == .all, let note = edited.popFirst() {
      if note == latestEdited { latestEdited = nil }
      renamed.remove(note)
      return (note, true)
    }
    return renamed.popFirst().map { ($0, false) }
  }

  /// Notes that a note could not be read.
  mutating func putBack(_ note: NoteID) {
    renamed.insert(note)
    edited.insert(note)
  }

  // MARK: - Reading

  /// Takes what a note says; nil if it is not there, or in the trash. O(length of its names and its text × log links).
  mutating func take(_ content: NoteContent?, of note: NoteID, withText hasText: Bool) {
    let place: Int32
    if let known = places[note] {
      place = known
    } else {
      guard content != nil else { return }
      place = Int32(slots.count)
      places[note] = place
      slots.append(Slot(id: note))
    }
    let slot = slots[Int(place)]
    let names = content.map { NoteNames($0) }
    if names != slot.names {
      let (old, new) = (slot.names?.keys ?? [], names?.keys ?? [])
      for key in old where !new.contains(key) { named.remove(place, of: key) }
      for key in new where !old.contains(key) { named.insert(place, of: key) }
      slots[Int(place)].names = names
    }
    let tags = content?.tags ?? []
    if tags != slot.tags {
      self.tags.remove(slot.tags)
      self.tags.insert(tags)
      slots[Int(place)].tags = tags
    }
    guard hasText || content == nil else { return }
    let targets = content.map { Self.targets(of: $0) } ?? []
    if targets == slot.targets { return }
    let (old, new) = (Set(slot.targets), Set(targets))
    for key in old.subtracting(new) { linking.remove(place, of: key) }
    for key in new.subtracting(old) { linking.insert(place, of: key) }
    slots[Int(place)].targets = targets
  }

  /// The keys of the names that a note links to in its text and its header, sorted, each once. O(their length).
  static func targets(of content: NoteContent) -> [UInt64] {
    let links =
      NoteLink.all(in: content.utf8) + FileHeader.links(in: content.header).map(\.link)
    if links.isEmpty { return [] }
    return Set(links.compactMap { LinkName($0.target, at: content.path)?.key }).sorted()
  }

  // MARK: - Looking up

  /// What a name stands for.
  enum Meaning: Equatable {
    case nothing
    case note(NoteID)
    /// Several, in the order of their ids: nobody guesses.
    case several([NoteID])

    /// The notes that may be meant.
    var notes: [NoteID] {
      switch self {
      case .nothing: []
      case .note(let note): [note]
      case .several(let notes): notes
      }
    }
  }

  /// The meaning of a name that is no id: the notes that have it as path, title or alias. O(notes with this key).
  func meaning(of name: LinkName) -> Meaning {
    var found = (named[name.key] ?? []).map { slots[Int($0)] }
      .filter { $0.names?.have(name) == true }
    if found.count > 1, let exact = found.first(where: { name.isWritten(as: $0.names!.path) }) {
      found = [exact]
    }
    let notes = found.map(\.id)
    switch notes.count {
    case 0: return .nothing
    case 1: return .note(notes[0])
    default: return .several(notes.sorted())
    }
  }

  /// The notes whose files a name leads to, for programs that know no titles. O(notes with this key).
  func files(named name: LinkName) -> [NoteID] {
    (named[name.key] ?? []).map { slots[Int($0)] }
      .filter { $0.names.map { NoteNames(title: "", path: $0.path).have(name) } == true }.map(\.id)
  }

  /// The notes that may link to one of some names, in the order of their ids: all that do, and perhaps others. O(them × log them).
  func notes(linkingTo keys: some Sequence<UInt64>) -> [NoteID] {
    Set(keys.flatMap { linking[$0] ?? [] }).map { slots[Int($0)].id }.sorted()
  }

  /// Visits all titles and aliases that are not empty, each with its note. O(notes).
  func forEachLabel(_ body: (String, NoteID) -> Void) {
    for slot in slots {
      guard let names = slot.names else { continue }
      if !names.title.isEmpty { body(names.title, slot.id) }
      for alias in names.aliases { body(alias, slot.id) }
    }
  }
}

extension LinkIndex: Equatable {
  /// What they say is the same, in whichever order the notes were read. Both have read everything. For tests.
  static func == (a: Self, b: Self) -> Bool { a.rows == b.rows && a.tags == b.tags }

  private struct Row: Equatable {
    var id: NoteID
    var names: NoteNames?
    var targets: [UInt64]
    /// Under which keys the note is looked up.
    var isFound: Bool
  }

  private var rows: [Row] {
    slots.indices.filter { slots[$0].names != nil }.map { index in
      let (slot, place) = (slots[index], Int32(index))
      let keys = slot.names!.keys
      let isFound =
        keys.allSatisfy { named[$0]?.contains(place) == true }
        && slot.targets.allSatisfy { linking[$0]?.contains(place) == true }
      return Row(id: slot.id, names: slot.names, targets: slot.targets, isFound: isFound)
    }.sorted { $0.id < $1.id }
  }

  /// The numbers of entries by which notes are looked up, and links. For tests.
  var sizes: [Int] { [named, linking].map { $0.values.reduce(0) { $0 + $1.count } } }
}

extension [UInt64: [Int32]] {
  /// O(slots of the key).
  fileprivate mutating func insert(_ place: Int32, of key: UInt64) {
    // Taken out, so that it is changed in place.
    var places = removeValue(forKey: key) ?? []
    places.insert(place, at: places.index(ofFirstFrom: place))
    self[key] = places
  }

  /// O(slots of the key).
  fileprivate mutating func remove(_ place: Int32, of key: UInt64) {
    guard var places = removeValue(forKey: key) else { return }
    places.remove(at: places.index(ofFirstFrom: place))
    if !places.isEmpty { self[key] = places }
  }
}

extension [Int32] {
  /// Where the first of ascending numbers stands that is not less than one; their count if all are. O(log count).
  fileprivate func index(ofFirstFrom number: Int32) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension NoteNames {
  /// The names of a note.
  init(_ note: NoteContent) {
    self.init(title: note.title, aliases: FileHeader.aliases(in: note.header), path: note.path)
  }
}

/// The index of links of a process.
struct Indexing {
  /// Nil before it was begun.
  var index: LinkIndex?
  /// True if a client may ask for links soon: one that only lists, or exchanges changes, never does.
  var isWanted = false
  /// The number of notes whose reading takes as long as looking in an archive for the notes with one name. Fewer in tests.
  var notesForKey = 32

  /// True if there is something to read while there is nothing else to do.
  var isDue: Bool { isWanted && index.map(\.isBehind) ?? true }
}
