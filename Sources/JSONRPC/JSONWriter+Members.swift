extension JSONWriter {
  /// Writes a member of an object whose value is a text.
  ///
  /// - Complexity: O(length of `value`).
  public mutating func member(_ name: String, _ value: String) {
    key(name)
    string(value)
  }

  /// Writes a member of an object whose value is a whole number.
  public mutating func member(_ name: String, _ value: Int) {
    key(name)
    integer(value)
  }

  /// Writes a member of an object whose value is `true` or `false`.
  public mutating func member(_ name: String, _ value: Bool) {
    key(name)
    boolean(value)
  }

  /// Writes a member of an object whose value is an array of texts.
  ///
  /// - Complexity: O(length of all of them).
  public mutating func member(_ name: String, _ values: [String]) {
    key(name)
    beginArray()
    for value in values { string(value) }
    endArray()
  }
}
