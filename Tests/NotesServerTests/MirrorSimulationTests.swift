import Foundation
import TestSupport
import Testing

extension MirrorSimulation {
  /// Begins with what there is from the beginning.
  func begin() {
    for machine in machines { watchPrograms(machine) }
    if kind == .manyFiles { beginWithManyFiles() }
    if machines.count == 2 {
      machines[0].peer.create(["title": "a", "text": .string(word() + "\n")])
      machines[1].peer.merge(from: machines[0].peer, adopting: true)
    }
  }

  /// Lets one thing happen.
  func step() {
    let machine = random.pick(machines)
    let isCarried = kind == .carried
    let possible: [(weight: Int, action: () -> Void)] = [
      (40, { self.editNote(machine) }),
      (40, { self.editFile(machine) }),
      (5, { self.newFile(machine) }),
      (6, { self.move(machine) }),
      (5, { self.takeBack(machine) }),
      (4, { self.remove(machine) }),
      (4, { self.copyFile(machine) }),
      (8, { self.interfere(machine) }),
      (5, { self.kill(machine) }),
      (2, { self.jumpClock(machine) }),
      (2, { self.noteFiles(machine) }),
      (3, { self.checkOut(machine) }),
      (kind == .manyFiles ? 6 : 0, { self.removeMany(machine) }),
      (kind == .manyFiles ? 4 : 0, { self.editMany(machine) }),
      (machine.peer.isBraked ? 40 : 0, { self.answer(machine) }),
      (machines.count == 2 ? 25 : 0, { self.exchange() }),
      (kind == .backups ? 12 : 0, { self.backUpOrGoBack(machine) }),
      (isCarried ? 15 : 0, { self.editPhone() }),
      (isCarried ? 15 : 0, { self.carry() }),
    ]
    var rest = random.below(possible.reduce(0) { $0 + $1.weight })
    for (weight, action) in possible {
      rest -= weight
      if rest < 0 {
        action()
        break
      }
    }
    pause()
  }

  /// Waits until everything is at rest, and says what is wrong then.
  func problems() -> [String] {
    for _ in 0..<(kind == .alone ? 1 : 3) {
      run(.seconds(60))
      for machine in machines { answer(machine) }
      if kind == .carried { carry() }
      if machines.count == 2 {
        machines[0].peer.merge(from: machines[1].peer, adopting: true)
        machines[1].peer.merge(from: machines[0].peer, adopting: true)
      }
    }
    run(.seconds(60))
    for machine in machines { machine.keepTold() }
    let notes = machines.map { texts($0).sorted() }
    var problems = machines.indices.flatMap { self.problems(of: machines[$0], notes[$0]) }
    if notes[0] != notes.last! { problems.append("the machines differ: \(notes)") }
    return problems
  }

  /// Notes what is there. Whether this is done makes no difference to what happens then.
  func noteAll() {
    for machine in machines {
      for path in machine.tree.files.keys.sorted() where path != ".decent-mirror" {
        note("    \(machine.name) \(path): \(machine.tree.text(path)!.debugDescription)")
      }
      for text in (try? machine.peer.readTexts().sorted()) ?? [] {
        note("    \(machine.name) note: \(text.debugDescription)")
      }
    }
  }

  private func problems(of machine: Machine, _ notes: [String]) -> [String] {
    let tree = machine.tree
    var problems: [String] = []
    let files = machine.paths.map { Self.parts(of: tree.text($0)!).text }.sorted()
    if notes != files {
      problems.append("the notes are \(notes), the files \(machine.paths): \(files)")
    }
    var found: [String: Int] = [:]
    for note in notes {
      let words = Dictionary(grouping: Self.words(in: note), by: { $0 }).mapValues(\.count)
      for (word, times) in words {
        found[word, default: 0] += 1
        if times > 1 { problems.append("\(word) is there \(times) times") }
      }
      if note.contains("unsaved") { problems.append("an editor's own file was read: \(note)") }
    }
    // What an engine has put aside is the user's to look at.
    for copy in Self.conflictCopies(in: tree) {
      if !machine.told.contains(where: { $0.contains(copy) }) {
        problems.append("\(copy) was not told of")
      }
      for word in Self.words(in: tree.text(copy)!) { found[word, default: 0] += 1 }
    }
    let told = machines.flatMap(\.told)
    for (word, count) in alive where found[word, default: 0] < count {
      if readBeside.contains(word), told.contains(where: { $0.contains(word) }) { continue }
      problems.append("\(word) is lost: \(found[word, default: 0]) of \(count)")
    }
    for word in takenBack where found[word] != nil { problems.append("\(word) was taken back") }
    let trashed = machine.peer.list(["trashed": true]).count
    if trashed > removals {
      problems.append("\(trashed) notes are in the trash, of \(removals)")
    }
    let left = tree.files.keys.filter {
      $0.contains(".decent-") && $0 != ".decent-mirror" && !$0.hasPrefix(".decent-copies/")
    }
    if !left.isEmpty { problems.append("left: \(left.sorted())") }
    return problems.map { "\(machine.name): \($0)" }
  }
}

@Suite("A mirror, simulated", .computing) struct MirrorSimulationTests {
  @Test(arguments: [
    MirrorSimulation.Kind.alone, .twoMirrors, .carried, .manyFiles, .backups,
  ])
  func `no word is lost, and none is there twice`(_ kind: MirrorSimulation.Kind) {
    var failed = 0
    let only = ProcessInfo.processInfo.environment["DECENT_NOTES_SEED"].flatMap(UInt64.init)
    for seed in only.map({ $0...$0 }) ?? seeds(10) where failed < 5 {
      let simulation = MirrorSimulation(seed: seed &* 4 &+ kind.rawValue, kind: kind)
      simulation.begin()
      for _ in 0..<40 {
        simulation.step()
        if only != nil { simulation.noteAll() }
      }
      let problems = simulation.problems()
      if problems.isEmpty { continue }
      failed += 1
      Issue.record(
        "\(simulation.log.joined(separator: "\n"))\n\(kind), seed \(seed): \(problems.joined(separator: "\n"))"
      )
    }
  }
}
