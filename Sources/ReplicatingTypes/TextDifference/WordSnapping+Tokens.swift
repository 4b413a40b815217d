// An edit replaces whole tokens (`Token`): a letter that the old and the new text have in common by chance was not kept. What is typed in a
// word, and deleted from it, is as small as it was.

extension WordSnapping {
  /// The edits that `slide` and `snap` make of one that only inserts or only deletes: one as a rule.
  func settle(_ edit: Edit<UInt8>) -> [Edit<UInt8>] {
    let low = max(bounds.lowerBound, edit.range.lowerBound - Self.reach)
    let high = min(bounds.upperBound, edit.range.upperBound + Self.reach)
    let edit = slid(edit, within: low..<high)
    if isTyping(edit) { return [edit] }
    return DividedEdits(of: text).divided(snap(edit.keepingEmptyLine(in: text)))
  }

  /// Widens edits to whole tokens, but those that type or delete within one word.
  ///
  /// `edits` are sorted and apart from each other; so are those returned, and they lead to the same text. O(edits, and the text up to the next blanks around them).
  ///
  /// - Parameter isGiven: true for insertions and deletions that a client has named: they are widened to whole characters only.
  func snap(
    _ edits: [Edit<UInt8>], isGiven: (Edit<UInt8>) -> Bool = { _ in false }
  ) -> [Edit<UInt8>] {
    var result: [Edit<UInt8>] = []
    result.reserveCapacity(edits.count)
    var first = 0
    while first < edits.count {
      let low = max(
        safePlace(in: text, before: edits[first].range.lowerBound, from: bounds.lowerBound),
        result.last?.range.upperBound ?? 0)
      var end = first
      var high = low
      repeat {
        high = safePlace(in: text, behind: edits[end].range.upperBound, to: bounds.upperBound)
        end += 1
      } while end < edits.count && edits[end].range.lowerBound <= high
      let some = edits[first..<end]
      if some.count == 1, let only = some.first, isTyping(only) || isBetweenBlanks(only) {
        result.append(only)
      } else {
        result += Neighbourhood(text: text, range: low..<high, edits: some).snapped(isGiven)
      }
      first = end
    }
    let joined = result.joiningNeighbours()
    // A replacement that has grown may touch what is typed in a word.
    return joined.count < result.count ? snap(joined, isGiven: isGiven) : joined
  }

  /// True if tokens obviously begin and end where an edit does, before and afterwards.
  private func isBetweenBlanks(_ edit: Edit<UInt8>) -> Bool {
    let (low, high) = (edit.range.lowerBound, edit.range.upperBound)
    let before = low > bounds.lowerBound ? text[low - 1] : 0x0A
    let behind = high < bounds.upperBound ? text[high] : 0x0A
    func isBoundary(_ before: UInt8, _ behind: UInt8) -> Bool {
      switch (before, behind) {
      case (0x0A, _): true
      case (0x20, 0x00...0x5C), (0x20, 0x5E...0x7F): true
      case (0x0E...0x5A, 0x20), (0x0E...0x5A, 0x0A), (0x5C...0xFF, 0x20), (0x5C...0xFF, 0x0A): true
      default: false
      }
    }
    return isBoundary(before, edit.replacement.first ?? behind)
      && isBoundary(edit.replacement.last ?? before, behind)
      && (edit.range.isEmpty || isBoundary(before, text[low]) && isBoundary(text[high - 1], behind))
      && !(edit.range.isEmpty && !isBoundary(before, behind))
  }

  /// True if an edit inserts letters or blanks between letters or blanks, or deletes one between two letters: then nothing has to be
  /// looked at.
  func isTyping(_ edit: Edit<UInt8>) -> Bool {
    let (low, high) = (edit.range.lowerBound, edit.range.upperBound)
    let isSimple: (UInt8) -> Bool = {
      switch $0 {
      case 0x20, 0x41...0x5A, 0x61...0x7A: true
      default: false
      }
    }
    if low > bounds.lowerBound, !isSimple(text[low - 1]), text[low - 1] != 0x0A { return false }
    if high < bounds.upperBound, !isSimple(text[high]), text[high] != 0x0A { return false }
    if edit.range.isEmpty { return edit.replacement.allSatisfy(isSimple) }
    return edit.replacement.isEmpty && edit.range.count == 1 && low > bounds.lowerBound
      && high < bounds.upperBound && isWordASCII(text[low - 1]) && isWordASCII(text[high])
      && isSimple(text[low])
  }
}

