// Library product only: the programs of this package do not use this file.

/// A part of a composed value that never changes: an identity, a date of creation.
///
///     struct Task: Composed, Identifiable {
///       @Constant var id = ""
///       var isDone = ReplicatingRegister(false)
///       static var parts: some PartsOf<Self> { Composition(\Self._id, \.isDone) }
///     }
///     let task = Task(id: "milk")
///     task.id  // milk
///
/// All replicas of a value have the same, as with the initial value of a register. The changes since nothing bring it, and a value that has
/// another one refuses them, and refuses to be merged. All operations are O(1), but that a constant is compared and written as its value is.
@propertyWrapper
public struct Constant<Value: Hashable & Sendable>: Hashable, Sendable {
  /// The value, which was given in the beginning.
  public let wrappedValue: Value

  /// A constant of this value.
  public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

extension Constant: Replicable {
  /// The value, for those who have seen nothing.
  public struct Changes: ReplicatingChanges, Sendable {
    var value: Value?
    public var since: Version { Version() }
    public var version: Version { Version() }
  }

  public var version: Version { Version() }

  public func changes(since version: Version) -> Changes {
    Changes(value: version.isEmpty ? wrappedValue : nil)
  }

  public func validate(_ changes: Changes) throws(InvalidChange) {
    if let value = changes.value { try check(value) }
  }

  public func checkMerge(with other: Self) throws(InvalidChange) {
    try check(other.wrappedValue)
  }

  private func check(_ value: Value) throws(InvalidChange) {
    if value == wrappedValue { return }
    throw InvalidChange(
      "the constant \(shortened("\(value)")), where \(shortened("\(wrappedValue)")) is here")
  }

  public mutating func join(_ changes: Changes) {}
}

/// As its value.
extension Constant: BinaryCodable where Value: BinaryCodable {
  public func encode(into writer: inout ByteWriter) { wrappedValue.encode(into: &writer) }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self.init(wrappedValue: try Value(from: &reader))
  }
}

/// 1 and the value; or 0.
extension Constant.Changes: BinaryCodable where Value: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    (value != nil).encode(into: &writer)
    value?.encode(into: &writer)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    self.init(value: try Bool(from: &reader) ? try Value(from: &reader) : nil)
  }
}

/// A value that stands in the list of a composed one as it is, without `@Constant`, and never changes there: an identity, say. A type that has an
/// encoding becomes one by `extension TaskID: ConstantPart {}`.
///
/// A value in the place of another one refuses to be merged with that.
public protocol ConstantPart: Replicable, Hashable, Sendable
where Changes == Constant<Self>.Changes, MergeFailure == InvalidChange {}

extension ConstantPart {
  public var version: Version { Version() }

  public func changes(since version: Version) -> Changes {
    Constant(wrappedValue: self).changes(since: version)
  }

  public func validate(_ changes: Changes) throws(InvalidChange) {
    try Constant(wrappedValue: self).validate(changes)
  }

  /// Throws when the other is another value.
  public func checkMerge(with other: Self) throws(InvalidChange) {
    try Constant(wrappedValue: self).checkMerge(with: Constant(wrappedValue: other))
  }

  public mutating func join(_ changes: Changes) {}
}
