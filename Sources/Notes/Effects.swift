public import ReplicatingTypes

/// The effects of changes on the notes.
public struct Effects: Sendable {
  /// Parts of a note.
  public struct Facets: OptionSet, Sendable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    /// The note is new.
    public static let created = Facets(rawValue: 1)
    /// The title was written.
    public static let title = Facets(rawValue: 2)
    /// The text was edited.
    public static let text = Facets(rawValue: 4)
    /// Tags were added or removed.
    public static let tags = Facets(rawValue: 8)
    /// The priority was written.
    public static let priority = Facets(rawValue: 16)
    /// The note was placed among the others.
    public static let position = Facets(rawValue: 32)
    /// The note went into the trash, or came out of it.
    public static let trashed = Facets(rawValue: 64)
    /// The path was written.
    public static let path = Facets(rawValue: 128)
    /// A part of the header was written.
    public static let header = Facets(rawValue: 256)
    /// The note was forgotten for good.
    public static let purged = Facets(rawValue: 512)
  }

  /// The effects on one note.
  public struct NoteEffect: Sendable {
    /// The parts that changed.
    public fileprivate(set) var facets: Facets = []
    fileprivate var cause: Cause?

    fileprivate init() {}

    /// The author of all changes of the note; nil if there are several, or one of them is not named.
    public var author: Author? { if case .author(let author)? = cause { author } else { nil } }

    /// Adds what happened to the note besides.
    public mutating func merge(_ other: NoteEffect) {
      facets.formUnion(other.facets)
      guard let new = other.cause else { return }
      cause = cause.map { $0 == new ? new : .author(nil) } ?? new
    }
  }

  /// Why something happens: by a change of an author, who may have no name; or because changes have met.
  fileprivate enum Cause: Equatable {
    case author(Author?)
    case meeting
  }

  /// The effects on texts of notes, in order.
  public private(set) var text: [(note: NoteID, effect: ReplicatingText.Effect)] = []
  /// The other parts of notes that changed, in order; neighbours of one note are one. None for an edit without an effect.
  private var changed: [(note: NoteID, facets: Facets)] = []
  /// The causes, in order: each of what stands in `text` and `changed` from some place on. What is before the first is what this process
  /// has done.
  private var causes: [(cause: Cause, text: Int, changed: Int)] = []

  /// Nothing happened yet.
  public init() {}

  /// These effects as those of changes that this process has made.
  public var ofThisProcess: Effects {
    var effects = self
    effects.causes = []
    return effects
  }

  /// Notes that the next effects are those of changes by an author; nil for one who is not named.
  mutating func begin(by author: Author?) { begin(.author(author)) }

  /// Notes that the next effects are those of the rules of merging: where a note has a cause already, that stays its cause.
  mutating func beginMeeting() { begin(.meeting) }

  private mutating func begin(_ cause: Cause) {
    if causes.last?.cause != cause { causes.append((cause, text.count, changed.count)) }
  }

  /// True if nothing happened.
  public var isEmpty: Bool { changed.allSatisfy { $0.facets.isEmpty } && text.isEmpty }

  /// The notes that changed, and in what.
  public var facets: [NoteID: Facets] { notes(by: nil).mapValues(\.facets) }

  /// The notes that changed, in what, and by whom.
  ///
  /// - Parameter author: the author of the changes of this process.
  public func notes(by author: Author?) -> [NoteID: NoteEffect] {
    var all: [NoteID: NoteEffect] = [:]
    let own = (cause: Cause.author(author), text: 0, changed: 0)
    let parts = [own] + causes
    for (index, part) in parts.enumerated() {
      let next = index + 1 < parts.count ? parts[index + 1] : (.meeting, text.count, changed.count)
      var effect = NoteEffect()
      effect.cause = part.cause == .meeting ? nil : part.cause
      for (note, facets) in changed[part.changed..<next.changed] {
        effect.facets = facets
        all[note, default: NoteEffect()].merge(effect)
      }
      effect.facets = .text
      var last: NoteID?
      for (note, _) in text[part.text..<next.text] where note != last {
        all[note, default: NoteEffect()].merge(effect)
        last = note
      }
    }
    return all.filter { !$0.value.facets.isEmpty }
  }

  /// Visits the notes that changed, and in what; one may come several times. O(effects).
  public func forEachChange(_ body: (NoteID, Facets) -> Void) {
    var last: NoteID?
    for (note, _) in text where note != last {
      body(note, .text)
      last = note
    }
    for (note, facets) in changed where !facets.isEmpty { body(note, facets) }
  }

  /// The notes that were forgotten for good. O(parts that changed).
  public var purged: [NoteID] {
    changed.compactMap { $0.facets.contains(.purged) ? $0.note : nil }
  }

  mutating func insert(_ facets: Facets, _ note: NoteID) {
    if facets.isEmpty { return }
    if let last = changed.last, last.note == note, causes.last?.changed ?? 0 < changed.count {
      changed[changed.count - 1].facets.formUnion(facets)
    } else {
      changed.append((note, facets))
    }
  }

  /// Notes that the text of a note was edited without an effect: it may have one when changes meet.
  mutating func attempt(_ note: NoteID) {
    if let last = changed.last, last.note == note, causes.last?.changed ?? 0 < changed.count {
      return
    }
    changed.append((note, []))
  }

  mutating func insert(_ effect: ReplicatingText.Effect, _ note: NoteID) {
    text.append((note, effect))
  }

  /// Adds what happened afterwards. O(effects of `other`).
  public mutating func merge(_ other: Effects) {
    let (texts, parts) = (text.count, changed.count)
    text += other.text
    changed += other.changed
    for (cause, text, changed) in other.causes {
      causes.append((cause, texts + text, parts + changed))
    }
  }
}

extension Note.Operation {
  /// True if it edits the text, or takes such edits back.
  var isOfText: Bool {
    switch self {
    case .text, .withdraw: true
    default: false
    }
  }

  /// The parts that it changes for certain: not a text, whose elements may be gone already.
  var facets: Effects.Facets {
    switch self {
    case .title: .title
    case .priority: .priority
    case .tags: .tags
    case .property(let name, _): name == .path ? .path : name.headerKey == nil ? [] : .header
    case .text, .delete, .restore, .base, .withdraw, .created, .modified: []
    }
  }
}
