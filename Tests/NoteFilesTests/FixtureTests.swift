import NoteFiles
import TestSupport
import Testing

/// What programs write at the beginning of their files, and what it says.
struct Fixture: Sendable, CustomTestStringConvertible {
  var name: String
  var path = "notes/some file.md"
  var file: String
  var title: String
  var source = TitleSource.field
  var tags: [String] = []
  var priority = FilePriority.normal
  /// Milliseconds since 1970, with local time an hour ahead of UTC.
  var created: Int64?
  var modified: Int64?
  var id: String?
  var text: String
  var issues: [FileIssue] = []

  var testDescription: String { name }

  /// 2026-11-23 at 10:00 UTC.
  static let ten: Int64 = 1_795_428_000_000
  static let hour: Int64 = 3_600_000

  static let all = [
    Fixture(
      name: "Obsidian",
      file: """
        ---
        aliases:
          - Second name
        tags:
          - project/alpha
          - "#reading"
          - 2024
        cssclasses: [wide]
        created: 2026-11-23T10:00
        updated: 2026-11-23T11:00:30
        rating: 4.5
        link: "[[Other note]]"
        done: false
        ---

        # The plan

        Text with #inline-tag.

        """, title: "some file", source: .stem, tags: ["project/alpha", "reading", "2024"],
      created: ten - hour, modified: ten + 30000,
      text: "\n# The plan\n\nText with #inline-tag.\n"
    ).with(title: "The plan", .heading),
    Fixture(
      name: "Obsidian's linter",
      file: """
        ---
        title: A note
        date created: 2026-11-23 10:00:00
        date modified: 2026-11-23 10:30
        tags: inbox
        ---
        x
        """, title: "A note", tags: ["inbox"], created: ten - hour, modified: ten - hour / 2,
      text: "x"),
    Fixture(
      name: "zk", path: "zk/8xk2.md",
      file: """
        ---
        title: "Sourdough: the basics"
        date: 2026-11-23 10:00:00
        keywords: [baking, 'slow food']
        ---

        Flour.
        """, title: "Sourdough: the basics", tags: ["baking", "slow food"], created: ten - hour,
      text: "\nFlour."),
    Fixture(
      name: "Joplin",
      file: """
        ---
        title: Trip to Lisbon
        updated: 2026-11-23 11:00:00Z
        created: 2026-11-23 10:00:00Z
        author: Ana
        latitude: 38.71667000
        longitude: -9.13333000
        altitude: 0.0000
        completed?: no
        due: 2026-12-01 09:00:00Z
        tags:
          - travel
          - to do
        ---

        Tram 28.
        """, title: "Trip to Lisbon", tags: ["travel", "to do"], created: ten, modified: ten + hour,
      text: "\nTram 28."),
    Fixture(
      name: "Jekyll", path: "_posts.d/2026-11-22-hello-world.markdown",
      file: """
        ---
        layout: post
        title:  "Welcome to Jekyll!"
        date:   2026-11-23 10:00:00 +0100
        categories: jekyll update
        tags: ruby web
        ---
        {% highlight ruby %}
        """, title: "Welcome to Jekyll!", tags: ["ruby", "web"], created: ten - hour,
      text: "{% highlight ruby %}"),
    Fixture(
      name: "Jekyll, by the name", path: "2026-11-23-hello-world.md", file: "Hello.\n",
      title: "2026-11-23-hello-world", source: .stem, created: ten - 11 * hour, text: "Hello.\n"),
    Fixture(
      name: "Hugo",
      file: """
        ---
        title: 'On "quoting" and it''s rules'
        date: 2026-11-23T10:00:00+01:00
        lastmod: 2026-11-23
        draft: true
        tags: ["go", "static sites",]
        params:
          author:
            name: x
        weight: 10 # order
        menu: {main: {weight: 1}}
        ---
        Hugo.
        """, title: "On \"quoting\" and it's rules", tags: ["go", "static sites"],
      created: ten - hour, modified: ten - 11 * hour, text: "Hugo."),
    Fixture(
      name: "Hugo's TOML",
      file: """
        +++
        title = 'On "TOML"' # the title
        date = 2026-11-23T10:00:00Z
        lastmod = 2026-11-23 11:00:00
        draft = true
        tags = [
          "go", # first
          'static sites',
        ]
        summary = \"""
        tags = ["no"]
        [table]
        \"""

        [params]
        title = "no"
        tags = ["no"]
        +++
        Text.
        """, title: "On \"TOML\"", tags: ["go", "static sites"], created: ten, modified: ten,
      text: "Text."),
    Fixture(
      name: "Zola",
      file: """
        +++
        title = "Zola"
        date = 2026-11-23
        updated = "2026-11-23T11:00:00Z"

        [taxonomies]
        # in order
        tags = ["a", 'b']
        categories = ["c"]

        [extra]
        priority = 1
        +++
        Text.
        """, title: "Zola", tags: ["a", "b"], created: ten - 11 * hour, modified: ten + hour,
      text: "Text."),
    Fixture(
      name: "Hugo's JSON", file: "{\n  \"title\": \"x\",\n  \"tags\": [\"}\"]\n}\nText.\n",
      title: "some file", source: .stem, text: "Text.\n", issues: [.jsonHeader]),
    Fixture(
      name: "JSON without a header's members", file: "{\"a\": 1}\nText.\n", title: "some file",
      source: .stem, text: "{\"a\": 1}\nText.\n"),
    Fixture(
      name: "quoted keys", file: "---\n\"title\": T\n'tags' : [a]\n\"other: x\": y\n---\n",
      title: "T",
      tags: ["a"], text: ""),
    Fixture(
      name: "an indented header", file: "---\n  title: T\n---\n", title: "some file", source: .stem,
      text: "", issues: [.headerNotUnderstood]),
    Fixture(
      name: "a merge key", file: "---\nbase: &b {tags: [a]}\n<<: *b\ntitle: T\n---\n", title: "T",
      text: "", issues: [.notUnderstood(key: "<<")]),
    Fixture(
      name: "a key twice", file: "---\ntags: [a]\n\"tags\": [b]\n---\n", title: "some file",
      source: .stem, text: "", issues: [.notUnderstood(key: "tags")]),
    Fixture(
      name: "keys within quotes and brackets",
      file: "---\na: \"\ntitle: no\"\nb:\n  - [\ntags: no]\n---\n", title: "some file",
      source: .stem, text: ""),
    Fixture(
      name: "a rule of another kind", file: "+++\nProse.\n+++\n", title: "some file", source: .stem,
      text: "+++\nProse.\n+++\n"),
    Fixture(
      name: "Denote", path: "20261123T100000--on-notes__writing_tools.md",
      file: """
        ---
        title:      "On notes"
        date:       2026-11-23T10:00:00+0100
        tags:       ["writing", "tools"]
        identifier: "20261123T100000"
        signature:  ""
        ---

        """, title: "On notes", tags: ["writing", "tools"], created: ten - hour, text: ""),
    Fixture(
      name: "Denote, by the name", path: "20261123T100000==1a--on-notes__writing_tools.txt",
      file: "Text", title: "on notes", source: .stem, tags: ["writing", "tools"],
      created: ten - hour, text: "Text"),
    Fixture(
      name: "Denote in Org", path: "20261123T100000--on-notes__writing.org",
      file: """
        #+title:      On notes
        #+date:       [2026-11-23 Mon 10:00]
        #+filetags:   :writing:tools:
        #+identifier: 20261123T100000

        * Heading
        """, title: "On notes", source: .keyword, tags: ["writing", "tools"], created: ten - hour,
      text: """
        #+title:      On notes
        #+date:       [2026-11-23 Mon 10:00]
        #+filetags:   :writing:tools:
        #+identifier: 20261123T100000

        * Heading
        """),
    Fixture(
      name: "org-roam", path: "roam/20261123100000-zettel.ORG",
      file: """
        :PROPERTIES:
        :ID:       7b6f0c0e-6a54-4f8e-8d6a-1f1b2c3d4e5f
        :END:
        #+TITLE: Zettel
        #+FILETAGS: one two
        #+DATE: <2026-11-23 Mon>
        * a
        #+title: not this one
        """, title: "Zettel", source: .keyword, tags: ["one", "two"], created: ten - 11 * hour,
      text: """
        :PROPERTIES:
        :ID:       7b6f0c0e-6a54-4f8e-8d6a-1f1b2c3d4e5f
        :END:
        #+TITLE: Zettel
        #+FILETAGS: one two
        #+DATE: <2026-11-23 Mon>
        * a
        #+title: not this one
        """),
    Fixture(
      name: "Org with a header of ours", path: "a.org",
      file:
        "# ---\n# title: New\n# tags: []\n# priority: high\n# ---\n#+title: Old\n#+filetags: :a:\n",
      title: "New", priority: .high, text: "#+title: Old\n#+filetags: :a:\n"),
    Fixture(
      name: "Pandoc",
      file: """
        ---
        title: >-
          A title that is
          folded
        author:
        - Author One
        - name: Author Two
          affiliation: University
        keywords: [one, two words]
        abstract: |
          # no comment, no key: value

          Second paragraph.
        date: 23 November 2026
        ...

        Text.
        """, title: "A title that is folded", tags: ["one", "two words"], text: "\nText."),
    Fixture(
      name: "Windows, with comments and a mark",
      file:
        "\u{FEFF}---\r\n# head\r\ntitle: T # the title\r\n\r\n# list\r\ntags: # two\r\n- a # first\r\n# between\r\n- b\r\nPriority: HIGH\r\nid: 12-abc\r\n---\r\nText\r\n",
      title: "T", tags: ["a", "b"], priority: .high, id: "12-abc", text: "Text\r\n"),
    Fixture(
      name: "prettier",
      file: "---\ntitle: T\ntags: [\n  \"a\", # first\n  b,\n]\n---\n", title: "T",
      tags: ["a", "b"],
      text: ""),
    Fixture(
      name: "what is empty", file: "---\ntitle:\ntags:\npriority:\ndate:\n---\n",
      title: "some file",
      source: .stem, text: ""),
    Fixture(
      name: "what doesn't fit",
      file: "---\ntitle: \"a\\nb\"\ntags: [ok, \"\", \"x\\0y\"]\npriority: 1\n---\n",
      title: "some file",
      source: .stem, tags: ["ok"], text: "",
      issues: [
        .doesNotFit(key: "title"), .doesNotFit(key: "tags"), .notUnderstood(key: "priority"),
      ]),
    Fixture(
      name: "what isn't understood",
      file: "---\ntitle: {a: b}\ntags: !!set {a}\n---\n", title: "some file", source: .stem,
      text: "",
      issues: [.notUnderstood(key: "title"), .notUnderstood(key: "tags")]),
    Fixture(
      name: "two headings", file: "# One\n\n# Two\n", title: "some file", source: .stem,
      text: "# One\n\n# Two\n"),
    Fixture(
      name: "a heading, and code",
      file: "\n  # One ##\n~~~\n# no\n```\n~~~~\n## Two\n    # no\n", title: "One",
      source: .heading,
      text: "\n  # One ##\n~~~\n# no\n```\n~~~~\n## Two\n    # no\n"),
    Fixture(
      name: "a heading, and one that is underlined", file: "# One\n\nTwo\n===\n",
      title: "some file",
      source: .stem, text: "# One\n\nTwo\n===\n"),
    Fixture(
      name: "a rule", file: "---\nProse.\n\n---\nMore.\n", title: "some file", source: .stem,
      text: "---\nProse.\n\n---\nMore.\n"),
    Fixture(
      name: "never closed", file: "---\ntitle: T\n", title: "some file", source: .stem,
      text: "---\ntitle: T\n"),
  ]

