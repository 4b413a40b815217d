import Foundation
import NoteFiles
import TestSupport
import Testing

/// People with notebooks, folders that mirror them, and programs that write there.
///
/// Every word is written once, by somebody, somewhere. It is known which words somebody has seen and taken away; all others must be there
/// when everything is at rest, none twice in one note, and the files must be the notes.
///
/// Programs write in `MirrorSimulation+Programs.swift`, many files at once in `MirrorSimulation+Brakes.swift`, processes and machines fail and
/// exchange changes in `MirrorSimulation+Machines.swift`.
final class MirrorSimulation {
  /// Who is there besides one machine with one mirror.
  enum Kind: UInt64 {
    case alone
    /// Two machines, each with the notebook and a mirror of it.
    case twoMirrors
    /// A folder without a mirror, with which a synchronisation engine keeps the mirror's equal.
    case carried
    /// More than ten files of one folder, which come and go at once.
    case manyFiles
    /// The notebook is restored from backups.
    case backups
  }

  /// A program that has a file open: its text as it was read.
  struct Buffer {
    var text: String
    /// The file that an editor keeps for itself meanwhile.
    var swapFile: String?
  }

  /// A machine: its folders, and the process that is the mirror.
  final class Machine {
    let name: String
    let tree: MemoryTree
    var peer: Peer
    var disk: DiskOfKilled
    var buffers: [String: Buffer] = [:]
    /// What all files had when somebody has noted it, as `git commit` does.
    var commits: [[String: String]] = []
    /// What processes have told the user.
    var told: [String] = []

    init(_ name: String, _ tree: MemoryTree, _ process: (Peer, DiskOfKilled)) {
      (self.name, self.tree, (peer, disk)) = (name, tree, process)
    }

    var paths: [String] { MirrorSimulation.notePaths(of: tree) }

    /// Keeps what the process has told the user.
    func keepTold() { told += peer.take("window/showMessage").map { $0["message"]!.string! } }
  }

  var random: SplitMix64
  let kind: Kind
  let scratch = TemporaryFolder()
  var machines: [Machine] = []
  /// The folder without a mirror, what its programs have open, and what both sides had when they were last equal.
  let phone = MemoryTree("/phone")
  var carried: [String: String] = [:]
  /// The words of the files that were removed there.
  var removedOnPhone: [String: [String]] = [:]
  /// The words that are somewhere, and in how many notes: copies of a file are notes.
  var alive: [String: Int] = [:]
  /// Words that a program has read in a file which another one had open without them. Both have read it since, for all that the mirror is told:
  /// what the other one takes away of them the user is told.
  var readBeside: Set<String> = []
  /// Words that were in a file for a while, and that nobody but their writer has seen.
  var takenBack: Set<String> = []
  /// How many files were removed by somebody, or moved: one that is moved and written at once is another one.
  var removals = 0
  /// The words of many files that were removed at once: if the user says that this was not meant, they are there again.
  var removed: Set<String> = []
  /// The files that a program has written or moved between two calls of the mirror: they are left there for a second.
  var interfered: Set<String> = []
  private var lastPeer: UInt64
  private(set) var log: [String] = []

  init(seed: UInt64, kind: Kind) {
    self.kind = kind
    random = SplitMix64(seed: seed)
    lastPeer = seed &* 1000
    for name in kind == .twoMirrors ? ["ana", "ben"] : ["ana"] {
      let tree = MemoryTree("/\(name)")
      machines.append(Machine(name, tree, makeProcess(name, tree)))
    }
  }

  /// A process of a machine.
  func makeProcess(_ machine: String, _ tree: MemoryTree) -> (Peer, DiskOfKilled) {
    lastPeer += 7
    let (notes, state) = (scratch("notes-\(machine)"), scratch("state-\(machine)"))
    let peer = Peer(notes, seed: lastPeer, state: state, mirror: tree)
    let disk = DiskOfKilled([notes, state])
    try! peer.initialize(on: disk)
    // Only what is done while time passes is cut off: a client whose process is killed before it answers does it again.
    disk.isWatched = false
    return (peer, disk)
  }

  func note(_ line: String) { log.append(line) }

  // MARK: - Time

  /// Lets time pass on all machines.
  func run(_ time: Duration) {
    for machine in machines {
      machine.disk.isWatched = true
      machine.peer.run(for: time)
      machine.disk.isWatched = false
    }
  }

  func pause() {
    run(.milliseconds(random.pick([1, 50, 150, 250, 500, 1100, 2500])))
    settle()
  }

  /// What was written between two calls is left there for a second, too.
  func settle() {
    if !interfered.isEmpty { run(.seconds(1)) }
    interfered = []
  }

  // MARK: - Words

  /// A word that was never there. No two have much in common.
  func word() -> String {
    let word = "w\(random.next() >> 20)w"
    alive[word] = 1
    return word
  }

  /// The words in a text. Two that were written at one place at the same time may stand side by side.
  static func words(in text: String) -> [String] {
    text.matches(of: /w[0-9]+w/).map { String($0.output) }
  }

  /// Somebody who has seen these words has taken them away, in one note.
  func forget(_ words: [String]) {
    for word in words {
      guard let count = alive[word] else { continue }
      alive[word] = count > 1 ? count - 1 : nil
    }
  }

  /// The same words are in one note more.
  func copy(_ words: [String]) { for word in words where alive[word] != nil { alive[word]! += 1 } }

  /// A text with a word more, or without a line that the editor has seen.
  func edited(_ text: String) -> String {
    let (header, text) = Self.parts(of: text)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.count > 2, random.chance(15) {
      forget(Self.words(in: lines.remove(at: random.below(lines.count - 1))))
    } else if random.chance(50) {
      lines.insert(word(), at: random.below(lines.count))
    } else {
      let place = random.below(lines.count)
      lines[place] += (lines[place].isEmpty ? "" : " ") + word()
    }
    return header + lines.joined(separator: "\n")
  }

  /// The header of a file, and its text.
  static func parts(of text: String) -> (header: String, text: String) {
    guard text.hasPrefix("---\n"), let end = text.dropFirst(4).range(of: "\n---\n") else {
      return ("", text)
    }
    return (String(text[..<end.upperBound]), String(text[end.upperBound...]))
  }

  // MARK: - Files and notes

  /// The files that are notes.
  static func notePaths(of tree: MemoryTree) -> [String] {
    tree.files.keys.filter { $0.hasSuffix(".md") && IgnoredNames.kind(of: $0) == .none }.sorted()
  }

  /// The files that a synchronisation engine has put aside, and those of them that the mirror has moved.
  static func conflictCopies(in tree: MemoryTree) -> [String] {
    tree.files.keys.filter {
      IgnoredNames.kind(of: $0) == .conflictCopy || $0.hasPrefix(".decent-copies/")
    }.sorted()
  }

  /// The texts of all notes of a machine.
  func texts(_ machine: Machine) -> [String] {
    let peer = machine.peer
    return peer.list().map { peer.call("note/get", ["id": .string($0)])["text"]!.string! }
  }
}
