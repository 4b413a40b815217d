import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `The command line` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  @Test
  func `A call prints its result, or says why there is none`() throws {
    let options = ["--notebook", folder("notes")]
    let made = try Outcome(options + ["call", "note/create", #"{"title":"by\#u{20}hand"}"#])
    #expect(made.ending == .status(0))
    #expect(made.errors == "")
    let note = try JSONValue(parsing: Array(made.output.utf8))["note"]!
    #expect(note["title"]?.string == "by hand")
    let params = #"{"id":"\#(note["id"]!.string!)","text":"from the\ninput"}"#
    // White space in the params, line breaks too, is JSON's own affair.
    let input = params.replacingOccurrences(of: ",", with: ",\n\r\n\t ") + "\n"
    let set = try Outcome(options + ["call", "note/setText", "-"], input: input)
    #expect(set.ending == .status(0))
    let list = try Outcome(["call", "notebook/list"] + options)
    #expect(list.output.contains("by hand"))
    for method in ["notebook/flush", "shutdown"] {
      #expect(try Outcome(options + ["call", method]).output == "null")
    }
    for wrong in [
      ["note/get", #"{"id":"none"}"#], ["no/such"], ["note/create", "{"], ["note/create", "[1]"],
      ["note/get"], ["initialize"], ["note/create", ""], ["note/create", "{}{}"],
      ["note/create", "{},\"method\":\"shutdown\""],
    ] {
      let outcome = try Outcome(options + ["call"] + wrong)
      #expect(outcome.ending == .status(1), "\(wrong)")
      #expect(outcome.output == "", "\(wrong)")
      #expect(outcome.errors.hasPrefix("decent-notes: "), "\(wrong)")
    }
  }

  /// The numbers of files and of folders in the notebook.
  private func entries() throws -> (files: Int, folders: Int) {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder("notes"))
    let folders = paths.count {
      var isFolder: ObjCBool = false
      _ = FileManager.default.fileExists(atPath: folder("notes") + "/" + $0, isDirectory: &isFolder)
      return isFolder.boolValue
    }
    return (paths.count - folders, folders)
  }

  /// Of two files of which the first is read before another process writes it, and the second after a third one went on from there.
  @Test func `Calls side by side say of no change that it is missing`() throws {
    try shell(
      #"""
      cd "$2"; export XDG_STATE_HOME="$4"
      seq 1 240 | xargs -P 8 -I N "$3" --notebook notes call note/create '{"title":"N"}' > /dev/null
      """#, folder.path, Server.program, stateFolder)
  }

  /// The same with ten thousand is in the README of the benchmarks.
  @Test(.enabled(if: memoryFolder != stateFolder, "there is no folder in memory"))
  func `Calls leave few files, one after the other and side by side`() throws {
    // Memory of its own: a program that a test runs two days later removes from the shared one what was left a day ago.
    let memory = memoryFolder + "/calls-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: memory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: memory) }
    let environment = ["XDG_RUNTIME_DIR": memory]
    let options = ["--notebook", folder("notes")]
    for number in 0..<40 {
      let made = try Outcome(
        options + ["call", "note/create", #"{"title":"word\#(number)"}"#], environment: environment)
      #expect(made.ending == .status(0), "\(made.errors)")
      // Each can be carried at once.
      let open = try FileManager.default.subpathsOfDirectory(atPath: folder("notes"))
        .filter { $0.hasSuffix(".open") }
      #expect(open.isEmpty)
    }
    // decent.json and a log.
    let (first, paths) = (
      try entries(), try FileManager.default.subpathsOfDirectory(atPath: folder("notes"))
    )
    #expect(first == (2, 2), "\(paths)")
    try shell(
      #"""
      cd "$2"; export XDG_STATE_HOME="$4" XDG_RUNTIME_DIR="$5"
      seq 40 79 | xargs -P 4 -I N "$3" --notebook notes call note/create '{"title":"wordN"}'
      """#, folder.path, Server.program, stateFolder, memory)
    let (files, folders) = try entries()
    #expect(files < 12 && folders < 12, "\(files) files, \(folders) folders")
    for _ in 0..<3 {
      let sync = try Outcome(options + ["sync", folder("peer")])
      #expect(sync.ending == .status(0), "\(sync.errors)")
    }
    let reader = try Server(folder("peer"))
    try reader.initialize()
    let words = try reader.words()
    for number in 0..<80 { #expect(words["word\(number)"] == 1) }
    #expect(try Outcome(options + ["check"]).ending == .status(0))
  }

  @Test
  func `A call refuses parameters that the method does not have, and does nothing then`() throws {
    let options = ["--notebook", folder("notes")]
    let made = try Outcome(options + ["call", "note/create", #"{"title":"kept"}"#])
    let id = try JSONValue(parsing: Array(made.output.utf8))["note"]!["id"]!.written
    for (method, params, name) in [
      ("note/create", #"{"titel":"lost"}"#, "titel"),
      ("note/create", #"{"title":"lost","Text":""}"#, "Text"),
      ("note/update", #"{"id":\#(id),"tags":{"add":["a"],"del":["b"]}}"#, "tags.del"),
      ("notebook/list", #"{"tag":"a"}"#, "tag"),
      ("notebook/status", #"{"verbose":true}"#, "verbose"),
      ("notebook/flush", #"{"now":true}"#, "now"),
      ("notebook/search", #"{"query":"a","q":1}"#, "q"),
    ] {
      let outcome = try Outcome(options + ["call", method, params])
      #expect(outcome.ending == .status(1) && outcome.output == "", "\(params)")
      #expect(
        outcome.errors.hasPrefix(
          "decent-notes: \(method): \(name): \(method) has no such parameter; it has "),
        "\(outcome.errors)")
    }
    let list = try Outcome(options + ["call", "notebook/list"])
    #expect(list.output.contains("kept") && !list.output.contains("lost"))
    #expect(list.output.contains(#""tags":[]"#))
    // A program may be of a later version.
    let server = try Server(folder("notes"))
    try server.initialize()
    try server.call("note/create", ["title": "later", "colour": "red"])
  }

  @Test
  func `A call that reads a notebook that is not there says so, and one that writes begins it`()
    throws
  {
    let options = ["--notebook", folder("nots")]
    for (method, params) in [
      ("notebook/list", "{}"), ("note/get", #"{"id":"1-5dc8"}"#),
      ("notebook/search", #"{"query":"a"}"#),
      ("notebook/status", "{}"), ("notebook/changes", "{}"), ("notebook/flush", "{}"),
    ] {
      let outcome = try Outcome(options + ["call", method, params])
      #expect(outcome.ending == .status(1) && outcome.output == "", "\(method)")
      #expect(
        outcome.errors.contains("\(method): there is no notebook in \(folder("nots"))"),
        "\(outcome.errors)")
      #expect(!FileManager.default.fileExists(atPath: folder("nots")))
    }
    #expect(try Outcome(options + ["call", "note/create"]).ending == .status(0))
    #expect(try Outcome(options + ["call", "notebook/list"]).ending == .status(0))
  }

  @Test
  func `A check says what is there, and what is damaged, and changes nothing`() throws {
    let options = ["--notebook", folder("notes")]
    let nothing = try Outcome(options + ["check"])
    #expect(nothing.ending == .status(0) && nothing.output.contains("there is no notebook"))
    #expect(!FileManager.default.fileExists(atPath: folder("notes")))
    for number in 1...3 {
      // Where no folder is in memory, each has a session of its own.
      _ = try Outcome(
        options + ["call", "note/create", #"{"title":"note \#(number)"}"#],
        environment: ["XDG_RUNTIME_DIR": "none"])
    }
    let sound = try Outcome(options + ["check"])
    #expect(sound.ending == .status(0), "\(sound)")
    #expect(sound.output.contains("3 notes, 0 in the trash; 3 changes in 3 sessions"))
    #expect(sound.output.hasSuffix("everything can be read"))
    let logs = try FileManager.default.subpathsOfDirectory(atPath: folder("notes/log"))
    let log = folder("notes/log/" + logs.filter { $0.contains(".") }.sorted()[1])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: log))
    bytes[bytes.count - 20] ^= 1
    try bytes.write(to: URL(fileURLWithPath: log))
    let damaged = try Outcome(options + ["check"])
    #expect(damaged.ending == .status(1), "\(damaged)")
    #expect(damaged.output.contains("damage: \(log), byte "))
    // How many are left depends on which session it was: the later ones follow the earlier.
    #expect(!damaged.output.contains("3 notes"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: log)) == bytes)
    try Data("{}".utf8).write(to: URL(fileURLWithPath: folder("notes/decent.json")))
    let worse = try Outcome(options + ["check"])
    #expect(worse.ending == .status(1) && worse.errors.contains("decent.json"))
  }

  @Test
  func `A repair copies what is damaged, and writes again what is known`() throws {
    let options = ["--notebook", folder("notes")]
    var ledger = Ledger()
    let server = try Server(folder("notes"))
    try server.initialize()
    // So much that it is kept for the next run.
    let text = String(repeating: "far too long, ", count: 10_000)
    let note = try server.call("note/create", ["text": .string(text)])["note"]!["id"]!.written
    _ = try server.create("lost", &ledger).get()
    try server.leave()
    let sound = try Outcome(options + ["check", "--repair"])
    #expect(sound.ending == .status(0) && sound.output.contains("nothing is known of this"))
    let logs = try FileManager.default.subpathsOfDirectory(atPath: folder("notes/log"))
    let log = folder("notes/log/" + logs.filter { $0.contains(".") }.sorted()[0])
    var bytes = try Data(contentsOf: URL(fileURLWithPath: log))
    bytes[200] ^= 1
    try bytes.write(to: URL(fileURLWithPath: log))
    let damaged = try Outcome(options + ["check"])
    #expect(damaged.ending == .status(1) && damaged.output.contains("0 notes"), "\(damaged)")
    #expect(damaged.output.contains("1 record of it can't be found anywhere"), "\(damaged)")
    let repaired = try Outcome(options + ["check", "--repair"])
    #expect(repaired.output.contains("wrote again"), "\(repaired)")
    #expect(repaired.output.contains("nothing is lost by it"), "\(repaired)")
    // It is still there, and as it was.
    #expect(repaired.ending == .status(1) && repaired.output.contains("2 notes"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: log)) == bytes)
    let line = try #require(repaired.output.split(separator: "\n").first { $0.hasPrefix("copied") })
    let copy = String(line[(line.lastIndex(of: " ").map { line.index(after: $0) })!...])
    #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == bytes)
    let fresh = try Outcome(
      options + ["call", "note/get", "{\"id\":\(note)}"],
      environment: ["XDG_STATE_HOME": folder("other")])
    #expect(fresh.output.contains("far too long"))
  }

  @Test
  func `Help and version are printed`() throws {
    let help = try Outcome(["--help"])
    #expect(help.ending == .status(0))
    #expect(help.output.hasPrefix("usage: decent-notes"))
    let version = try Outcome(["--version"])
    #expect(version.ending == .status(0))
    #expect(version.output.hasPrefix("decent-notes "))
  }

  @Test(
    arguments: [
      ["--nonsense"], ["-x"], ["nonsense"], ["call"], ["call", "a", "b", "c"], ["--notebook"],
      ["check", "x"], ["compact", "x"], ["--repair"], ["compact", "--repair"],
      ["--notebook", ""], ["--framing", "pigeon"], ["--max-message", "0"], ["--max-message=x"],
      ["--max-message", "-5"], ["--max-message", "99999999999999999999"], ["--stdio=1"], ["--"],
      ["--help=1"], ["--seed", "x"], ["sync"], ["sync", ""], ["sync", "rclone:"],
      ["sync", "'open"],
      ["sync", "--every", "0s", "x"], ["sync", "--every", "25h", "x"], ["--every", "5s"],
      ["--name"], ["--name", ""], ["--sync"], ["--sync", "a", "sync", "b"], ["--adopt"], ["--due"],
      ["check", "--due"],
      ["sync", "--adopt", "--every=1s", "x"], ["--confined"], ["--confined=1"],
      ["compact", "--due", "--purged"], ["--purged"], ["purge"], ["purge", "a", "--trash"],
      ["--trash"],
      ["purge", "a", "--older", "1d"], ["purge", "--trash", "--older", "1"],
      ["purge", "--trash", "--older", "xd"], ["purge", "--trash", "--older", "-1d"],
      ["--confined", "--notebook", "x", "check"], ["--confined", "--notebook", "x", "sync", "y"],
    ])
  func `Wrong arguments are told in one line, and end with status 64`(_ arguments: [String]) throws
  {
    let outcome = try Outcome(arguments)
    #expect(outcome.ending == .status(64))
    #expect(outcome.errors.hasPrefix("decent-notes: "))
    #expect(outcome.errors.hasSuffix(" says more)\n"), "\(outcome.errors)")
    #expect(outcome.errors.contains("(decent-notes --help") || outcome.errors.contains(" help "))
    #expect(outcome.errors.split(separator: "\n").count == 1)
    #expect(outcome.output == "")
  }

  @Test
  func `Output that cannot be written is an error`() throws {
    let options = ["--notebook", folder("notes")]
    #expect(try Outcome(options + ["call", "note/create"]).ending == .status(0))
    for command in [
      ["--help"], ["--version"], ["check"], ["compact"], ["compact", "--purged"],
      ["call", "notebook/list"], ["purge", "--trash"], ["sync", folder("other")],
    ] {
      let outcome = try Outcome(options + command, shell: "exec \"$@\" > /dev/full")
      #expect(outcome.ending == .status(1), "\(command)")
      #expect(outcome.errors.contains("standard output: No space left"), "\(outcome.errors)")
      // A reader that goes away has what it wanted.
      let closed = try Outcome(options + command, shell: "\"$@\" | true")
      #expect(closed.ending == .status(0) && closed.errors == "", "\(command) \(closed.errors)")
    }
  }

  @Test(arguments: ["--notebook", "check", "--sync"])
  func `Arguments that are no UTF-8 are refused`(_ word: String) throws {
    let outcome = try Outcome([word], shell: "exec \"$@\" \"$(printf 'a\\377b')\"")
    #expect(outcome.ending == .status(64))
    #expect(outcome.errors.contains("argument 2 is no UTF-8"), "\(outcome.errors)")
  }

  @Test(arguments: ["XDG_STATE_HOME", "DECENT_NOTES", "HOME"])
  func `A variable of the environment that is no UTF-8 is refused`(_ name: String) throws {
    let outcome = try Outcome(
      [name, "check"],
      shell: "program=$1; export \"$2=$(printf '/tmp/a\\377b')\"; exec \"$program\" \"$3\"")
    #expect(outcome.ending == .status(64), "\(outcome.errors)")
    #expect(outcome.errors.contains("\(name): this variable of the environment is not UTF-8"))
  }

  @Test(arguments: ["a.md", "./a.md", "../here/a.md"])
  func `A file of the working directory is imported by its name`(_ path: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder("here"), withIntermediateDirectories: true)
    try "# One\n".write(toFile: folder("here/a.md"), atomically: true, encoding: .utf8)
    let outcome = try Outcome(
      ["--notebook", folder("notes"), "import", path],
      shell: "cd '\(folder("here"))' && exec \"$@\"")
    #expect(outcome.output == "\(path): 1 created, 0 updated, 0 unchanged", "\(outcome.errors)")
    #expect(outcome.ending == .status(0))
  }

  @Test func `The demonstration says that its output cannot be written`() throws {
    try "a text\n".write(toFile: folder("file"), atomically: true, encoding: .utf8)
    let outcome = try Outcome(["demo", folder("file")], shell: "exec \"$@\" > /dev/full")
    #expect(outcome.ending == .status(1))
    #expect(outcome.errors.contains("standard output: No space left"), "\(outcome.errors)")
  }

  @Test func `A call prints no character that commands a terminal`() throws {
    let options = ["--notebook", folder("notes"), "call"]
    let title = "a\u{9B}31mb\u{202E}c\u{7F}"
    let made = try Outcome(options + ["note/create", #"{"title":"\#(title)"}"#])
    #expect(
      !made.output.unicodeScalars.contains { "\u{9B}\u{202E}\u{7F}".unicodeScalars.contains($0) })
    let note = try JSONValue(parsing: Array(made.output.utf8))["note"]!
    #expect(note["title"]!.string == title)
  }

  @Test(.timeLimit(.minutes(1)))
  func `A call prints an answer of any length`() throws {
    let options = ["--notebook", folder("notes")]
    let made = try Outcome(options + ["call", "note/create"])
    let id = try JSONValue(parsing: Array(made.output.utf8))["note"]!["id"]!.string!
    // Each of these characters takes six bytes.
    let text = String(repeating: "\\u0001", count: 3 << 20)
    for _ in 0..<2 {
      let params = #"{"id":"\#(id)","text":"\#(text)"}"#
      let more = try Outcome(options + ["call", "note/append", "-"], input: params)
      #expect(more.ending == .status(0), "\(more.errors)")
    }
    let all = try Outcome(options + ["call", "note/get", #"{"id":"\#(id)"}"#])
    #expect(all.ending == .status(0), "\(all.errors)")
    #expect(all.output.utf8.count > 36 << 20)
  }

  @Test
  func `Control characters of file names and of peers never reach a terminal`() throws {
    let options = ["--notebook", folder("notes")]
    #expect(try Outcome(options + ["call", "note/create"]).ending == .status(0))
    let log = try logs(of: folder("notes"))[0]
    let bytes = FileManager.default.contents(atPath: log)!
    let copy = (log as NSString).deletingLastPathComponent + "/0-\u{1B}[2J\u{9B}1m.seg"
    #expect(FileManager.default.createFile(atPath: copy, contents: bytes.dropLast(3) + [0, 0, 0]))
    let check = try Outcome(options + ["check"])
    #expect(check.ending == .status(1) && check.output.contains(#"0-\x1b[2J\x9b1m.seg"#))
    let sync = try Outcome(options + ["sync", #"sh -c 'printf "\033[2Jno\n" >&2; exit 1'"#])
    #expect(sync.ending == .status(1) && sync.errors.contains(#"\x1b[2Jno"#), "\(sync.errors)")
    let wrong = try Outcome(["--\u{1B}[2J"])
    #expect(wrong.ending == .status(64) && wrong.errors.contains(#"\x1b[2J"#))
    for outcome in [check, sync, wrong] {
      for scalar in (outcome.output + outcome.errors).unicodeScalars where scalar != "\n" {
        #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value))
      }
    }
    let server = try Server(folder("notes"))
    try server.initialize()
    let told = try server.notification("window/showMessage") { _ in true }
    #expect(told["message"]?.string?.contains(#"\x1b[2J\x9b1m"#) == true, "\(told.written)")
    try server.leave()
  }

  /// The authors of the log, the newest first.
  private func authors() throws -> [[String]] {
    let log = try Outcome(["--notebook", folder("notes"), "call", "notebook/log"])
    let entries = try JSONValue(parsing: Array(log.output.utf8))["entries"]?.array
    return entries.map(Array.init)!.map { entry in
      ["name", "program"].map { entry["author"]?[$0]?.string ?? "nobody" }
    }
  }

  @Test
  func `Whose changes they are is said by an option, or by the system; commands are programs`()
    throws
  {
    let options = ["--notebook", folder("notes")]
    func run(_ arguments: String..., environment: [String: String?] = [:]) throws {
      let outcome = try Outcome(options + arguments, environment: environment)
      #expect(outcome.ending == .status(0), "\(outcome.errors)")
    }
    try run("call", "note/create", environment: ["USER": "zoe", "LOGNAME": nil])
    let host = try shell("uname -n").trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(try authors() == [["zoe@\(host)", "decent-notes call"]])
    try run("call", "note/create", environment: ["USER": nil, "LOGNAME": "leo"])
    #expect(try authors()[0][0] == "leo@\(host)")
    try run("call", "note/create", environment: ["USER": nil, "LOGNAME": nil])
    let user = try shell("id -un").trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(try authors()[0][0] == "\(user)@\(host)")
    try run("--name", " Zoë\u{1B}[2J\n", "call", "note/create")
    #expect(try authors()[0] == ["Zoë [2J", "decent-notes call"])

    let server = try Server(folder("notes"), ["--name=Max"])
    try server.initialize()
    let id = try server.call("note/create")["note"]!["id"]!.string!
    try server.call("note/delete", ["id": .string(id)])
    try server.leave()
    #expect(try authors()[0] == ["Max", "decent-notes"])
    try run("--name", "Eva", "purge", id)
    #expect(try authors()[0] == ["Eva", "decent-notes purge"])
    try "text".write(toFile: folder("a.md"), atomically: true, encoding: .utf8)
    try run("--name", "Eva", "import", folder("a.md"))
    #expect(try authors()[0] == ["Eva", "decent-notes import"])
  }

  @Test(.enabled(if: memoryFolder != stateFolder, "there is no folder in memory"))
  func `A session that calls hand on has a name once, and another one where that changes`() throws {
    let options = ["--notebook", folder("notes")]
    for name in ["Anastasia", "Anastasia", "Anastasia", "Benedikt", "Anastasia"] {
      let made = try Outcome(options + ["--name", name, "call", "note/create"])
      #expect(made.ending == .status(0), "\(made.errors)")
    }
    #expect(try authors().map { $0[0].prefix(1) } == ["A", "B", "A", "A", "A"])
    let logs = try logs(of: folder("notes"))
    let bytes = try logs.map { try Data(contentsOf: URL(filePath: $0)) }.joined()
    func count(_ word: String) -> Int {
      Data(bytes).split(separator: Data(word.utf8), omittingEmptySubsequences: false).count - 1
    }
    #expect(logs.count == 1 && count("Anastasia") == 2 && count("Benedikt") == 1)
  }

  @Test
  func `The folder is the argument, or comes from the environment`() throws {
    let none: [String: String?] = ["DECENT_NOTES": nil, "XDG_DATA_HOME": nil, "HOME": nil]
    let home: [String: String?] = none.merging(["HOME": folder("home")]) { $1 }
    let data: [String: String?] = home.merging(["XDG_DATA_HOME": folder("data")]) { $1 }
    let notes: [String: String?] = data.merging(["DECENT_NOTES": folder("notes")]) { $1 }
    for (environment, path) in [
      (home, "home/.local/share/decent-notes"), (data, "data/decent-notes"), (notes, "notes"),
    ] {
      let outcome = try Outcome(["call", "note/create"], environment: environment)
      #expect(outcome.ending == .status(0), "\(outcome.errors)")
      #expect(access(folder(path) + "/decent.json", F_OK) == 0)
    }
    // A relative folder is none.
    let relative = home.merging(["XDG_DATA_HOME": "data"]) { $1 }
    let known = try Outcome(["call", "notebook/list"], environment: home)
    #expect(try Outcome(["call", "notebook/list"], environment: relative).output == known.output)
    let option = ["--notebook=\(folder("option"))", "call", "note/create"]
    #expect(try Outcome(option, environment: notes).ending == .status(0))
    #expect(access(folder("option/decent.json"), F_OK) == 0)
    #expect(try Outcome(["call", "notebook/list"], environment: none).ending == .status(64))
    // What the client says comes before all of them.
    let server = try Server(folder("option"), environment: notes)
    let options: JSON = ["notebook": .string(folder("client"))]
    try server.call("initialize", ["initializationOptions": options])
    try server.call("note/create")
    #expect(access(folder("client/decent.json"), F_OK) == 0)
  }
}

@Suite(.waiting)
struct `Disks that refuse` {
  let folder: TemporaryFolder

  init() throws { folder = TemporaryFolder() }

  @Test
  func `A full disk is told, and what was acknowledged stays`() throws {
    // Files of 16 blocks of 512 bytes at most.
    let server = try Server(folder("notes"), shell: "ulimit -f 16 && exec \"$@\"")
    try server.initialize()
    var kept: [String] = []
    var refused = 0
    for number in 0..<30 {
      let text = String(repeating: "text \(number) ", count: 100)
      let response = try server.response(
        to: try server.post("note/create", ["title": .string("\(number)"), "text": .string(text)]))
      if let error = response["error"] {
        refused += 1
        #expect(error.code == -32803)
        #expect(error.reason == "diskFull")
        let big = String(repeating: "never ", count: 4000)
        #expect(try server.error("note/create", ["text": .string(big)]).reason == "diskFull")
      } else {
        kept.insert("\(number)", at: 0)
      }
      let titles = try server.call("notebook/list")["notes"]!.array!.map { $0["title"]!.string! }
      #expect(titles == kept)
    }
    #expect(refused > 0)
    // A client that types keeps its text, and sends it whole with its next change.
    let id = JSON.raw(try server.call("note/create", [:])["note"]!["id"]!.written)
    let open = try server.call("note/open", ["id": id, "mode": "edit"])["attachment"]!.written
    func change(_ version: Int, _ text: String) -> JSON {
      ["attachment": .raw(open), "version": JSON(version), "rev": 0, "text": .string(text)]
    }
    let big = String(repeating: "big ", count: 4000)
    #expect(try server.error("note/change", change(1, big)).reason == "diskFull")
    try server.call("note/change", change(2, "small"))
    try server.killNow()
    let next = try Server(folder("notes"))
    try next.initialize()
    let titles = try next.call("notebook/list")["notes"]!.array!.map { $0["title"]!.string! }
    #expect(titles == [""] + kept)
    #expect(try next.call("note/get", ["id": id])["text"]?.string == "small")
    #expect(try next.call("note/create", ["text": .string(big)])["note"] != nil)
  }

  @Test
  func `A folder that can't be written says so clearly`() throws {
    let file = folder("file")
    try Data("x".utf8).write(to: URL(fileURLWithPath: file))
    let blocked = folder("blocked")
    try FileManager.default.createDirectory(atPath: blocked, withIntermediateDirectories: true)
    try Data("x".utf8).write(to: URL(fileURLWithPath: blocked + "/log"))
    for path in ["/proc/nonexistent", file, file + "/notes", blocked] {
      let server = try Server(path)
      let start = try server.response(to: try server.post("initialize", [:]))
      if let error = start["error"] {
        #expect(error.code == -32803)
        #expect(error["message"]?.string?.contains(path) == true, "\(error.written)")
        continue
      }
      #expect(try server.call("notebook/list")["notes"]?.array?.isEmpty == true)
      for _ in 0..<2 {
        let error = try server.error("note/create", ["title": "no"])
        #expect(error.code == -32803)
        #expect(error.reason != nil)
        #expect(error["message"]?.string?.contains(path) == true, "\(error.written)")
      }
      #expect(try server.call("notebook/list")["notes"]?.array?.isEmpty == true)
      try server.leave()
    }
  }
}
