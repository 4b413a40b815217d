/// A word after the verb of a command.
struct Argument {
  enum Count {
    case one, optional
    /// None or more; one or more. Only the last argument of a verb.
    case any, some
  }

  /// As help has it: `NOTE`.
  let name: String
  let kind: ValueKind
  let count: Count

  init(_ name: String, _ kind: ValueKind, _ count: Count = .one) {
    self.name = name
    self.kind = kind
    self.count = count
  }

  /// As a usage line has it: `[DATE]`, `TAG...`.
  var usage: String {
    switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .any: "[\(name)...]"
    case .some: "\(name)..."
    }
  }
}

/// A word with a hyphen before it.
///
/// An option has a value in all verbs that have it, or in none: so it is known which words are values before the verb is.
struct Option {
  /// With its hyphens.
  let name: String
  /// What help calls the value; nil for an option without one.
  let value: String?
  let kind: ValueKind
  /// True if every value counts, and not only the last.
  let isRepeatable: Bool
  let help: String
  /// True if only the project's own tests use it.
  let isHidden: Bool

  /// An option with a value.
  init(
    _ name: String, _ value: String, _ kind: ValueKind, isRepeatable: Bool = false,
    isHidden: Bool = false, _ help: String
  ) {
    self.name = name
    self.value = value
    self.kind = kind
    self.isRepeatable = isRepeatable
    self.isHidden = isHidden
    self.help = help
  }

  /// An option without a value.
  init(_ name: String, _ help: String) {
    self.name = name
    value = nil
    kind = .any
    isRepeatable = false
    isHidden = false
    self.help = help
  }

  /// With its value: `--text TEXT`.
  var usage: String { value.map { "\(name) \($0)" } ?? name }
}

/// What the program can be told to do: one row of the table of verbs. From the table come parsing, help, completions and the manual page.
struct Verb {
  enum Group: String, CaseIterable {
    case notes, notebook
    case programs
  }

  let name: String
  /// Where help lists it; nil if only the program's own scripts use it.
  let group: Group?
  let arguments: [Argument]
  let options: [Option]
  /// What it does, in a part of a line.
  let summary: String
  /// What else there is to know: paragraphs, with an empty line between two.
  let details: String
  /// True if history names it with the program.
  let isNamed: Bool
  /// Refuses what does not go together.
  let check: (Command) throws(CommandFailure) -> Void
  /// Does it; returns the status of the program.
  let perform: (Command, CommandEnvironment) throws(CommandFailure) -> CommandFailure.Status

  init(
    _ name: String, _ group: Group?, _ arguments: [Argument] = [], options: [Option] = [],
    _ summary: String, details: String = "", isNamed: Bool = true,
    check: @escaping (Command) throws(CommandFailure) -> Void = { _ in },
    perform: @escaping (Command, CommandEnvironment) throws(CommandFailure) -> CommandFailure.Status
  ) {
    self.name = name
    self.group = group
    self.arguments = arguments
    self.options = options
    self.summary = summary
    self.details = details
    self.isNamed = isNamed
    self.check = check
    self.perform = perform
  }
}

/// A command line, taken apart: a verb with its arguments and options.
struct Command {
  let verb: Verb
  /// False if no verb was written: then it is the default one.
  let isVerbNamed: Bool
  /// All verbs, for help and completions.
  let verbs: [Verb]
  /// Options of every verb.
  let common: [Option]
  /// The values of each argument, by its name.
  let arguments: [String: [String]]
  /// The values of each option that was given; one that has none has empty ones.
  let options: [String: [String]]

  /// True if an option was given.
  func has(_ option: String) -> Bool { !values(option).isEmpty }

  /// The last value of an option; nil if it was not given.
  func value(_ option: String) -> String? { values(option).last }

  /// The values of an option.
  func values(_ option: String) -> [String] {
    assert((verb.options + common).contains { $0.name == option }, "\(verb.name) has no \(option)")
    return options[option] ?? []
  }

  /// The value of an argument that every command of the verb has.
  subscript(argument: String) -> String { words(argument)[0] }

  /// The values of an argument.
  func words(_ argument: String) -> [String] {
    assert(verb.arguments.contains { $0.name == argument }, "\(verb.name) has no \(argument)")
    return arguments[argument] ?? []
  }

  /// This command line can't be used.
  func misuse(_ message: String) -> CommandFailure {
    .misuse(message, isVerbNamed ? verb.name : nil)
  }
}
