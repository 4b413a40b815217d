/// What an Org file says of itself in lines such as `#+title: words`, before its first heading.
struct OrgKeywords {
  var title: String?
  var tags: [String]?
  var created: [(key: String, value: String)] = []
  var modified: [(key: String, value: String)] = []

  /// - Complexity: O(length of what stands before the first heading).
  init(_ text: ArraySlice<UInt8>) {
    var start = text.startIndex
    while start < text.endIndex {
      let end = text.endOfLine(from: start)
      let line = text[start..<end].withoutLineEnd
      start = end
      if line.first == UInt8(ascii: "*"),
        line.drop(while: { $0 == UInt8(ascii: "*") }).first == .space
      {
        return
      }
      guard line.starts(with: "#+".utf8), let colon = line.prefix(20).firstIndex(of: .colon) else {
        continue
      }
      let value = line[(colon + 1)...].trimmed
      let key = line[(line.startIndex + 2)..<colon].text.lowercased()
      switch key {
      // Of several titles Org makes one.
      case "title":
        title =
          title.map { $0.utf8.count > NoteFile.longestTitle ? $0 : "\($0) \(value.text)" }
          ?? value.text
      case "filetags":
        let isColons = value.contains(.colon)
        let parts = value.split { isColons ? $0 == .colon : $0.isBlank }
        tags = tags ?? []
        tags!.append(contentsOf: parts.map(\.trimmed.text).filter { !$0.isEmpty })
      case "date", "created": if !value.isEmpty { created.append((key, value.text)) }
      case "modified", "last_modified", "lastmod", "hugo_lastmod":
        if !value.isEmpty { modified.append((key, value.text)) }
      default: break
      }
    }
  }
}
