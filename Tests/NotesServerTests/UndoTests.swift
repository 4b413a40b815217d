import Notes
import TestSupport
import Testing

@testable import NotesServer
@testable import ReplicatingTypes

@Suite
struct `Undo` {
  typealias Editor = UndoingEditor

  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
  }

  private func texts(_ id: String, _ editors: Editor...) -> [String] {
    for editor in editors { editor.sync() }
    return Array(Set([peer.text(id)] + editors.map(\.text))).sorted()
  }

  @Test(arguments: LiveClient.Form.allCases)
  func `takes changes back one message at a time, and makes them again`(form: LiveClient.Form) {
    let id = peer.create(["text": "milk\neggs"])
    let editor = Editor(peer, id, form)
    #expect(!editor.undo() && !editor.redo())
    let states = ["milk\neggs", "oat milk\neggs", "oat milk\neggs\n", "oat\neggs\n", "tea"]
    editor.replace(0..<0, with: "oat ")
    editor.replace(13..<13, with: "\n")
    editor.replace(3..<8, with: "")
    editor.replace(0..<9, with: "tea")
    for state in states.reversed().dropFirst() {
      #expect(editor.undo())
      #expect(texts(id, editor) == [state])
    }
    #expect(!editor.undo())
    for state in states.dropFirst() {
      #expect(editor.redo())
      #expect(texts(id, editor) == [state])
    }
    #expect(!editor.redo())
    #expect(editor.undo() && editor.undo() && editor.redo())
    #expect(texts(id, editor) == [states[3]])
  }

  @Test func `takes changes of one step back at once`() {
    let id = peer.create(["text": "milk"])
    let editor = Editor(peer, id)
    // There is none before it to be one with.
    editor.replace(0..<0, with: "x", inSameStep: true)
    editor.replace(0..<1, with: "oat ")
    for (offset, letter) in "rice ".enumerated() {
      editor.replace(offset..<offset, with: String(letter), inSameStep: true)
    }
    peer.call("note/append", ["id": .string(id), "text": "!"])
    editor.replace(5..<9, with: "", inSameStep: true)
    #expect(texts(id, editor) == ["rice milk!"])
    #expect(editor.undo())
    #expect(texts(id, editor) == ["xmilk!"])
    #expect(editor.redo())
    #expect(texts(id, editor) == ["rice milk!"])
    // What was undone and made again is a step of its own.
    editor.replace(0..<0, with: "y", inSameStep: true)
    #expect(editor.undo())
    #expect(texts(id, editor) == ["rice milk!"])
    #expect(editor.undo() && editor.undo() && !editor.undo())
    #expect(texts(id, editor) == ["milk!"])
  }

  @Test func `takes what came and went in one step for nothing`() {
    let id = peer.create()
    let editor = Editor(peer, id)
    editor.replace(0..<0, with: "one")
    editor.replace(3..<3, with: "t")
    editor.replace(4..<4, with: "w", inSameStep: true)
    editor.replace(4..<5, with: "", inSameStep: true)
    editor.replace(3..<4, with: "", inSameStep: true)
    #expect(editor.undo())
    #expect(texts(id, editor) == [""])
    #expect(!editor.undo())
  }

  @Test func `forgets what could be made again with the next change`() {
    let id = peer.create()
    let editor = Editor(peer, id)
    editor.replace(0..<0, with: "one")
    #expect(editor.undo())
    editor.replace(0..<0, with: "two")
    #expect(!editor.redo())
    #expect(texts(id, editor) == ["two"])
  }

  @Test func `takes a message without an edit for no step`() {
    let id = peer.create()
    let editor = Editor(peer, id)
    editor.replace(0..<0, with: "one")
    editor.replace(3..<3, with: "")
    #expect(editor.undo())
    #expect(texts(id, editor) == [""])
    let nothing: JSON = [
      "attachment": editor.attachment, "version": 9, "rev": 1, "lines": [],
    ]
    #expect(peer.ask("note/change", nothing).error == nil)
    #expect(peer.call("note/redo", ["attachment": editor.attachment])["done"] == true)
    #expect(peer.text(id) == "one")
  }

  @Test func `leaves what others wrote, also inside`() {
    let id = peer.create(["text": "."])
    let (ana, ben) = (Editor(peer, id), Editor(peer, id))
    ana.replace(0..<0, with: "one two three")
    ben.replace(7..<7, with: " and a half")
    #expect(ana.undo())
    #expect(texts(id, ana, ben) == [" and a half."])
    #expect(ana.redo())
    #expect(texts(id, ana, ben) == ["one two and a half three."])
    #expect(ben.undo())
    #expect(texts(id, ana, ben) == ["one two three."])
    #expect(ana.undo())
    #expect(texts(id, ana, ben) == ["."])
    #expect(!ana.undo())
  }

  @Test func `brings back around what others wrote meanwhile`() {
    let id = peer.create(["text": "one two three"])
    let (ana, ben) = (Editor(peer, id), Editor(peer, id))
    // Ben writes into the text that Ana deletes, before he sees that.
    ben.sync()
    var crossing = ben.client
    ana.replace(0..<13, with: "")
    #expect(peer.ask("note/change", crossing.replace(3..<3, with: "!")!).error == nil)
    #expect(peer.text(id) == "!")
    peer.notifications = []
    #expect(peer.call("note/undo", ["attachment": ana.attachment])["done"] == true)
    #expect(peer.text(id) == "one! two three")
    #expect(peer.call("note/redo", ["attachment": ana.attachment])["done"] == true)
    #expect(peer.text(id) == "!")
  }

  @Test func `leaves what others did as well, until they have undone it too`() {
    let id = peer.create(["text": "one two three"])
    let (ana, ben) = (Editor(peer, id), Editor(peer, id))
    ana.sync()
    ben.sync()
    var crossing = ben.client
    ana.replace("two ", with: "")
    #expect(peer.ask("note/change", crossing.replace(4..<8, with: "")!).error == nil)
    #expect(peer.text(id) == "one three")
    for (undoing, text) in [(ana, "one three"), (ben, "one two three")] {
      let answer = peer.call("note/undo", ["attachment": undoing.attachment])
      #expect(answer["done"]?.boolean == (text != "one three"))
      #expect(peer.text(id) == text)
    }
    for (redoing, text) in [(ana, "one three"), (ben, "one three")] {
      let answer = peer.call("note/redo", ["attachment": redoing.attachment])
      #expect(answer["done"]?.boolean == (redoing === ana))
      #expect(peer.text(id) == text)
    }
  }

  @Test func `passes over what others have undone already`() {
    let id = peer.create()
    let (ana, ben) = (Editor(peer, id), Editor(peer, id))
    ana.replace(0..<0, with: "one")
    ana.replace(3..<3, with: " two")
    ben.replace(" two", with: "")
    #expect(ana.undo())
    #expect(texts(id, ana, ben) == [""])
    #expect(!ana.undo())
    // What Ana has taken back is not there, whoever else does not delete it any more.
    #expect(!ben.undo())
    #expect(texts(id, ana, ben) == [""])
    #expect(ana.redo())
    #expect(texts(id, ana, ben) == ["one two"])
    #expect(ben.redo())
    #expect(texts(id, ana, ben) == ["one"])
  }

  @Test func `takes text that it brought back for the text it was`() {
    // Ben deletes Ana's word and brings it back; it is hers still.
    let id = peer.create()
    let (ana, ben) = (Editor(peer, id), Editor(peer, id))
    ana.replace(0..<0, with: "one two")
    ben.replace(" two", with: "")
    #expect(ben.undo())
    #expect(ana.undo())
    #expect(texts(id, ana, ben) == [""])
    #expect(ana.redo())
    #expect(texts(id, ana, ben) == ["one two"])
    #expect(ben.redo())
    #expect(texts(id, ana, ben) == ["one"])
  }

  @Test(arguments: [false, true])
  func `ends a step by a change of nothing, unless that is a part of the step`(isPart: Bool) {
    let id = peer.create()
    let editor = Editor(peer, id)
    editor.replace(0..<0, with: "one")
    var nothing = editor.confirm()
    if isPart { nothing["sameStep"] = true }
    #expect(peer.ask("note/change", nothing).error == nil)
    editor.replace(3..<3, with: " two", inSameStep: true)
    #expect(editor.undo())
    #expect(texts(id, editor) == [isPart ? "" : "one"])
  }

  /// Two editors on one note, on two machines.
  private func apart(_ text: String) -> (id: String, ana: Editor, ben: Editor) {
    let id = peer.create(["text": .string(text)])
    let other = Peer(scratch("other"), seed: 2)
    other.initialize()
    other.merge(from: peer)
    return (id, Editor(peer, id), Editor(other, id))
  }

  /// Exchanges all changes; returns the texts of both editors, and of both notes.
  private func meet(_ id: String, _ ana: Editor, _ ben: Editor) -> Set<String> {
    ana.peer.merge(from: ben.peer)
    ben.peer.merge(from: ana.peer)
    ana.sync()
    ben.sync()
    return [ana.text, ben.text, ana.peer.text(id), ben.peer.text(id)]
  }

  @Test(arguments: [false, true])
  func `leaves a tick that another has made as well, until both have undone it`(isLate: Bool) {
    let (id, ana, ben) = apart("- [ ] milk")
    ana.replace(3..<4, with: "x")
    ben.replace(3..<4, with: "x")
    if isLate { #expect(meet(id, ana, ben) == ["- [x] milk"]) }
    // Nothing is to be seen of it where the other's tick is known.
    #expect(ana.undo() == !isLate)
    #expect(meet(id, ana, ben) == ["- [x] milk"])
    #expect(ben.undo())
    #expect(meet(id, ana, ben) == ["- [ ] milk"])
    #expect(ana.redo())
    #expect(meet(id, ana, ben) == ["- [x] milk"])
  }

  @Test func `brings a deletion of two people back once`() {
    let (id, ana, ben) = apart("one two three")
    for editor in [ana, ben] {
      editor.replace(" two", with: "")
      #expect(editor.undo())
    }
    #expect(meet(id, ana, ben) == ["one two three"])
  }

  @Test func `brings a word back with what another has written into it and behind it`() {
    let (id, ana, ben) = apart("one two three")
    ana.replace("two", with: "2")
    ben.replace(5..<5, with: "-")
    ben.replace(8..<8, with: "!")
    _ = meet(id, ana, ben)
    #expect(ana.undo())
    #expect(meet(id, ana, ben) == ["one t-wo! three"])
    #expect(ana.redo())
    #expect(ben.undo())
    #expect(ana.undo())
    #expect(meet(id, ana, ben) == ["one t-wo three"])
  }

  @Test func `leaves no line behind on which another had written and has undone it`() {
    let (id, ana, ben) = apart("eggs\nmilk\nbread\n")
    ana.replace("milk\n", with: "")
    ben.replace("milk", with: "oat milk")
    #expect(meet(id, ana, ben).count == 1)
    #expect(ana.text.contains("oat"))
    #expect(ben.undo())
    #expect(meet(id, ana, ben) == ["eggs\nbread\n"])
    #expect(ben.redo())
    #expect(ana.undo())
    #expect(meet(id, ana, ben) == ["eggs\noat milk\nbread\n"])
  }

  @Test func `is known in a state of the past, and in history`() {
    let id = peer.create(["text": "one"])
    let editor = Editor(peer, id)
    editor.replace(3..<3, with: " two")
    let before = peer.revision
    #expect(editor.undo())
    let undone = peer.revision
    #expect(editor.redo())
    for (revision, text) in [(before, "one two"), (undone, "one"), (peer.revision, "one two")] {
      let note = peer.call("note/get", ["id": .string(id), "revision": .string(revision)])
      #expect(note["text"] == .string(text))
    }
    let newest = peer.call("note/history", ["id": .string(id)])["entries"]?.array?.first
    #expect(newest?["revision"] == .string(peer.revision))
  }

  @Test func `keeps two windows of one client apart`() {
    let id = peer.create()
    let (left, right) = (Editor(peer, id), Editor(peer, id))
    left.replace(0..<0, with: "left")
    right.replace(0..<0, with: "right ")
    #expect(left.undo())
    #expect(texts(id, left, right) == ["right "])
    #expect(!left.undo())
    #expect(right.undo())
    #expect(texts(id, left, right) == [""])
    #expect(peer.call("note/close", ["attachment": right.attachment]).isNull)
    let again = Editor(peer, id)
    #expect(!again.undo() && !again.redo())
    #expect(left.redo())
    #expect(texts(id, left, again) == ["left"])
  }

  @Test func `reaches a note in the trash, and out of it`() {
    let id = peer.create(["text": "kept"])
    let editor = Editor(peer, id)
    editor.replace(4..<4, with: " forever")
    peer.call("note/delete", ["id": .string(id)])
    peer.call("note/restore", ["id": .string(id)])
    #expect(editor.undo())
    #expect(texts(id, editor) == ["kept"])
    peer.call("note/delete", ["id": .string(id)])
    #expect(editor.redo())
    #expect(texts(id, editor) == ["kept forever"])
    #expect(peer.list() == [id])
  }

  @Test func `undoes nothing that was not changed in a window`() {
    let id = peer.create(["text": "a"])
    let editor = Editor(peer, id)
    peer.call("note/append", ["id": .string(id), "text": "b"])
    peer.call("note/setText", ["id": .string(id), "text": "abc"])
    #expect(!editor.undo())
    #expect(texts(id, editor) == ["abc"])
  }

  @Test func `happens once with a request key, and not in a window that only looks on`() {
    let id = peer.create()
    let editor = Editor(peer, id)
    for word in ["one", "two"] { editor.replace(0..<0, with: word) }
    for _ in 0..<2 {
      let params: JSON = ["attachment": editor.attachment, "requestKey": "k"]
      #expect(peer.call("note/undo", params)["done"] == true)
    }
    #expect(peer.text(id) == "one")
    let observer = peer.call("note/open", ["id": .string(id), "mode": "observe"])["attachment"]!
    for method in ["note/undo", "note/redo"] {
      #expect(peer.ask(method, ["attachment": observer]).error?.reason == "readOnly")
      #expect(peer.ask(method, ["attachment": 99]).error?.reason == "reopen")
      #expect(peer.ask(method, ["attachment": "1"]).error?.code == -32602)
      #expect(peer.ask(method).error?.code == -32602)
    }
  }

  @Test func `removes whole scalars, wherever pieces of the text end`() {
    // A piece has at most 2,047 bytes, which is inside one of these.
    let id = peer.create()
    let editor = Editor(peer, id)
    let long = String(repeating: "é", count: 3000)
    editor.replace(0..<0, with: long)
    #expect(editor.undo())
    #expect(texts(id, editor) == [""])
    #expect(editor.redo())
    #expect(texts(id, editor) == [long])
    let other = Peer(scratch("other"), seed: 2)
    other.initialize()
    other.merge(from: peer)
    #expect(other.text(id) == long)
  }

  // MARK: - The list

  private func change(_ number: UInt64) -> ChangeID {
    ChangeID(replica: ReplicaID(high: 0, low: 1), number: number)
  }

  /// Records a step of changes between which others stand.
  private func record(_ first: UInt64, _ count: UInt64 = 1, in list: inout UndoList) {
    for place in 0..<count { list.record(change(first + 2 * place), joining: place > 0) }
  }

  @Test func `keeps ten thousand steps, fewer if they are large, and always the last`() {
    var list = UndoList()
    for number in 1...30_000 as ClosedRange<UInt64> {
      record(number, in: &list)
      if number == 10_000 { #expect(list.done.count == 10_000) }
    }
    #expect((10_000...12_000).contains(list.done.count))
    list = UndoList()
    for first in 1...100 as ClosedRange<UInt64> { record(first * 10_000, 1000, in: &list) }
    #expect(list.done.count == 65)
    record(10_000_000, 70_000, in: &list)
    #expect(list.done.count == 1)
    record(20_000_000, in: &list)
    #expect(list.done.count == 1)
    record(20_000_002, in: &list)
    #expect(list.done.count == 2)
  }

  @Test func `makes steps that were undone together one step`() {
    var list = UndoList()
    for number in 1...4 as ClosedRange<UInt64> { record(number, in: &list) }
    list.turn(.undo, 1, by: change(5))
    list.turn(.undo, 2, by: change(6))
    #expect(list.withdrawals(.undo) == [ChangeRanges(change(1))])
    #expect(list.withdrawals(.redo) == [ChangeRanges(change(6)), ChangeRanges(change(5))])
    list.turn(.redo, 1, by: change(7))
    let both = ChangeRanges([ChangeRanges.Run(change(1).replica, 2...3)])
    #expect(list.withdrawals(.undo) == [both, ChangeRanges(change(1))])
    record(8, in: &list)
    #expect(list.withdrawals(.redo) == [])
  }
}
