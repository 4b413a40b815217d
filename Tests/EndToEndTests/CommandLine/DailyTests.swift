import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waiting)
struct `The note of a day` {
  let run = Commands()

  /// Runs `daily` at a time of a zone.
  private func daily(_ words: String..., at time: String, zone: String = "UTC") throws -> Ran {
    try run.run(
      ["daily"] + words, environment: ["TZ": zone],
      shell: "NO_FAKE_STAT=1 exec faketime \(quoted(time)) \"$@\"")
  }

  private func titles() throws -> [String] { try run("list").fields.map { $0[1] } }

  @Test func `is made once`() throws {
    let first = try run("daily", "2026-11-24")
    #expect(first.status == 0 && first.errors == "" && first.line.hasPrefix("1-"))
    #expect(try run("daily", "2026-11-24").line == first.line)
    #expect(try run("append", "2026-11-24", "done").status == 0)
    #expect(try run.text(first.line) == "done\n")
    let other = try run("daily", "2028-02-29")
    #expect(try titles() == ["2028-02-29", "2026-11-24"] && other.line != first.line)
    let value = try run("daily", "--json", "2026-11-24").values()[0]
    #expect(value["id"]?.string == first.line && value["title"]?.string == "2026-11-24")
    // One in the trash was thrown away.
    #expect(try run("trash", first.line).status == 0)
    #expect(try run("daily", "2026-11-24").line != first.line)
  }

  @Test(.enabled(if: hasTool("faketime") || isContinuousIntegration, "faketime is missing"))
  func `is that of the present day where the user is`() throws {
    for (words, time, zone, day) in [
      ([], "2026-11-24 23:59:00", "UTC", "2026-11-24"),
      ([], "2026-11-24 23:59:00", "UTC-1", "2026-11-24"),
      (["today"], "2026-01-01 00:00:30", "UTC", "2026-01-01"),
      (["yesterday"], "2026-01-01 00:00:30", "UTC", "2025-12-31"),
      (["tomorrow"], "2028-02-28 12:00:00", "UTC", "2028-02-29"),
      // The day on which an hour is missing, and that on which there is one more.
      (["tomorrow"], "2026-03-28 23:30:00", "Europe/Berlin", "2026-03-29"),
      (["yesterday"], "2026-03-30 00:30:00", "Europe/Berlin", "2026-03-29"),
      (["tomorrow"], "2026-10-24 23:30:00", "Europe/Berlin", "2026-10-25"),
      (["yesterday"], "2026-10-26 00:30:00", "Europe/Berlin", "2026-10-25"),
    ] as [([String], String, String, String)] {
      let id = try run.run(
        ["daily"] + words, environment: ["TZ": zone],
        shell: "NO_FAKE_STAT=1 exec faketime \(quoted(time)) \"$@\"")
      #expect(id.status == 0, "\(id.errors)")
      let notes = try run("list", "--json").values()
      let note = notes.first { $0["id"]?.string == id.line }
      #expect(note?["title"]?.string == day, "\(words) \(time) \(zone)")
    }
    // A place where it is another day.
    _ = try daily(at: "2026-06-01 12:00:00", zone: "Pacific/Kiritimati")
    #expect(try titles().contains("2026-06-01"))
  }

