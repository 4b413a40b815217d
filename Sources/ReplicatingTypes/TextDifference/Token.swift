/// A piece of a text that people replace as one: a word, a number with its signs, a check box, a character of any other kind.
///
/// - A word is a run of letters, digits, marks and apostrophes. In ideographs, Hiragana, Thai, Lao, Myanmar and Khmer, which are written
///   without blanks, each character is a token: a sentence is no word.
/// - A number is a run of digits, with each of `. , : / -` that stands between two digits, the sign, currency, `v` or `#` directly before it, and the
///   `%`, `°` or currency directly behind it: `10.50`, `2026-11-03`, `€10,50`, `v1.2.3`. A comma in front of a blank divides.
/// - A check box is `[ ]`, `[x]`, `[X]`, or a sign of ASCII in square brackets: `[-]`, `[/]`, `[!]`.
/// - Of everything else an extended grapheme cluster is a token.
struct Token: Equatable {
  enum Kind {
    case word, number, box
    /// A character that says something by itself: an ideograph, a pictograph.
    case symbol
    case punctuation, blank, lineEnd
  }

  var kind: Kind
  var range: Range<Int>

  /// True for what counts as text that two texts have in common.
  var isWord: Bool {
    switch kind {
    case .word, .number, .box, .symbol: true
    case .punctuation, .blank, .lineEnd: false
    }
  }
}

/// Cuts a part of a text into tokens, from its beginning.
struct TokenScanner {
  private let text: [UInt8]
  private let end: Int
  private(set) var place: Int
  /// True if a word or a number ends at `place`: a sign behind one is none.
  private var isBehindWord: Bool
  /// The end of a list of numbers such as `1,2,3,4,5,6,7,8`, in which commas divide.
  private var listEnd = 0

  /// More numbers than a date, a time, an address or a price has are a list.
  private static let mostNumbers = 6

  /// - Parameter range: begins where a token does.
  init(_ text: [UInt8], in range: Range<Int>) {
    self.text = text
    place = range.lowerBound
    end = range.upperBound
    isBehindWord =
      place > 0 && isWordScalar(firstScalar(of: text, at: scalarStart(text, before: place)))
  }

  mutating func next() -> Token? {
    guard place < end else { return nil }
    let start = place
    let kind = scan()
    switch kind {
    case .lineEnd, .word, .number: break
    case .box: place = endOfCluster(from: place - 1, atLeast: place)
    case .symbol, .punctuation, .blank: place = endOfCluster(from: start, atLeast: place)
    }
    isBehindWord = kind == .word || kind == .number
    return Token(kind: kind, range: start..<place)
  }

