internal import Bytes
internal import ReplicatingTypes

// THE FORMAT OF THE FILE `folders`
//
// Beside an archive: the complete folders in `log` that it lacks. An archive is large, so it is not written anew for a few records, and a folder is known to
// be complete only some seconds after it has changed, when the process that wrote there has left. Without this file each run would list such a
// folder again, and read its files.
//
//     a byte              1
//     count*(folder)      name in `log`, status, number of records before those in it; a byte: 1 if the session has ended there;
//                         number and hash of the last record that the archive has, and of the last one in the folder;
//                         count*(name) of the files with records between these, in their order
//     CRC-32C             of all bytes before
//
// Encoded as in a bookmark. It says nothing that depends on its archive: a folder is relied on if its status is the same, and if the archive that is
// there has the session up to the record that is named, with that hash. Then the files with later records are read, and no others.

/// A complete folder that the archive lacks, for the next run.
struct KeptFolder: Equatable {
  var name: String
  /// It has news.
  var folder: CompleteFolder

  /// A longer file is not read.
  static let largestFile: UInt64 = 16 << 20

  /// True if an archive that has these sessions has the folder's up to where the folder has news.
  func isOf(_ sessions: [Identifier: SessionProgress]) -> Bool {
    guard let news = folder.news, let session = Identifier(name) else { return false }
    return (sessions[session] ?? SessionProgress()).known(at: news.known.number) == news.known
  }

  /// True if it has more records than the folder of its name in the archive, if there is one.
  func isNewer(than archived: CompleteFolder?) -> Bool {
    archived.map { $0.last < folder.last } ?? true
  }

  static func encoded(_ folders: [Self]) -> [UInt8] {
    var writer = ByteWriter()
    writer.byte(1)
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
    writer.fixed(CRC32C.checksum(of: writer.bytes[...]))
    return writer.bytes
  }

  /// The folders that bytes tell of; none if the bytes are not what they should be.
  static func decode(_ bytes: [UInt8]) -> [Self] {
    var end = ByteReader(bytes.suffix(4))
    guard bytes.count > 4,
      (try? end.fixed(UInt32.self)) == CRC32C.checksum(of: bytes.dropLast(4))
    else { return [] }
    var reader = ByteReader(bytes.dropLast(4))
    return (try? folders(&reader)) ?? []
  }

  private static func folders(_ reader: inout ByteReader) throws(DecodingFailure) -> [Self] {
    guard try reader.byte() == 1 else { return [] }
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