  func with(title: String, _ source: TitleSource) -> Fixture {
    var copy = self
    copy.title = title
    copy.source = source
    return copy
  }
}

@Suite struct `Files of other programs` {
  @Test(arguments: Fixture.all) func `say what their programs mean`(_ fixture: Fixture) throws {
    let content = try read(fixture.file, fixture.path)
    #expect(content.file.title == fixture.title)
    #expect(content.titleSource == fixture.source)
    #expect(content.file.tags == fixture.tags)
    #expect(content.file.priority == fixture.priority)
    #expect(content.created == fixture.created)
    #expect(content.modified == fixture.modified)
    #expect(content.file.id == fixture.id)
    #expect(string(content.file.text) == fixture.text)
    #expect(content.issues == fixture.issues)
    #expect(try content.file.rendered() == Array(fixture.file.utf8))
  }

  /// What changes in a file, old lines and new ones, when the note changes.
  private func differences(_ fixture: String, _ change: (inout NoteFile) -> Void) throws -> [String]
  {
    let fixture = try #require(Fixture.all.first { $0.name == fixture })
    var file = try read(fixture.file, fixture.path).file
    change(&file)
    let lines = { (text: String) in
      text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
    let old = lines(fixture.file)
    return lines(string(try file.rendered())).difference(from: old).map {
      switch $0 {
      case .remove(_, let line, _): "-\(line)"
      case .insert(_, let line, _): "+\(line)"
      }
    }
  }

  @Test func `keep the style of their lists`() throws {
    let add = { (file: inout NoteFile) in file.tags += ["new tag"] }
    #expect(try differences("Obsidian", add) == ["+  - new tag"])
    #expect(try differences("Joplin", add) == ["+  - new tag"])
    #expect(
      try differences("zk", add)
        == ["-keywords: [baking, 'slow food']", "+keywords: [baking, 'slow food', 'new tag']"])
    #expect(
      try differences("Denote", add)
        == [
          "-tags:       [\"writing\", \"tools\"]",
          "+tags:       [\"writing\", \"tools\", \"new tag\"]",
        ])
    #expect(try differences("Jekyll", add) == ["-tags: ruby web", "+tags: [ruby, web, new tag]"])
    #expect(
      try differences("Jekyll") { $0.tags.append("new") } == [
        "-tags: ruby web", "+tags: ruby web new",
      ])
    #expect(try differences("Obsidian") { $0.tags.remove(at: 1) } == ["-  - \"#reading\""])
    #expect(
      try differences("Hugo") { $0.tags.removeFirst() }
        == ["-tags: [\"go\", \"static sites\",]", "+tags: [\"static sites\"]"])
    #expect(
      try differences("Joplin") { $0.tags = [] } == [
        "-  - to do", "-  - travel", "-tags:", "+tags: []",
      ])
    #expect(
      try differences("what doesn't fit") { $0.tags = ["new"] }
        == ["-tags: [ok, \"\", \"x\\0y\"]", "+tags: [\"\", \"x\\0y\", \"new\"]"])
    #expect(
      try differences("what is empty") { $0.tags = ["new"] } == ["-tags:", "+tags: [new]"])
  }

  @Test func `keep the style of their words`() throws {
    let rename = { (file: inout NoteFile) in file.title = "It's new" }
    #expect(try differences("Joplin", rename) == ["-title: Trip to Lisbon", "+title: It's new"])
    #expect(
      try differences("Jekyll", rename)
        == ["-title:  \"Welcome to Jekyll!\"", "+title:  \"It's new\""])
    #expect(
      try differences("Hugo", rename)
        == ["-title: 'On \"quoting\" and it''s rules'", "+title: 'It''s new'"])
    #expect(
      try differences("Pandoc", rename) == ["-  folded", "-  A title that is", "+  It's new"])
    #expect(
      try differences("Obsidian", rename) == ["+title: It's new"])
    #expect(
      try differences("Windows, with comments and a mark") { $0.priority = .normal }
        == ["-Priority: HIGH\r", "+Priority: normal\r"])
  }

  @Test func `in Org get a header of comments`() throws {
    let fixture = try #require(Fixture.all.first { $0.name == "Denote in Org" })
    var file = try read(fixture.file, fixture.path).file
    file.title = "New"
    file.tags = []
    #expect(
      string(try file.rendered()) == "# ---\n# title: New\n# tags: []\n# ---\n" + fixture.file)
  }

  @Test(arguments: [
    ("", "---\nid: NEW\n---\n"), ("---\nid: 20230101\n---\n", "---\nid: 20230101\n---\n"),
    ("---\nid: 7-00112233445566778899aabbccddeeff # c\n---\n", "---\nid: NEW # c\n---\n"),
    ("---\nid: [a]\n---\n", "---\nid: [a]\n---\n"),
    ("---\nid: 7-abc\n---\n", "---\nid: 7-abc\n---\n"),
  ])
  func `keep the identity that others have given`(before: String, after: String) throws {
    let id = "12-ffeeddccbbaa99887766554433221100"
    var file = try read(before).file
    file.id = id
    #expect(string(try file.rendered()) == after.replacing("NEW", with: id))
    file.id = nil
    #expect(string(try file.rendered()) == before)
  }
}
