import NoteFiles
import TestSupport
import Testing

/// A header, what changes in its note, and the header that has to come out.
struct HeaderForm: Sendable, CustomTestStringConvertible {
  var name: String
  var before: String
  var title: String?
  var added: [String] = []
  var removed: [String] = []
  var priority: FilePriority?
  /// Nil if the header has to stay as it is.
  var after: String?

  var testDescription: String { name }

  func check() throws {
    var file = try read(before).file
    if let title { file.title = title }
    file.tags = file.tags.filter { !removed.contains($0) } + added
    if let priority { file.priority = priority }
    #expect(string(try file.rendered()) == after ?? before)
    #expect(file.header.lockedFacts.isEmpty == (after != nil))
    #expect(after != nil || !file.header.issues.isEmpty)
  }

  static let yaml = [
    HeaderForm(
      name: "an indented list", before: "---\ntags:\n    - a # one\n    # two\n    - b\n---\n",
      added: ["c"], removed: ["a"],
      after: "---\ntags:\n    # two\n    - b\n    - c\n---\n"),
    HeaderForm(
      name: "a list that is not indented", before: "---\ntags:\n- a\n-   'b'\nx: 1\n---\n",
      added: ["c"], after: "---\ntags:\n- a\n-   'b'\n-   'c'\nx: 1\n---\n"),
    HeaderForm(
      name: "a list whose items all go, with comments",
      before: "---\ntags: # one\n- a\n# two\n- b\nx: 1\n---\n", removed: ["a", "b"],
      after: "---\ntags: [] # one\n# two\nx: 1\n---\n"),
    HeaderForm(
      name: "a list in brackets over lines",
      before: "---\ntags: [ # one\n  a, # two\n  # three\n  b # four\n]\n---\n", added: ["c"],
      removed: ["a"], after: "---\ntags: [ # one\n  # two\n  # three\n  b, # four\n  c\n]\n---\n"),
    HeaderForm(
      name: "a list in brackets over lines, with a comma at its end",
      before: "---\ntags: [\n  \"a\",\n  \"b\",\n]\n---\n", added: ["c"], removed: ["b"],
      after: "---\ntags: [\n  \"a\",\n  \"c\",\n]\n---\n"),
    HeaderForm(
      name: "a list in brackets over lines that has a further item on the first",
      before: "---\ntags: [a, b,\n  c]\n---\n", added: ["d"], removed: ["b"],
      after: "---\ntags: [a, \n  c, d]\n---\n"),
    HeaderForm(
      name: "quoted keys", before: "---\n\"tags\": [a]\n'title': T\n---\n", title: "U",
      added: ["b"],
      after: "---\n\"tags\": [a, b]\n'title': U\n---\n"),
    HeaderForm(
      name: "odd spacing", before: "---\ntags   :   [a]   # c\ntitle :\tT\n---\n", title: "U",
      added: ["b"], after: "---\ntags   :   [a, b]   # c\ntitle :\tU\n---\n"),
    HeaderForm(
      name: "keys within quotes",
      before: "---\nx: \"a\ntags: [no]\"\n---\n", added: ["b"],
      after: "---\nx: \"a\ntags: [no]\"\ntags: [b]\n---\n"),
    HeaderForm(
      name: "keys within brackets below a key",
      before: "---\nx:\n  - [a,\ntags: no]\n---\n", added: ["b"],
      after: "---\nx:\n  - [a,\ntags: no]\ntags: [b]\n---\n"),
    HeaderForm(
      name: "blank lines that belong to a text", before: "---\nx: |+\n  a\n\n# c\n---\n",
      added: ["b"],
      after: "---\nx: |+\n  a\n\ntags: [b]\n# c\n---\n"),
    HeaderForm(
      name: "a text with a comment", before: "---\ntitle: > # c\n  a\n  b\n---\n", title: "- x",
      after: "---\ntitle: \"- x\" # c\n---\n"),
    HeaderForm(
      name: "a comment in the place of a title", before: "---\ntitle: #c\n---\n", title: "T",
      after: "---\ntitle: T #c\n---\n"),
    HeaderForm(
      name: "aliases elsewhere", before: "---\nx: &a [b]\ntags: [c]\ny: *a\n---\n", added: ["d"],
      after: "---\nx: &a [b]\ntags: [c, d]\ny: *a\n---\n"),
    HeaderForm(
      name: "a merge key beside a list",
      before: "---\nb: &b {tags: [x]}\n<<: *b\ntags: [c]\ntitle: T\npriority: low\n---\n",
      added: ["d"],
      after: "---\nb: &b {tags: [x]}\n<<: *b\ntags: [c, d]\ntitle: T\npriority: low\n---\n"),
    HeaderForm(
      name: "Windows' line ends", before: "---\r\ntags:\r\n  - a\r\n---\r\n", title: "T",
      added: ["b"],
      after: "---\r\ntags:\r\n  - a\r\n  - b\r\ntitle: T\r\n---\r\n"),
    HeaderForm(
      name: "an empty header with a mark", before: "\u{FEFF}---\n...\n", added: ["b"],
      after: "\u{FEFF}---\ntags: [b]\n...\n"),
    HeaderForm(
      name: "tags that look like numbers", before: "---\ntags: [a]\n---\n",
      added: ["0b1", "+0x1F", "+.inf"],
      after: "---\ntags: [a, \"0b1\", \"+0x1F\", \"+.inf\"]\n---\n"),
  ]

