/// The names under which headers have one fact; the first counts most. Case makes no difference.
struct FieldNames {
  let yaml: [String]
  /// Paths from the top of a TOML header.
  let toml: [[String]]

  init(_ names: [String], toml: [[String]]? = nil) {
    yaml = names
    self.toml = toml ?? names.map { [$0] }
  }

  static let title = FieldNames(["title"])
  /// Zola has tags in the table `taxonomies`.
  static let tags = FieldNames(
    ["tags", "keywords"], toml: [["tags"], ["taxonomies", "tags"], ["keywords"]])
  static let priority = FieldNames(["priority"])
  static let id = FieldNames(["id"])
}

/// A field of a header that has one of some names.
struct FoundField {
  /// Its index among the fields.
  var index: Int
  /// Its name as the header writes it.
  var key: String
  /// Its path in a TOML header.
  var path: [String] = []
  var value: HeaderValue
}

extension FileHeader {
  /// The first field that has one of these names. O(n).
  func find(_ names: FieldNames) -> FoundField? {
    switch syntax {
    case .yaml: findYAML(names.yaml)
    case .toml: findTOML(names.toml)
    case .json: nil
    }
  }

  /// All fields that have one of these names, in the order of the names. O(names × fields).
  func findAll(_ names: FieldNames) -> [FoundField] {
    switch syntax {
    case .yaml: return names.yaml.compactMap { findYAML([$0]) }
    case .toml:
      let scans = entries.map { TOMLScan($0.lines) }
      return names.toml.compactMap { findTOML($0, scans) }
    case .json: return []
    }
  }

  /// True if a field that is missing can be added: nothing that is not understood may have it.
  func canAdd(_ names: FieldNames) -> Bool { isUnderstood && !(hasMergeKey && find(names) == nil) }

  /// True if all fields are told from each other.
  var isUnderstood: Bool {
    switch syntax {
    case .yaml: !entries.contains { $0.key == Self.otherKey } && firstUnclosed == nil
    case .toml: entries.allSatisfy { TOMLScan($0.lines).isComplete }
    case .json: false
    }
  }

  /// True if the value of the field can be written anew: another one would close quotes or brackets that are open before it.
  func isSettable(_ found: FoundField) -> Bool { found.index < firstUnclosed ?? entries.count }

  /// The first field whose quotes or brackets are never closed.
  private var firstUnclosed: Int? {
    if syntax != .yaml { return nil }
    return entries.firstIndex { field in
      var brackets = OpenBrackets()
      if field.key != Self.otherKey { for line in field.lines[...].lines { brackets.read(line) } }
      return brackets.isOpen
    }
  }

  static let mergeKey = "<<"

  /// True if a YAML alias gives further fields.
  var hasMergeKey: Bool { syntax == .yaml && entries.contains { $0.key == Self.mergeKey } }

  private func findYAML(_ names: [String]) -> FoundField? {
    for name in names {
      guard let index = entries.firstIndex(where: { Self.isEqual($0.key, name) }) else { continue }
      let key = entries[index].key
      var value = HeaderValue(entries[index].lines)
      // Programs differ in which of two counts.
      if entries.contains(where: { $0.key.isIdentical(to: ":2:\(key)") }) { value.makeOther() }
      return FoundField(index: index, key: key, value: value)
    }
    return nil
  }

  private func findTOML(_ paths: [[String]]) -> FoundField? {
    let scans = entries.map { TOMLScan($0.lines) }
    for path in paths {
      if let found = findTOML(path, scans) { return found }
    }
    return findTable(paths, scans)
  }

  private func findTOML(_ path: [String], _ scans: [TOMLScan]) -> FoundField? {
    var found: FoundField?
    for (index, scan) in scans.enumerated() {
      for entry in scan.entries where !entry.isInArray && Self.isEqual(entry.path, path) {
        if found == nil {
          found = FoundField(
            index: index, key: path.joined(separator: "."), path: entry.path,
            value: scan.value(of: entry))
        } else {
          found!.value.makeOther()
        }
      }
    }
    return found
  }

  /// A table in the place of a value, or an inline table that may have the value: neither is understood.
  private func findTable(_ paths: [[String]], _ scans: [TOMLScan]) -> FoundField? {
    for path in paths {
      for (index, scan) in scans.enumerated() {
        let holders = scan.entries.filter { !$0.isInArray }.map(\.path)
        let others = holders + scan.tables.map(\.path)
        let isTable = others.contains { Self.isEqual(Array($0.prefix(path.count)), path) }
        let isInline = holders.contains {
          $0.count < path.count && Self.isEqual($0, Array(path.prefix($0.count)))
        }
        if isTable || isInline {
          var value = HeaderValue(scan.bytes)
          value.makeOther()
          return FoundField(index: index, key: path[0], path: path, value: value)
        }
      }
    }
    return nil
  }

  private static func isEqual(_ key: String, _ name: String) -> Bool {
    key.utf8.count == name.utf8.count && key.lowercased() == name
  }

  private static func isEqual(_ a: [String], _ b: [String]) -> Bool {
    a.count == b.count && zip(a, b).allSatisfy(isEqual)
  }
}
