/// Values by keys, each of which is looked at and changed where it stands: a dictionary of large values would copy one for each look,
/// reference by reference. As a rule the one that was changed last is wanted again, and that is found without hashing.
struct SlotMap<Key: Hashable, Value> {
  private var places: [Key: Int] = [:]
  /// The keys of the values, in no order.
  private(set) var keys: [Key] = []
  private var values: [Value] = []
  private var latest = 0

  var isEmpty: Bool { keys.isEmpty }

  /// The place of the value that has a key, until one is removed; nil if there is none.
  func place(of key: Key) -> Int? {
    latest < keys.count && keys[latest] == key ? latest : places[key]
  }

  func contains(_ key: Key) -> Bool { place(of: key) != nil }

  /// The value at a place.
  subscript(place place: Int) -> Value {
    _read { yield values[place] }
    _modify {
      latest = place
      yield &values[place]
    }
  }

  /// The value that has a key; there must be one.
  subscript(existing key: Key) -> Value {
    _read { yield values[place(of: key)!] }
    _modify {
      latest = place(of: key)!
      yield &values[latest]
    }
  }

  /// Adds a value whose key is new.
  mutating func insert(_ value: Value, for key: Key) {
    latest = keys.count
    places[key] = latest
    keys.append(key)
    values.append(value)
  }

  /// Removes the value that has a key; the last one takes its place.
  mutating func remove(_ key: Key) -> Value? {
    guard let place = places.removeValue(forKey: key) else { return nil }
    keys.swapAt(place, keys.count - 1)
    values.swapAt(place, values.count - 1)
    keys.removeLast()
    if place < keys.count { places[keys[place]] = place }
    return values.removeLast()
  }
}
