// Library product only: the programs of this package do not use this file.

// What the types print as: what is visible of them, as the standard library prints a value of that kind.

extension ReplicatingRegister: CustomStringConvertible {
  public var description: String { "\(value)" }
}

extension ReplicatingSet: CustomStringConvertible {
  public var description: String { "\(elements)" }
}

extension ReplicatingAddOnlySet: CustomStringConvertible {
  public var description: String { "\(elements)" }
}

extension ReplicatingOrderedSet: CustomStringConvertible {
  public var description: String { "\(elements)" }
}

extension ReplicatingArray: CustomStringConvertible {
  public var description: String { "\(elements)" }
}

extension ReplicatingDictionary: CustomStringConvertible {
  public var description: String {
    "\(Dictionary(uniqueKeysWithValues: map { ($0.key, $0.value) }))"
  }
}

/// The text as it is. `debugDescription` is one line, whatever the text holds.
extension ReplicatingText: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { string }
  public var debugDescription: String { string.debugDescription }
}

// MARK: - Errors

// Sentences, which name the operation, the object and the cause.

extension InvalidChange: CustomStringConvertible {
  public var description: String { "The changes can't be applied, now or later: \(reason)." }
}

extension MissingChanges: CustomStringConvertible {
  public var description: String {
    if needed.isEmpty { return "The changes can't be applied yet: others are missing here." }
    let names = needed.replicas.sorted().prefix(3).map { "\(needed[$0]) of \($0)" }
    let more = needed.replicas.count - names.count
    return "The changes can't be applied yet: they follow changes that may be missing here, up to "
      + names.joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "") + "."
  }
}

extension RefusedChanges: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing(let missing): missing.description
    case .invalid(let invalid): invalid.description
    }
  }
}

extension DecodingFailure: CustomStringConvertible {
  public var description: String { "The bytes can't be read, at byte \(offset): \(reason)." }
}
