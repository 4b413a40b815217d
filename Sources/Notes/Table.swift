/// Large values by their names: notes, and the histories of replicas.
///
/// A value is looked at and changed where it stands. (A dictionary of large values would copy one for each look, reference
/// by reference.) As a rule the one that was changed last is wanted again, so that one is found without hashing.
struct Table<Value: Identifiable & Sendable>: Sendable where Value.ID: Sendable {
  private var places: [Value.ID: Int] = [:]
  private(set) var values: [Value] = []
  private var latest = 0

  var count: Int { values.count }

  /// Where the value of a name stands. Stays the same while nothing is removed.
  func place(of id: Value.ID) -> Int? {
    latest < values.count && values[latest].id == id ? latest : places[id]
  }

  func contains(_ id: Value.ID) -> Bool { place(of: id) != nil }

  /// A copy of a value.
  subscript(id: Value.ID) -> Value? { place(of: id).map { values[$0] } }

  /// A value that is here, in its place.
  subscript(existing id: Value.ID) -> Value {
    _read { yield values[place(of: id)!] }
    _modify {
      latest = place(of: id)!
      yield &values[latest]
    }
  }

  mutating func append(_ value: Value) {
    latest = values.count
    places[value.id] = latest
    values.append(value)
  }

  mutating func removeLast() {
    places[values.removeLast().id] = nil
  }
}

extension Table: Equatable where Value: Equatable {
  /// The same values, whatever order they came in.
  static func == (a: Self, b: Self) -> Bool {
    a.count == b.count
      && a.values.allSatisfy { value in
        b.place(of: value.id).map { b.values[$0] == value } ?? false
      }
  }
}
