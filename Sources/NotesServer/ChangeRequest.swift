internal import Bytes
internal import JSONRPC
internal import Notes

/// A request for `note/change` whose result need not be remembered.
///
/// It comes with each keystroke, so the usual one is read from its bytes in one pass. Any other is read as every message is, and has the
/// same meaning both ways.
struct ChangeRequest {
  static let method = "note/change"

  let id: RequestID
  let params: ChangeNoteParameters

  /// The request that a message is; nil if it is another one, or one that has to be refused.
  init?(_ message: Message) {
    guard case .request(let id, Self.method, let value) = message else { return nil }
    let params = Parameters(value: value)
    // Results of requests with a key are remembered.
    guard params["requestKey"] == nil, let change = try? ChangeNoteParameters(params) else {
      return nil
    }
    (self.id, self.params) = (id, change)
  }

  /// The request that the bytes of a message are, if it is written as clients write it: no name comes twice, none is unknown or escaped, nothing
  /// is null, and all numbers are digits. Else nil.
  ///
  /// - Complexity: O(`bytes.count`).
  init?(_ bytes: [UInt8]) {
    // A message may have more bytes, but only so many values. They can't be too many in this.
    guard bytes.count < Self.mostBytes else { return nil }
    var cursor = JSONCursor(bytes)
    var id: RequestID?
    var params: ChangeNoteParameters?
    var (hasVersion, isChange) = (false, false)
    let isObject = cursor.object { name, cursor in
      if name == Word.jsonrpc, !hasVersion {
        hasVersion = cursor.word() == Word.version
        return hasVersion
      }
      if name == Word.method, !isChange {
        isChange = cursor.word() == Word.noteChange
        return isChange
      }
      if name == Word.id { return Self.set(&id, Self.id(&cursor)) }
      return name == Word.params && Self.set(&params, ChangeNoteParameters(&cursor))
    }
    guard isObject, cursor.isAtEnd(), hasVersion, isChange, let id, let params else { return nil }
    (self.id, self.params) = (id, params)
  }

  private static let mostBytes = 1 << 20

  /// The words of such a message.
  private enum Word {
    static let jsonrpc = JSONWord("jsonrpc")!
    static let version = JSONWord("2.0")!
    static let id = JSONWord("id")!
    static let method = JSONWord("method")!
    static let noteChange = JSONWord(ChangeRequest.method)!
    static let params = JSONWord("params")!
  }

  private static func id(_ cursor: inout JSONCursor) -> RequestID? {
    if let number = cursor.count() { return .integer(number) }
    guard let text = cursor.utf8(), !text.contains(0) else { return nil }
    return .string(String(decoding: text, as: UTF8.self))
  }

  /// Keeps a value that was read; false if there is none, or if it is not the first one.
  fileprivate static func set<Value>(_ place: inout Value?, _ value: Value?) -> Bool {
    guard place == nil, let value else { return false }
    place = value
    return true
  }
}

extension ChangeNoteParameters {
  private static let names = Name.allCases.map { (word: JSONWord($0.rawValue)!, name: $0) }

  /// The parameters of a change as clients write them. Behind nil the cursor stands anywhere.
  fileprivate init?(_ cursor: inout JSONCursor) {
    var attachment: Int?
    var version: Int?
    var rev: Int?
    var content: Content?
    var sha256: String?
    var bytes: Int?
    var lineCount: Int?
    var wantsSameStep: Bool?
    let isObject = cursor.object { word, cursor in
      switch Self.names.first(where: { $0.word == word })?.name {
      case .attachment: ChangeRequest.set(&attachment, cursor.count())
      case .version: ChangeRequest.set(&version, cursor.count())
      case .rev: ChangeRequest.set(&rev, cursor.count())
      case .text: ChangeRequest.set(&content, Self.text(&cursor).map(Content.text))
      case .lines: ChangeRequest.set(&content, Self.lines(&cursor).map(Content.lines))
      case .ranges: ChangeRequest.set(&content, Self.ranges(&cursor).map(Content.ranges))
      case .sha256:
        ChangeRequest.set(&sha256, cursor.utf8().map { String(decoding: $0, as: UTF8.self) })
      case .bytes: ChangeRequest.set(&bytes, cursor.count())
      case .lineCount: ChangeRequest.set(&lineCount, cursor.count())
      case .sameStep: ChangeRequest.set(&wantsSameStep, cursor.boolean())
      case nil: false
      }
    }
    guard isObject, let attachment, let version, let rev, let content else { return nil }
    self.init(
      attachment: attachment, version: version, rev: rev, content: content, sha256: sha256,
      bytes: bytes, lineCount: lineCount, wantsSameStep: wantsSameStep ?? false)
  }

  private static func text(_ cursor: inout JSONCursor) -> [UInt8]? {
    guard let text = cursor.utf8(), text.span.firstIndex(of: 0) == nil else { return nil }
    return text
  }

  private static func lines(_ cursor: inout JSONCursor) -> [LineReplacement]? {
    var replacements: [LineReplacement] = []
    let isArray = cursor.array { cursor in
      var (start, end) = (0, 0)
      var new: [UInt8]?
      var part = 0
      let isReplacement = cursor.array { cursor in
        part += 1
        switch part {
        case 1: return cursor.count().map { start = $0 } != nil
        case 2: return cursor.count().map { end = $0 } != nil
        case 3:
          return cursor.array { cursor in
            guard let line = text(&cursor), line.span.firstIndex(of: 0x0A) == nil else {
              return false
            }
            if new == nil { new = line } else { new! += [0x0A] + line }
            return true
          }
        default: return false
        }
      }
      guard isReplacement, part == 3, start <= end else { return false }
      replacements.append(LineReplacement(lines: start..<end, text: new))
      return true
    }
    return isArray ? replacements : nil
  }

  private enum Word {
    static let range = JSONWord("range")!
    static let newText = JSONWord("newText")!
    static let start = JSONWord("start")!
    static let end = JSONWord("end")!
    static let line = JSONWord("line")!
    static let character = JSONWord("character")!
  }

  private static func ranges(_ cursor: inout JSONCursor) -> [RangeReplacement]? {
    var replacements: [RangeReplacement] = []
    let isArray = cursor.array { cursor in
      var range: (start: TextPosition, end: TextPosition)?
      var new: [UInt8]?
      let isReplacement = cursor.object { name, cursor in
        if name == Word.newText { return ChangeRequest.set(&new, text(&cursor)) }
        return name == Word.range && ChangeRequest.set(&range, self.range(&cursor))
      }
      guard isReplacement, let range, let new else { return false }
      replacements.append(RangeReplacement(start: range.start, end: range.end, text: new))
      return true
    }
    return isArray ? replacements : nil
  }

  private static func range(
    _ cursor: inout JSONCursor
  ) -> (start: TextPosition, end: TextPosition)? {
    var start: TextPosition?
    var end: TextPosition?
    let isObject = cursor.object { name, cursor in
      if name == Word.start { return ChangeRequest.set(&start, position(&cursor)) }
      return name == Word.end && ChangeRequest.set(&end, position(&cursor))
    }
    guard isObject, let start, let end else { return nil }
    return (start, end)
  }

  private static func position(_ cursor: inout JSONCursor) -> TextPosition? {
    var line: Int?
    var character: Int?
    let isObject = cursor.object { name, cursor in
      if name == Word.line { return ChangeRequest.set(&line, cursor.count()) }
      return name == Word.character && ChangeRequest.set(&character, cursor.count())
    }
    guard isObject, let line, let character else { return nil }
    return TextPosition(line: line, character: character)
  }
}
