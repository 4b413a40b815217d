import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waitingLong, .tags(.editor, .slow),
  .enabled(
    if: hasTool("emacs") && Terminal.isPossible || isContinuousIntegration,
    "emacs or tmux is missing"))
struct `The client for Emacs` {
  @Test func `the client is documented`() throws {
    let outcome = try Outcome(
      [EmacsSession.folder],
      shell: """
        set -e; exec 2>&1
        cd "$2"
        sources=$(ls *.el | grep -v tests)
        checked=$(for file in $sources; do
          emacs --batch -Q --eval "(checkdoc-file \\"$file\\")" 2>&1
        done)
        echo "checkdoc: <$checked>"
        """,
      // Each file is read by an Emacs of its own, beside all other tests.
      silence: 120)
    #expect(outcome.ending == .status(0), "\(outcome.output.suffix(5000))")
    #expect(outcome.output.contains("checkdoc: <>"), "\(outcome.output.prefix(1000))")
  }

  @Test(arguments: try EmacsSession.tests())
  func `the client passes its own tests`(_ tests: String) throws {
    let folder = TemporaryFolder()
    let outcome = try Outcome(
      [EmacsSession.folder, tests], environment: ["XDG_STATE_HOME": folder("state")],
      shell: """
        exec 2>&1
        export DECENT_NOTES_COMMAND="$1"
        cd "$2"
        # A file of tests may need another, whose tests are not meant.
        exec emacs --batch -Q -L . -l "${3%.el}" --eval "(ert-run-tests-batch-and-exit
          '(satisfies (lambda (test) (equal \\"$3\\" (file-name-nondirectory
            (symbol-file (ert-test-name test) 'ert--test))))))"
        """,
      // Emacs says nothing while it reads a note of 40 MB from a program without optimization, beside all other tests.
      silence: 120)
    #expect(outcome.ending == .status(0), "\(outcome.output.suffix(5000))")
    #expect(outcome.output.contains(" 0 unexpected"))
  }

  @Test func `typing and the edits of others meet, and undo takes back one's own only`() throws {
    let session = try EmacsSession("one\ntwo\n")
    let emacs = session.emacs
    try emacs.press("C-e")
    for word in ["typed", "while", "others"] {
      try emacs.type(" \(word)")
      try session.append("their \(word)\n")
    }
    let theirs = "two\ntheir typed\ntheir while\ntheir others\n"
    try session.wait(for: "one typed while others\n" + theirs)
    try emacs.wait("their edits") { $0.contains("their others") }
    try session.replace("one typed", "zero\nand one, typed")
    try emacs.wait("an edit above") { $0.prefix(2) == ["zero", "and one, typed while others"] }
    try emacs.press("F6")
    try emacs.wait("point at the end of the line") { $0.last == "before <>" }
    // What was typed in a row is one step, as far as nothing came between.
    for _ in 0..<20 {
      try emacs.press("C-/")
      if try session.text() == "zero\nand one,\n" + theirs { break }
      pause(0.05)
    }
    try session.wait(for: "zero\nand one,\n" + theirs)
    try emacs.wait("the undone line") { $0[1] == "and one," }
    try session.quit()
  }

  @Test func `saving says that it is written, and the mode line what is going on`() throws {
    let session = try EmacsSession("")
    let emacs = session.emacs
    try emacs.type("milk\reggs")
    try emacs.press("C-x", "C-s")
    try emacs.wait("written") { $0.last?.hasSuffix("Note written") == true }
    try session.wait(for: "milk\neggs")
    try emacs.wait("unmodified") { $0.contains { $0.hasPrefix("-UUU:----F1  Note ") } }
    try session.quit()
  }

  @Test func `a push waits while query-replace asks`() throws {
    let session = try EmacsSession("one x\ntwo x\nthree x\n")
    let emacs = session.emacs
    try emacs.press("M-%")
    try emacs.type("x\ry\r")
    try emacs.wait("the question") { $0.last?.contains("Query replacing") == true }
    try session.replace("one", "zero\none")
    try emacs.type("y")
    try session.wait(for: "zero\none y\ntwo x\nthree x\n")
    try emacs.type("!")
    try session.wait(for: "zero\none y\ntwo y\nthree y\n")
    try emacs.wait("the line above") { $0.first == "zero" }
    try session.quit()
  }