  static let toml = [
    HeaderForm(
      name: "a list, and a date", before: "+++\ntags = [\"a\"] # c\ndate = 2026-11-23\n+++\n",
      added: ["b"], after: "+++\ntags = [\"a\", \"b\"] # c\ndate = 2026-11-23\n+++\n"),
    HeaderForm(
      name: "a list over lines", before: "+++\ntags = [ # one\n  'a', # two\n  'b',\n]\n+++\n",
      added: ["it's"], removed: ["a"],
      after: "+++\ntags = [ # one\n  # two\n  'b',\n  \"it's\",\n]\n+++\n"),
    HeaderForm(
      name: "nothing of the note", before: "+++\na = 1\n\n# c\n[tags2]\ntags = 1\n+++\n",
      title: "T",
      added: ["b"], priority: .high,
      after:
        "+++\na = 1\ntitle = \"T\"\ntags = [\"b\"]\npriority = \"high\"\n\n# c\n[tags2]\ntags = 1\n+++\n"
    ),
    HeaderForm(
      name: "Zola's tags",
      before: "+++\n[taxonomies]\n  tags = ['a']\n[extra]\ntags = ['no']\n+++\n",
      added: ["b"], after: "+++\n[taxonomies]\n  tags = ['a', 'b']\n[extra]\ntags = ['no']\n+++\n"),
    HeaderForm(
      name: "Zola's table without tags",
      before: "+++\n[taxonomies]\n  categories = ['a']\n\n[extra]\n+++\n", added: ["b"],
      after: "+++\n[taxonomies]\n  categories = ['a']\n  tags = [\"b\"]\n\n[extra]\n+++\n"),
    HeaderForm(
      name: "dotted and quoted keys",
      before: "+++\nx.tags = ['no']\ntaxonomies.\"tags\" = ['a']\n'title' = 'T'\n+++\n", title: "U",
      added: ["b"],
      after: "+++\nx.tags = ['no']\ntaxonomies.\"tags\" = ['a', 'b']\n'title' = 'U'\n+++\n"),
    HeaderForm(
      name: "keys and tables in strings",
      before: "+++\nx = '''\ntags = ['no']\n[no]\n'''\n+++\n", added: ["b"],
      after: "+++\nx = '''\ntags = ['no']\n[no]\n'''\ntags = [\"b\"]\n+++\n"),
    HeaderForm(
      name: "Windows' line ends", before: "+++\r\ntitle = 'T'\r\n+++\r\n", title: "\\ \u{7}",
      after: "+++\r\ntitle = \"\\\\ \\u0007\"\r\n+++\r\n"),
    HeaderForm(
      name: "an empty header", before: "+++\n+++\ntext", added: ["b"],
      after: "+++\ntags = [\"b\"]\n+++\ntext"),
  ]

