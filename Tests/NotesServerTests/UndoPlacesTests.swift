import TestSupport
import Testing

@testable import NotesServer

/// Where text comes back that a step had replaced, and what is left of the step, while others write beside it.
@Suite struct `What an undo brings back` {
  let scratch = TemporaryFolder()
  let mine: Peer
  let other: Peer

  init() {
    mine = Peer(scratch("notes"), seed: 1)
    other = Peer(scratch("notes"), seed: 2)
    mine.initialize()
    other.initialize()
  }

  /// How a word is replaced: by one change, letter by letter, or deleted backward and typed anew, in one step or in two.
  enum Way: CaseIterable { case whole, letters, steps, retyped, retypedInTwoSteps }

  /// By what another one writes: another window of the process, a window of another process, the whole text or the end of the note.
  enum Writer: CaseIterable { case window, process, setText, append }

  private static let texts = [
    ("first\n", "word", ""), ("first\nmy ", "word", ""), ("", "teh", " tail\nlast\n"),
    ("my ", "teh", " tail"),
  ]

  /// Makes the changes of a way; returns the number of steps.
  private func replace(_ word: String, _ start: Int, _ way: Way, _ editor: UndoingEditor) -> (
    new: String, steps: Int
  ) {
    let new = word == "teh" ? "the" : word.uppercased()
    let count = word.count
    switch way {
    case .whole:
      editor.replace(start..<start + count, with: new)
      return (new, 1)
    case .letters, .steps:
      for (place, letter) in new.enumerated() {
        editor.replace(
          start + place..<start + (place == 0 ? count : place), with: String(letter),
          inSameStep: way == .letters && place > 0)
      }
      return (new, way == .letters ? 1 : count)
    case .retyped, .retypedInTwoSteps:
      for place in (0..<count).reversed() {
        editor.replace(
          start + place..<start + place + 1, with: "", inSameStep: place < count - 1)
      }
      for (place, letter) in new.enumerated() {
        editor.replace(
          start + place..<start + place, with: String(letter),
          inSameStep: place > 0 || way == .retyped)
      }
      return (new, way == .retyped ? 1 : 2)
    }
  }

