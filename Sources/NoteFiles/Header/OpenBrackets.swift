/// Finds quotes and brackets of YAML that are open at the end of a line.
///
/// A line within open quotes or brackets continues its field even if it begins in column 0. Quotes and brackets open only where a value begins;
/// those in plain words, comments and block scalars mean nothing.
struct OpenBrackets {
  private enum State {
    /// A value may begin.
    case block
    /// A plain word, which lines that are indented further than `parent` continue.
    case plain(parent: Int)
    /// Text below `|` or `>`, whose indentation its first line gives.
    case text(parent: Int, indentation: Int?)
  }

  private var state = State.block
  private var depth = 0
  private var quote: UInt8?
  private var isEscaped = false
  /// True if something follows quotes or brackets that can't follow them.
  private(set) var isDamaged = false

  var isOpen: Bool { quote != nil || depth > 0 }

  /// Reads the line of a key, or a line that continues the field.
  mutating func read(_ line: ArraySlice<UInt8>) {
    let content = line.withoutLineEnd
    if isOpen {
      if let end = endOfBrackets(content, from: content.startIndex) {
        isDamaged = isDamaged || !Self.isEmpty(content[end...])
      }
      return
    }
    let indentation = content.prefix { $0 == .space }.count
    switch state {
    case .text(let parent, let depth):
      if content.allSatisfy(\.isBlank) || indentation >= depth ?? parent + 1 {
        state = .text(
          parent: parent,
          indentation: depth ?? (content.allSatisfy(\.isBlank) ? nil : indentation))
        return
      }
    case .plain(let parent):
      if content.allSatisfy(\.isBlank) { return }
      if indentation > parent, content[(content.startIndex + indentation)...].first != .hash {
        return
      }
    case .block: break
    }
    state = .block
    readValues(content)
  }

  /// Reads values in a line: of items, of keys.
  private mutating func readValues(_ content: ArraySlice<UInt8>) {
    var parent = -1
    var index = content.startIndex
    while true {
      while index < content.endIndex, content[index].isBlank { index += 1 }
      guard index < content.endIndex, content[index] != .hash else { return }
      let column = index - content.startIndex
      let isBeforeBlank = index + 1 == content.endIndex || content[index + 1].isBlank
      switch content[index] {
      case .hyphen where isBeforeBlank, .questionMark where isBeforeBlank:
        parent = column
        index += 1
      case .ampersand, .exclamation:
        index = content[index...].firstIndex(where: \.isBlank) ?? content.endIndex
      case .verticalBar, .greaterThan:
        let digit = content[index...].prefix(3).first(where: \.isDigit).map { Int($0 & 0x0F) }
        state = .text(parent: parent, indentation: digit.map { max(parent, 0) + $0 })
        return
      case .quote, .apostrophe, .openingBracket, .openingBrace:
        guard let end = endOfBrackets(content, from: index) else { return }
        let rest = content[end...].drop(while: \.isBlank)
        guard rest.first == .colon else {
          isDamaged = isDamaged || !Self.isEmpty(content[end...])
          return
        }
        parent = column
        index = rest.startIndex + 1
      default:
        guard let colon = Self.colon(in: content[index...]) else {
          state = .plain(parent: parent)
          return
        }
        parent = column
        index = colon + 1
      }
    }
  }

  /// The end of quotes or brackets that begin here or are open; nil if they go on below.
  private mutating func endOfBrackets(_ content: ArraySlice<UInt8>, from start: Int) -> Int? {
    var before: UInt8 = .space
    for index in content[start...].indices {
      let byte = content[index]
      if isEscaped {
        isEscaped = false
      } else if let open = quote {
        if byte == .backslash, open == .quote {
          isEscaped = true
        } else if byte == open {
          let isDoubled =
            open == .apostrophe && index + 1 < content.endIndex && content[index + 1] == open
          if isDoubled { isEscaped = true } else { quote = nil }
        }
      } else {
        switch byte {
        case .quote, .apostrophe:
          let mayOpen: [UInt8] = [.space, .tab, .comma, .openingBracket, .openingBrace, .colon]
          if mayOpen.contains(before) { quote = byte }
        case .openingBracket, .openingBrace: depth += 1
        case .closingBracket, .closingBrace: depth -= 1
        case .hash where before.isBlank: return nil
        default: break
        }
      }
      if !isOpen { return index + 1 }
      before = byte
    }
    // A backslash before a line's end.
    isEscaped = false
    return nil
  }

  /// The colon behind a plain key.
  private static func colon(in content: ArraySlice<UInt8>) -> Int? {
    var before: UInt8 = .hyphen
    for index in content.indices {
      let byte = content[index]
      if byte == .hash, before.isBlank { return nil }
      if byte == .colon, index + 1 == content.endIndex || content[index + 1].isBlank {
        return index
      }
      before = byte
    }
    return nil
  }

  /// True for blanks and a comment.
  private static func isEmpty(_ rest: ArraySlice<UInt8>) -> Bool {
    let content = rest.drop(while: \.isBlank)
    return content.isEmpty || content.first == .hash && content.startIndex > rest.startIndex
  }
}
