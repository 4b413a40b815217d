import TestSupport
import Testing

// What people do to one note, and programs to one file.

extension MirrorSimulation {
  // MARK: - Notes

  func editNote(_ machine: Machine) {
    let peer = machine.peer
    let notes = peer.list()
    if notes.count < 3, random.chance(40) || notes.isEmpty {
      let title = random.pick(["a", "b", "c/d", "a"])
      peer.create(["title": .string(title), "text": .string(word() + "\n")])
      return note("\(machine.name): create \(title)")
    }
    let id = random.pick(notes)
    if random.chance(10) {
      // Names come from titles, and tags are in headers.
      let title = random.pick(["t", "u", "v/w"])
      peer.call("note/update", ["id": .string(id), "title": .string(title), "tags": ["x"]])
      return note("\(machine.name): title \(id.prefix(8)) \(title)")
    }
    let new = edited(peer.text(id))
    peer.call("note/setText", ["id": .string(id), "text": .string(new)])
    note("\(machine.name): note \(id.prefix(8)): \(new.debugDescription)")
  }

  // MARK: - One file

  /// A program reads a file, or writes one that it has read before, which may be another one by now.
  func editFile(_ machine: Machine) {
    let paths = machine.paths
    if paths.isEmpty { return }
    if random.chance(40) || machine.buffers.isEmpty { return open(random.pick(paths), machine) }
    let path = random.pick(machine.buffers.keys.sorted())
    // An editor warns before it writes where nothing is any more, and a note may have been deleted meanwhile.
    guard machine.tree.text(path) != nil else { return close(path, machine) }
    save(path, machine)
    // What is left there for a second is read.
    run(.seconds(1))
  }

  private func open(_ path: String, _ machine: Machine) {
    guard let text = machine.tree.load(path) else { return }
    close(path, machine)
    var buffer = Buffer(text: text)
    if random.chance(30) {
      let end = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
      let name = "\(path[..<end])" + random.pick([".\(path[end...]).swp", "#\(path[end...])#"])
      machine.tree.write("unsaved u\(random.next() >> 20)u", name)
      buffer.swapFile = name
    }
    machine.buffers[path] = buffer
    note("\(machine.name): read \(path)")
  }

  /// An editor tells that the file that it has open is gone, and does not write where another one gets that name.
  func watchPrograms(_ machine: Machine) {
    machine.tree.didTakeAway = { [unowned machine] path in machine.buffers[path] = nil }
    machine.tree.didRead = { [unowned self, unowned machine] path, text in
      guard let buffer = machine.buffers[path] else { return }
      readBeside.formUnion(Set(Self.words(in: text)).subtracting(Self.words(in: buffer.text)))
    }
  }

  /// A program that has a file open ends, with the file that it has kept for itself.
  func close(_ path: String, _ machine: Machine) {
    guard let buffer = machine.buffers.removeValue(forKey: path) else { return }
    if let swapFile = buffer.swapFile { machine.tree.remove(swapFile) }
  }

  /// A program writes its text, in one of the ways in which programs do.
  private func save(_ path: String, _ machine: Machine) {
    let tree = machine.tree
    let new = edited(machine.buffers[path]!.text)
    machine.buffers[path]!.text = new
    let way = random.pick(["in place", "in pieces", "beside", "beside", "backup", "probe"])
    note("\(machine.name): write \(path) \(way): \(new.debugDescription)")
    switch way {
    case "in place": tree.write(new, path)
    case "in pieces": writeInPieces(new, path, tree)
    case "backup":
      // Vim's `backupcopy=no`: for a moment nothing has the name.
      tree.rename(path, path + "~")
      if random.chance(50) { run(.milliseconds(random.pick([300, 1900, 2100, 2150]))) }
      // Nobody warns here: what has come meanwhile has had its second only if it was written before.
      tree.write(new, path)
      if random.chance(50) { tree.remove(path + "~") }
    case "probe":
      tree.write("", "4913")
      tree.remove("4913")
      tree.write(new, path + ".new")
      if random.chance(50) { run(.milliseconds(30)) }
      tree.rename(path + ".new", path)
    default: tree.writeAtomically(new, path)
    }
  }

  private func writeInPieces(_ text: String, _ path: String, _ tree: MemoryTree) {
    let file = tree.open(path)
    let half = text.index(text.startIndex, offsetBy: text.count / 2)
    if random.chance(50) { run(.milliseconds(30)) }
    tree.append(String(text[..<half]), to: file)
    if random.chance(50) { run(.milliseconds(random.pick([300, 1500]))) }
    tree.append(String(text[half...]), to: file)
    tree.close(file)
  }