  @Test func `is one, however many ask at the same moment`() throws {
    // The first ones begin the notebook, too.
    for round in 0..<3 {
      let output = try shell(
        #"""
        export XDG_STATE_HOME="$4" TZ=UTC
        seq 12 | xargs -P 6 -I N "$2" --notebook "$3" daily "$5"
        """#, Server.program, run.notebook, run.folder("state"), "2026-11-2\(round)")
      let ids = Set(output.split(separator: "\n"))
      #expect(ids.count == 1, "\(output)")
    }
    #expect(try titles().count == 3)
    // Users of one folder have no state folder in common.
    let output = try shell(
      #"""
      export TZ=UTC
      seq 12 | xargs -P 6 -I N env XDG_STATE_HOME="$4/N" "$2" --notebook "$3" daily 2026-12-01
      """#, Server.program, run.notebook, run.folder("states"))
    #expect(Set(output.split(separator: "\n")).count == 1, "\(output)")
  }

  @Test(arguments: [true, false])
  func `is looked for when the command before has made it`(_ isOfUser: Bool) throws {
    #expect(try run("daily", "2026-11-24").status == 0)
    let lock =
      isOfUser
      ? open(run.folder("state/decent-notes/daily.lock"), O_RDWR) : open(run.notebook, O_RDONLY)
    #expect(lock >= 0 && flock(lock, LOCK_EX) == 0)
    let waiting = try Server(run.notebook, ["daily", "2026-11-25"], environment: run.environment)
    defer { withExtendedLifetime(waiting) {} }
    let id = try run.make("2026-11-25")
    close(lock)
    #expect(try waiting.waitForEnd(reading: false) == .status(0))
    #expect(try waiting.takeOutput() == id + "\n")
    #expect(try titles() == ["2026-11-25", "2026-11-24"])
  }

  @Test func `is found while another command stands still`() throws {
    let id = try run("daily", "2026-11-24").line
    let lock = open(run.folder("state/decent-notes/daily.lock"), O_RDWR)
    #expect(lock >= 0 && flock(lock, LOCK_EX) == 0)
    defer { close(lock) }
    #expect(try run("daily", "2026-11-24").line == id)
  }

  @Test(arguments: ["", "* {{title}}\n"])
  func `is one note on machines that have made it before they met`(_ template: String) throws {
    let other = run.folder("other")
    if !template.isEmpty { try run.make("daily", template, tags: ["template", "day"]) }
    try run.make("begun")
    #expect(try run("sync", other).status == 0)
    let id = try run("daily", "2026-11-24").line
    #expect(try run("--notebook", other, "daily", "2026-11-24").line == id)
    #expect(try run("--notebook", other, "append", id, "there").status == 0)
    #expect(try run("sync", other).status == 0)
    #expect(try run("append", id, "here").status == 0)
    #expect(try run("sync", other).status == 0)
    let text = (template.isEmpty ? "" : "* 2026-11-24\n") + "there\nhere\n"
    for notebook in [run.notebook, other] {
      let found = try run("--notebook", notebook, "daily", "2026-11-24")
      #expect(found.line == id && found.status == 0 && found.errors == "")
      #expect(try run("--notebook", notebook, "show", "2026-11-24").output == text)
      #expect(
        try run("--notebook", notebook, "list").fields.filter { $0[1] == "2026-11-24" }.count == 1)
    }
  }

  @Test func `is the older one of two, and says so at a terminal alone`() throws {
    let first = try run.make("2026-11-24")
    let second = try run.make("2026-11-24")
    let found = try run("daily", "2026-11-24")
    #expect(found.line == first && found.status == 0 && found.errors == "")
    #expect(try run("show", "2026-11-24").status == 3)
    let shown = try run(
      "daily", "2026-11-24",
      shell: #"script -qec "$(printf "'%s' " "$@") 2>&1 >/dev/null" /dev/null"#)
    #expect(shown.output.contains("the oldest is used, and not \(second)"), "\(shown)")
  }

  // MARK: - Templates

  @Test(.enabled(if: hasTool("faketime") || isContinuousIntegration, "faketime is missing"))
  func `and other notes are made of templates`() throws {
    let text = "# {{title}}\n{{date}} {{time}}{{cursor}}\n{{other}} {{ title }} {{{title}}} {{"
    try run.make("meeting", text, tags: ["template", "work"])
    #expect(
      try run(
        "call", "note/update", "{\"id\":\"\(try run("list").fields[0][0])\",\"priority\":\"high\"}"
      ).status == 0)
    let faked = "NO_FAKE_STAT=1 exec faketime '2026-11-24 09:05:00' \"$@\""
    let made = try run("new", "{{date}}", "--template", "meeting", "--tag", "x", shell: faked)
    #expect(made.status == 0, "\(made.errors)")
    #expect(
      try run.text(made.line)
        == "# {{date}}\n2026-11-24 09:05\n{{other}} {{ title }} {{{date}}} {{")
    let fields = try run("list").fields[0]
    #expect(fields[1...3] == ["{{date}}", "work,x", "high"])
    // Without a template of that name.
    #expect(try run("new", "a", "--template", "none").status == 4)
    try run.make("plain")
    let plain = try run("new", "a", "--template", "plain")
    #expect(plain.status == 4 && plain.errors.contains("no note plain with the tag template"))
    #expect(try run("new", "a", "--template", "meeting", "--priority", "low").status == 0)
    #expect(try run("list").fields[0][3] == "low")

    // A day has its own template, if there is one.
    #expect(try run("daily", "2026-01-01", shell: faked).status == 0)
    #expect(try run.text("2026-01-01") == "")
    try run.make("daily", "nothing to do with it")
    try run.make("daily", "{{title}} {{date}} {{time}}", tags: ["template"])
    #expect(try run("daily", "2026-01-02", shell: faked).status == 0)
    #expect(try run.text("2026-01-02") == "2026-01-02 2026-01-02 09:05")
    #expect(try run("daily", "2026-01-03", "--template", "meeting", shell: faked).status == 0)
    #expect(try run.text("2026-01-03").hasPrefix("# 2026-01-03\n2026-01-03 09:05\n"))
    #expect(try run("daily", "2026-01-04", "--template", "none").status == 4)
    #expect(try !titles().contains("2026-01-04"))
  }
}
