// Vim's list of notes, and what leads to notes and to what they were: search, quickfix, history.

import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waiting, .tags(.editor),
  .enabled(if: Vim.isPossible || isContinuousIntegration, "vim or tmux is missing"))
struct `The client for Vim: the list` {
  @Test func `the list is worked with by keys`() throws {
    let vim = try Vim("+Notes")
    try vim.wait("getline(1)[:4]", "Notes")
    _ = try vim.note("Alpha", "apples and\nBananas")
    _ = try vim.note("Beta", "bread")
    _ = try vim.note("Gamma", "bananas")
    let titles = "getline(2, '$')->map('matchstr(v:val, ''\\d\\+  \\zs.*'')')->string()"
    try vim.wait(titles, "['Gamma', 'Beta', 'Alpha']")
    try vim.terminal.type("/Beta\r")
    try vim.terminal.type("K")
    try vim.wait(titles, "['Beta', 'Gamma', 'Alpha']")
    try vim.terminal.type("JJ")
    try vim.wait(titles, "['Gamma', 'Alpha', 'Beta']")
    #expect(try vim.eval("getline('.')").contains("Beta"))
    // The cursor stays on its note.
    _ = try vim.note("New", "")
    try vim.wait(titles, "['New', 'Gamma', 'Alpha', 'Beta']")
    #expect(try vim.eval("getline('.')").contains("Beta"))
    try vim.terminal.type("p")
    try vim.wait("getline('.')[13 :]", "Beta   high")
    try vim.terminal.type("p")
    try vim.wait("getline('.')[13 :]", "Beta   low")
    try vim.terminal.type("thome, two words\r")
    try vim.wait("getline('.')[13 :]", "Beta   low     [home, two words]")
    try vim.terminal.type("t\u{15}home\r")
    try vim.wait("getline('.')[13 :]", "Beta   low     [home]")
    try vim.terminal.type("r2\r")
    try vim.wait("getline('.')[13 :]", "Beta2  low     [home]")
    try vim.terminal.type("dd")
    try vim.wait(titles, "['New', 'Gamma', 'Alpha']")
    try vim.terminal.type("T")
    try vim.wait("getline(1)[:4] .. getline(2)[13 :]", "TrashBeta2  low     [home]")
    try vim.terminal.type("2Gu")
    try vim.wait("line('$')", "1")
    try vim.terminal.type("T")
    try vim.wait("line('$')", "5")
    try vim.terminal.type("sBANANAS\r")
    try vim.wait(
      "[line('$'), getline(3), getline(5)]->string()", "[5, '      bananas', '      Bananas']")
    try vim.terminal.type("s\u{15}\r")
    try vim.wait("line('$')", "5")
    try vim.terminal.type("g?")
    try vim.terminal.wait("the help") { $0.contains { $0.contains("move up") } }
    try vim.terminal.press("Enter")
    // Given up, nothing happens.
    try vim.terminal.type("n")
    try vim.wait("mode()", "c")
    try vim.terminal.press("Escape")
    try vim.wait("[mode(), line('$')]->string()", "['n', 5]")
    try vim.terminal.type("n")
    try vim.terminal.type("Made here\r")
    try vim.wait("get(b:, 'note_title', '')", "Made here")
    try vim.terminal.type(":Notes\r/Gamma\r\r")
    try vim.wait("g:Text()", "bananas")
    try vim.terminal.type(":Notes\rq")
    try vim.wait("g:Text()", "bananas")
  }

  static let titles = "getline(2, '$')->map('matchstr(v:val, ''\\d  \\zs\\S*'')')->string()"

  /// A Vim that shows the list, with notes of these titles in this order.
  static func showing(_ names: String...) throws -> (Vim, [String: String]) {
    let vim = try Vim()
    var ids: [String: String] = [:]
    for name in names.reversed() { ids[name] = try vim.note(name, "text of \(name)") }
    try vim.run("Notes")
    try vim.wait(titles, "['" + names.joined(separator: "', '") + "']")
    return (vim, ids)
  }

