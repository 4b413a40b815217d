import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// The verbs of the command line: what each takes beside a process that starts, opens the notebook and leaves.

/// Each verb, in a notebook of 100 notes and in one of 100,000; and the commands after a script that has made very many.
func commandRows(_ report: inout Report) {
  withProgram("commands", &report) { program, scratch, report in
    // An editor that changes nothing.
    setenv("VISUAL", "true", 1)
    setenv("XDG_STATE_HOME", scratch + "/state", 1)
    defer { unsetenv("XDG_STATE_HOME") }
    for count in [100, 100_000] {
      verbRows(program, "\(scratch)/\(count)", notes: count, state: scratch + "/state", &report)
    }
    for count in [100_000, 1_000_000] {
      let folder = "\(scratch)/script \(count)"
      scriptRows(program, folder, notes: count, state: scratch + "/state", &report)
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
      prepare: {}, body: { _ in spawn(program.path, ["--notebook", folder] + words) },
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
  var start = timing(["call", "notebook/status"])
  add("start of the process, call notebook/status", start, nil)
  for (name, words, status) in [
    ("show, by title", ["show", title], 0), ("show, there is none", ["show", "nothing"], 4),
    ("history", ["history", title], 0), ("tag that is there", ["tag", title], 0),
    (
      "completions of a title",
      ["complete", "bash", "--", "decent-notes show Note\\ 5", "Note\\ 5"], 0
    ),
    ("daily that is there", ["daily"], 0),
  ] as [(String, [String], Int32)] {
    switch name {
    case "daily that is there":
      _ = timing(words)
      // A start that finds a new note opens the order of all.
      start = timing(["call", "notebook/status"])
      add("start of the process, a note is new", start, nil)
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
        spawn(
          "/bin/sh", ["-c", "\"$@\" | head -n 1", "sh", program.path, "--notebook", folder] + words)
      }, check: { expect($1 == 0, "\(words): status \($1)") })
  }
  add("list | head -n 1", piped(["list"]), piped(["call", "notebook/status"]))
  add("list --tag, none", timing(["list", "--tag", "none"]), start)
  add("search, there is none", timing(["search", "quixotic"], status: 4), start)
  add("search --limit 20, a common word", timing(["search", "--limit", "20", "and"]), start)
  _ = timing(["append", title, "[[\(other)]]"])
  add("links", timing(["links", title]), start)
  add("backlinks", timing(["backlinks", other]), start)
  // It tells of all notes.
  add("search, a common word", timing(["search", "and"]), nil)

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
        spawn(program.path, ["--notebook", folder, "tag", other, "t\(count)"])
      }, check: { expect($1 == 0, "tag: status \($1)") }), writing)
  add(
    "trash and restore, each",
    measure(
      prepare: {},
      body: { _ in
        spawn(program.path, ["--notebook", folder, "trash", other])
          + spawn(program.path, ["--notebook", folder, "restore", other])
      }, check: { expect($1 == 0, "trash, restore: status \($1)") }
    ).divided(by: 2), writing)
  add("edit that changes nothing", timing(["edit", title]), start)
}

/// A script makes notes of 200 bytes, more than it has time to keep for the next process. The floor is a command after `compact`.
private func scriptRows(
  _ program: URL, _ folder: String, notes: Int, state: String, _ report: inout Report
) {
  makeNotes(program, folder, notes: notes, of: 200, state: state)
  var memory = 0
  func run(_ words: [String]) {
    let (status, peak) = end(of: program.path, ["--notebook", folder] + words)
    expect(status == 0, "\(words): status \(status)")
    memory = peak
  }
  let words = ["call", "notebook/status"]
  let first = Timing([time(prepare: {}, body: { _ in run(words) }, check: { _, _ in })])
  var peaks = [memory]
  for _ in 2..<5 { run(words) }
  let fifth = measure {
    run(words)
  } check: { _ in
  }
  peaks.append(memory)
  run(["compact"])
  run(words)
  let compacted = measure {
    run(words)
  } check: { _ in
  }
  peaks.append(memory)
  let rows: [(name: String, timing: Timing, floor: Timing?)] = [
    ("the first command after a script", first, nil),
    ("the fifth", fifth, compacted), ("one after compact", compacted, nil),
  ]
  for (row, peak) in zip(rows, peaks) {
    report.add(
      Row(
        "commands", "\(row.name), \(notes) notes of 200 bytes", row.timing, floor: row.floor,
        goal: row.floor.map { _ in .floor(1.2) }))
    report.add(Row("commands", "memory then", bytes: peak))
  }
}

/// Runs a program to its end, without what it prints, and returns its status.
private func spawn(_ program: String, _ arguments: [String]) -> Int32 {
  end(of: program, arguments).status
}

/// Runs a program to its end, without what it prints; its status, and the most memory that it had, in bytes. Foundation looks only every 50
/// milliseconds whether one has ended.
private func end(of program: String, _ arguments: [String]) -> (status: Int32, memory: Int) {
  #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
  #else
    var actions = posix_spawn_file_actions_t()
  #endif
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
  for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
  }
  var words = ([program] + arguments).map { strdup($0) } + [nil]
  defer { for word in words { free(word) } }
  var process: pid_t = 0
  expect(
    posix_spawn(&process, program, &actions, nil, &words, environ) == 0, "\(program) starts")
  var status: Int32 = 0
  var usage = rusage()
  while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
  #if canImport(Darwin)
    let memory = Int(usage.ru_maxrss)
  #else
    let memory = Int(usage.ru_maxrss) * 1024
  #endif
  return (status & 0x7F == 0 ? status >> 8 & 0xFF : -1, memory)
}