  @Test func `the list does everything by its keys`() throws {
    let session = try EmacsSession(
      [("Apples", "red"), ("Pears", "green\nand red"), ("Plums", "blue")], start: "(decent-notes)")
    let emacs = session.emacs
    func titles() throws -> [String] {
      try session.peer.call("notebook/list")["notes"]!.array!.map { $0["title"]!.string! }
    }
    func shows(_ titles: [String]) throws {
      try emacs.wait("the list \(titles)") {
        $0.dropFirst().prefix(titles.count + 1).map { $0.split(separator: " ").first ?? "" }
          == titles.map { $0[...] } + [""]
      }
    }
    try shows(["Apples", "Pears", "Plums"])
    try emacs.type("J")
    try shows(["Pears", "Apples", "Plums"])
    try emacs.press("M-Down")
    try shows(["Pears", "Plums", "Apples"])
    try emacs.type("K")
    try emacs.press("M-Up")
    try shows(["Apples", "Pears", "Plums"])
    try emacs.type("r")
    try emacs.wait("the title") { $0.last == "Title of Apples: Apples" }
    try emacs.type(" etc\r")
    try emacs.type("t")
    try emacs.type("home, far away\r")
    try emacs.type("!")
    try session.wait("title, tags and priority") {
      let note = try session.note("Apples etc")
      return note?["tags"]?.array?.map(\.string) == ["far away", "home"]
        && note?["priority"]?.string == "high"
    }
    try emacs.wait("the row") {
      $0[1].split(separator: " ").prefix(6) == ["Apples", "etc", "far", "away,", "home", "high"]
    }
    // What others do comes in, and the cursor stays on its note.
    try session.peer.call("note/create", ["title": "First", "text": ""])
    try shows(["First", "Apples", "Pears", "Plums"])
    try emacs.type("d")
    try shows(["First", "Pears", "Plums"])
    try emacs.type("T")
    try shows(["Apples"])
    try emacs.type("u")
    try shows([])
    try emacs.type("T")
    try session.wait("the note is back") { try titles().contains("Apples etc") }
    try emacs.type("s")
    try emacs.type("RED\r")
    try emacs.wait("the matches") { screen in
      screen.contains { $0.contains("and red") } && !screen.contains { $0.contains("Plums") }
    }
    try emacs.type("s\r")
    try emacs.wait("all notes") { screen in screen.contains { $0.contains("Plums") } }
    try emacs.type("c")
    try emacs.type("Cherries\r")
    try emacs.wait("a new note") { screen in screen.contains { $0.contains("  Cherries ") } }
    try emacs.type("sweet")
    try session.wait(for: "sweet", in: "Cherries")
    try emacs.press("M-x")
    try emacs.type("decent-notes-open\rPea")
    try emacs.press("Tab", "Enter")
    try emacs.wait("the opened note") { $0.first == "green" }
    try emacs.press("M-x")
    try emacs.type("decent-notes-open\rno such\r")
    try emacs.wait("the error") { $0.last == "There is no note called \"no such\"" }
    try emacs.press("M-x")
    try emacs.type("decent-notes-history\r")
    try emacs.wait("the history") { $0.dropFirst().first?.contains("Inserted") == true }
    try emacs.wait("its keys") {
      $0.first?.contains("RET shows the text of then, r brings it back, q leaves") == true
    }
    try emacs.press("Enter")
    try emacs.wait("the text of then") { $0.first == "green" }
    try emacs.press("M-x")
    try emacs.type("decent-notes\r")
    try emacs.wait("the list") { $0.first?.contains("Title") == true }
    try emacs.type("?")
    try emacs.wait("the help") { screen in screen.contains { $0.hasPrefix("The list of notes") } }
    try emacs.type("q")
    try session.quit()
  }

  @Test func `what was typed right before the end is kept`() throws {
    let session = try EmacsSession("one\n")
    try session.emacs.type("zero ")
    try session.quit()
    #expect(try session.text() == "zero one\n")
  }

  @Test func `leaving with text that can't be sent asks, and keeps the text in a file`() throws {
    let session = try EmacsSession("one\n")
    try session.emacs.type("two ")
    try session.emacs.press("C-q")
    try session.emacs.type("0\r")
    try session.emacs.wait("the word about it") { $0.last?.contains("no Unicode text") == true }
    try session.emacs.press("C-x", "C-c")
    try session.emacs.wait("the question") {
      $0.contains { $0.contains("could not be sent is kept") }
    }
    try session.emacs.type("yes\r")
    try session.emacs.waitForEnd()
    let folder = session.folder("state/decent-notes/unsent")
    // Beside the text there is what another editor needs to bring it into the note.
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    try #require(files.map { URL(fileURLWithPath: $0).pathExtension } == ["json", "txt"])
    let text = FileManager.default.contents(atPath: folder + "/" + files[1])
    #expect(text == Data("two \0one\n".utf8))
    #expect(try session.text() == "two one\n" || session.text() == "one\n")
  }

  @Test func `the process is killed while one types, and nothing is lost or doubled`() throws {
    let session = try EmacsSession("")
    let emacs = session.emacs
    var words: [String] = []
    for round in 0..<4 {
      for number in 0..<10 {
        words.append("w\(round)\(number)")
        try emacs.type(words.last! + " ")
        if number == 5 { try emacs.press("F5") }
      }
    }
    try session.wait(for: words.map { $0 + " " }.joined())
    try emacs.wait("connected") { $0.contains { $0.contains("Note[connected]") } }
    try emacs.press("C-x", "C-s")
    try emacs.wait("written") { $0.last?.hasSuffix("Note written") == true }
    try session.quit()
  }
}
