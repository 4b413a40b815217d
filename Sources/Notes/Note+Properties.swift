public import ReplicatingTypes

// The properties of a note, and what those mean that have a name here.

extension Note {
  /// The value of a property; empty if there is none.
  public subscript(name: PropertyName) -> String { properties[name]?.value ?? "" }

  /// Where the note's file is among others; empty if it has no place. See `PropertyName.path`.
  public var path: String { self[.path] }

  /// The parts of its file's header that are there, by their keys, in the order of these.
  public var header: [(key: String, value: String)] {
    if properties.isEmpty { return [] }
    return properties.sorted { $0.key < $1.key }.compactMap { name, register in
      name.headerKey.flatMap { register.value.isEmpty ? nil : ($0, register.value) }
    }
  }

  /// The operation that makes a property this; `nil` if it is. `now`: milliseconds since 1970.
  public func operation(
    setting name: PropertyName, to value: String, at now: Int64
  ) -> Operation? {
    let register = properties[name] ?? ReplicatingRegister("")
    if register.value.utf8.elementsEqual(value.utf8) { return nil }
    return .property(name, register.assignment(of: value, at: now))
  }
}

extension Note {
  /// A deletion by somebody who had seen the note as it was at a version, which is known here: what was written since keeps it.
  public func deletion(seenAt version: Version) -> Operation {
    .delete(covered: content.intersection(version))
  }
}
