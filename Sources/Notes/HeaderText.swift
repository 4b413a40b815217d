internal import ReplicatingTypes

/// The words of the header of a note's file that a search looks through: the values of its fields, line by line.
///
/// Names of fields are no words of the note, and title, tags and priority are looked for elsewhere.
enum HeaderText {
  /// The part of a header that has its lines where they are no fields. Other names that begin with a colon are of parts without words.
  private static let unreadLines = ":lines"
  private static let elsewhere: Set<String> = [
    "title", "tags", "tag", "keywords", "priority", "id",
  ]

  /// The values of the fields among some properties, each ended by a line feed. O(bytes).
  static func text(
    of properties: some Sequence<(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)>
  ) -> [UInt8] {
    var text: [UInt8] = []
    for (name, value) in properties
    where !value.isEmpty && name.starts(with: PropertyName.headerPrefix.utf8) {
      let key = String(
        decoding: name.dropFirst(PropertyName.headerPrefix.utf8.count), as: UTF8.self)
      if elsewhere.contains(key.lowercased()) || key.hasPrefix(":") && key != unreadLines {
        continue
      }
      text += key == unreadLines ? value : withoutName(value)
      if text.last != 0x0A { text.append(0x0A) }
    }
    return text
  }

  /// The lines of a field from the value on: behind the first colon or equals sign of the first line that is neither blank nor a comment.
  private static func withoutName(_ lines: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var line = lines.startIndex
    while line < lines.endIndex {
      let end = lines[line...].firstIndex(of: 0x0A) ?? lines.endIndex
      let first = lines[line..<end].first { $0 > 0x20 }
      if let first, first != UInt8(ascii: "#") {
        let sign = lines[line..<end].firstIndex {
          $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=")
        }
        return sign.map { lines[($0 + 1)...].drop { $0 == 0x20 } } ?? lines[line...]
      }
      line = min(end + 1, lines.endIndex)
    }
    return []
  }
}

extension Note {
  /// The words of the header of the note's file, for a search.
  var headerText: [UInt8] {
    let parts = properties.filter { $0.key.headerKey != nil }.sorted { $0.key < $1.key }
    return HeaderText.text(
      of: parts.map { (Array($0.key.text.utf8)[...], Array($0.value.value.utf8)[...]) })
  }
}

extension EncodedContent {
  /// The words of the header of the note's file, for a search.
  var headerText: [UInt8] { HeaderText.text(of: properties) }
}
