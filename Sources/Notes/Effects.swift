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

  /// The effects on texts of notes, in order.
  public private(set) var text: [(note: NoteID, effect: ReplicatingText.Effect)] = []
  /// The other parts of notes that changed, in order; neighbours of one note are one.
  private var changed: [(note: NoteID, facets: Facets)] = []

  /// Nothing happened yet.
  public init() {}

  /// True if nothing happened.
  public var isEmpty: Bool { changed.isEmpty && text.isEmpty }

  /// The notes that changed, and in what.
  public var facets: [NoteID: Facets] {
    var all: [NoteID: Facets] = [:]
    for (note, facets) in changed { all[note, default: []].formUnion(facets) }
    var last: NoteID?
    for (note, _) in text where note != last {
      all[note, default: []].insert(.text)
      last = note
    }
    return all
  }

  /// The notes that were forgotten for good. O(parts that changed).
  public var purged: [NoteID] {
    changed.compactMap { $0.facets.contains(.purged) ? $0.note : nil }
  }

  mutating func insert(_ facets: Facets, _ note: NoteID) {
    if facets.isEmpty { return }
    if let last = changed.last, last.note == note {
      changed[changed.count - 1].facets.formUnion(facets)
    } else {
      changed.append((note, facets))
    }
  }

  mutating func insert(_ effect: ReplicatingText.Effect, _ note: NoteID) {
    text.append((note, effect))
  }

  /// Adds what happened afterwards. O(effects of `other`).
  public mutating func merge(_ other: Effects) {
    for (note, facets) in other.changed { insert(facets, note) }
    text += other.text
  }
}

extension Note.Operation {
  /// The parts that it changes for certain: not a text, whose elements may be gone already.
  var facets: Effects.Facets {
    switch self {
    case .title: .title
    case .priority: .priority
    case .tags: .tags
    case .property(let name, _): name == .path ? .path : name.headerKey == nil ? [] : .header
    case .text, .delete, .restore, .base, .withdraw, .created: []
    }
  }
}
