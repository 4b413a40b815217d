internal import NotesServer

/// The command line, parsed and checked.
struct Arguments: Equatable {
  /// The command, `serve` if none is named.
  enum Command: Equatable {
    case serve
    case call(method: String, params: String)
    case demo(path: String)
    case check(isRepairing: Bool)
    case compact(isDue: Bool, isPurging: Bool)
    /// These notes; or those in the trash that have not changed for so many milliseconds.
    case purge(ids: [String])
    case purgeTrash(age: Int64)
    case sync(peers: [String], isAdopting: Bool)
    case files(FileCommand.Kind, paths: [String], isJSON: Bool)
    case mirror(path: String, answer: NotesServer.MirrorAnswer?, isOnce: Bool)
    case help
    case version
  }

  var command = Command.serve
  /// The notebook's folder; nil if none is named.
  var folder: String?
  /// `auto`, `content-length` or `lines`.
  var framing = "auto"
  /// Bytes of the longest message taken.
  var maximumMessage = 32 << 20
  /// `background` or `reply`.
  var durability = "background"
  /// Peers to exchange changes with while serving.
  var peers: [String] = []
  /// The time from one exchange with a peer to the next; nil means once.
  var interval: Duration?
  /// The folder of files that are kept equal to the notes while serving; nil for none.
  var mirror: String?
  /// The name of whoever uses the program; nil if none is given.
  var name: String?
  /// The client may reach nothing but the notebook of the command line.
  var isConfined = false
  /// Makes every identifier and every reading of the clock the same in each run, for recorded sessions. Never for real notes:
  /// two runs with one seed would be one replica.
  var seed: UInt64?

  /// The text of `--help`.
  static let usage = """
    usage: decent-notes [options]
           decent-notes [options] call METHOD [PARAMS]
           decent-notes [options] check [--repair]
           decent-notes [options] compact [--due | --purged]
           decent-notes [options] purge ID...
           decent-notes [options] purge --trash [--older AGE]
           decent-notes [options] sync [--every TIME] [--adopt] PEER...
           decent-notes [options] import [--dry-run] [--json] PATH...
           decent-notes [options] export [--into] [--json] DIR
           decent-notes [options] mirror [--once] [--confirm | --restore] DIR
           decent-notes demo FILE

    Without a command, serves one client on standard input and output, in JSON-RPC.
    call does one request and prints its result; PARAMS is JSON, or - for standard input.
    check reads everything in the notebook's folder, and says what is there and what is damaged;
    with --repair it first copies what is damaged into the user's state folder, and writes again
    what is known of the notebook there and not in its folder any more.
    compact folds the notebook's complete log files into one snapshot, and removes those for
    which a snapshot has stood for a day; with --due it folds only if there is enough to fold, as
    any process that writes does by itself; with --purged it removes at once what has words of
    notes that were purged, and says what is left.
    purge forgets notes of the trash for good, on all machines: those named, or all, or with
    --older (30d, 12h) those in which nothing has changed for so long.
    sync exchanges with each PEER what the notebook and the peer's lack of each other. A peer is a
    folder, a command that speaks the protocol ('ssh host decent-notes'), or rclone:REMOTE:PATH.
    With --every (30s, 5m, 1h) it goes on doing so; with --adopt, notebooks that were begun
    independently become one.
    A PATH that is imported is a file (.md, .markdown, .txt, .org, Simplenote's notes.json), or a
    folder with such files; each becomes a note. Again, what has changed in the files since is taken
    over; with --dry-run, import only says what it would do.
    export writes the notes that are not in the trash as files into DIR. Again, it writes what has
    changed, and removes files of notes that are gone. Files that others have written or changed
    stay as they are; with --into, DIR may have some before the first export.
    mirror keeps the files in DIR and the notes equal, in both directions, until it is ended; with
    --once, until they are. Where many files are gone or have changed at once it does nothing until
    it is told with --confirm that this is meant so, or with --restore to write the files again.
    demo shows two editors writing into a copy of a text file at the same moment.

    options:
      --notebook DIR       the folder of the notebook (else $DECENT_NOTES, else
                           $XDG_DATA_HOME/decent-notes, else ~/.local/share/decent-notes)
      --name NAME          who makes the changes, for history and for others who have the same
                           note open (default: user@host)
      --framing FRAMING    auto, content-length or lines (default: auto, by the first byte)
      --max-message BYTES  the longest message taken (default: 33554432)
      --durability WHEN    when a change is answered: background, as soon as it is in the file
                           and on its way to the disk, or reply, when it is on disk for good
                           (default: background)
      --sync PEER          while serving, exchange changes with this peer, too; may be repeated
      --every TIME         how often (default: 30s)
      --mirror DIR         while serving, do what mirror does, too
      --confined           for a client that is not trusted: it can read and write the notes of
                           --notebook, and reach no other folder and no peer
      --stdio              accepted and not needed
      --help, --version

    """

