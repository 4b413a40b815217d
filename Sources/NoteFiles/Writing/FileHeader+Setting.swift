extension FileHeader {
  /// Sets the field that has one of these names to a word.
  mutating func set(_ names: FieldNames, text: String, _ lineEnd: [UInt8]) {
    set(names, lineEnd, ScalarWriter.token(text, .plain, syntax)) { $0.lines(with: text) }
  }

  /// Gives new lines to the field that has one of these names, or adds one. Does neither where the header is not understood.
  mutating func set(
    _ names: FieldNames, _ lineEnd: [UInt8], _ token: [UInt8], _ patch: (HeaderPatch) -> [UInt8]?
  ) {
    if let found = find(names) {
      guard isSettable(found) else { return }
      let key = entries[found.index].key
      guard let patch = patch(HeaderPatch(found, key: key)),
        let field = Self.field(in: patch, key: Array(key.utf8), syntax)
      else { return }
      entries[found.index].lines = field.lines
      if found.index + 1 < entries.count {
        entries[found.index + 1].lines = field.rest + entries[found.index + 1].lines
      } else {
        closing = field.rest + closing
      }
    } else if canAdd(names) {
      if isEmpty { addDelimiters(lineEnd: lineEnd) }
      if syntax == .toml {
        addTOML(names, token, lineEnd)
      } else {
        addYAML(names.yaml[0], token, lineEnd)
      }
    }
  }

  private mutating func addYAML(_ name: String, _ token: [UInt8], _ lineEnd: [UInt8]) {
    var gap: [UInt8] = []
    // Blank lines below `|+` belong to its text.
    if let last = entries.last?.lines, last.contains(.plus),
      last.contains(.verticalBar) || last.contains(.greaterThan)
    {
      gap = closing[...].lines.prefix { $0.withoutLineEnd.allSatisfy(\.isBlank) }.flatMap { $0 }
      closing.removeFirst(gap.count)
    }
    entries.append(Field(key: name, lines: gap + Array("\(name): ".utf8) + token + lineEnd))
  }

  /// Adds a key to the table of its path if there is that table, otherwise before the first table.
  private mutating func addTOML(_ names: FieldNames, _ token: [UInt8], _ lineEnd: [UInt8]) {
    let hasTables = entries.last?.key == Self.otherKey
    let line = { (name: String) in Array("\(name) = ".utf8) + token + lineEnd }
    if hasTables, let path = names.toml.first(where: { $0.count > 1 }) {
      let table = Array(path.dropLast())
      let scan = TOMLScan(entries.last!.lines)
      if let header = scan.tables.first(where: { $0.path == table && !$0.isArray }) {
        let last = scan.entries.last { $0.table == table && !$0.isInArray }?.line ?? header.line
        let indentation = scan.bytes[last].prefix(while: \.isBlank)
        entries[entries.count - 1].lines.insert(
          contentsOf: indentation + line(path.last!), at: last.upperBound)
        return
      }
    }
    let field = Field(key: names.yaml[0], lines: line(names.yaml[0]))
    entries.insert(field, at: entries.count - (hasTables ? 1 : 0))
  }
}