  /// Forms that are not understood where tags are to be added.
  static let left =
    [
      "tags:\n  * a\n  * b", "tags:\n  - name: a\n  - name: b", "tags:\n  - a\n  - - b\n    - c",
      "tags: !!seq [a, b]", "tags: !!set {a, b}", "tags: &t [a]\nx: *t", "tags:\n- &a b\n- *a",
      "tags: {a: b}", "tags: |\n  a\n  b", "tags:\n  a", "tags:\n  - a\n    b", "tags: [a, [b]]",
      "tags: [a]\ntags: [b]", "tags: [a]\n\"tags\": [b]", "? tags\n: [a]", "!!str tags: [a]",
      "x: &x {tags: [a]}\n<<: *x", "{\"tags\": [\"a\"]}", "  tags: [a]", "tags: [a, b",
      "tags: [a,\n  #b,\n  c]", "x: \"open\ntags: [a]", "tags: *t",
    ].map { HeaderForm(name: $0, before: "---\n\($0)\n---\ntext", added: ["new"]) }
    + [
      "tags = [['a']]", "tags = {a = 1}", "tags = 1", "tags = [\"\"\"\na\"\"\"]", "[tags]\na = 1",
      "tags.a = 1", "taxonomies = {tags = ['a']}", "[taxonomies.tags]", "tags = ['a']\ntags = []",
      "a = 1\nbroken", "[a]\nb = \"open", "tags = [",
    ].map { HeaderForm(name: $0, before: "+++\n\($0)\n+++\ntext", added: ["new"]) }
    + [
      HeaderForm(
        name: "JSON", before: "{\n  \"title\": \"}\"\n}\ntext", title: "T", added: ["new"]),
      HeaderForm(name: "JSON alone", before: "\u{FEFF}{\"tags\": []}", added: ["new"]),
      HeaderForm(name: "a title of a type", before: "---\ntitle: !!str a\n---\n", title: "T"),
      HeaderForm(name: "a title of two lines", before: "+++\ntitle = '''a'''\n+++\n", title: "T"),
      HeaderForm(name: "a title in brackets", before: "---\ntitle: [a] b\n---\n", title: "T"),
      HeaderForm(name: "an unknown priority", before: "---\npriority: 1\n---\n", priority: .high),
    ]
}

@Suite struct `Headers of every form` {
  @Test(arguments: HeaderForm.yaml) func `in YAML change in the lines of what is set`(
    form: HeaderForm
  ) throws { try form.check() }

  @Test(arguments: HeaderForm.toml) func `in TOML change in the lines of what is set`(
    form: HeaderForm
  ) throws { try form.check() }

  @Test(arguments: HeaderForm.left) func `stay as they are where they are not understood`(
    form: HeaderForm
  ) throws { try form.check() }

  @Test func `in Org files are YAML, TOML or JSON in comments`() throws {
    let text = "# +++\n# tags = ['a']\n# +++\n* text"
    var file = try read(text, "a.org").file
    #expect(file.tags == ["a"])
    file.tags = ["b"]
    #expect(string(try file.rendered()) == text.replacing("a'", with: "b'"))
    file.header = try read("{\"title\": \"T\"}\n").file.header
    #expect(string(try file.rendered()) == "# {\"title\": \"T\"}\n* text")
    #expect(try read(bytes: try file.rendered(), "a.org").file.text == file.text)
  }

  @Test func `that are TOML give other titles`() throws {
    let header = try read("+++\naliases = [\"a\", 'b']\n+++\n").file.header
    #expect(FileHeader.aliases(in: header.fields) == ["a", "b"])
  }

  @Test func `in JSON or TOML are the same out of their fields`() throws {
    for text in ["{\"title\": 1}\n", "+++\na = 1\n\n[b]\nc = 2\n# d\n+++\n", "+++\n# a\n+++\n"] {
      let header = try read(text).file.header
      #expect(FileHeader(fields: header.fields) == header)
    }
    // A frame of JSON without its members is no header.
    let frame = [(key: FileHeader.frameKey, value: "1 2\n{}\n")]
    #expect(FileHeader(fields: frame).isEmpty)
  }
}
