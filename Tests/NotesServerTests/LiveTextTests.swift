import Bytes
import Notes
import TestSupport
import Testing

@Suite
struct `Live text` {
  let scratch = TemporaryFolder()
  let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1)
    peer.initialize()
  }

  private func open(
    _ id: String, mode: String = "edit", push: String = "lines", check: String = "sha256"
  ) -> JSON {
    let params: JSON = [
      "id": .string(id), "mode": .string(mode), "push": .string(push), "check": .string(check),
    ]
    return peer.call("note/open", params)["attachment"] ?? 0
  }

  private func change(
    _ attachment: JSON, _ version: Int, rev: Int = 0, _ more: [String: JSON]
  ) -> Peer.Answer {
    let numbers: [String: JSON] = [
      "attachment": attachment, "version": JSON(version), "rev": JSON(rev),
    ]
    return peer.ask("note/change", JSON(numbers.merging(more, uniquingKeysWith: { $1 })))
  }

  private func range(_ from: (Int, Int), _ to: (Int, Int), _ new: String) -> JSON {
    [
      "range": [
        "start": ["line": JSON(from.0), "character": JSON(from.1)],
        "end": ["line": JSON(to.0), "character": JSON(to.1)],
      ], "newText": .string(new),
    ]
  }

  // MARK: - note/open, note/close

  @Test func `opens as many attachments as anyone likes`() {
    let id = peer.create(["text": "a"])
    let first = peer.call("note/open", ["id": .string(id), "mode": "edit"])
    #expect(first["version"] == 0 && first["rev"] == 0 && first["text"] == "a")
    #expect(first["readOnly"] == false)
    let second = peer.call("note/open", ["id": .string(id), "mode": "observe"])
    #expect(second["readOnly"] == true)
    #expect(first["attachment"] != second["attachment"])
    #expect(first["session"] != second["session"])
    for wrong in [
      ["mode": "x"], [:], ["mode": 1], ["mode": "edit", "push": "x"],
      ["mode": "edit", "check": "md5"],
    ] as [[String: JSON]] {
      let params = JSON(wrong.merging(["id": .string(id)], uniquingKeysWith: { $1 }))
      #expect(peer.ask("note/open", params).error?.code == -32602)
    }
    #expect(peer.ask("note/open", ["mode": "edit"]).error?.code == -32602)
  }

  @Test func `forgets what is closed`() {
    let id = peer.create(["text": "a"])
    let (one, two) = (open(id), open(id))
    #expect(peer.call("note/close", ["attachment": one]).isNull)
    for attachment in [one, 99, 0] as [JSON] {
      #expect(peer.ask("note/close", ["attachment": attachment]).error?.reason == "reopen")
      #expect(change(attachment, 1, ["text": "b"]).error?.reason == "reopen")
    }
    #expect(peer.ask("note/close").error?.code == -32602)
    peer.call("note/append", ["id": .string(id), "text": "b"])
    #expect(peer.take("note/edit").map { $0["attachment"] } == [two])
  }

  // MARK: - note/change

  @Test func `takes a change in each form`() {
    let id = peer.create(["text": "one\ntwo\nthree"])
    let editor = open(id)
    #expect(change(editor, 1, ["lines": [[1, 2, ["2"]]]])["version"] == 1)
    #expect(peer.text(id) == "one\n2\nthree")
    #expect(change(editor, 2, ["ranges": [range((0, 3), (1, 1), "!")]])["version"] == 2)
    #expect(peer.text(id) == "one!\nthree")
    #expect(change(editor, 7, ["text": "ONE!\nthree\n"])["version"] == 7)
    #expect(peer.text(id) == "ONE!\nthree\n")
    #expect(peer.take("note/edit") == [])
  }

  /// Each alone in a process of its own, since one of them may end it.
  @Test func `takes lines at the end of the text`() async {
    await #expect(processExitsWith: .success) {
      let scratch = TemporaryFolder()
      let peer = Peer(scratch("notes"), seed: 1)
      peer.initialize()
      let id = peer.create(["text": "one\ntwo"])
      let editor = peer.call("note/open", ["id": .string(id), "mode": "edit"])["attachment"]!
      peer.call(
        "note/change",
        [
          "attachment": editor, "version": 1, "rev": 0, "lines": [[2, 2, ["three"]]],
          "bytes": 13, "lineCount": 3,
        ])
      precondition(peer.text(id) == "one\ntwo\nthree")
    }
  }

  @Test func `takes several lines and ranges that all refer to the text before`() {
    let id = peer.create(["text": "a\nb\nc\nd\n"])
    let editor = open(id)
    let lines: JSON = [[3, 4, ["D"]], [0, 0, ["x", "y"]], [1, 2, []], [0, 1, ["A"]]]
    #expect(change(editor, 1, ["lines": lines]).error == nil)
    #expect(peer.text(id) == "x\ny\nA\nc\nD\n")
    let ranges: JSON = [
      range((4, 0), (4, 1), "d"), range((0, 0), (0, 0), "1"), range((0, 0), (0, 0), "2"),
      range((0, 1), (1, 0), ""),
    ]
    #expect(change(editor, 2, ["ranges": ranges]).error == nil)
    #expect(peer.text(id) == "12xy\nA\nc\nd\n")
    for overlapping in [
      [range((0, 0), (0, 2), "p"), range((0, 1), (0, 3), "q")],
      [range((0, 0), (0, 2), "p"), range((0, 1), (0, 1), "q")],
    ] {
      #expect(change(editor, 3, ["ranges": .array(overlapping)]).error != nil)
    }
    #expect(change(editor, 3, ["lines": [[0, 2, []], [1, 3, []]]]).error != nil)
    #expect(peer.text(id) == "12xy\nA\nc\nd\n")
  }

  @Test(arguments: ["utf-8", "utf-16", "utf-32"])
  func `counts in the units agreed on`(encoding: String) {
    let peer = Peer(scratch(encoding), seed: 2)
    #expect(
      peer.initialize(encoding: encoding)["capabilities"]?["positionEncoding"]?.string == encoding)
    let units = ["utf-8": [2, 4, 3], "utf-16": [1, 2, 2], "utf-32": [1, 1, 2]][encoding]!
    let id = peer.create(["text": "é\r\n😀x\ne\u{301}"])
    let editor = peer.call("note/open", ["id": .string(id), "mode": "edit"])["attachment"]!
    func insert(_ version: Int, _ line: Int, _ character: Int) -> Peer.Answer {
      peer.ask(
        "note/change",
        [
          "attachment": editor, "version": JSON(version), "rev": 0,
          "ranges": [range((line, character), (line, character), "|")],
        ])
    }
    #expect(insert(1, 0, units[0]).error == nil)
    #expect(peer.text(id) == "é|\r\n😀x\ne\u{301}")
    #expect(insert(2, 1, units[1]).error == nil)
    #expect(insert(3, 2, units[2]).error == nil)
    let text = "é|\r\n😀|x\ne\u{301}|"
    #expect(JSON(peer.text(id)) == JSON(text))
    var bad = [(0, units[0] + 3), (3, 0), (2, units[2] + 2), (1, 1 << 40)]
    if units[1] > 1 { bad.append((1, 1)) }
    for (line, character) in bad {
      #expect(insert(4, line, character).error?.code == -32801)
    }
    #expect(insert(4, -1, 0).error?.code == -32602)
    #expect(JSON(peer.text(id)) == JSON(text))
  }

  @Test func `refuses what lies outside the text, as something missed`() {
    let id = peer.create(["text": "a\nb"])
    let editor = open(id)
    for lines in [[[2, 3, []]], [[0, 3, []]], [[5, 5, ["x"]]]] as [JSON] {
      #expect(change(editor, 1, ["lines": lines]).error?.code == -32801)
    }
    for ranges in [[range((0, 2), (0, 2), "")], [range((0, 0), (2, 0), "")]] as [JSON] {
      #expect(change(editor, 1, ["ranges": ranges]).error?.code == -32801)
    }
    #expect(change(editor, 1, ["lines": [[1, 0, []]]]).error?.code == -32602)
    #expect(change(editor, 1, ["lines": [[0, 1]]]).error?.code == -32602)
    #expect(change(editor, 1, ["lines": [[0, 1, ["a\nb"]]]]).error?.code == -32602)
    #expect(change(editor, 1, ["ranges": [range((0, 1), (0, 0), "")]]).error?.code == -32602)
    #expect(change(editor, 1, [:]).error?.code == -32602)
    #expect(change(editor, 1, ["text": "", "lines": []]).error?.code == -32602)
    #expect(peer.text(id) == "a\nb")
    #expect(change(editor, 1, ["text": "b"])["version"] == 1)
  }

  @Test func `checks what the client says of its text`() {
    let id = peer.create(["text": "é\n"])
    let editor = open(id)
    let after = "é\nü"
    let hash = SHA256.hexDigest(of: Array(after.utf8))
    let change = { (version: Int, more: [String: JSON]) in
      self.change(
        editor, version,
        more.merging(["ranges": [range((1, 0), (1, 0), "ü")]], uniquingKeysWith: { $1 }))
    }
    for wrong in [
      ["sha256": .string(String(hash.reversed()))], ["sha256": ""], ["bytes": 4], ["lineCount": 1],
      ["bytes": 5, "lineCount": 3],
      ["sha256": .string(hash), "bytes": 4],
    ] as [[String: JSON]] {
      #expect(change(1, wrong).error?.code == -32801)
      // A client that sends the whole text again must not be told to do so again.
      var whole = wrong
      whole["text"] = .string(after)
      #expect(self.change(editor, 1, whole).error?.code == -32602)
    }
    #expect(change(1, ["sha256": 1]).error?.code == -32602)
    #expect(change(1, ["bytes": -1]).error?.code == -32602)
    #expect(peer.text(id) == "é\n")
    #expect(
      change(1, ["sha256": .string(hash.uppercased()), "bytes": 5, "lineCount": 2])["version"] == 1)
    #expect(peer.text(id) == after)
  }

  @Test func `takes versions that grow and revs that were pushed`() {
    let id = peer.create(["text": "a"])
    let editor = open(id)
    #expect(change(editor, 0, ["text": "b"]).error?.code == -32602)
    #expect(change(editor, 5, ["text": "b"])["version"] == 5)
    for version in [5, 4, 0, -1] {
      let error = change(editor, version, ["text": "c"]).error
      #expect(error?.code == -32602 && error?.message.contains("version") == true)
    }
    for rev in [1, 7] {
      let error = change(editor, 6, rev: rev, ["text": "c"]).error
      #expect(error?.code == -32803 && error?.reason == "reopen")
    }
    #expect(change(editor, 6, rev: -1, ["text": "c"]).error?.code == -32602)
    #expect(peer.text(id) == "b")
    peer.call("note/append", ["id": .string(id), "text": "!"])
    peer.call("note/append", ["id": .string(id), "text": "?"])
    #expect(peer.take("note/edit").map { $0["rev"] } == [1, 2])
    #expect(change(editor, 6, rev: 1, ["text": "<b!"])["version"] == 6)
    #expect(peer.text(id) == "<b!?")
    #expect(change(editor, 7, rev: 2, ["text": "x"]).error?.reason == "reopen")
    #expect(change(editor, 7, rev: 0, ["text": "x"]).error?.reason == "reopen")
  }

  @Test(arguments: ["", "\n", "\n\n", "a", "a\n", "\na", "a\r\n\r\nb\r", "\r", "😀\ne\u{301}\n"])
  func `keeps every text as it is, in each form`(text: String) throws {
    let id = peer.create(["text": "old\ntext"])
    let editors = ["lines", "ranges", "text"].map { open(id, push: $0) }
    var clients = zip(editors, LiveClient.Form.allCases).map {
      LiveClient(
        attachment: $0.integer!, isObserver: false, form: $1, encoding: "utf-16",
        text: "old\ntext")
    }
    let change = clients[0].replace(0..<8, with: text)!
    peer.call("note/change", change)
    for push in peer.take("note/edit") {
      for index in clients.indices where push["attachment"]?.integer == clients[index].attachment {
        let answer = try clients[index].receive(push)
        #expect(answer == nil)
      }
    }
    for client in clients { #expect(JSON(client.string) == JSON(text)) }
    #expect(JSON(peer.text(id)) == JSON(text))
  }

  @Test func `leaves out or adds what a client wants checked`() {
    let id = peer.create(["text": "é\n"])
    for check in ["length", "none", "sha256"] { _ = open(id, check: check) }
    peer.call("note/append", ["id": .string(id), "text": "x"])
    let pushes = peer.take("note/edit")
    #expect(pushes.count == 3)
    #expect(pushes[0]["bytes"] == 3 && pushes[0]["lineCount"] == 2 && pushes[0]["sha256"] == nil)
    #expect(pushes[1]["bytes"] == nil && pushes[1]["sha256"] == nil)
    #expect(pushes[2]["bytes"] == nil && pushes[2]["sha256"] != nil)
    let long = peer.create(["text": .string(String(repeating: "x", count: 1 << 18 + 1))])
    _ = open(long)
    peer.call("note/append", ["id": .string(long), "text": "y"])
    let push = peer.take("note/edit").first
    #expect(push?["sha256"] == nil && push?["bytes"]?.integer == 1 << 18 + 1)
  }

  // MARK: - Pushes

  @Test func `names in a push the lines that change and no others`() {
    let id = peer.create(["text": "milk\neggs"])
    _ = open(id)
    peer.call("note/setText", ["id": .string(id), "text": "bread\nmilk\neggs"])
    let push = peer.take("note/edit").first
    #expect(push?["lines"] == [[0, 0, ["bread"]]])
  }

  @Test func `answers first, then pushes`() {
    let id = peer.create(["text": "a"])
    let (one, two) = (open(id), open(id))
    peer.call("note/append", ["id": .string(id), "text": "b"])
    #expect(peer.take("note/edit").map { $0["attachment"] } == [one, two])
    peer.write(
      #"{"jsonrpc":"2.0","id":1,"method":"note/append","params":{"id":"\#(id)","text":"c"}}"# + "\n"
    )
    #expect(peer.responses.count == 1)
    #expect(peer.take("note/edit").count == 2)
  }

  @Test func `tells a client that takes ranges or lines more than 200 ranges as lines`() {
    let id = peer.create(["text": .string(String(repeating: "a\n", count: 300))])
    let reader = open(id, push: "rangesOrLines")
    let writer = open(id, check: "none")
    var version = 0
    func push(changing count: Int, to letter: String) -> JSON? {
      version += 1
      let ranges = (0..<count).map { range(($0, 1), ($0, 1), letter) }
      #expect(change(writer, version, ["ranges": .array(ranges)]).error == nil)
      return peer.take("note/edit").last { $0["attachment"] == reader }
    }
    let few = push(changing: 200, to: "b")
    #expect(few?["ranges"]?.array?.count == 200 && few?["lines"] == nil)
    let many = push(changing: 201, to: "c")
    let lines = Array(repeating: JSON.string("acb"), count: 200) + ["ac"]
    #expect(many?["lines"] == .array([[0, 201, .array(lines)]]) && many?["ranges"] == nil)
    // Places between two edits of a line can't be found by comparing it with the new one.
    version += 1
    let pairs = (0..<150).flatMap { [range(($0, 0), ($0, 0), "x"), range(($0, 2), ($0, 2), "y")] }
    #expect(change(writer, version, ["ranges": .array(pairs)]).error == nil)
    let doubled = peer.take("note/edit").last { $0["attachment"] == reader }
    #expect(doubled?["ranges"]?.array?.count == 300 && doubled?["lines"] == nil)
  }

  // MARK: - Two people

  /// Two editors with the same text; each makes its change before it sees the other's; then all is delivered.
  private func meet(
    _ text: String, _ forms: (LiveClient.Form, LiveClient.Form),
    _ first: (Range<Int>, String), _ second: (Range<Int>, String)
  ) -> [String] {
    let id = peer.create(["text": .string(text)])
    var clients = [forms.0, forms.1].map {
      LiveClient(
        attachment: open(id).integer!, isObserver: false, form: $0, encoding: "utf-16", text: text)
    }
    var queue = [
      clients[0].replace(first.0, with: first.1)!, clients[1].replace(second.0, with: second.1)!,
    ]
    for _ in 0..<10 where !queue.isEmpty {
      for change in queue { #expect(peer.ask("note/change", change).error == nil) }
      queue = []
      for push in peer.take("note/edit") {
        for index in clients.indices
        where clients[index].attachment == push["attachment"]?.integer {
          do { if let more = try clients[index].receive(push) { queue.append(more) } } catch {
            Issue.record("\(push) can't be applied")
          }
        }
      }
    }
    #expect(queue.isEmpty, "a client sends its text again and again")
    return [peer.text(id)] + clients.map(\.string)
  }

  private static let forms: [(LiveClient.Form, LiveClient.Form)] = [
    (.ranges, .ranges), (.lines, .lines), (.text, .text), (.ranges, .text), (.lines, .text),
  ]

  @Test(arguments: forms.map { "\($0.0) \($0.1)" })
  func `lets two people delete the same line`(forms: String) {
    let pair = Self.forms.first { "\($0.0) \($0.1)" == forms }!
    let ends = meet("one\ntwo\nthree\nfour", pair, (4..<8, ""), (4..<8, ""))
    #expect(ends == Array(repeating: "one\nthree\nfour", count: 3))
  }

  @Test(arguments: forms.map { "\($0.0) \($0.1)" })
  func `lets two people delete the same word`(forms: String) {
    let pair = Self.forms.first { "\($0.0) \($0.1)" == forms }!
    let ends = meet("one two three\nfour", pair, (4..<8, ""), (4..<8, ""))
    #expect(ends == Array(repeating: "one three\nfour", count: 3))
  }

  @Test func `deletes a word, not the end of it and the beginning of the next`() {
    // Both delete the same word; the difference of two texts must find the same letters as the one who named them.
    let id = peer.create(["text": "one two three"])
    let editor = open(id)
    let base = peer.revision
    #expect(change(editor, 1, ["ranges": [range((0, 4), (0, 8), "")]]).error == nil)
    peer.call(
      "note/setText", ["id": .string(id), "text": "one three", "base": .string(base)])
    #expect(peer.text(id) == "one three")
  }

  @Test func `inserts a word, not the end of it into another`() {
    let id = peer.create(["text": "one three"])
    let base = peer.revision
    peer.call("note/setText", ["id": .string(id), "text": "one", "base": .string(base)])
    peer.call(
      "note/setText", ["id": .string(id), "text": "one two three", "base": .string(base)])
    #expect(peer.text(id).contains("two"))
  }

  @Test(arguments: forms.map { "\($0.0) \($0.1)" })
  func `keeps what two people write in one line`(forms: String) {
    let pair = Self.forms.first { "\($0.0) \($0.1)" == forms }!
    let ends = meet("one two three\nfour", pair, (0..<0, "zero "), (13..<13, " end"))
    #expect(ends == Array(repeating: "zero one two three end\nfour", count: 3))
  }

  @Test(arguments: forms.map { "\($0.0) \($0.1)" })
  func `makes no mixture of two words`(forms: String) {
    let pair = Self.forms.first { "\($0.0) \($0.1)" == forms }!
    let ends = meet("a house here\nfour", pair, (2..<7, "mouse"), (2..<7, "horse"))
    #expect(Set(ends).count == 1)
    let words = ["a mouse horse here\nfour", "a horse mouse here\nfour"]
    #expect(words.contains(ends[0]))
  }

  /// What replaced the word stood before it, and the line's feed behind both: the two lines became one.
  @Test(arguments: forms.map { "\($0.0) \($0.1)" })
  func `leaves a line alone that somebody inserts beside a replaced word`(forms: String) {
    let pair = Self.forms.first { "\($0.0) \($0.1)" == forms }!
    for (text, word, new) in [
      ("abcx\ndef", 0..<4, "XYZx"), ("é\ndef", 0..<1, "ö"), ("a\ndef", 0..<1, "b"),
    ] {
      let expected = Array(repeating: "zero\n\(new)\ndef", count: 3)
      #expect(meet(text, pair, (0..<0, "zero\n"), (word, new)) == expected)
      #expect(meet(text, pair, (word, new), (0..<0, "zero\n")) == expected)
    }
    let expected = Array(repeating: "XYZx\nnew\ndef", count: 3)
    #expect(meet("abcx\ndef", pair, (4..<4, "\nnew"), (0..<4, "XYZx")) == expected)
    #expect(meet("abcx\ndef", pair, (0..<4, "XYZx"), (4..<4, "\nnew")) == expected)
  }

  /// As an editor tells that breaks a line anew: from the first to the last place that changed.
  @Test func `types nothing again that a replaced range has before and after`() {
    let ends = meet(
      "one two three four", (.ranges, .ranges), (3..<14, "\ntwo three\n"), (4..<8, ""))
    #expect(ends == Array(repeating: "one\nthree\nfour", count: 3))
  }

  @Test func `corrects a typo that two people correct alike`() {
    let id = peer.create(["text": "teh end"])
    let base = peer.revision
    for _ in 0..<2 {
      peer.call(
        "note/setText", ["id": .string(id), "text": "the end", "base": .string(base)])
    }
    // Both meant one word; no letter of another is in between.
    #expect(["the end", "thethe end"].contains(peer.text(id)))
  }
}