  @Test func `dd deletes one note, or as many as are counted or selected, and u takes that back`()
    throws
  {
    let (vim, _) = try Self.showing("A", "B", "C", "D", "E", "F")
    try vim.terminal.type("3Gdd")
    try vim.wait(Self.titles, "['A', 'C', 'D', 'E', 'F']")
    #expect(try vim.eval("getline('.')[13 :]") == "C")
    try vim.terminal.type("2dd")
    try vim.wait(Self.titles, "['A', 'E', 'F']")
    try vim.terminal.type("2GVjd")
    try vim.wait(Self.titles + " .. mode()", "['F']n")
    try vim.terminal.type("u")
    try vim.wait(Self.titles, "['A', 'E', 'F']")
    #expect(try vim.eval("line('.')") == "2")
    try vim.terminal.type("uu")
    try vim.wait(Self.titles, "['A', 'B', 'C', 'D', 'E', 'F']")
    try vim.terminal.type("u")
    try vim.terminal.wait("the message") { $0.last?.contains("nothing was deleted here") == true }
    // A note that a search finds has two lines.
    try vim.terminal.type("stext of\r")
    try vim.wait("line('$')", "13")
    try vim.terminal.type("5G2dd")
    try vim.wait("line('$')", "9")
    try vim.terminal.type("s\u{15}\r")
    try vim.wait(Self.titles, "['A', 'D', 'E', 'F']")
    #expect(try vim.other.call("notebook/list")["notes"]!.array!.count == 4)
  }

