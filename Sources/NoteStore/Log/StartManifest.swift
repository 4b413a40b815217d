internal import Notes
internal import ReplicatingTypes

// THE MANIFEST OF A START
//
// Beside an archive, what the last processes have known and it lacks. An archive is large, so it is not written anew for a few records. A container
// (Container.swift in Notes) of one block:
//
//     known               a version: what processes have known beyond the archive
//     count*(folder)      name in `log`, status, number of records before those in it; a byte: 1 if the session has ended there;
//                         number and hash of the last record that the archive has, and of the last one in the folder;
//                         count*(name) of the files with records between these, in their order
//
// Encoded as in a bookmark. Each part is believed only where it can't be wrong:
//
// - `known` hides nothing and shows nothing: what the folder lacks of it is told as missing, so that an older copy of the folder is noticed.
// - A folder is not listed if its status is the same, and if the archive that is there has the session up to the record that is named, with that
//   hash. Then the files with later records are read, and no others. A folder is known to be complete only some seconds after it has changed, when the
//   process that wrote there has left: without the manifest each run would list it again, and read its files.
//
// The last process that ends writes it, in one step. It may be lost: then folders are listed, and an older copy is not noticed.

struct StartManifest: Equatable {
  /// The name of the file in the state folder.
  static let name = "manifest"

  var known = Version()
  var folders: [KeptFolder] = []

  init() {}

  /// Decodes the bytes of a manifest; an empty one if they are damaged or of another version.
  init(decoding bytes: [UInt8]) {
    guard let content = try? Container.decode(bytes, as: .manifest) else { return }
    var reader = ByteReader(content)
    guard let known = try? Version(from: &reader),
      let folders = try? KeptFolder.decode(from: &reader), reader.isAtEnd
    else { return }
    (self.known, self.folders) = (known, folders)
  }

  func encoded() -> [UInt8] {
    var writer = ByteWriter()
    known.encode(into: &writer)
    KeptFolder.encode(folders, into: &writer)
    return Container.encode(writer.bytes, as: .manifest)
  }
}

/// A complete folder that the archive lacks, for the next run.
struct KeptFolder: Equatable {
  var name: String
  /// It has news.
  var folder: CompleteFolder

  /// True if an archive that has these sessions has the folder's up to where the folder has news.
  func isOf(_ sessions: [Identifier: SessionProgress]) -> Bool {
    guard let news = folder.news, let session = Identifier(name) else { return false }
    return (sessions[session] ?? SessionProgress()).known(at: news.known.number) == news.known
  }

  /// True if it has more records than the folder of its name in the archive, if there is one.
  func isNewer(than archived: CompleteFolder?) -> Bool {
    archived.map { $0.last < folder.last } ?? true
  }

  static func encode(_ folders: [Self], into writer: inout ByteWriter) {
    writer.varint(folders.count)
    for kept in folders {
      let (folder, news) = (kept.folder, kept.folder.news!)
      writer.counted(kept.name.utf8)
      writer.status(folder.status)
      writer.varint(folder.first)
      writer.byte(folder.isEnded ? 1 : 0)
      writer.position(news.known)
      writer.position(news.end)
      writer.varint(news.files.count)
      for file in news.files { writer.counted(file.utf8) }
    }
  }

  static func decode(from reader: inout ByteReader) throws(DecodingFailure) -> [Self] {
    var folders: [Self] = []
    for _ in 0..<(try reader.count()) {
      let name = String(decoding: try reader.counted(), as: UTF8.self)
      let status = try reader.status(.folder)
      let (first, isEnded) = (try reader.amount(), try reader.byte() == 1)
      let (known, end) = (try reader.position(), try reader.position())
      guard first <= end.number, known.number <= end.number else {
        throw reader.failure("records out of order")
      }
      var files: [String] = []
      for _ in 0..<(try reader.count()) {
        let file = String(decoding: try reader.counted(), as: UTF8.self)
        guard SegmentName(file) != nil else { throw reader.failure("no name of a segment") }
        files.append(file)
      }
      let news = FolderNews(known: known, end: end, files: files, isUnread: known != end)
      folders.append(
        Self(
          name: name,
          folder: CompleteFolder(
            status: status, first: first, last: end.number, isEnded: isEnded, news: news)))
    }
    return folders
  }
}