  private mutating func scan() -> Token.Kind {
    let byte = text[place]
    if isWordASCII(byte) { return scanWord() }
    switch byte {
    case 0x0A:
      place += 1
      return .lineEnd
    case 0x00...0x20, 0x7F:
      place += 1
      return .blank
    case UInt8(ascii: "[") where isBox:
      place += 3
      return .box
    case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "$"), UInt8(ascii: "#"), 0xC2, 0xE2:
      let head = lengthOfNumberHead
      if head > 0 {
        place += head
        return scanWord()
      }
    default: break
    }
    if byte < 0x80 {
      place += 1
      return .punctuation
    }
    let scalar = firstScalar(of: text, at: place)
    if isWordScalar(scalar) { return scanWord() }
    place += sizeOfScalar(beginningWith: byte)
    return isSymbol(scalar) ? .symbol : scalar.properties.isWhitespace ? .blank : .punctuation
  }

  private func peek(at place: Int) -> UInt8? { place < end ? text[place] : nil }

  private func isDigit(at place: Int) -> Bool { place < end && isASCIIDigit(text[place]) }

  private var isBox: Bool {
    guard peek(at: place + 2) == UInt8(ascii: "]") else { return false }
    switch text[place + 1] {
    case UInt8(ascii: "x"), UInt8(ascii: "X"): return true
    case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "\\"): return false
    case 0x20...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E: return true
    default: return false
    }
  }

  /// The number of bytes of signs and currencies directly before digits; 0 if there are none, or no digits.
  private var lengthOfNumberHead: Int {
    var index = place
    if text[index] == UInt8(ascii: "#") { return isDigit(at: index + 1) ? 1 : 0 }
    for _ in 0..<2 {
      guard index < end else { return 0 }
      let sign = lengthOfSign(at: index)
      if sign > 0, isBehindWord { return 0 }
      let length = sign > 0 ? sign : lengthOfCurrency(at: index)
      if length == 0 { break }
      index += length
    }
    return index > place && isDigit(at: index) ? index - place : 0
  }

  private func lengthOfSign(at place: Int) -> Int {
    switch text[place] {
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 1
    case 0xE2: firstScalar(of: text, at: place) == "\u{2212}" ? 3 : 0
    default: 0
    }
  }

  private func lengthOfCurrency(at place: Int) -> Int {
    switch text[place] {
    case UInt8(ascii: "$"): return 1
    case 0xC2, 0xE2:
      let scalar = firstScalar(of: text, at: place)
      return scalar.properties.generalCategory == .currencySymbol
        ? sizeOfScalar(beginningWith: text[place]) : 0
    default: return 0
    }
  }

  /// Scans a word or the digits of a number.
  private mutating func scanWord() -> Token.Kind {
    var hasDigit = false
    var hasLetter = false
    if text[place] | 0x20 == UInt8(ascii: "v"), isDigit(at: place + 1) { place += 1 }
    var last = place
    while true {
      let letters = lettersOfASCII(from: place)
      if letters > place {
        hasLetter = true
        last = letters - 1
        place = letters
      }
      guard place < end else { break }
      let byte = text[place]
      if isASCIIDigit(byte) {
        hasDigit = true
      } else if byte >= 0x80 {
        if isWordScalar(firstScalar(of: text, at: place)) {
          hasLetter = true
        } else {
          // A joiner between letters.
          let clusterEnd = endOfCluster(from: last, atLeast: place)
          if clusterEnd == place { break }
          place = clusterEnd
          continue
        }
      } else if !isNumberJoint(byte) || !joins(at: place) {
        break
      }
      last = place
      place += sizeOfScalar(beginningWith: byte)
    }
    guard hasDigit, !hasLetter else { return .word }
    if place < end {
      let isPercent = text[place] == UInt8(ascii: "%")
      let isDegree = text[place] == 0xC2 && firstScalar(of: text, at: place) == "°"
      place += isPercent ? 1 : isDegree ? 2 : lengthOfCurrency(at: place)
      place = endOfCluster(from: place - 1, atLeast: place)
    }
    return .number
  }

  /// The end of the letters of ASCII, and apostrophes, from a place on.
  private func lettersOfASCII(from place: Int) -> Int {
    let bytes = text.span
    var place = place
    while place < end, isWordASCII(bytes[place]), !isASCIIDigit(bytes[place]) { place &+= 1 }
    return place
  }

  private func isNumberJoint(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "/"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// True if the `. , : / -` at a place stands between two digits, and not in a list.
  private mutating func joins(at place: Int) -> Bool {
    guard place >= listEnd, isASCIIDigit(text[place - 1]), isDigit(at: place + 1) else {
      return false
    }
    var count = 1
    var index = place
    while index < end {
      if isNumberJoint(text[index]), isDigit(at: index + 1) {
        count += 1
      } else if !isASCIIDigit(text[index]) {
        break
      }
      index += 1
    }
    // Counted from the first joint on: behind it the token is known to be no list.
    if count > Self.mostNumbers {
      listEnd = index
      return false
    }
    return true
  }

  /// The end of the character that begins at a place, `least` or more.
  private func endOfCluster(from start: Int, atLeast least: Int) -> Int {
    guard least < end, text[least] >= 0x80, !isAlone(firstScalar(of: text, at: least)) else {
      return least
    }
    var start = start
    while start > 0, text[start] & 0xC0 == 0x80 { start -= 1 }
    var length = 15
    while true {
      var stop = min(start + length, end)
      while stop < end, text[stop] & 0xC0 == 0x80 { stop -= 1 }
      // Up to 15 bytes need no memory.
      let string = String(decoding: text[start..<stop], as: UTF8.self)
      let count = string.first?.utf8.count ?? 0
      if start + count < stop || stop == end { return max(least, start + count) }
      length *= 4
    }
  }

  /// True for letters that are no part of the character before them, whatever it is.
  private func isAlone(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x3041...0x3096, 0x30A1...0x30FA, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0x3001...0x3029: true
    default: false
    }
  }
}

