import Foundation
import TestSupport
import Testing

// Processes that are killed, clocks that are set, machines that exchange changes, and an engine that carries files.

extension MirrorSimulation {
  /// The mirror's process is killed in the middle of what it does: what is on its disk at that moment is all that is left of it.
  func kill(_ machine: Machine) {
    let (tree, disk) = (machine.tree, machine.disk)
    // So that there is something to do.
    if random.chance(50) { editNote(machine) }
    if random.chance(50) { interfereNow(machine) }
    if random.chance(50) {
      tree.callsLeft = random.below(12)
      tree.didKill = disk.kill
      note("\(machine.name): kill after \(tree.callsLeft!) calls")
    } else {
      disk.callsLeft = random.below(24)
      disk.didKill = { [unowned tree] in tree.callsLeft = 0 }
      note("\(machine.name): kill after \(disk.callsLeft!) calls of the disk")
    }
    if random.chance(50) {
      interfere(machine)
    } else {
      run(.milliseconds(1500))
    }
    machine.keepTold()
    machine.peer.abandonMirror()
    disk.restore()
    (tree.callsLeft, tree.didKill) = (nil, nil)
    (machine.peer, machine.disk) = makeProcess(machine.name, tree)
  }

  /// The notebook is backed up; or its folder, perhaps that of the state too, is put back from the last backup while no process runs. All that
  /// was in files by then is still there. No program goes on with what it had read before.
  func backUpOrGoBack(_ machine: Machine) {
    let folders = ["notes", "state"].map { "\($0)-\(machine.name)" }
    run(.seconds(12))
    if machine.peer.isBraked { return }
    machine.keepTold()
    machine.peer.inputEnded()
    let isBackup = random.chance(50) || !FileManager.default.fileExists(atPath: scratch("backup"))
    if isBackup {
      try? FileManager.default.removeItem(atPath: scratch("backup"))
      try! FileManager.default.createDirectory(
        atPath: scratch("backup"), withIntermediateDirectories: true)
    }
    for folder in isBackup || random.chance(50) ? folders : [folders[0]] {
      let (from, to) =
        isBackup
        ? (scratch(folder), scratch("backup/\(folder)"))
        : (scratch("backup/\(folder)"), scratch(folder))
      try? FileManager.default.removeItem(atPath: to)
      try! FileManager.default.copyItem(atPath: from, toPath: to)
      note("\(machine.name): \(isBackup ? "backs up" : "goes back to") \(folder)")
    }
    if !isBackup {
      // Notes that were trashed or forgotten since then are back, with all that was in them.
      takenBack = []
      for path in machine.buffers.keys { close(path, machine) }
      removals += machine.paths.count
    }
    (machine.peer, machine.disk) = makeProcess(machine.name, machine.tree)
    run(.seconds(12))
  }

  /// The clock of a machine, by which files and notes have their times, is set.
  func jumpClock(_ machine: Machine) {
    let jump = Int64(random.below(2_000_000)) - 1_000_000
    machine.tree.clock = max(1, machine.tree.clock + jump)
    if random.chance(50) { machine.peer.jumpClock(by: jump * 1000) }
    note("\(machine.name): the clock jumps by \(jump)")
  }

  /// The machines exchange their notebooks' changes.
  func exchange() {
    guard machines.count == 2 else { return }
    let (ana, ben) = (machines[0].peer, machines[1].peer)
    let (toAna, toBen) = (random.chance(70), random.chance(70))
    if toAna { ana.merge(from: ben, adopting: true) }
    if toBen { ben.merge(from: ana, adopting: true) }
    note("exchange \(toAna) \(toBen)")
  }

  // MARK: - The folder without a mirror

  func editPhone() {
    let paths = Self.notePaths(of: phone)
    if random.chance(10) {
      let path = random.pick(["p.md", "x.md"])
      if phone.text(path) == nil {
        phone.write(word() + "\n", path)
        return note("phone: new \(path)")
      }
    }
    if paths.isEmpty { return }
    let path = random.pick(paths)
    let text = phone.text(path)!
    if random.chance(6) {
      phone.remove(path)
      // What was never carried was seen by nobody else.
      let known = Set(Self.words(in: carried[path] ?? ""))
      let words = Self.words(in: text)
      forget(words.filter { !known.contains($0) })
      removedOnPhone[path] = words.filter(known.contains)
      return note("phone: rm \(path)")
    }
    let new = edited(text)
    phone.write(new, path)
    note("phone: \(path): \(new.debugDescription)")
  }

  /// A synchronisation engine carries what has changed on one side to the other. Of two that have changed one is put aside, under another
  /// name, on both.
  func carry() {
    let machine = machines[0]
    let tree = machine.tree
    func isCarried(_ path: String) -> Bool { path.hasSuffix(".md") && !path.hasPrefix(".") }
    let paths = Set(tree.files.keys).union(phone.files.keys).filter(isCarried).sorted()
    note("carry")
    for path in paths {
      let (here, there, before) = (tree.load(path), phone.text(path), carried[path])
      let gone = removedOnPhone.removeValue(forKey: path)
      defer { carried[path] = tree.text(path) }
      if here == there { continue }
      if here == before || here == nil {
        if there == nil { forget(gone ?? []) }
        deliver(there, path, to: tree)
        // An editor loads what another program has written. If it does not, a file keeps what was written last.
        close(path, machine)
      } else if there == before || there == nil {
        deliver(here, path, to: phone)
      } else {
        let (winner, loser) = random.chance(50) ? (here, there) : (there, here)
        let name = "\(path.dropLast(3)).sync-conflict-\(random.next() >> 40).md"
        note("conflict \(name): \(loser!.debugDescription)")
        for side in [tree, phone] {
          side.writeAtomically(loser!, name)
          deliver(winner, path, to: side)
        }
        carried[name] = loser
        close(path, machine)
      }
    }
    run(.seconds(1))
  }

  private func deliver(_ text: String?, _ path: String, to tree: MemoryTree) {
    guard tree.text(path) != text else { return }
    guard let text else {
      removals += 1
      return tree.remove(path)
    }
    let temporary = ".syncthing.\(path.replacing("/", with: "-")).tmp"
    tree.write(text, temporary)
    tree.rename(temporary, path)
  }
}
