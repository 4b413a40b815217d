import TestSupport

@testable import NotesServer

// What programs do to many files at once, which the mirror takes over only when the user says so.

extension MirrorSimulation {
  /// As many files of one folder that a deletion of all of them is too many, or a change of all of them.
  func beginWithManyFiles() {
    let machine = machines[0]
    for number in 0..<(random.chance(20) ? 60 : 14) {
      machine.tree.write(word() + "\n", "d/\(number).md")
    }
    run(.seconds(5))
    noteFiles(machine)
  }

  /// `rm -rf`, of all files of a folder or of most of them.
  func removeMany(_ machine: Machine) {
    let paths = machine.paths.filter { $0.hasPrefix("d/") }
    if machine.peer.isBraked { return }
    for path in paths.dropLast(random.below(3)) {
      let words = Self.words(in: machine.tree.text(path)!)
      for word in words where alive[word] != nil { removed.insert(word) }
      forget(words)
      machine.tree.remove(path)
      removals += 1
      close(path, machine)
    }
    note("\(machine.name): rm -rf d, \(paths.count) files")
    run(.seconds(random.pick([1, 9, 40])))
  }

  /// `git commit`.
  func noteFiles(_ machine: Machine) {
    machine.commits.append(
      Dictionary(uniqueKeysWithValues: machine.paths.map { ($0, machine.tree.load($0)!) }))
  }

  /// `git checkout` of an older state: git has seen what there is in each file that it writes again.
  func checkOut(_ machine: Machine) {
    guard !machine.commits.isEmpty else { return noteFiles(machine) }
    // A text that is a beginning of what the file had is read only now.
    run(.seconds(3))
    let files = random.pick(machine.commits)
    let isAll = random.chance(70)
    var count = 0
    for (path, text) in files.sorted(by: { $0.key < $1.key }) {
      let present = machine.tree.load(path)
      if present == text || !isAll && random.chance(50) { continue }
      let words = Set(Self.words(in: text))
      forget(Self.words(in: present ?? "").filter { !words.contains($0) })
      machine.tree.remove(path)
      machine.tree.write(text, path)
      close(path, machine)
      count += 1
    }
    // What was removed before is there again, as it was then.
    removed = []
    removals += count
    note("\(machine.name): git checkout, \(count) files")
    run(.seconds(1))
  }

  /// A program writes every file of the folder.
  func editMany(_ machine: Machine) {
    for path in machine.paths where path.hasPrefix("d/") {
      close(path, machine)
      let (header, text) = Self.parts(of: machine.tree.load(path)!)
      machine.tree.writeAtomically("\(header)\(word())\n\(text)", path)
    }
    note("\(machine.name): writes all of d")
    run(.seconds(1))
  }

  /// The user says what is meant, if the mirror asks for it.
  func answer(_ machine: Machine) {
    guard machine.peer.isBraked else { return }
    let answer = random.pick([NotesServer.MirrorAnswer.confirm, .restore])
    note("\(machine.name): \(answer)")
    if answer == .restore {
      let present = Set(texts(machine).flatMap(Self.words))
      for word in removed.intersection(present) where alive[word] == nil { alive[word] = 1 }
      if machine.peer.isBrakedByChanges {
        // What was changed meanwhile is not wanted.
        forget(alive.keys.filter { !present.contains($0) })
        for path in machine.paths { close(path, machine) }
      }
    }
    removed = []
    try! machine.peer.answerMirror(answer)
    run(.seconds(10))
  }
}
