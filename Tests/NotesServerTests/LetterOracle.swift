/// What a text has to be, letter by letter, after steps that were made, undone and made again. All letters differ.
///
/// Which letters are shown: those whose step stands, if no step stands that has removed them.
///
/// In which order: a letter stays on the side of each other one on which it was typed. As for letters that were not shown when it was typed, because a step that
/// stands had removed them, what was put in their place stands for them: what that step typed when it removed them, or what its editor typed next between the
/// neighbours that they had. A letter typed at one end of all of that is on this side of them; one typed inside of it may be anywhere.
struct LetterOracle {
  typealias Letter = Unicode.Scalar

  private struct Pair: Hashable {
    let first: Letter
    let second: Letter
  }

  private enum Side { case before, behind, inside }

  private struct Step {
    let editor: Int
    var stands = true
  }

  private var steps: [Step] = []
  private var stepOf: [Letter: Int] = [:]
  private var removers: [Letter: Set<Int>] = [:]
  private var pairs: Set<Pair> = []
  /// By a letter and a step that removed it: what stands for it.
  private var standIns: [Letter: [Int: Set<Letter>]] = [:]
  /// The letter that an editor typed last.
  private var last: [Int: Letter] = [:]

  /// A new step of an editor.
  mutating func begin(by editor: Int) -> Int {
    steps.append(Step(editor: editor))
    return steps.count - 1
  }

  /// A step is undone, or made again.
  mutating func turn(_ step: Int, stands: Bool) { steps[step].stands = stands }

  /// The letters that are shown.
  var shown: Set<Letter> { Set(stepOf.keys.filter(isShown)) }

  private func isShown(_ letter: Letter) -> Bool {
    steps[stepOf[letter]!].stands && !removers[letter]!.contains { steps[$0].stands }
  }

  /// What is wrong with a text; nil if it is right.
  func objection(to text: [Letter]) -> String? {
    let wanted = shown
    guard text.count == wanted.count, Set(text) == wanted else {
      return "has \(text.count) letters, not \(wanted.count)"
    }
    let places = Dictionary(uniqueKeysWithValues: text.enumerated().map { ($1, $0) })
    for pair in pairs {
      if let first = places[pair.first], let second = places[pair.second], first > second {
        return "has \(pair.second) before \(pair.first)"
      }
    }
    return nil
  }

  /// A part of a step: letters replace a range of the text.
  mutating func edit(_ step: Int, in text: [Letter], _ range: Range<Int>, _ new: [Letter]) {
    let editor = steps[step].editor
    let removed = text[range]
    let previous = range.lowerBound > 0 ? text[range.lowerBound - 1] : nil
    let goesOn =
      range.isEmpty && previous != nil && previous == last[editor] && stepOf[previous!] == step
    if !new.isEmpty {
      let places = Dictionary(uniqueKeysWithValues: text.enumerated().map { ($1, $0) })
      let hidden = stepOf.keys.filter { places[$0] == nil }
      let behind = hidden.isEmpty ? [] : reached(from: text[range.lowerBound...], isForward: true)
      let before = hidden.isEmpty ? [] : reached(from: text[..<range.upperBound], isForward: false)
      let sides = hidden.map {
        side(of: $0, places, range, goesOn ? previous : nil, [])
      }
      for letter in new {
        for other in text[..<range.lowerBound] { pairs.insert(Pair(first: other, second: letter)) }
        for other in text[range.upperBound...] { pairs.insert(Pair(first: letter, second: other)) }
      }
      for (letter, side) in zip(hidden, sides) {
        switch side {
        case .before where !behind.contains(letter):
          for other in new { pairs.insert(Pair(first: letter, second: other)) }
        case .behind where !before.contains(letter):
          for other in new { pairs.insert(Pair(first: other, second: letter)) }
        default: break
        }
      }
      if range.isEmpty {
        standIn(new, by: editor, hidden, previous, text[range.lowerBound...].first)
      }
      if goesOn { goOn(from: previous!, with: new) }
    }
    for letter in new {
      stepOf[letter] = step
      removers[letter] = []
    }
    for letter in removed {
      removers[letter]!.insert(step)
      if !new.isEmpty { standIns[letter, default: [:]][step, default: []].formUnion(new) }
    }
    if let letter = new.last { last[editor] = letter }
  }

  /// Notes that letters stand for what their editor has removed between two neighbours, and has put nothing for.
  private mutating func standIn(
    _ new: [Letter], by editor: Int, _ hidden: [Letter], _ left: Letter?, _ right: Letter?
  ) {
    for letter in hidden {
      let isBetween =
        left.map { pairs.contains(Pair(first: $0, second: letter)) } ?? true
        && right.map { pairs.contains(Pair(first: letter, second: $0)) } ?? true
      let isPlaced = new.contains {
        pairs.contains(Pair(first: $0, second: letter))
          || pairs.contains(Pair(first: letter, second: $0))
      }
      if !isBetween || isPlaced { continue }
      for step in removers[letter]! where steps[step].stands && steps[step].editor == editor {
        let standing = standIns[letter]?[step]?.contains(where: isShown) ?? false
        if !standing { standIns[letter, default: [:]][step, default: []].formUnion(new) }
      }
    }
  }

  private mutating func goOn(from previous: Letter, with new: [Letter]) {
    for (letter, list) in standIns {
      for (step, letters) in list where letters.contains(previous) {
        standIns[letter]![step]!.formUnion(new)
      }
    }
  }

  /// On which side of a place a letter is that is not shown; nil if that is not said.
  private func side(
    of letter: Letter, _ places: [Letter: Int], _ range: Range<Int>, _ goingOn: Letter?,
    _ seen: Set<Letter>
  ) -> Side? {
    guard !seen.contains(letter), steps[stepOf[letter]!].stands else { return nil }
    var sides: Set<Side> = []
    for step in removers[letter]! where steps[step].stands {
      var found: Set<Side> = []
      for other in standIns[letter]?[step] ?? [] {
        let side: Side?
        if other == goingOn {
          side = .inside
        } else if let place = places[other] {
          side =
            place < range.lowerBound ? .before : place >= range.upperBound ? .behind : .inside
        } else {
          side = self.side(of: other, places, range, goingOn, seen.union([letter]))
        }
        if let side { found.insert(side) }
      }
      guard let side = found.first else { return nil }
      sides.insert(found.count == 1 ? side : .inside)
    }
    return sides.count == 1 ? sides.first : sides.isEmpty ? nil : .inside
  }

  /// The letters that are known to stand behind some, or before them.
  private func reached(from letters: some Sequence<Letter>, isForward: Bool) -> Set<Letter> {
    var next: [Letter: [Letter]] = [:]
    for pair in pairs {
      next[isForward ? pair.first : pair.second, default: []].append(
        isForward ? pair.second : pair.first)
    }
    var reached: Set<Letter> = []
    var rest = Array(letters)
    while let letter = rest.popLast() {
      for other in next[letter] ?? [] where reached.insert(other).inserted { rest.append(other) }
    }
    return reached
  }
}
