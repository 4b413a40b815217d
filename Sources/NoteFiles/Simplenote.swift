internal import JSONRPC

/// The notes of Simplenote's export, `source/notes.json`.
///
/// Such a note is one text whose first line is its title. Here a title is no part of the text, so the line is taken out, with the blank line
/// below it: exported again, the title becomes the name of the file, and the text is not headed by its own name twice. A first line that is a
/// heading of the first level (`# words`), and the only one, stays: it is part of a text in Markdown, and gives the title by itself. So does
/// one that is too long for a title, of which the title is the beginning.
public struct Simplenote: Sendable {
  /// A note.
  public struct Note: Sendable {
    /// By what Simplenote knows it.
    public var id: String?
    /// The title, which `NoteFile.isTitle` is true of.
    public var title: String
    /// The text.
    public var text: [UInt8]
    /// The tags that fit, each once.
    public var tags: [String]
    /// When it was created, and last changed.
    public var dates: WrittenDates
    /// True if it lies in the trash.
    public var isTrashed: Bool
  }

  /// Why nothing was read.
  public enum Failure: Error, Equatable, Sendable {
    /// No JSON, from this byte on.
    case notJSON(offset: Int)
    /// No object with `activeNotes` or `trashedNotes`.
    case notSimplenote
  }

  /// The notes, those in the trash last.
  public var notes: [Note] = []
  /// How many entries were left out: without a text, or with U+0000 in it.
  public var skipped = 0

  /// Reads the file.
  ///
  /// - Complexity: O(n).
  public init(parsing bytes: [UInt8]) throws(Failure) {
    let mark = bytes.starts(with: FileHeader.mark) ? FileHeader.mark.count : 0
    let json: JSONValue
    do {
      json = try JSONValue(parsing: Array(bytes[mark...]))
    } catch {
      throw .notJSON(offset: error.offset + mark)
    }
    let lists = [json["activeNotes"]?.array, json["trashedNotes"]?.array]
    guard lists.contains(where: { $0 != nil }) else { throw .notSimplenote }
    for (list, isTrashed) in zip(lists, [false, true]) {
      guard let list else { continue }
      for value in list {
        guard let content = value["content"]?.utf8, !content.contains(0) else {
          skipped += 1
          continue
        }
        notes.append(Self.note(content, value, isTrashed: isTrashed))
      }
    }
  }

  private static func note(_ content: [UInt8], _ value: JSONValue, isTrashed: Bool) -> Note {
    let (title, text) = parts(of: content[...])
    let tags =
      value["tags"]?.array.map {
        $0.compactMap(\.string).map { Array($0.utf8)[...].trimmed.text }
      } ?? []
    var dates = WrittenDates()
    func date(_ key: String) -> [WrittenDate] {
      value[key]?.string.map { [WrittenDate(key: key, time: FileTime.milliseconds($0) { _ in 0 })] }
        ?? []
    }
    dates.created = date("creationDate")
    dates.modified = date("lastModified") + date("modificationDate")
    return Note(
      id: value["id"]?.string, title: title, text: Array(text),
      tags: HeaderFacts.fitting(tags).tags,
      dates: dates, isTrashed: isTrashed)
  }

  private static func parts(of content: ArraySlice<UInt8>) -> (String, ArraySlice<UInt8>) {
    if let heading = Headings.soleFirst(in: content), NoteFile.isTitle(heading) {
      return (heading, content)
    }
    var start = content.startIndex
    while start < content.endIndex {
      let end = content.endOfLine(from: start)
      let title = content[start..<end].withoutLineEnd.trimmed.text
      guard !title.isEmpty else {
        start = end
        continue
      }
      guard NoteFile.isTitle(title) else {
        let line = title.prefix { $0 != "\r" && $0 != "\r\n" }
        return (String(line).cut(toBytes: FileName.longest), content)
      }
      let below = content.endOfLine(from: end)
      let isBlank = content[end..<below].withoutLineEnd.allSatisfy(\.isBlank)
      return (title, content[(isBlank ? below : end)...])
    }
    return ("", content)
  }
}