/// Edits, and the part of the text around them in which tokens are looked for: before and afterwards.
private struct Neighbourhood {
  let text: [UInt8]
  let range: Range<Int>
  let edits: ArraySlice<Edit<UInt8>>
  let tokens: [Token]
  /// The part after the edits, and its tokens.
  let newText: [UInt8]
  let newTokens: [Token]

  init(text: [UInt8], range: Range<Int>, edits: ArraySlice<Edit<UInt8>>) {
    (self.text, self.range, self.edits) = (text, range, edits)
    var new: [UInt8] = []
    var place = range.lowerBound
    for edit in edits {
      new += text[place..<edit.range.lowerBound]
      new += edit.replacement
      place = edit.range.upperBound
    }
    new += text[place..<range.upperBound]
    newText = new
    tokens = Self.tokens(of: text, in: range)
    newTokens = Self.tokens(of: new, in: new.indices)
  }

  private static func tokens(of text: [UInt8], in range: Range<Int>) -> [Token] {
    var tokens: [Token] = []
    var scanner = TokenScanner(text, in: range)
    while let token = scanner.next() { tokens.append(token) }
    return tokens
  }

  /// The edits, each of those that need it with the rest of the tokens in which it begins and ends.
  func snapped(_ isGiven: (Edit<UInt8>) -> Bool) -> [Edit<UInt8>] {
    var result: [Edit<UInt8>] = []
    var isStart = Cursor(tokens, newTokens)
    // How much farther a place is in the part after the edits.
    var shift = -range.lowerBound
    var low = range.lowerBound
    var first = edits.startIndex
    while first < edits.endIndex {
      // The last place in front of the edit at which a token begins in both texts.
      let start = isStart.last(in: low...edits[first].range.lowerBound, shift) ?? low
      let newStart = start + shift
      var end = first
      var high: Int?
      repeat {
        shift += edits[end].replacement.count - edits[end].range.count
        end += 1
        let next = end < edits.endIndex ? edits[end].range.lowerBound : range.upperBound
        high = isStart.first(in: edits[end - 1].range.upperBound...next, shift)
        if high == nil, end == edits.endIndex { high = next }
      } while high == nil
      let whole = Hunk(old: start..<high!, new: newStart..<high! + shift)
      result += snapped(edits[first..<end], whole, isGiven)
      low = high!
      first = end
    }
    return result
  }

  /// Edits in one token, or several that become one, or the other way round.
  private func snapped(
    _ some: ArraySlice<Edit<UInt8>>, _ whole: Hunk, _ isGiven: (Edit<UInt8>) -> Bool
  ) -> [Edit<UInt8>] {
    let replacing = Edit(range: whole.old, replacement: Array(newText[whole.new]))
    // Insertions and deletions that a client names stay as they are, also several in one word.
    if some.count > 1, some.allSatisfy(isGiven), isASCII(whole) { return Array(some) }
    guard some.count == 1, let edit = some.first else { return [replacing] }
    if edit.range == whole.old { return [edit] }
    guard edit.range.isEmpty || edit.replacement.isEmpty else { return [replacing] }
    if isGiven(edit) {
      return [wholeCharacters(edit, whole) ?? edit]
    }
    return isWithinWord(edit, whole) ? [edit] : [replacing]
  }

  /// True if no character of a hunk has several bytes, in both texts.
  private func isASCII(_ hunk: Hunk) -> Bool {
    (text[hunk.old] + newText[hunk.new]).allSatisfy { $0 < 0x80 }
  }

