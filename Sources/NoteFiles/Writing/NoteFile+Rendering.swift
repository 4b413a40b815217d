/// Why a note can't be a file.
public enum RenderFailure: Error, Equatable, Sendable {
  /// The path is none of a note (`NotePath`), or of no type that is read.
  case path
  /// With its title and tags the header would have more than `FileHeader.longest` bytes or `FileHeader.mostFields` fields, and would be read as text.
  case headerTooLarge
}

extension NoteFile {
  /// The bytes of the file.
  ///
  /// Only lines of `title`, `tags` (or `keywords`), `priority` and `id` are written, and only those whose value differs from what the file
  /// would say without. So what was read and not changed gives the bytes that were read. A header is added where one is needed: for a
  /// title that neither text nor name gives, for tags, for a priority, for `id`; and an empty one before a text that would be
  /// taken for a header, or for a byte order mark.
  ///
  /// The text is never changed. So in Org files a new title or tag stands in a header, too, made of comments (`FileHeader.Form`), and not in the
  /// text's `#+title:`: that would be an edit of the text that nobody made, and two machines that make it would double words. The text's
  /// keyword counts as long as the header has no such field.
  ///
  /// A header is YAML where there is none; TOML stays TOML, and JSON stays as it is. What the header doesn't let be set
  /// (`FileHeader.lockedFacts`) stays as it is, too.
  ///
  /// `id` is written if it isn't `nil`, but not over one that another program has given: any but a number, a hyphen and 32 hexadecimal digits.
  ///
  /// What is no title or tag of a note (`isTitle`, `isTag`) may be read back as something else.
  ///
  /// - Complexity: O(n).
  public func rendered() throws(RenderFailure) -> [UInt8] {
    guard let type = FileType(path: path), NotePath.isValid(path) else { throw .path }
    let facts = HeaderFacts(header)
    let derived = DerivedFacts(path: path, type: type, text: text)
    var header = header
    let lineEnd = header.isEmpty ? textLineEnd : header.lineEnd
    if !(facts.title ?? derived.title).isIdentical(to: title), !facts.locked.contains(.title) {
      header.set(.title, text: title, lineEnd)
    }
    if Self.bytes(facts.tags ?? derived.tags) != Self.bytes(tags), !facts.locked.contains(.tags) {
      header.set(.tags, lineEnd, HeaderPatch.list(tags, header.syntax)) { $0.lines(with: tags) }
    }
    if facts.priority ?? .normal != priority, !facts.locked.contains(.priority) {
      header.set(.priority, text: priority.rawValue, lineEnd)
    }
    if let id, facts.id.map({ !$0.isIdentical(to: id) && Self.isOurs($0) }) ?? !header.hasID {
      header.set(.id, text: id, lineEnd)
    }
    let form = type.headerForm
    var bytes = header.file(text: text, form: form)
    if header.isEmpty, FileHeader.split(bytes, form: form).textStart != bytes.count - text.count {
      header.addDelimiters(lineEnd: lineEnd)
      bytes = header.file(text: text, form: form)
    }
    if header != self.header, header.isTooLarge(form) { throw .headerTooLarge }
    return bytes
  }

  private static func bytes(_ tags: [String]) -> Set<[UInt8]> { Set(tags.map { Array($0.utf8) }) }

  /// True for what names a note here: a number, a hyphen, 32 hexadecimal digits.
  private static func isOurs(_ id: String) -> Bool {
    let parts = id.utf8.split(separator: .hyphen, omittingEmptySubsequences: false)
    return parts.count == 2 && !parts[0].isEmpty && parts[0].allSatisfy(\.isDigit)
      && parts[1].count == 32 && parts[1].allSatisfy { $0.isDigit || (0x61...0x66).contains($0) }
  }

  private var textLineEnd: [UInt8] {
    let end = text[..<text[...].endOfLine(from: 0)].lineEnd
    return end.isEmpty ? [.lineFeed] : Array(end)
  }
}

extension FileHeader {
  fileprivate var hasID: Bool { find(.id) != nil }

  fileprivate func isTooLarge(_ form: Form) -> Bool {
    entries.count > Self.mostFields
      || bytes(form: form).count - (hasByteOrderMark ? Self.mark.count : 0) > Self.longest
  }
}

/// The tags that a field is to have.
struct TagChange {
  let wanted: Set<[UInt8]>
  /// The same in the order in which they are added.
  let order: [String]
  let syntax: HeaderSyntax

  /// True for an item whose tag stays, and for one that is no tag of a note.
  func keeps(_ item: HeaderValue.Item) -> Bool { item.text.map(keeps) ?? true }

  private func keeps(_ word: String) -> Bool {
    let tag = HeaderFacts.tag(word)
    return wanted.contains(Array(tag.utf8)) || !NoteFile.isTag(tag)
  }

  /// The tags that no item has.
  func added(to items: [HeaderValue.Item]) -> [String] { added(to: items.compactMap(\.text)) }

  private func added(to words: [String]) -> [String] {
    var there = Set(words.map { Array(HeaderFacts.tag($0).utf8) })
    return order.filter { there.insert(Array($0.utf8)).inserted }
  }

  /// `a, b` or `a b`, as it was.
  func words(_ scalar: HeaderScalar) -> [UInt8] {
    let words = HeaderFacts.tagWords(scalar).map(\.text)
    let hasCommas = scalar.text.utf8.contains(.comma)
    let separator = !hasCommas ? " " : scalar.text.contains(", ") ? ", " : ","
    return Array((words.filter(keeps) + added(to: words)).joined(separator: separator).utf8)
  }

  /// A tag in a list. One that begins with `#` has it twice, since one is taken away.
  static func token(
    _ tag: String, _ style: HeaderScalar.Style, _ syntax: HeaderSyntax
  ) -> [UInt8] {
    ScalarWriter.token(tag.utf8.first == .hash ? "#\(tag)" : tag, style, inList: true, syntax)
  }
}