  @Test func `selected lines, a command and a question are for the notes that were shown`() throws {
    let (vim, ids) = try Self.showing("A", "B", "C", "D", "E")
    let all = "['A', 'B', 'C', 'D', 'E']"
    // Notes come and go between the two ends of the selection, and above.
    try vim.terminal.type("3GVj")
    try vim.wait("mode() .. line('.')", "V4")
    _ = try vim.note("New", "")
    try vim.other.call("note/move", ["id": .string(ids["E"]!), "after": .string(ids["B"]!)])
    try vim.other.call("note/delete", ["id": .string(ids["A"]!)])
    try vim.wait(Self.waitsForRest, "1")
    #expect(try vim.eval(Self.titles) == all)
    try vim.terminal.type("d")
    try vim.wait(Self.titles, "['New', 'E', 'D']")
    #expect(
      try vim.other.call("notebook/list", ["trashed": true])["notes"]!.array!
        .map { $0["title"]!.string! }.sorted() == ["A", "B", "C"])
    // A key that asks for a line keeps its note, and names it.
    try vim.terminal.type("/ E\rr")
    try vim.terminal.wait("the question") { $0.last == "Title of \"E\": E" }
    try vim.other.call("note/delete", ["id": .string(ids["E"]!)])
    try vim.wait(Self.waitsForRest, "1")
    try vim.terminal.type("2\r")
    try vim.wait(Self.titles, "['New', 'E2', 'D']")
    try vim.terminal.type("t")
    try vim.terminal.wait("the question") { $0.last?.hasPrefix("Tags of \"E2\", ") == true }
    try vim.terminal.press("Escape")
    // So does a command that is being typed.
    try vim.terminal.type("/ D\r:NoteTitle D2")
    try vim.wait("mode()", "c")
    try vim.other.call("note/delete", ["id": .string(ids["D"]!)])
    try vim.wait(Self.waitsForRest, "1")
    try vim.terminal.press("Enter")
    try vim.wait(Self.titles, "['New', 'E2', 'D2']")
    // A question about several names them.
    try vim.terminal.type("2G2ddT")
    try vim.wait("line('$')", "6")
    try vim.terminal.type("2GVGD")
    try vim.terminal.wait("the question") { screen in
      screen.contains { $0.hasPrefix("Forget 5 notes for good") }
        && ["A", "B", "C", "E2", "New"].allSatisfy { title in
          screen.contains { $0.contains("\"\(title)\"") }
        }
    }
    try vim.terminal.type("c")
  }

  /// Whether a change of the list waits until it may be shown: it is tried every 50 ms.
  static let waitsForRest = "timer_info()->filter('v:val.time == 50')->len() > 0"

  @Test func `a new title changes the links to the note, and says in how many notes`() throws {
    let vim = try Vim()
    let target = try vim.note("Target", "text")
    let first = try vim.note("First", "see [[Target]] and [[Target|here]]")
    let second = try vim.note("Second", "[[Target]]")
    try vim.terminal.type(":Notes\r")
    try vim.wait(Self.titles, "['Second', 'First', 'Target']")
    try vim.terminal.type("/ Target\rr\u{15}Errands\r")
    try vim.terminal.wait("the count") {
      $0.last == "Decent Notes: renamed, links changed in 2 notes"
    }
    #expect(try vim.text(first) == "see [[Errands]] and [[Errands|here]]")
    #expect(try vim.text(second) == "[[Errands]]")
    // The command does the same, also for the links in a buffer.
    try vim.run("edit note://\(first)")
    try vim.run("split note://\(target)")
    try vim.terminal.type(":NoteTitle Chores\r")
    try vim.terminal.wait("the count") {
      $0.last == "Decent Notes: renamed, links changed in 2 notes"
    }
    try vim.agree(target, on: "text")
    try vim.run("wincmd p")
    try vim.agree(first, on: "see [[Chores]] and [[Chores|here]]")
    // Links that may mean another note stay.
    _ = try vim.note("Chores", "")
    try vim.run("wincmd p")
    try vim.terminal.type(":NoteTitle Work\r")
    try vim.terminal.wait("the count") {
      $0.last == "Decent Notes: renamed, links changed in 0 notes, ambiguous in 2"
    }
    #expect(try vim.text(second) == "[[Chores]]")
  }

  @Test func `the list is in the order that its user likes, and of the notes with a tag`() throws {
    let (vim, ids) = try Self.showing("b", "C", "a")
    try vim.other.call("note/update", ["id": .string(ids["b"]!), "tags": ["home", "work"]])
    try vim.terminal.type("o")
    try vim.wait("getline(1)->matchstr('changed')", "changed")
    // Times of changes are whole seconds.
    pause(1.1)
    try vim.other.call("note/append", ["id": .string(ids["C"]!), "text": "!"])
    try vim.wait("getline(2)[13 :]", "C")
    try vim.terminal.type("o")
    try vim.wait("getline(1)->matchstr('newest') .. \(Self.titles)", "newest['b', 'C', 'a']")
    try vim.terminal.type("o")
    try vim.wait(Self.titles, "['a', 'b', 'C']")
    try vim.terminal.type("K")
    try vim.terminal.wait("the message") { $0.last?.contains("your own order") == true }
    // It stays so.
    try vim.terminal.type("q:Notes\r")
    try vim.wait(Self.titles, "['a', 'b', 'C']")
    try vim.terminal.type("of\u{15}work\r")
    try vim.wait("getline(1)[:16] .. \(Self.titles)", "Notes tagged work['b']")
    try vim.other.call("note/update", ["id": .string(ids["C"]!), "tags": ["work"]])
    try vim.wait(Self.titles, "['b', 'C']")
    try vim.terminal.type("f\u{15}\r")
    try vim.wait(Self.titles, "['b', 'C', 'a']")
  }

  @Test func `dates are those of the place`() throws {
    let vim = try Vim(environment: ["TZ": "Asia/Kolkata"])
    let id = try vim.note("Note", "one")
    let note = try vim.other.call("note/get", ["id": .string(id)])["note"]!
    let time = try Date(note["modified"]!.string!, strategy: .iso8601)
    func local(_ format: String) -> String {
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: "en_US_POSIX")
      formatter.timeZone = TimeZone(secondsFromGMT: 19800)
      formatter.dateFormat = format
      return formatter.string(from: time)
    }
    try vim.run("Notes")
    try vim.wait("getline(2)", local("MM-dd HH:mm") + "  Note")
    try vim.terminal.type(":NoteHistory\r")
    try vim.wait(
      "get(b:, 'note_title', '') .. getline(2)[: 36]",
      "history\(local("yyyy-MM-dd HH:mm:ss"))  +3 -0  created  ")
    // And who it was.
    try vim.wait("getline(2)[37 :] =~ '^\\S'", "1")
  }

  @Test func `an old text is brought back, and what others do meanwhile stays`() throws {
    let vim = try Vim()
    // Each program's changes are an entry.
    let first = try Server(vim.folder("notes"))
    try first.initialize()
    let id = try first.call("note/create", ["title": "Note", "text": "one\ntwo\nthree"])["note"]![
      "id"]!.string!
    try first.call("shutdown")
    try vim.run("edit note://\(id)")
    try vim.terminal.type("ggdd")
    try vim.agree(id, on: "two\nthree")
    try vim.terminal.type(":NoteHistory\r")
    try vim.wait("get(b:, 'note_title', '') .. line('$') .. line('.')", "history32")
    try vim.wait("getline(1)", "<CR> shows the text of then, r brings it back, q leaves")
    for key in ["r", "\r"] {
      try vim.terminal.type("gg\(key)")
      try vim.terminal.wait("the message") {
        $0.last?.contains("there is nothing on this line") == true
      }
    }
    // In its buffer it is an edit like any other.
    try vim.terminal.type("G\r")
    try vim.wait("g:Text()", "one\ntwo\nthree")
    try vim.terminal.type("rqq")
    try vim.agree(id, on: "one\ntwo\nthree")
    try vim.change(id) { $0 += "\nfour" }
    try vim.agree(id, on: "one\ntwo\nthree\nfour")
    try vim.terminal.type("u")
    try vim.agree(id, on: "two\nthree\nfour")
    // Without one, too.
    try vim.run("bdelete")
    try vim.terminal.type(":Notes\r")
    try vim.wait("getline(2)[13 :]", "Note")
    try vim.terminal.type(":NoteHistory\r")
    try vim.wait("get(b:, 'note_title', '')", "history")
    try vim.change(id) { $0 += "\nfive" }
    try vim.terminal.type("Gr")
    try vim.terminal.wait("the message") { $0.last?.contains("the text of then is back") == true }
    #expect(try vim.text(id) == "one\ntwo\nthree\nfive")
  }

  @Test func `search opens a note at what it found`() throws {
    let vim = try Vim()
    _ = try vim.note("Fruits", "apples\né bananas\nbananas")
    try vim.terminal.type(":Notes\rsBANANAS\r")
    try vim.wait("line('$')", "3")
    try vim.terminal.type("3G\r")
    try vim.wait("[g:Text()->strlen(), getcurpos()[1:2]]->string()", "[25, [2, 4]]")
  }

  @Test func `what is found goes into the quickfix list`() throws {
    let vim = try Vim()
    let fruits = try vim.note("Fruits", "apples\né Bananas\nbananas, bananas")
    let title = try vim.note("bananas", "yellow\n")
    try vim.run("edit note://\(fruits)")
    try vim.terminal.type(":NoteGrep bananas\r")
    try vim.wait("len(getqflist())", "4")
    try vim.wait("[get(b:, 'note_title', ''), line('.')]->string()", "['bananas', 1]")
    for (line, column) in [(2, 4), (3, 1), (3, 10)] {
      try vim.terminal.type(":cnext\r")
      try vim.wait(
        "[get(b:, 'note_title', ''), getcurpos()[1:2]]->string()",
        "['Fruits', [\(line), \(column)]]")
    }
    #expect(try vim.eval("decent_notes#live#BufferOf('\(title)') > 0") == "1")
    #expect(try vim.eval("getqflist()[1].text") == "é Bananas")
    try vim.terminal.type(":copen\r")
    try vim.terminal.wait("the places") { $0.contains { $0.contains("/Fruits|2 col 4-11| é Ban") } }
    try vim.terminal.type(":cclose\r:NoteGrep nowhere\r")
    try vim.terminal.wait("the message") { $0.last?.contains("nothing has \"nowhere\"") == true }
  }

  @Test func `a list of many notes costs little while others change some`() throws {
    let vim = try Vim()
    let count = scaled(1000, 20_000)
    for number in 0..<count { _ = try vim.note("Note \(number)", "") }
    let id = try vim.note("Mine", "text")
    try vim.run("Notes")
    try vim.wait("line('$')", "\(count + 2)")
    try vim.run("split note://\(id)")
    let list = "getbufvar('notes://list', 'changedtick')"
    let first = try vim.other.call("notebook/list", ["limit": 3])["notes"]!.array!
      .map { $0["id"]!.string! }[2]
    let before = Int(try vim.eval(list))!
    try vim.other.call("note/update", ["id": .string(first), "title": "Other"])
    try vim.wait("getbufline('notes://list', 4)[0][13 :]", "Other")
    // One line, and not all.
    #expect(Int(try vim.eval(list))! - before <= 2)
    // New ones are there, and the list's cursor stays on its note.
    let new = try vim.note("New", "")
    try vim.wait("getbufline('notes://list', 2)[0][13 :]", "New")
    #expect(try vim.eval("getbufinfo('notes://list')[0].linecount") == "\(count + 3)")
    #expect(Int(try vim.eval(list))! - before <= 6)
    // While the list is hidden nothing is done.
    try vim.run("only")
    let hidden = try vim.eval(list)
    try vim.other.call("note/update", ["id": .string(new), "title": "Newer"])
    try vim.terminal.type("A!\u{1b}")
    try vim.agree(id, on: "text!")
    #expect(try vim.eval(list) == hidden)
    try vim.run("buffer notes://list")
    try vim.wait("getline(2)[13 :]", "Newer")
  }
}
