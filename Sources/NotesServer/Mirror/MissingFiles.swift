internal import FileTree
internal import NoteStore

/// The files of a mirror that are gone, since when, and what tells that one of them has got another path.
struct MissingFiles {
  /// What a file keeps when it gets another path.
  private struct Inode: Hashable {
    let device, number: UInt64

    init(_ status: FileStatus) { (device, number) = (status.device, status.inode) }
  }

  private(set) var since: [FilePath: Instant] = [:]
  /// Paths by what is known of their files. Some of them may not be missing any more.
  private var byHash: [UInt64: [FilePath]] = [:]
  private var byInode: [Inode: [FilePath]] = [:]

  var isEmpty: Bool { since.isEmpty }

  subscript(path: FilePath) -> Instant? { since[path] }

  /// Notes that a file is gone; nothing changes if that is known.
  ///
  /// - Parameter status: the last one that it had, if that is known.
  mutating func insert(
    _ path: FilePath, since instant: Instant, _ record: FileRecords.Record?, _ status: FileStatus?
  ) {
    guard since[path] == nil else { return }
    since[path] = instant
    for hash in Set((record?.states ?? []).map(\.hash)) { byHash[hash, default: []].append(path) }
    if let status { byInode[Inode(status), default: []].append(path) }
  }

  mutating func remove(_ path: FilePath) {
    since[path] = nil
    if since.isEmpty { self = MissingFiles() }
  }

  /// Some of the files of which one may have got another path: at most one with the same inode, and one that had the same bytes.
  mutating func candidates(hash: UInt64, _ status: FileStatus?) -> [FilePath] {
    let inode = status.map(Inode.init)
    return [inode.flatMap { last(of: &byInode[$0]) }, last(of: &byHash[hash])].compactMap { $0 }
  }

  /// The last path of a list that is still missing; those behind it leave the list.
  private func last(of paths: inout [FilePath]?) -> FilePath? {
    while let path = paths?.last {
      if since[path] != nil { return path }
      paths!.removeLast()
    }
    return nil
  }
}
