import NoteFiles
import TestSupport

/// What is read from a text at a path, by local time an hour ahead of UTC.
func read(_ text: String, _ path: String = "a.md") throws -> FileContent {
  try read(bytes: Array(text.utf8), path)
}

func read(bytes: [UInt8], _ path: String = "a.md") throws -> FileContent {
  try FileContent(reading: bytes, path: path, limit: 10_000_000) { _ in 3600 }
}

func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

func utf8(_ strings: [String]) -> [[UInt8]] { strings.map { Array($0.utf8) } }

/// Titles, tags and texts that look like something else.
enum Hostile {
  static let words = [
    "", "a", "- x", ": a", "\"", "'", "#", "##", "#a", "@", "null", "~", "1e3", "---", "...", " a",
    "a ", "\ta", "a\tb", "true", "No", "2026-11-23", "12:30", "a: b", "a:", "a #b", "a, b", "[a]",
    "{a}", "[[a]]", "*a*", "&a", "!a", "|", ">", ">-", "%a", "`a`", "? a", "-", ":", "?", "=", "<<",
    "\\", "\\n", "a\\", "it's", "say \"hi\"", "'a'", "\"a\"", "'", "''", "é", "e\u{301}", "😀",
    "שלום", "\u{202E}abc", "\u{FEFF}a", "\u{85}", "\u{2028}", "a\u{7}b", "\u{1B}", "\u{FFFE}",
    "\u{10FFFF}", "\u{A0}", "a,", ",", ".", "..", "0", "+1", "-1", ".5", "a/b", "a b c", "x#y",
    "title: x", "tags: [a]", "🏴‍☠️ pirate", "a\u{200B}", "NULL", "!!str a", "]", "}", "a]b", "a}b",
  ]

  static let texts = [
    "", "a", "a\n", "\n", "---\n", "---\n---\n", "---\na: b\n---\n", "---\na: b\n---",
    "---\na: b\n",
    "---\nprose\n---\n", "---\n\n---\nx", "---\n# c\n---\n", "\u{FEFF}", "\u{FEFF}---\n---\n",
    "\u{FEFF}a", "# a\n", "# a", "# a\n# b\n", "\n\n# a\nx", "# ---\n# ---\n",
    "# ---\n# a: b\n# ---\n",
    "---\r\na: b\r\n---\r\n", "a\r\nb\n", "---\ntitle: x\ntags: [y]\n...\nz", "+++\na = 1\n+++\n",
    "--- \n...\t\n", "#+title: org\n#+filetags: :a:b:\n", "* a\n", "---\n{a: b}\n---\n",
    "----\n---\n",
    "---\n- a\n---\n", "---\n a: b\n---\n", "--\n---\n", "a\rb", "---\n\"a\": b\n---\n",
    "{\"title\": 1}", "{\"tags\": []}\nx", "+++\n[a]\n+++\nx", "+++\n+++",
  ]

  static let paths = [
    "a.md", "x.markdown", "x.txt", "x.org", "f/a.md", "20261123T100000--a-b__c_d.md",
    "2026-11-23-a.md", "20261123T100000--a__c.org", "A.MD",
  ]

  /// Headers as programs and people write them, and such that nobody should.
  static let headers = [
    "", "---\n---\n", "---\ntitle: a\n---\n", "---\r\ntitle: a\r\ntags: [x, y]\r\n---\r\n",
    "\u{FEFF}", "\u{FEFF}---\ntags: x\n---\n", "---\ntitle: 'it''s'\ntags:\n  - x\n  - y\n---\n",
    "---\ntitle: \"a \\\" b\" # c\ntags: [\"x\", 'y'] # d\npriority: High # e\n---\n",
    "---\ntitle: >-\n  a\n  b\ntags: x, y\n---\n", "---\ntitle: |\n  a\n\ntags: x y\n---\n",
    "---\ntitle:\ntags:\npriority:\n---\n", "---\ntitle: ~\ntags: ~\n---\n",
    "---\n# c\ntitle: a\n\n# d\ntags:\n- x\n# e\n- y\n# f\n---\n",
    "---\ntitle: [a]\ntags: {a: b}\n---\n",
    "---\ntags: [\n  x,\n  y\n]\nother: [a,\nb]\n---\n",
    "---\ntags: !!set {x, y}\ntitle: &t a\n---\n",
    "---\ntags:\n  - a: b\n  - [c]\ntitle: *t\n---\n", "---\na: 1\n{broken\ntitle: x\n---\n",
    "---\n{\"title\": \"x\"}\n...\n", "---\ntitle: a\ntitle: b\ntags: [x]\ntags: [y]\n---\n",
    "---\nTitle : a\nKeywords : x\n--- \t\n", "---\ntags: [x,y]\n---\n",
    "---\ntags: [ x, , y, ]\n---\n",
    "---\ntags: '#x'\n---\n", "---\ntags: #x #y\n---\n",
    "---\ntags:\n  - \"#x\"\n  - # c\n  - null\n---\n",
    "---\ntags:\n\t- x\n---\n", "---\ntitle: a\n  b\n\n  c: d\nid: 5-x\n---\n",
    "---\nid: 20230101\n---",
    "---\ntitle: \"a\n  b\"\ntags: [\"x\n y\"]\n---\n", "---\npriority: [high]\n---\n",
    "---\ntitle: \"open\ntags: [x\n---\n", "---\na:\n  b:\n    - c\n  d: {e: f}\n---\n",
    "+++\n+++\n", "+++\r\ntitle = 'a' # c\r\ntags = [\"x\", 'y']\r\n+++\r\n",
    "+++\ntags = [\n  'x', # c\n  \"y\"\n]\n[a]\ntitle = 1\n+++ \n", "+++\n[taxonomies]\n+++\n",
    "+++\ntaxonomies.tags = ['x']\n[[a]]\ntags = 1\n+++\n",
    "+++\n[a]\n[taxonomies]\ntags = []\n[b]\n+++\n",
    "+++\ntitle = \"\"\"\na\"\"\"\ntags = 1\npriority = 'high'\n+++\n", "+++\na = 1\nbroken\n+++\n",
    "\u{FEFF}+++\n# c\n\"title\" = 'it'\n+++\n", "+++\ntitle = 'a'\ntitle = 'b'\n[tags]\n+++\n",
    "{\"title\": \"a\"}", "{\n\"tags\": []\n} \r\n", "\u{FEFF}{\"date\": {\"a\": \"}\"}}\n",
    "---\n\"title\": a\n'tags': x\n---\n", "---\ntags: [x,\ntitle: a]\n---\n",
    "---\n a: b\nc: d\n---\n",
    "---\na: &b {title: x}\n<<: *b\n---\n", "---\na: |+\n  b\n\n---\n",
    "---\ntags: [ # c\n  x, # d\n  y # e\n  ]\n---\n",
  ]
}
