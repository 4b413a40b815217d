import Testing

@testable import Notes

@Suite struct `Queries of searches` {
  /// The terms as text.
  private func terms(_ query: String) throws(QueryMistake) -> [String] {
    let query = try SearchQuery(parsing: Array(query.utf8))
    return query.terms.map { term in
      let name =
        switch term.field {
        case .any: ""
        case .title: "title:"
        case .tag: "tag:"
        }
      return (term.isNegated ? "-" : "") + name
        + String(decoding: term.pattern.bytes, as: UTF8.self)
    } + (query.isTrashed ? ["trashed"] : [])
  }

  @Test(arguments: [
    ("oat milk", ["oat", "milk"]), ("  OAT\t\nmilk ", ["oat", "milk"]),
    ("\"oat milk\"", ["oat milk"]),
    ("-milk", ["-milk"]), ("-\"oat milk\" x", ["-oat milk", "x"]), ("- x", ["-", "x"]),
    ("--x", ["--x"]), ("tag:home", ["tag:home"]), ("-tag:\"at home\"", ["-tag:at home"]),
    ("title:Éa Tag:B", ["title:ea", "tag:b"]), ("is:trashed", ["trashed"]),
    ("x IS:Trashed", ["x", "trashed"]), ("is:trashed -is:trashed x", ["x"]),
    ("\"open end", ["open end"]),
    ("say\"x y\"", ["say\"x", "y\""]), ("10:30", ["10:30"]), ("http://a.b", ["http://a.b"]),
    ("std::string", ["std::string"]), ("todo:", ["todo:"]), ("\"a:b\"", ["a:b"]), (":x", [":x"]),
    ("tag: x", ["tag:", "x"]), ("a\u{3000}b", ["a", "b"]), ("tag:a:b", ["tag:a:b"]),
  ])
  func `are words, phrases and filters`(query: String, expected: [String]) throws {
    #expect(try terms(query) == expected)
  }

  @Test(arguments: [
    ("", QueryMistake.empty), (" \n", .empty), ("\u{301}", .nothingBut(marks: "\u{301}")),
    ("x \"\"", .nothingBut(marks: "")), ("tag:\u{301}", .nothingBut(marks: "\u{301}")),
    ("author:ben", .unknownFilter("author:")), ("x is:open", .unknownFilter("is:open")),
    ("-foo:bar", .unknownFilter("foo:")),
  ])
  func `are refused where nothing is looked for, or by a filter that is none`(
    query: String, expected: QueryMistake
  ) {
    #expect(throws: expected) { try terms(query) }
  }

  @Test func `may be one text as it stands`() throws {
    let query = try SearchQuery(text: Array("-tag:x \"Y\n".utf8))
    #expect(query.terms.map(\.pattern.bytes) == [Array("-tag:x \"y\n".utf8)] && !query.isTrashed)
    #expect(throws: QueryMistake.empty) { try SearchQuery(text: []) }
    #expect(throws: QueryMistake.nothingBut(marks: "\u{301}")) {
      try SearchQuery(text: Array("\u{301}".utf8))
    }
  }
}
