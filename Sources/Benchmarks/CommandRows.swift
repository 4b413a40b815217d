import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// The verbs of the command line: what each takes beside a process that starts, opens the notebook and leaves.

/// Each verb, in a notebook of 100 notes and in one of 100,000.
func commandRows(_ report: inout Report) {
  withProgram("commands", &report) { program, scratch, report in
    // An editor that changes nothing.
    setenv("VISUAL", "true", 1)
    for count in [100, 100_000] {
      verbRows(program, "\(scratch)/\(count)", notes: count, state: scratch + "/state", &report)
    }
  }
}

private func verbRows(
  _ program: URL, _ folder: String, notes: Int, state: String, _ report: inout Report
) {
  makeNotes(program, folder, notes: notes, state: state)
  // It writes the archive.
  Client(notebook: folder, program, state: state).end()
  func timing(_ words: [String], status: Int32 = 0) -> Timing {
    measure(
      prepare: {}, body: { _ in run(program, ["--notebook", folder] + words, state: state) },
      check: { expect($1 == status, "\(words): status \($1)") })
  }
  func add(_ name: String, _ timing: Timing, _ floor: Timing?) {
    report.add(
      Row(
        "commands", "\(name), \(notes) notes", timing, floor: floor,
        goal: floor.map { _ in .above(3e6) }))
  }
  let title = "Note \(notes / 2)"
  let (other, tag) = ("Note \(notes / 3)", "t")
  let start = timing(["call", "notebook/status"])
  add("start of the process, call notebook/status", start, nil)
  for (name, words, status) in [
    ("show, by title", ["show", title], 0), ("show, there is none", ["show", "nothing"], 4),
    ("history", ["history", title], 0), ("tag that is there", ["tag", title], 0),
    ("daily that is there", ["daily"], 0), ("list --tag, none", ["list", "--tag", "none"], 0),
    (
      "completions of a title",
      ["complete", "bash", "--", "decent-notes show Note\\ 5", "Note\\ 5"], 0
    ),
  ] as [(String, [String], Int32)] {
    switch name {
    case "daily that is there": _ = timing(words)
    case "tag that is there":
      _ = timing(words + [tag])
      add(name, timing(words + [tag]), start)
      continue
    default: break
    }
    add(name, timing(words, status: status), start)
  }
  let piped = { (words: [String]) in
    measure(
      prepare: {},
      body: { _ in
        run(
          URL(fileURLWithPath: "/bin/sh"),
          ["-c", "\"$@\" | head -n 1", "sh", program.path, "--notebook", folder] + words,
          state: state)
      }, check: { expect($1 == 0, "\(words): status \($1)") })
  }
  add("list | head -n 1", piped(["list"]), piped(["call", "notebook/status"]))
  add("search", timing(["search", "and"]), notes <= 100 ? start : nil)

  let writing = timing(["call", "note/create"])
  add("a change, call note/create", writing, nil)
  add("new", timing(["new", "another"]), writing)
  add("append", timing(["append", title, "a line"]), writing)
  var count = 0
  add(
    "tag",
    measure(
      prepare: { count += 1 },
      body: { _ in
        run(program, ["--notebook", folder, "tag", other, "t\(count)"], state: state)
      }, check: { expect($1 == 0, "tag: status \($1)") }), writing)
  add(
    "trash and restore, each",
    measure(
      prepare: {},
      body: { _ in
        run(program, ["--notebook", folder, "trash", other], state: state)
          + run(program, ["--notebook", folder, "restore", other], state: state)
      }, check: { expect($1 == 0, "trash, restore: status \($1)") }
    ).divided(by: 2), writing)
  add("edit that changes nothing", timing(["edit", title]), start)
}