// MARK: - Places

/// A place at which a token of a text begins for certain, at a distance of 1,024 bytes at most: before `place`, or directly behind a line feed there.
func safePlace(in text: [UInt8], before place: Int, from low: Int) -> Int {
  var index = place
  let least = max(low, place - reachOfTokens)
  if index > least, text[index - 1] != 0x0A { index -= 1 }
  while index > least, !isSafe(text, index) { index -= 1 }
  while index > low, index < text.count, text[index] & 0xC0 == 0x80 { index -= 1 }
  return index
}

/// The same behind a place.
func safePlace(in text: [UInt8], behind place: Int, to high: Int) -> Int {
  var index = min(place + 1, high)
  let most = min(high, place + reachOfTokens)
  while index < most, !isSafe(text, index) { index += 1 }
  while index < high, text[index] & 0xC0 == 0x80 { index += 1 }
  return index
}

private let reachOfTokens = 1024

private func isSafe(_ text: [UInt8], _ place: Int) -> Bool {
  switch text[place - 1] {
  case 0x0A: true
  // "[ ]" is one token, and a mark may stand on a blank.
  case 0x20, 0x09:
    place < text.count && text[place] < 0x80 && text[place] != UInt8(ascii: "]")
  default: false
  }
}

func scalarStart(_ text: [UInt8], before place: Int) -> Int {
  var index = place - 1
  while index > 0, text[index] & 0xC0 == 0x80 { index -= 1 }
  return index
}

// MARK: - Scalars

func isASCIIDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

/// True if a scalar, no letter, says something by itself, as an ideograph or a pictograph does, and a comma doesn't.
private func isSymbol(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation,
    .initialPunctuation, .finalPunctuation, .otherPunctuation, .spaceSeparator, .lineSeparator,
    .paragraphSeparator, .control, .format:
    false
  default: true
  }
}

/// Decoding a whole text to look at its first letters would cost as much as comparing it.
func firstScalar(of utf8: [UInt8], at place: Int) -> Unicode.Scalar {
  let first = utf8[place]
  if first < 0x80 { return Unicode.Scalar(first) }
  let count = sizeOfScalar(beginningWith: first)
  var value = UInt32(first) & (0x7F >> UInt32(count))
  var index = place + 1
  while index < place + count, index < utf8.count {
    value = value << 6 | UInt32(utf8[index] & 0x3F)
    index += 1
  }
  return Unicode.Scalar(value) ?? "\u{FFFD}"
}

func isWordASCII(_ byte: UInt8) -> Bool {
  switch byte {
  case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "'"): true
  default: false
  }
}

/// True for letters, digits, marks and apostrophes of scripts that are written with blanks between words.
func isWordScalar(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar {
  case _ where scalar.isASCII: isWordASCII(UInt8(truncatingIfNeeded: scalar.value))
  case "\u{2019}": true
  case "\u{0E00}"..."\u{0EFF}", "\u{1000}"..."\u{109F}", "\u{1780}"..."\u{17FF}": false
  case "\u{3040}"..."\u{309F}": false
  case _ where scalar.properties.isIdeographic: false
  default:
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark:
      true
    default: false
    }
  }
}