  /// True if an insertion or deletion is made within a word that remains one.
  private func isWithinWord(_ edit: Edit<UInt8>, _ whole: Hunk) -> Bool {
    if wholeCharacters(edit, whole) != nil { return false }
    let moved = edit.range.isEmpty ? edit.replacement : Array(text[edit.range])
    let movedTokens = Self.tokens(of: moved, in: moved.indices)
    let areLetters = movedTokens.allSatisfy { $0.kind == .word }
    let touched =
      tokens.filter { $0.range.overlaps(whole.old) }
      + newTokens.filter { $0.range.overlaps(whole.new) }
    for token in touched {
      switch token.kind {
      case .box, .symbol: return false
      case .number where !areLetters: return false
      default: break
      }
    }
    if edit.range.isEmpty { return true }
    if areLetters {
      // The first letter typed over a word may be one of its letters.
      return scalarCount(newText[whole.new]) > scalarCount(moved[...])
    }
    return !movedTokens.contains { $0.isWord }
  }

  /// The edit with the rest of the characters in which it begins and ends; nil if it is made between characters.
  private func wholeCharacters(_ edit: Edit<UInt8>, _ whole: Hunk) -> Edit<UInt8>? {
    let (low, high) = (edit.range.lowerBound, edit.range.upperBound)
    let around = text[max(whole.old.lowerBound, low - 1)..<min(whole.old.upperBound, high + 1)]
    if around.allSatisfy({ $0 < 0x80 }), edit.replacement.allSatisfy({ $0 < 0x80 }) {
      return nil
    }
    let starts = Self.characters(text[whole.old]).map { $0 + whole.old.lowerBound }
    let shift = whole.new.lowerBound - whole.old.lowerBound
    let newStarts = Set(Self.characters(newText[whole.new]).map { $0 + whole.old.lowerBound })
    let grown = edit.replacement.count - edit.range.count
    let start = starts.last { $0 <= low && newStarts.contains($0) } ?? whole.old.lowerBound
    let end = starts.first { $0 >= high && newStarts.contains($0 + grown) } ?? whole.old.upperBound
    if start == low, end == high { return nil }
    return Edit(
      range: start..<end, replacement: Array(newText[start + shift..<end + shift + grown]))
  }

  /// The places at which characters begin, and the end.
  private static func characters(_ text: ArraySlice<UInt8>) -> [Int] {
    var places = [0]
    for character in String(decoding: text, as: UTF8.self) {
      places.append(places.last! + character.utf8.count)
    }
    return places
  }
}

private func scalarCount(_ utf8: ArraySlice<UInt8>) -> Int {
  utf8.count { $0 & 0xC0 != 0x80 }
}

/// Finds places at which tokens begin in a text and in a later one, going on from where it found the last.
private struct Cursor {
  private let starts: [Int]
  private let newStarts: [Int]
  private var place = 0
  private var newPlace = 0

  init(_ tokens: [Token], _ newTokens: [Token]) {
    starts = tokens.map(\.range.lowerBound) + [tokens.last?.range.upperBound ?? 0]
    newStarts = newTokens.map(\.range.lowerBound) + [newTokens.last?.range.upperBound ?? 0]
  }

  mutating func first(in places: ClosedRange<Int>, _ shift: Int) -> Int? {
    while place < starts.count, starts[place] < places.lowerBound { place += 1 }
    while newPlace < newStarts.count, newStarts[newPlace] < places.lowerBound + shift {
      newPlace += 1
    }
    // Farther on another shift may come, so these go on alone.
    var (place, newPlace) = (place, newPlace)
    while place < starts.count, newPlace < newStarts.count, starts[place] <= places.upperBound {
      let (one, other) = (starts[place], newStarts[newPlace] - shift)
      if one == other { return one }
      if one < other { place += 1 } else { newPlace += 1 }
    }
    return nil
  }

  mutating func last(in places: ClosedRange<Int>, _ shift: Int) -> Int? {
    var last: Int?
    var low = places.lowerBound
    while low <= places.upperBound, let next = first(in: low...places.upperBound, shift) {
      last = next
      low = next + 1
    }
    return last
  }
}
