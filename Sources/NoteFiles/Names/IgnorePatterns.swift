/// The patterns of a file `.decentignore`, which names files that are no notes, as `.gitignore` does.
///
/// One pattern on a line. A blank line, and one that begins with `#`, is none. `!` before a pattern takes files in again, but not below a folder
/// that is out; `/` behind it means folders only. With a `/` before or within it a pattern means a path from here, and otherwise a
/// name in any folder. `*` stands for any signs, `?` for one, `[a-z]` and `[!a-z]` for one of some, none of them for `/`; `**` for any
/// folders; `\` before a sign takes it as it is. The last pattern that fits counts. Blanks at the end of a line don't. Composed and decomposed characters are the same.
///
/// A path is looked at once for each pattern, with all places at which the pattern may be at the same time: that takes the product of both
/// lengths at most, whatever the pattern.
public struct IgnorePatterns: Sendable {
  /// The most bytes of a file of patterns; what stands behind them is not read.
  public static let longest = 1 << 16

  /// The most bytes of a pattern; a longer one is none.
  public static let longestPattern = 1024

  private var patterns: [Pattern] = []

  /// No patterns.
  public init() {}

  /// Reads the lines of a file. Bytes that are no UTF-8 fit no name.
  public init(parsing bytes: [UInt8]) {
    for line in bytes.prefix(Self.longest).lines {
      var content = line.withoutLineEnd
      while content.last == .space, content.dropLast().last != .backslash { content.removeLast() }
      if content.first == .hash || content.count > Self.longestPattern { continue }
      if let pattern = Pattern(content.text.composed) { patterns.append(pattern) }
    }
  }

  /// True if the file at a relative path is left out, or a folder that it is in.
  ///
  /// - Complexity: O(length of the path times that of all patterns).
  public func isIgnored(_ path: String, isFolder: Bool = false) -> Bool {
    let scalars = Array(path.composed.unicodeScalars)
    // Where each folder ends, and the file.
    let ends = scalars.indices.filter { scalars[$0] == "/" } + [scalars.count]
    var isOut = Array(repeating: false, count: ends.count)
    for pattern in patterns {
      for (index, fits) in pattern.fits(scalars, ends).enumerated()
      where fits && (!pattern.isFolder || isFolder || index < ends.count - 1) {
        isOut[index] = !pattern.isNegated
      }
    }
    return isOut.contains(true)
  }
}

private struct Pattern: Sendable {
  enum Token {
    case scalar(Unicode.Scalar)
    /// `?`.
    case any
    /// `*`: any signs but `/`.
    case star
    /// `**/`: nothing, or any signs up to a `/`.
    case folders
    /// `/**` at the end: any signs.
    case rest
    case set([ClosedRange<UInt32>], isNegated: Bool)
  }

  var tokens: [Token] = []
  var isNegated = false
  var isFolder = false

  /// `nil` for a line without a pattern.
  init?(_ line: String) {
    var signs = Array(line.unicodeScalars)[...]
    if signs.first == "!" {
      isNegated = true
      signs = signs.dropFirst()
    }
    if signs.last == "/" {
      isFolder = true
      signs = signs.dropLast()
    }
    if signs.isEmpty { return nil }
    if !signs.contains("/") { tokens.append(.folders) }
    if signs.first == "/" { signs = signs.dropFirst() }
    var isStart = true
    while let sign = signs.first {
      let wasStart = isStart
      isStart = sign == "/"
      if wasStart, signs.starts(with: "**/".unicodeScalars) {
        tokens.append(.folders)
        signs = signs.dropFirst(3)
        isStart = true
        continue
      }
      if wasStart, signs.elementsEqual("**".unicodeScalars) {
        tokens.append(.rest)
        return
      }
      signs = signs.dropFirst()
      switch sign {
      case "*":
        if case .star = tokens.last { continue }
        tokens.append(.star)
      case "?": tokens.append(.any)
      case "[": if !readSet(&signs) { tokens.append(.scalar(sign)) }
      case "\\" where !signs.isEmpty: tokens.append(.scalar(signs.removeFirst()))
      default: tokens.append(.scalar(sign))
      }
    }
  }

  /// Reads what stands behind `[`; false if it is never closed.
  private mutating func readSet(_ signs: inout ArraySlice<Unicode.Scalar>) -> Bool {
    var rest = signs
    let isNegated = rest.first == "!" || rest.first == "^"
    if isNegated { rest = rest.dropFirst() }
    var ranges: [ClosedRange<UInt32>] = []
    var isFirst = true
    while var sign = rest.popFirst() {
      if sign == "]", !isFirst {
        tokens.append(.set(ranges, isNegated: isNegated))
        signs = rest
        return true
      }
      isFirst = false
      if sign == "\\", let next = rest.popFirst() { sign = next }
      var last = sign
      if rest.first == "-", let end = rest.dropFirst().first, end != "]" {
        rest = rest.dropFirst(2)
        last = end
        if end == "\\", let next = rest.popFirst() { last = next }
      }
      if sign.value <= last.value { ranges.append(sign.value...last.value) }
    }
    return false
  }

  /// For each end of a part of the path, whether the pattern fits the path up to there.
  func fits(_ path: [Unicode.Scalar], _ ends: [Int]) -> [Bool] {
    // The tokens that may come next.
    var places = Places(count: tokens.count + 1)
    add(0, to: &places)
    var fits: [Bool] = []
    var next = Places(count: tokens.count + 1)
    for index in 0...path.count {
      if fits.count < ends.count, ends[fits.count] == index {
        fits.append(places.contains(tokens.count))
      }
      if index == path.count || places.list.isEmpty { break }
      next.removeAll()
      for place in places.list where place < tokens.count { step(place, path[index], &next) }
      swap(&places, &next)
    }
    return fits + Array(repeating: false, count: ends.count - fits.count)
  }

  /// Adds a place, and those that are reached from it without a sign.
  private func add(_ place: Int, to places: inout Places) {
    var place = place
    places.insert(place)
    while place < tokens.count {
      switch tokens[place] {
      case .star, .folders: place += 1
      case .scalar, .any, .rest, .set: return
      }
      places.insert(place)
    }
  }

  private func step(_ place: Int, _ sign: Unicode.Scalar, _ next: inout Places) {
    switch tokens[place] {
    case .scalar(let wanted): if sign == wanted { add(place + 1, to: &next) }
    case .any: if sign != "/" { add(place + 1, to: &next) }
    case .star: if sign != "/" { add(place, to: &next) }
    case .folders:
      // Within a folder's name nothing else may come.
      if sign == "/" { add(place, to: &next) } else { next.insert(place) }
    case .rest:
      next.insert(place)
      next.insert(place + 1)
    case .set(let ranges, let isNegated):
      if sign != "/", ranges.contains(where: { $0.contains(sign.value) }) != isNegated {
        add(place + 1, to: &next)
      }
    }
  }
}

/// A set of small numbers, in the order in which they came.
private struct Places {
  private(set) var list: [Int] = []
  private var isIn: [Bool]

  init(count: Int) { isIn = Array(repeating: false, count: count) }

  func contains(_ place: Int) -> Bool { isIn[place] }

  mutating func insert(_ place: Int) {
    if isIn[place] { return }
    isIn[place] = true
    list.append(place)
  }

  mutating func removeAll() {
    for place in list { isIn[place] = false }
    list.removeAll(keepingCapacity: true)
  }
}