  /// A word is typed and replaced, and another one writes at both of its ends: what was replaced comes back between, and when its typing is undone, too,
  /// nothing is left of it.
  @Test(arguments: LiveClient.Form.allCases, Way.allCases)
  func `stands between what others wrote at both ends`(form: LiveClient.Form, way: Way) {
    for (before, word, after) in Self.texts {
      for writer in Writer.allCases where writer != .append || after.isEmpty {
        let id = mine.create(["text": .string(before + after)])
        other.folderChanged()
        let editor = UndoingEditor(mine, id, form)
        for (place, letter) in word.enumerated() {
          let start = before.count + place
          editor.replace(start..<start, with: String(letter), inSameStep: place > 0)
        }
        let (new, steps) = replace(word, before.count, way, editor)
        other.folderChanged()
        let front = writer == .append ? "" : "X "
        let behind = writer == .append ? "\nOTHER LINE" : " Y"
        write(front, behind, writer, to: id, before, new, after)
        func expect(_ middle: String, _ comment: Comment) {
          for peer in [mine, other] {
            peer.folderChanged()
            #expect(peer.text(id) == before + front + middle + behind + after, comment)
          }
          editor.sync()
          #expect(editor.text == mine.text(id), comment)
        }
        let comment: Comment = "\(way), \(writer), \(before)|\(word)|\(after)"
        expect(new, comment)
        for _ in 0..<steps { #expect(editor.undo(), comment) }
        expect(word, comment)
        #expect(editor.undo() && !editor.undo(), comment)
        expect("", comment)
        #expect(editor.redo(), comment)
        expect(word, comment)
        for _ in 0..<steps { #expect(editor.redo(), comment) }
        expect(new, comment)
      }
    }
  }

  private func write(
    _ front: String, _ behind: String, _ writer: Writer, to id: String, _ before: String,
    _ word: String, _ after: String
  ) {
    switch writer {
    case .append: other.call("note/append", ["id": .string(id), "text": .string(behind)])
    case .setText:
      let text = before + front + word + behind + after
      other.call("note/setText", ["id": .string(id), "text": .string(text)])
    case .window, .process:
      let editor = UndoingEditor(writer == .window ? mine : other, id)
      let end = before.count + word.count
      editor.replace(end..<end, with: behind)
      editor.replace(before.count..<before.count, with: front)
    }
    mine.folderChanged()
  }

  @Test(arguments: Way.allCases)
  func `leaves what others wrote inside, and nothing else`(way: Way) {
    let id = mine.create(["text": "my  tail"])
    let editor = UndoingEditor(mine, id)
    editor.replace(3..<3, with: "word")
    let steps = replace("word", 3, way, editor).steps
    other.folderChanged()
    UndoingEditor(other, id).replace(5..<5, with: "X")
    mine.folderChanged()
    #expect(mine.text(id) == "my WOXRD tail")
    for _ in 0..<steps { #expect(editor.undo()) }
    #expect(mine.text(id).filter { $0 != "X" } == "my word tail")
    #expect(editor.undo() && !editor.undo())
    #expect(mine.text(id) == "my X tail")
    for _ in 0...steps { #expect(editor.redo()) }
    #expect(mine.text(id) == "my WOXRD tail")
  }

  @Test func `stands between what others wrote when a version was restored`() {
    let id = mine.create(["text": "my word tail"])
    let revision = mine.revision
    let editor = UndoingEditor(mine, id)
    editor.replace("word", with: "WORD")
    mine.call("note/restoreVersion", ["id": .string(id), "revision": .string(revision)])
    other.folderChanged()
    other.call("note/setText", ["id": .string(id), "text": "my X word Y tail"])
    mine.folderChanged()
    editor.sync()
    for text in ["my X WORD Y tail", "my X word Y tail"] {
      #expect(editor.undo())
      #expect(mine.text(id) == text)
    }
    #expect(editor.redo() && editor.redo())
    #expect(mine.text(id) == "my X word Y tail")
  }

  /// One editor types and replaces; another window of its process and one of another process type, as a rule at the ends of what was typed last and inside; all
  /// undo and redo.
  @Test(arguments: seeds(40))
  func `is what was there without the step, letter by letter`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var oracle = LetterOracle()
    var unused = (0x4E00...0x9FFF).lazy.map { Unicode.Scalar($0)! }.makeIterator()
    func letters(_ count: Int) -> [Unicode.Scalar] { (0..<count).map { _ in unused.next()! } }
    let start = letters(8)
    oracle.edit(oracle.begin(by: -1), in: [], 0..<0, start)
    let id = mine.create(["text": .string(LiveClient.string(start))])
    other.folderChanged()
    let editors = [mine, mine, other].map { UndoingEditor($0, id) }
    var done: [[[Int]]] = [[], [], []]
    var undone: [[[Int]]] = [[], [], []]
    var place = 0
    func check() -> Bool {
      for peer in [mine, other] { peer.folderChanged() }
      for editor in editors { editor.sync() }
      let texts = Set(editors.map(\.text) + [mine.text(id), other.text(id)])
      let objection = oracle.objection(to: editors[0].client.text)
      #expect(texts.count == 1 && objection == nil, "\(at(seed)): \(objection ?? "") \(texts)")
      return texts.count == 1 && objection == nil
    }
    func edit(_ who: Int, _ range: Range<Int>, _ count: Int, _ step: Int?) -> Int {
      let new = letters(count)
      let text = editors[who].client.text
      editors[who].replace(range, with: LiveClient.string(new), inSameStep: step != nil)
      let number = step ?? oracle.begin(by: who)
      if step == nil { done[who].append([number]) }
      undone[who] = []
      oracle.edit(number, in: text, range, new)
      place = range.lowerBound + count
      return number
    }
    /// A step without effect is reversed together with the next one.
    func turn(_ who: Int, isUndo: Bool) {
      var taken: [[Int]] = []
      let before = oracle.shown
      while oracle.shown == before {
        guard let steps = isUndo ? done[who].popLast() : undone[who].popLast() else { break }
        for step in steps { oracle.turn(step, stands: !isUndo) }
        taken.append(steps)
      }
      let isDone = isUndo ? editors[who].undo() : editors[who].redo()
      #expect(isDone == (oracle.shown != before), at(seed))
      if !isUndo {
        done[who] += taken
      } else if !taken.isEmpty {
        undone[who].append(taken.flatMap { $0 })
      }
    }
    for _ in 0..<(4 + random.below(10)) {
      let who = random.pick([0, 1, 2, 0])
      let count = editors[0].client.text.count
      let from = random.below(max(count, 1))
      let range = from..<min(count, from + 1 + random.below(4))
      switch who == 0 ? random.below(10) : 6 + random.below(4) {
      case 0...2 where count > 0: _ = edit(who, range, 1 + random.below(4), nil)
      case 3 where count > 0:
        let step = edit(who, range, 1, nil)
        for _ in 0..<(1 + random.below(3)) {
          guard check() else { return }
          _ = edit(who, place..<place, 1, step)
        }
      case 4 where count > 0:
        var step: Int?
        for end in range.reversed() { step = edit(who, end..<end + 1, 0, step) }
        if random.chance(50) { step = nil }
        for _ in 0..<(1 + random.below(3)) {
          guard check() else { return }
          step = edit(who, place..<place, 1, step)
        }
      case 5...7:
        let near = max(0, min(count, place - random.below(5)))
        let at = random.chance(60) ? near : random.below(count + 1)
        _ = edit(who, at..<at, 1 + random.below(2), nil)
      default: turn(who, isUndo: random.chance(60))
      }
      guard check() else { return }
    }
    while let who = (0...2).filter({ !done[$0].isEmpty }).shuffled(using: &random).first {
      turn(who, isUndo: true)
      guard check() else { return }
    }
  }
}
