/// Why a query was refused.
public enum QueryMistake: Error, Equatable, Sendable {
  /// Nothing is looked for.
  case empty
  /// Nothing is left of this word when case and marks are taken away.
  case nothingBut(marks: String)
  /// There is no such filter.
  case unknownFilter(String)
}

/// What a note must have to be found by a search.
public struct SearchQuery: Sendable {
  struct Term: Sendable {
    enum Field: Sendable {
      /// In the title, the text, or the header of the note's file.
      case any
      case title
      /// All of a tag, or of one that it is below.
      case tag
    }

    var field: Field
    var pattern: SearchPattern
    var isNegated: Bool
  }

  private(set) var terms: [Term] = []
  /// True if the notes in the trash are looked through, and no others.
  private(set) var isTrashed = false

  /// The features that a note has in its signature if it is found.
  var features: [Feature] {
    terms.filter { !$0.isNegated }.flatMap { term in
      switch term.field {
      case .any, .title: Feature.trigrams(of: term.pattern.bytes)
      case .tag: [Feature(tagFolded: term.pattern.bytes)]
      }
    }
  }

  /// True if a note's tags count.
  var hasTags: Bool { terms.contains { $0.field == .tag } }

  /// One text, blanks and line feeds and all, in the title or in the text.
  public init(text: [UInt8]) throws(QueryMistake) {
    guard !text.isEmpty else { throw .empty }
    try add(String(decoding: text, as: UTF8.self)[...], .any, isNegated: false)
  }

  /// Words between blanks, all of which must be there, in the title, the text or the header of its file, also as parts of words. Of one with a hyphen before it the contrary.
  ///
  /// - `"a phrase"` is one word; also behind a filter.
  /// - `title:word`: in the title.
  /// - `tag:word`: one of the tags, all of it, or one below it: `tag:work` finds `work/alpha`.
  /// - `is:trashed`: in the trash; without it, notes in the trash are not looked through.
  ///
  /// Other filters are refused: letters and a colon with something behind it that is neither a slash nor another colon. In quotes that is a word.
  public init(parsing query: [UInt8]) throws(QueryMistake) {
    var rest = String(decoding: query, as: UTF8.self).unicodeScalars[...]
    var isEmpty = true
    while let first = rest.first {
      if first.properties.isWhitespace {
        rest.removeFirst()
      } else {
        try read(&rest)
        isEmpty = false
      }
    }
    if isEmpty { throw .empty }
  }

  /// Reads a word, with what stands before it.
  private mutating func read(
    _ rest: inout Substring.UnicodeScalarView
  ) throws(QueryMistake) {
    func isWord(_ scalar: Unicode.Scalar?) -> Bool {
      scalar.map { !$0.properties.isWhitespace } ?? false
    }
    var isNegated = false
    if rest.first == "-", isWord(rest.dropFirst().first) {
      isNegated = true
      rest.removeFirst()
    }
    let name = rest.prefix { $0.isASCII && $0.properties.isAlphabetic }
    let value = rest[name.endIndex...].dropFirst()
    if !name.isEmpty, rest[name.endIndex...].first == ":", isWord(value.first), value.first != "/",
      value.first != ":"
    {
      rest = value
      let word = Self.word(&rest)
      switch String(name).lowercased() {
      case "tag": try add(word.trimmingBlanks, .tag, isNegated: isNegated)
      case "title": try add(word, .title, isNegated: isNegated)
      case "is" where word.lowercased() == "trashed": isTrashed = !isNegated
      case "is": throw .unknownFilter("is:\(word)")
      default: throw .unknownFilter(String(name) + ":")
      }
    } else {
      try add(Self.word(&rest), .any, isNegated: isNegated)
    }
  }

  /// A word, or what stands in quotes; where these are not closed, all that is left.
  private static func word(_ rest: inout Substring.UnicodeScalarView) -> Substring {
    let isQuoted = rest.first == "\""
    if isQuoted { rest.removeFirst() }
    let word = rest.prefix { isQuoted ? $0 != "\"" : !$0.properties.isWhitespace }
    rest = rest[word.endIndex...]
    if isQuoted { rest = rest.dropFirst() }
    return Substring(word)
  }

  private mutating func add(
    _ word: Substring, _ field: Term.Field, isNegated: Bool
  ) throws(QueryMistake) {
    guard let pattern = SearchPattern(Array(word.utf8)) else {
      throw .nothingBut(marks: String(word))
    }
    terms.append(Term(field: field, pattern: pattern, isNegated: isNegated))
  }
}