  func newFile(_ machine: Machine) {
    let path = random.pick(["x.md", "y.md", "z/x.md"])
    if machine.tree.text(path) != nil { return }
    close(path, machine)
    let header = random.chance(30) ? "---\ntags: [x]\nlang: de\n---\n" : ""
    machine.tree.write(header + word() + "\n", path)
    note("\(machine.name): new \(path)")
    run(.seconds(1))
  }

  func move(_ machine: Machine) {
    if machine.paths.isEmpty { return }
    let path = random.pick(machine.paths)
    let new = random.pick(["m.md", "n.md", "o/m.md"])
    guard machine.tree.text(new) == nil else { return }
    machine.tree.rename(path, new)
    removals += 1
    close(path, machine)
    close(new, machine)
    note("\(machine.name): mv \(path) \(new)")
    if random.chance(50) { run(.seconds(9)) }
  }

  /// A copy is another note. Two machines give no two of one text one name: these would be one note.
  func copyFile(_ machine: Machine) {
    if machine.paths.isEmpty { return }
    let path = random.pick(machine.paths)
    let isSecond = machine !== machines[0]
    let new = random.pick(isSecond ? ["k2.md", "l2.md", "o/k2.md"] : ["k.md", "l.md", "o/k.md"])
    guard machine.tree.text(new) == nil, let text = machine.tree.load(path) else { return }
    close(new, machine)
    copy(Self.words(in: text))
    machine.tree.write(text, new)
    note("\(machine.name): cp \(path) \(new)")
    run(.seconds(1))
  }

  /// A file is removed by somebody who has seen it; what is in the note besides stays.
  func remove(_ machine: Machine) {
    run(.seconds(9))
    if machine.paths.isEmpty { return }
    let path = random.pick(machine.paths)
    forget(Self.words(in: machine.tree.text(path)!))
    machine.tree.remove(path)
    removals += 1
    close(path, machine)
    note("\(machine.name): rm \(path)")
    run(.seconds(9))
  }

  /// A program writes a word, and then what was there before: the word is in no note.
  func takeBack(_ machine: Machine) {
    if machine.paths.isEmpty { return }
    let path = random.pick(machine.paths)
    let text = machine.tree.load(path)!
    close(path, machine)
    let (header, rest) = Self.parts(of: text)
    let word = word()
    machine.tree.writeAtomically("\(header)\(word)\n\(rest)", path)
    note("\(machine.name): \(word) in \(path) for a while")
    run(.milliseconds(random.pick([1000, 3000])))
    // Somebody else may have moved it.
    guard machine.tree.text(path) != nil else { return }
    forget([word])
    takenBack.insert(word)
    machine.tree.writeAtomically(text, path)
    run(.seconds(1))
  }

  // MARK: - Between two calls of the mirror

  /// Lets a program write while the mirror is at work: right before one of its next calls, or before it writes.
  func interfere(_ machine: Machine) {
    var calls = random.below(12)
    let isBeforeWriting = random.chance(50)
    if isBeforeWriting { editNote(machine) }
    machine.tree.beforeCall = { [unowned self, unowned machine] isWriting in
      calls -= 1
      guard isBeforeWriting ? isWriting : calls < 0 else { return }
      machine.tree.beforeCall = nil
      interfereNow(machine)
    }
    run(.milliseconds(random.pick([250, 1100, 2500])))
    machine.tree.beforeCall = nil
    settle()
  }

  func interfereNow(_ machine: Machine) {
    // A file that is written and moved while no process knows it is another one.
    let paths = machine.paths.filter { !interfered.contains($0) }
    if paths.isEmpty { return }
    let path = random.pick(paths)
    interfered.insert(path)
    let new = random.pick(["m.md", "n.md", "o/m.md"])
    if random.chance(20), machine.tree.text(new) == nil {
      close(path, machine)
      close(new, machine)
      machine.tree.rename(path, new)
      removals += 1
      interfered.insert(new)
      return note("\(machine.name): meanwhile mv \(path) \(new)")
    }
    let text = edited(machine.buffers[path]?.text ?? machine.tree.load(path)!)
    machine.buffers[path, default: Buffer(text: text)].text = text
    if random.chance(30) {
      machine.tree.write(text, path)
    } else {
      machine.tree.writeAtomically(text, path)
    }
    note("\(machine.name): meanwhile \(path): \(text.debugDescription)")
  }
}
