/// The algorithm of a client, as `Protocol/README.md` has it: what happens goes in, the changes to send come out.
///
/// A text is kept as scalars, and everything about positions is worked out here anew.
package struct LiveClient {
  package enum Form: String, CaseIterable { case text, lines, ranges }

  /// What a client may do wrong.
  package enum Mistake {
    case none, appliesEveryPush, keepsItsRev, undoesForOthers, showsEveryPresence, forgetsItsRev
  }

  package private(set) var attachment: Int
  /// By what it goes on when its server has died.
  package private(set) var session: String
  package let isObserver: Bool
  /// How it tells of its own changes.
  package let form: Form
  package let encoding: String
  package var mistake = Mistake.none
  /// Whether each `\r\n` of the note is a line feed here.
  package var hidesReturns = false

  package private(set) var text: [Unicode.Scalar]
  package private(set) var version = 0
  package private(set) var rev = 0
  /// Whether the editor kept a change to itself. The next hash tells.
  package private(set) var hasMissed = false
  package private(set) var applied = 0

  package init(
    attachment: Int, session: String = "", isObserver: Bool, form: Form, encoding: String,
    text: String, version: Int = 0, mistake: Mistake = .none
  ) {
    self.attachment = attachment
    self.version = version
    self.session = session
    self.isObserver = isObserver
    self.form = form
    self.encoding = encoding
    self.text = Array(text.unicodeScalars)
    self.mistake = mistake
  }

  package var string: String { Self.string(text) }

  package static func string(_ scalars: some Sequence<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  package static func hash(_ text: String) -> String { sha256(Array(text.utf8)) }

  // MARK: - Own changes

  /// The user replaces a range of scalars. Returns the change to send; `nil`, if the editor does not report it.
  package mutating func replace(
    _ range: Range<Int>, with new: String, isMissed: Bool = false
  ) -> JSON? {
    let before = text
    text.replaceSubrange(range, with: new.unicodeScalars)
    if isMissed {
      hasMissed = true
      return nil
    }
    switch form {
    case .text: return whole()
    case .ranges:
      return change(
        "ranges",
        [
          [
            "range": [
              "start": position(range.lowerBound, in: before),
              "end": position(range.upperBound, in: before),
            ],
            "newText": .string(new),
          ]
        ])
    case .lines:
      let first = before[..<range.lowerBound].count { $0 == "\n" }
      let removed = before[range].count { $0 == "\n" }
      let added = new.unicodeScalars.count { $0 == "\n" }
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let replaced = lines[first...(first + added)].map { JSON.string(Self.string($0)) }
      return change("lines", [[JSON(first), JSON(first + removed + 1), .array(replaced)]])
    }
  }

  /// The whole text, as it is now.
  package mutating func whole() -> JSON {
    hasMissed = false
    return change("text", .string(string))
  }

  /// A change of nothing, by which the server finds out what it has missed.
  package mutating func confirm() -> JSON {
    hasMissed = false
    return change("lines", [])
  }

  private mutating func change(_ name: String, _ value: JSON) -> JSON {
    version += 1
    return [
      "attachment": JSON(attachment), "version": JSON(version), "rev": JSON(rev),
      "sha256": .string(Self.hash(string)), name: value,
    ]
  }

  private func position(_ offset: Int, in text: [Unicode.Scalar]) -> JSON {
    let line = text[..<offset].count { $0 == "\n" }
    let start = text[..<offset].lastIndex(of: "\n").map { $0 + 1 } ?? 0
    return [
      "line": JSON(line), "character": JSON(text[start..<offset].reduce(0) { $0 + units($1) }),
    ]
  }

  private func units(_ scalar: Unicode.Scalar) -> Int {
    switch encoding {
    case "utf-8": UTF8.width(scalar)
    case "utf-16": UTF16.width(scalar)
    default: 1
    }
  }

  // MARK: - Coming back

  /// What it says of itself to another server.
  package var resumption: JSON {
    [
      "session": .string(session), "version": JSON(version),
      "rev": JSON(mistake == .forgetsItsRev ? 0 : rev), "text": .string(string),
      "hidesReturns": .boolean(hidesReturns),
    ]
  }

  /// That server has answered. The text stays, unless it could not be resumed.
  package mutating func resumed(_ result: JSON) {
    if result["resumed"] == nil { text = Array(result["text"]!.string!.unicodeScalars) }
    attachment = result["attachment"]!.integer!
    session = result["session"]!.string!
    rev = result["rev"]!.integer!
    hidesReturns = result["hidesReturns"]?.boolean ?? false
    hasMissed = false
  }

  // MARK: - Cursors

  /// What tells the server that the user has selected a range of scalars.
  package func select(_ range: Range<Int>) -> JSON {
    [
      "attachment": JSON(attachment), "version": JSON(version), "rev": JSON(rev),
      // So that the test tells it from a change; the server passes it over.
      "selection": true,
      "ranges": [
        [
          "start": position(range.lowerBound, in: text),
          "end": position(range.upperBound, in: text),
        ]
      ],
    ]
  }

  /// The selections of others in this text, `nil` for one outside of it; nothing at all, if they are for another text.
  package func peers(_ presence: JSON) -> [(id: String, ranges: [Range<Int>?])]? {
    let numbers = (presence["version"]?.integer, presence["rev"]?.integer)
    guard numbers == (version, rev) && !hasMissed || mistake == .showsEveryPresence else {
      return nil
    }
    return presence["peers"]!.array!.map { peer in
      let ranges = peer["ranges"]!.array!.map { range -> Range<Int>? in
        guard let start = offset(range["start"]), let end = offset(range["end"]), start <= end
        else { return nil }
        return start..<end
      }
      return (peer["id"]!.string!, ranges)
    }
  }

  // MARK: - Pushes

  package struct Misfit: Error { let push: JSON }

  /// A `note/edit` came. Returns the change to send because it did not fit; throws if it can't be applied.
  package mutating func receive(_ push: JSON) throws -> JSON? {
    if mistake != .appliesEveryPush {
      guard push["version"]?.integer == version else { return nil }
      if push["sha256"]?.string != Self.hash(string) {
        if isObserver { throw Misfit(push: push) }
        return whole()
      }
    }
    do { text = try after(push) } catch {
      if mistake == .none { throw error }
      return whole()
    }
    if mistake != .keepsItsRev { rev = push["rev"]!.integer! }
    applied += 1
    return nil
  }

  private func after(_ push: JSON) throws -> [Unicode.Scalar] {
    if let text = push["text"]?.string { return Array(text.unicodeScalars) }
    if let edits = push["lines"]?.array {
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
      var last = lines.count
      for edit in edits.reversed() {
        guard let start = edit[0]?.integer, let end = edit[1]?.integer, let new = edit[2]?.array,
          0 <= start, start <= end, end <= last
        else { throw Misfit(push: push) }
        lines.replaceSubrange(start..<end, with: new.map { Array($0.string!.unicodeScalars) })
        last = start
      }
      return Array(lines.joined(separator: ["\n"]))
    }
    guard let edits = push["ranges"]?.array else { throw Misfit(push: push) }
    var result = text
    var last = text.count
    for edit in edits.reversed() {
      guard let start = offset(edit["range"]?["start"]), let end = offset(edit["range"]?["end"]),
        let new = edit["newText"]?.string, start <= end, end <= last
      else { throw Misfit(push: push) }
      result.replaceSubrange(start..<end, with: new.unicodeScalars)
      last = start
    }
    return result
  }

  private func offset(_ position: JSON?) -> Int? {
    guard let line = position?["line"]?.integer, let character = position?["character"]?.integer
    else { return nil }
    var offset = 0
    for _ in 0..<line {
      guard let end = text[offset...].firstIndex(of: "\n") else { return nil }
      offset = end + 1
    }
    var rest = character
    while rest > 0, offset < text.count, text[offset] != "\n" {
      rest -= units(text[offset])
      offset += 1
    }
    return rest == 0 ? offset : nil
  }
}
