// Library product only: the programs of this package do not use this file.

// The types print what is visible of them, as the standard library prints a value of that kind. All but a text, and a register
// of one, take one line; these do inside of another value, which shows their `debugDescription`.

extension ReplicatingRegister: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { String(describing: value) }
  public var debugDescription: String { String(reflecting: value) }
}

/// The elements, in the order of what they are shown as: equal sets are shown alike, in each process.
extension ReplicatingSet: CustomStringConvertible {
  public var description: String { sortedDescription(of: map { String(reflecting: $0) }) }
}

/// The elements, in the order of what they are shown as.
extension ReplicatingAddOnlySet: CustomStringConvertible {
  public var description: String { sortedDescription(of: map { String(reflecting: $0) }) }
}

extension ReplicatingOrderedSet: CustomStringConvertible {
  public var description: String { "\(values)" }
}

extension ReplicatingArray: CustomStringConvertible {
  public var description: String { "\(values)" }
}

/// The keys that have a value, with it, in the order of what they are shown as.
extension ReplicatingDictionary: CustomStringConvertible {
  public var description: String {
    if isEmpty { return "[:]" }
    return sortedDescription(
      of: map { "\(String(reflecting: $0.key)): \(String(reflecting: $0.value))" })
  }
}

/// The text as it is. `debugDescription` is one line, whatever the text holds.
extension ReplicatingText: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { string }
  public var debugDescription: String { string.debugDescription }
}

private func sortedDescription(of parts: [String]) -> String {
  "[" + parts.sorted().joined(separator: ", ") + "]"
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

// Equal values have seen the same changes, so the version is what is hashed: O(replicas that ever changed the value).

extension ReplicatingArray: Hashable where Element: Hashable {
  public func hash(into hasher: inout Hasher) { hasher.combine(version) }
}

extension ReplicatingText: Hashable {
  public func hash(into hasher: inout Hasher) { hasher.combine(version) }
}

extension ReplicatingOrderedSet: Hashable {
  public func hash(into hasher: inout Hasher) { hasher.combine(version) }
}
