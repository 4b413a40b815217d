// A command line is taken apart by the table of verbs, and all of it is checked before anything is done.

extension Command {
  /// The verb of a command line that names none.
  static let defaultVerb = "serve"

  /// Takes the words after the program's name apart.
  ///
  /// Options stand anywhere, before the verb too; behind `--` there are none. The values are checked, each by its kind and all
  /// together by the verb.
  init(
    _ words: [String], verbs: [Verb], common: [Option]
  ) throws(CommandFailure) {
    var line = CommandLineWords(words[...], all: common + verbs.flatMap(\.options))
    try line.read()
    let name = line.words.first ?? Self.defaultVerb
    guard let verb = verbs.first(where: { $0.name == name }) else {
      let others = verbs.filter { $0.group != nil }.map(\.name)
      throw .misuse("there is no verb \(name)\(suggestion(for: name, among: others))")
    }
    self.verb = verb
    isVerbNamed = !line.words.isEmpty
    self.verbs = verbs
    self.common = common
    options = line.options
    // Whoever asks what a verb needs does not know it yet.
    if options["--help"] != nil || options["--version"] != nil {
      arguments = [:]
      return
    }
    arguments = try Self.arguments(of: verb, in: line.words.dropFirst())
    try checkOptions()
    for argument in verb.arguments {
      for text in arguments[argument.name] ?? [] {
        guard let complaint = argument.kind.complaint(text) else { continue }
        throw misuse("\(argument.name) \(complaint)\(text.isEmpty ? "" : ", and not \(text)")")
      }
    }
    try verb.check(self)
  }

  /// Deals the words out to the arguments.
  private static func arguments(
    of verb: Verb, in words: ArraySlice<String>
  ) throws(CommandFailure) -> [String: [String]] {
    var (rest, arguments) = (words, [String: [String]]())
    for argument in verb.arguments {
      switch argument.count {
      case .one, .optional:
        if let word = rest.popFirst() { arguments[argument.name] = [word] }
      case .any, .some:
        if !rest.isEmpty { arguments[argument.name] = Array(rest) }
        rest = []
      }
      let isNeeded = argument.count == .one || argument.count == .some
      if isNeeded, arguments[argument.name] == nil {
        throw .misuse("\(verb.name) needs \(argument.name)", verb.name)
      }
    }
    if let word = rest.first {
      let last = verb.arguments.last
      let isText = last.map { [.title, .text, .note].contains($0.kind) } ?? false
      let advice = isText ? "; a \(last!.name) of several words needs quotes" : ""
      throw .misuse("\(verb.name) has no use for \(word)\(advice)", verb.name)
    }
    return arguments
  }

  private func checkOptions() throws(CommandFailure) {
    let known = verb.options + common
    for (name, values) in options.sorted(by: { $0.key < $1.key }) {
      guard let option = known.first(where: { $0.name == name }) else {
        let owners = verbs.filter { $0.options.contains { $0.name == name } }.map(\.name)
        throw misuse(
          "\(name) is an option of \(owners.joined(separator: ", "))"
            + (isVerbNamed ? ", and not of \(verb.name)" : ""))
      }
      for text in values where option.value != nil {
        if let complaint = option.kind.complaint(text) {
          throw misuse("\(name) \(complaint)")
        }
      }
    }
  }
}

/// The words of a command line, told apart from its options.
private struct CommandLineWords {
  private var rest: ArraySlice<String>
  private let all: [Option]
  private(set) var words: [String] = []
  private(set) var options: [String: [String]] = [:]

  /// - Parameter all: the options of all verbs.
  init(_ rest: ArraySlice<String>, all: [Option]) {
    self.rest = rest
    self.all = all
  }

  mutating func read() throws(CommandFailure) {
    while let word = rest.popFirst() {
      if word == "--" {
        if words.isEmpty, rest.isEmpty { throw .misuse("there is nothing behind --") }
        words += rest
        return
      }
      if word.hasPrefix("-"), word != "-" { try readOption(word) } else { words.append(word) }
    }
  }

  private mutating func readOption(_ word: String) throws(CommandFailure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = all.first(where: { $0.name == name }) else {
      let names = all.filter { !$0.isHidden }.map(\.name)
      throw .misuse("there is no option \(name)\(suggestion(for: name, among: names))")
    }
    var value = ""
    if option.value == nil {
      if parts.count == 2 { throw .misuse("\(name) has no value") }
    } else if parts.count == 2 {
      value = String(parts[1])
    } else if let next = rest.popFirst() {
      value = next
    } else {
      throw .misuse("\(name) needs a value")
    }
    options[name, default: []].append(value)
  }
}

/// What somebody may have meant who wrote a word that is not there: for the end of a message; empty if nothing is like it.
private func suggestion(for word: String, among others: [String]) -> String {
  let most = word.utf8.count < 5 ? 1 : 2
  let near = others.map { ($0, distance(Array(word.utf8), Array($0.utf8))) }
    .filter { $0.1 <= most }.min { $0.1 < $1.1 }
  return near.map { "; did you mean \($0.0)?" } ?? ""
}

/// The least number of letters to insert, to remove, to replace, or to swap with the next one, that make one word of the other.
/// Words of more than 40 bytes are like nothing.
private func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
  if a.count > 40 || b.count > 40 { return .max }
  var rows = [Array(0...b.count)]
  for (i, letter) in a.enumerated() {
    var row = [i + 1]
    for (j, other) in b.enumerated() {
      var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == other ? 0 : 1))
      if i > 0, j > 0, letter == b[j - 1], a[i - 1] == other {
        least = min(least, rows[i - 1][j - 1] + 1)
      }
      row.append(least)
    }
    rows.append(row)
  }
  return rows[a.count][b.count]
}
