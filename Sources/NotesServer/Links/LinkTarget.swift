internal import JSONRPC
internal import NoteFiles
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// What links to a note are to have.
struct LinkTarget {
  let id: NoteID
  /// What stands between brackets.
  let name: String
  /// What is shown in place of the name, where a link has no words of its own; nil for the name.
  var words: String?
  /// The path of the note's file, empty if there is none; and what stands between brackets where a link names the file with its suffix.
  var path = ""
  var file = ""

  /// What a link that names `written` between its brackets is to have there, and the words that it needs then.
  fileprivate func name(instead written: String) -> (name: String, words: String?) {
    let hasSuffix = FileType(path: written) != nil
    let hasFolder = written.utf8.contains(UInt8(ascii: "/"))
    if !path.isEmpty, hasSuffix || hasFolder {
      let other = hasSuffix ? (hasFolder ? path : file) : NotePath.withoutSuffix(path)
      if let name = NoteLink.name(for: other) { return (name, nil) }
    }
    return (name, words)
  }
}

extension LinkingNote {
  /// The edits of the text by which its links lead to a target. A path that leads to a note without a file becomes a name.
  func edits(leadingTo target: LinkTarget) -> [Edit<UInt8>] {
    links.flatMap { link in
      switch link.target {
      case .path: [edit(ofPath: link, leadingTo: target)]
      case .name(let written): edits(of: link, written, leadingTo: target)
      }
    }
  }

  private func edits(
    of link: NoteLink, _ written: String, leadingTo target: LinkTarget
  ) -> [Edit<UInt8>] {
    let (name, words) = target.name(instead: written)
    var edits = [Edit(range: link.targetRange, replacement: Array(name.utf8))]
    if let words, !link.hasWords {
      let end = link.range.upperBound - 2
      edits.append(Edit(range: end..<end, replacement: Array((bar(in: link) + words).utf8)))
    }
    return edits
  }

  private func edit(ofPath link: NoteLink, leadingTo target: LinkTarget) -> Edit<UInt8> {
    let heading = utf8[link.targetRange].firstIndex(of: UInt8(ascii: "#"))
    if !target.path.isEmpty {
      let end = heading ?? link.targetRange.upperBound
      return Edit(
        range: link.targetRange.lowerBound..<end,
        replacement: Array(LinkName.destination(target.path, from: path).utf8))
    }
    // `[words](` stands before the path.
    let closing = utf8[link.range.lowerBound..<link.targetRange.lowerBound].lastIndex {
      $0 == UInt8(ascii: "]")
    }
    let words = utf8[(link.range.lowerBound + 1)..<closing!]
    let shown = NoteLink.words(for: String(decoding: words, as: UTF8.self))
    let behind = link.heading.map { "#" + $0 } ?? ""
    return Edit(
      range: link.range,
      replacement: Array("[[\(target.name)\(behind)\(bar(in: link))\(shown ?? target.name)]]".utf8))
  }

  /// In a table a bar would end the cell.
  private func bar(in link: NoteLink) -> String {
    let before = utf8[..<link.range.lowerBound]
    let line = before[(before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0)...]
    return line.first { $0 != 0x20 && $0 != 0x09 } == UInt8(ascii: "|") ? "\\|" : "|"
  }

  /// The fields of its header that change, by which their links lead to a target.
  fileprivate func fields(leadingTo target: LinkTarget) -> [(key: String, value: String)] {
    header.compactMap { key, value in
      let links = fieldLinks.filter { $0.key == key }.map(\.link)
      var new = value
      for link in links.reversed() {
        guard case .name(let written) = link.target else { continue }
        let name = target.name(instead: written).name
        new =
          FileHeader.field(new, link, leadingTo: name)
          ?? FileHeader.field(new, link, leadingTo: "\(target.id)") ?? new
      }
      return links.isEmpty ? nil : (key, new)
    }
  }
}

extension NotesServer {
  /// The operations by which the links of a note lead to a target.
  func operations(
    leading source: LinkingNote, to target: LinkTarget
  ) throws(ResponseError) -> [Change.Operation] {
    var operations: [Change.Operation] = []
    if !source.links.isEmpty {
      do {
        operations = try store!.operations(
          for: source.edits(leadingTo: target), in: source.id, nil)
      } catch { throw ResponseError(error) }
    }
    if !source.fieldLinks.isEmpty, let note = try lookUp(source.id) {
      let now = environment.now()
      operations += source.fields(leadingTo: target).compactMap { key, value in
        note.operation(setting: .header(key), to: value, at: now).map { .edit(note.id, $0) }
      }
    }
    return operations
  }

  /// What links to a note have when it has a title, and its file a path: the name of the file if that follows the title, else the title. If another note
  /// has that, too, or it can't be written so, a link has the path, or the note's id.
  ///
  /// - Parameters:
  ///   - isNamed: whether the file has its name from the title.
  ///   - gone: a note that does not count.
  mutating func target(
    of note: NoteID, titled title: String, at path: String, isNamedByTitle isNamed: Bool,
    without gone: NoteID? = nil
  ) throws(ResponseError) -> LinkTarget {
    let (stem, file) = (NotePath.withoutSuffix(path), NotePath.lastPart(path))
    let names = isNamed ? [NotePath.lastPart(stem), stem, file, path] : [title]
    try finishIndexing(.names, of: Set((names + [file]).map { LinkName($0).key }))
    func isFree(_ name: String) -> Bool {
      meaning(of: LinkName(name)).notes.allSatisfy { $0 == note || $0 == gone }
    }
    let shownFile = isFree(file) ? file : path
    let words = NoteLink.words(for: title)
    for (index, name) in names.enumerated() where isFree(name) {
      if let name = NoteLink.name(for: name) {
        return LinkTarget(
          id: note, name: name, words: index > 0 ? words : nil, path: path, file: shownFile)
      }
    }
    return LinkTarget(
      id: note, name: "\(note)", words: words, path: path, file: shownFile)
  }
}
