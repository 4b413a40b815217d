/// Something in a file that was left as it is, and not taken over.
public enum FileIssue: Equatable, Sendable {
  /// A header beyond `FileHeader.longest` or `FileHeader.mostFields`: it is text.
  case headerTooLarge
  /// A JSON header, in which nothing is read or set.
  case jsonHeader
  /// Lines of the header are neither fields nor comments. No field is added.
  case headerNotUnderstood
  /// The value of this field is not understood. It is not set.
  case notUnderstood(key: String)
  /// A title or a tag in this field is none of a note: too long, empty, or of several lines.
  case doesNotFit(key: String)
}

/// A fact that a header can say of a note.
public enum HeaderFact: CaseIterable, Sendable {
  /// The title.
  case title
  /// The tags.
  case tags
  /// The urgency.
  case priority
}

extension FileHeader {
  /// The parts of the header that were not taken over.
  public var issues: [FileIssue] { HeaderFacts(self).issues }

  /// The facts that are not set in the header, since it is not understood there (`issues`).
  public var lockedFacts: Set<HeaderFact> { HeaderFacts(self).locked }
}

/// What the fields of a header say; `nil` where they say nothing that is understood.
struct HeaderFacts {
  var title: String?
  var tags: [String]?
  var priority: FilePriority?
  var id: String?
  var issues: [FileIssue] = []
  /// The facts that are not set.
  var locked: Set<HeaderFact> = []
  private let header: FileHeader

  init(_ header: FileHeader) {
    self.header = header
    read(.title, .title) { $0.readTitle($1, $2) }
    read(.tags, .tags) { $0.readTags($1, $2) }
    read(.priority, .priority) { $0.readPriority($1, $2) }
    id = header.find(.id).flatMap { Self.id($0.value) }
    if header.syntax == .json {
      issues.append(.jsonHeader)
    } else if !header.isUnderstood {
      issues.append(.headerNotUnderstood)
    } else if header.hasMergeKey, !locked.isEmpty, issues.isEmpty {
      issues.append(.notUnderstood(key: FileHeader.mergeKey))
    }
  }

  private mutating func read(
    _ fact: HeaderFact, _ names: FieldNames,
    _ read: (inout Self, String, HeaderValue) -> Void
  ) {
    if let found = header.find(names) {
      read(&self, found.key, found.value)
      if !header.isSettable(found) { locked.insert(fact) }
    } else if !header.canAdd(names) {
      locked.insert(fact)
    }
  }

  private mutating func lock(_ fact: HeaderFact, _ key: String) {
    locked.insert(fact)
    issues.append(.notUnderstood(key: key))
  }

  private mutating func readTitle(_ key: String, _ value: HeaderValue) {
    switch Self.title(value) {
    case .nothing: break
    case .unknown: lock(.title, key)
    case .known(let title):
      if NoteFile.isTitle(title) {
        self.title = title
      } else {
        issues.append(.doesNotFit(key: key))
      }
    }
  }

  private mutating func readTags(_ key: String, _ value: HeaderValue) {
    guard let found = Self.tags(value) else {
      lock(.tags, key)
      return
    }
    let (tags, allFit) = Self.fitting(found)
    if !allFit { issues.append(.doesNotFit(key: key)) }
    self.tags = tags
  }

  private mutating func readPriority(_ key: String, _ value: HeaderValue) {
    if case .empty = value.kind { return }
    priority = Self.priority(value)
    if priority == nil { lock(.priority, key) }
  }

  /// The tags among some words, each once; and whether all of them are tags.
  static func fitting(_ words: [String]) -> (tags: [String], allFit: Bool) {
    var seen: Set<[UInt8]> = []
    let fitting = words.filter(NoteFile.isTag)
    return (fitting.filter { seen.insert(Array($0.utf8)).inserted }, fitting.count == words.count)
  }

  // MARK: - Values

  enum Answer {
    case nothing, unknown
    case known(String)
  }

  static func title(_ value: HeaderValue) -> Answer {
    switch value.kind {
    case .empty: .nothing
    case .scalar where value.isNumber: .unknown
    // A comment in YAML, since no blank is asked for behind the sign.
    case .scalar(let scalar)
    where scalar.isNull || scalar.style == .plain && scalar.text.utf8.first == .hash:
      .nothing
    case .scalar(let scalar): .known(scalar.text)
    case .flow, .block, .other: .unknown
    }
  }

  /// The words of a list: `nil` if it isn't understood.
  static func tags(_ value: HeaderValue) -> [String]? {
    switch value.kind {
    case .empty: return []
    case .scalar where value.isNumber: return nil
    case .scalar(let scalar):
      if scalar.style == .block { return nil }
      return scalar.isNull ? [] : tagWords(scalar).map { tag($0.text) }
    case .flow(let items), .block(let items): return items.compactMap { $0.text.map(tag) }
    case .other: return nil
    }
  }

  /// The parts of `a, b`, and of `a b` without quotes.
  static func tagWords(_ scalar: HeaderScalar) -> [ArraySlice<UInt8>] {
    let bytes = Array(scalar.text.utf8)[...]
    let hasCommas = bytes.contains(.comma)
    if !hasCommas, scalar.style != .plain { return [bytes] }
    return bytes.split { hasCommas ? $0 == .comma : $0.isBlank }.map(\.trimmed).filter {
      !$0.isEmpty
    }
  }

  /// The tag that a word is: Obsidian writes a sign before it, in places.
  static func tag(_ word: String) -> String {
    word.utf8.first == .hash && word.utf8.count > 1
      ? String(Substring(word.utf8.dropFirst())) : word
  }

  static func priority(_ value: HeaderValue) -> FilePriority? {
    guard case .scalar(let scalar) = value.kind, !value.isNumber else { return nil }
    return FilePriority(rawValue: scalar.text.lowercased())
  }

  static func id(_ value: HeaderValue) -> String? {
    guard case .scalar(let scalar) = value.kind, !scalar.isNull, NoteFile.isTag(scalar.text) else {
      return nil
    }
    return scalar.text
  }
}

extension HeaderValue {
  /// True for a number, a time and a truth value of TOML, which are no text.
  fileprivate var isNumber: Bool {
    guard syntax == .toml, case .scalar(let scalar) = kind else { return false }
    return scalar.style == .plain
  }
}