  /// The name of the program as it stands in history: with its command, if there is one.
  var program: String {
    let word: String? =
      switch command {
      case .call: "call"
      case .purge, .purgeTrash: "purge"
      case .sync: "sync"
      case .files(.importing, _, _): "import"
      case .files(.exporting, _, _): "export"
      case .mirror: "mirror"
      case .serve, .demo, .check, .compact, .help, .version: nil
      }
    return word.map { "decent-notes \($0)" } ?? "decent-notes"
  }

  /// Arguments that can't be used; the message is one line.
  struct Misuse: Error {
    var message: String
  }

  /// Parses the arguments after the program's name.
  init(_ arguments: [String]) throws(Misuse) {
    var rest = arguments[...]
    var words: [String] = []
    var isRepairing = false
    var isAdopting = false
    var isDue = false
    var isDryRun = false
    var isInto = false
    var isJSON = false
    var isOnce = false
    var answer: NotesServer.MirrorAnswer?
    var isPurging = false
    var isTrash = false
    var age: Int64?
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--"), argument != "--" else {
        if argument.hasPrefix("-"), argument != "-" {
          throw Misuse(message: "unknown option \(argument)")
        }
        words.append(argument)
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      func value() throws(Misuse) -> String {
        if parts.count == 2 { return String(parts[1]) }
        guard let next = rest.popFirst() else {
          throw Misuse(message: "\(argument) needs a value")
        }
        return next
      }
      switch parts[0] {
      case "--notebook": folder = try value()
      case "--name": name = try value()
      case "--framing":
        framing = try value()
        guard ["auto", "content-length", "lines"].contains(framing) else {
          throw Misuse(message: "--framing must be auto, content-length or lines")
        }
      case "--max-message":
        guard let bytes = Int(try value()), (1024...1 << 30).contains(bytes) else {
          throw Misuse(message: "--max-message must be 1024 to 1073741824 bytes")
        }
        maximumMessage = bytes
      case "--durability":
        durability = try value()
        guard ["background", "reply"].contains(durability) else {
          throw Misuse(message: "--durability must be background or reply")
        }
      case "--seed":
        guard let number = UInt64(try value()) else {
          throw Misuse(message: "--seed must be a number")
        }
        seed = number
      case "--sync":
        peers.append(try value())
        try Self.check(peer: peers.last!)
      case "--every":
        let text = try value()
        guard let time = Self.duration(text) else {
          throw Misuse(message: "--every must be a time from 1s to 24h, as 30s, 5m or 1h")
        }
        interval = time
      case "--due" where parts.count == 1: isDue = true
      case "--dry-run" where parts.count == 1: isDryRun = true
      case "--into" where parts.count == 1: isInto = true
      case "--json" where parts.count == 1: isJSON = true
      case "--once" where parts.count == 1: isOnce = true
      case "--confirm" where parts.count == 1: answer = .confirm
      case "--restore" where parts.count == 1: answer = .restore
      case "--mirror":
        let path = try value()
        guard !path.isEmpty else { throw Misuse(message: "--mirror must name a folder") }
        mirror = path
      case "--purged" where parts.count == 1: isPurging = true
      case "--trash" where parts.count == 1: isTrash = true
      case "--older":
        guard let time = Self.age(try value()) else {
          throw Misuse(message: "--older must be a time of days, hours or minutes, as 30d or 12h")
        }
        age = time
      case "--adopt" where parts.count == 1: isAdopting = true
      case "--repair" where parts.count == 1: isRepairing = true
      case "--confined" where parts.count == 1: isConfined = true
      case "--stdio" where parts.count == 1: break
      case "--help" where parts.count == 1: command = .help
      case "--version" where parts.count == 1: command = .version
      default: throw Misuse(message: "unknown option \(argument)")
      }
    }
    if folder == "" { throw Misuse(message: "--notebook must name a folder") }
    if name == "" { throw Misuse(message: "--name must not be empty") }
    if isRepairing, words != ["check"] {
      throw Misuse(message: "--repair is an option of check")
    }
    if isDue, words != ["compact"] {
      throw Misuse(message: "--due is an option of compact")
    }
    if isDryRun, words.first != "import" {
      throw Misuse(message: "--dry-run is an option of import")
    }
    if isInto, words.first != "export" {
      throw Misuse(message: "--into is an option of export")
    }
    if isOnce || answer != nil, words.first != "mirror" {
      throw Misuse(message: "--once, --confirm and --restore are options of mirror")
    }
    if mirror != nil, !words.isEmpty {
      throw Misuse(message: "--mirror is for serving, and not an option of \(words[0])")
    }
    if isJSON, !["import", "export"].contains(words.first) {
      throw Misuse(message: "--json is an option of import and export")
    }
    if isPurging, words != ["compact"] {
      throw Misuse(message: "--purged is an option of compact")
    }
    guard !isDue || !isPurging else {
      throw Misuse(message: "--due and --purged are two ways")
    }
    if isTrash, words.first != "purge" {
      throw Misuse(message: "--trash is an option of purge")
    }
    guard age == nil || isTrash else { throw Misuse(message: "--older is an option of --trash") }
    if isAdopting, words.first != "sync" {
      throw Misuse(message: "--adopt is an option of sync")
    }
    if words.first == "sync", !peers.isEmpty {
      throw Misuse(message: "sync needs its peers as arguments, not with --sync")
    }
    if interval != nil, words.first != "sync", peers.isEmpty {
      throw Misuse(message: "--every is an option of sync and --sync")
    }
    if isConfined {
      guard let folder, !folder.isEmpty else {
        throw Misuse(message: "--confined needs --notebook")
      }
      if let first = words.first {
        throw Misuse(message: "--confined is for serving, and not an option of \(first)")
      }
    }
    guard command == .serve, let first = words.first else {
      if let first = words.first { throw Misuse(message: "unexpected argument \(first)") }
      return
    }
    if first == "demo" {
      guard words.count == 2 else { throw Misuse(message: "demo needs a text file") }
      command = .demo(path: words[1])
      return
    }
    if first == "check" || first == "compact" {
      guard words.count == 1 else { throw Misuse(message: "\(first) needs no \(words[1])") }
      command =
        first == "check"
        ? .check(isRepairing: isRepairing) : .compact(isDue: isDue, isPurging: isPurging)
      return
    }
    if first == "purge" {
      let ids = Array(words.dropFirst())
      guard ids.isEmpty == isTrash else {
        throw Misuse(message: "purge needs the notes, or --trash")
      }
      command = isTrash ? .purgeTrash(age: age ?? 0) : .purge(ids: ids)
      return
    }
    if first == "sync" {
      let peers = Array(words.dropFirst())
      guard !peers.isEmpty else { throw Misuse(message: "sync needs a peer") }
      for peer in peers { try Self.check(peer: peer) }
      guard !isAdopting || interval == nil else {
        throw Misuse(message: "--adopt is for once, not for --every")
      }
      command = .sync(peers: peers, isAdopting: isAdopting)
      return
    }
    if first == "mirror" {
      guard words.count == 2, !words[1].isEmpty else {
        throw Misuse(message: "mirror needs one folder")
      }
      command = .mirror(path: words[1], answer: answer, isOnce: isOnce || answer != nil)
      return
    }
    if first == "import" || first == "export" {
      let paths = Array(words.dropFirst())
      guard paths.allSatisfy({ !$0.isEmpty }), first == "import" ? !paths.isEmpty : paths.count == 1
      else {
        throw Misuse(message: first == "import" ? "import needs a path" : "export needs one folder")
      }
      command = .files(
        first == "import" ? .importing(isDryRun: isDryRun) : .exporting(isInto: isInto),
        paths: paths, isJSON: isJSON)
      return
    }
    guard first == "call" else { throw Misuse(message: "unknown command \(first)") }
    guard (2...3).contains(words.count) else {
      throw Misuse(message: "call needs a method, and at most its parameters")
    }
    command = .call(method: words[1], params: words.count == 3 ? words[2] : "{}")
  }

  private static func check(peer: String) throws(Misuse) {
    guard PeerAddress(peer) != nil else {
      throw Misuse(message: "\(peer): no peer: a folder, a command, or rclone:REMOTE:PATH")
    }
  }

  /// A time in days, hours or minutes, as `30d`, in milliseconds; at most a million of them.
  private static func age(_ text: String) -> Int64? {
    let units: [Character: Int64] = ["m": 60_000, "h": 3_600_000, "d": 86_400_000]
    guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()),
      (0...1_000_000).contains(number)
    else { return nil }
    return number * unit
  }

  /// A time in seconds, minutes or hours, as `30s`; `s` may be left out.
  private static func duration(_ text: String) -> Duration? {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
    let unit = text.last.flatMap { units[$0] }
    guard let number = Int(unit == nil ? text[...] : text.dropLast()), number > 0,
      number <= 86_400
    else { return nil }
    let seconds = number * (unit ?? 1)
    return seconds <= 86_400 ? .seconds(seconds) : nil
  }
}
