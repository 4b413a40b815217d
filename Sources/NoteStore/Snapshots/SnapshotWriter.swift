internal import Bytes
internal import Notes
internal import ReplicatingTypes

/// Encodes a snapshot, piece by piece: changes of the notebook, and those of other snapshots that it replaces.
struct SnapshotWriter {
  /// Consecutive changes of one replica, and the state of the replica before them.
  struct Part {
    let replica: ReplicaID
    let numbers: ClosedRange<UInt64>
    let state: ReplicaState
  }

  /// About so many bytes of changes are packed at once.
  private static let pieceSize = 256 << 10

  private var packer: ChangePacker
  /// The parts that were not begun, the next one at the end.
  private var parts: [Part]
  private var part: Part?
  /// The number of the last change of the part that was packed.
  private var number: UInt64 = 0
  private let folded: [SnapshotFile]
  private var head: [UInt8]
  private var hash = SHA256()
  private(set) var size: UInt64 = 0
  private var isFinished = false

  /// - Parameter folded: snapshots of which blocks are copied as they are.
  init(
    of notebook: Identifier, coverage: [SessionPiece], redactions: UInt64 = 0, parts: [Part],
    folding folded: [SnapshotFile]
  ) {
    head = SnapshotFormat.head(coverage, redactions: redactions)
    packer = ChangePacker(notebook: notebook)
    self.parts = parts.sorted { $0.replica > $1.replica }
    self.folded = folded
  }

  /// The name of the file with the bytes that were encoded.
  var name: String { SnapshotFormat.name(of: hash) }

  /// The next bytes of the file; nil after the last. They may be none.
  mutating func next(_ book: NoteBook) throws(StoreError) -> [UInt8]? {
    if isFinished { return nil }
    var bytes = head
    head = []
    var left = Self.pieceSize
    while left > 0 {
      if let part, number < part.numbers.upperBound {
        try pack(part, book, &left)
      } else if let next = parts.popLast() {
        part = next
        number = next.numbers.lowerBound - 1
        packer.begin(next.replica, after: next.state)
        left -= 64
      } else {
        bytes += packer.finish()
        isFinished = true
        break
      }
    }
    bytes += packer.takeReady()
    hash.update(bytes)
    size += UInt64(bytes.count)
    return bytes
  }

  /// Packs changes of a part: a block of a folded snapshot, or else changes of the notebook, up to the next such block.
  private mutating func pack(
    _ part: Part, _ book: NoteBook, _ left: inout Int
  ) throws(StoreError) {
    var end = part.numbers.upperBound
    for file in folded {
      guard let numbers = file.changes.numbers(of: part.replica) else { continue }
      if numbers.lowerBound > number + 1 { end = min(end, numbers.lowerBound - 1) }
      guard numbers.contains(number + 1),
        let block = file.changes.block(of: ChangeID(replica: part.replica, number: number + 1)),
        let bytes = try? file.bytes(of: block)
      else { continue }
      // The notebook has the changes of a damaged block.
      let size = try? packer.append(block, of: file.changes, bytes[...])
      guard packer.last > number else { continue }
      left -= size ?? bytes.count
      number = packer.last
      return
    }
    var failure: DecodingFailure?
    let first = number
    do throws(ArchiveFailure) {
      try book.forEachEncoded(of: part.replica, in: number + 1...end) { number, encoded, lamport in
        do throws(DecodingFailure) { try packer.append(encoded, lamport: lamport) } catch {
          failure = error
          return false
        }
        self.number = number
        left -= encoded.count + 1
        return left > 0
      }
    } catch {
      throw StoreError(
        operation: "read", path: "\(part.replica)", reason: .damaged, detail: error.reason)
    }
    if failure != nil || number == first {
      throw StoreError(
        operation: "fold", path: "change \(number + 1) of \(part.replica)", reason: .damaged,
        detail: failure?.reason ?? "it is missing")
    }
  }
}

/// A file for a snapshot that is being written. It vanishes unless it gets its name.
final class NewSnapshot {
  let folder: OpenDescriptor
  let file: OpenDescriptor
  private let temporary: String
  private var isPublished = false

  /// Creates the file in a notebook's folder of snapshots, which must exist.
  init(
    in root: borrowing FileDescriptor, _ identifier: Identifier
  ) throws(StoreError) {
    folder = OpenDescriptor(try root.folder(SnapshotFormat.folder))
    temporary = FileDescriptor.temporary + "\(identifier)"
    file = OpenDescriptor(try folder.descriptor.createFile(temporary))
  }

  deinit {
    if !isPublished { folder.descriptor.remove(temporary) }
  }

  /// Gives the file, which is on disk, its name, and opens it. If another process has written the same file, that one stays.
  func publish(as name: String) throws(StoreError) -> SnapshotFile {
    if try folder.descriptor.status(of: name) == nil {
      try folder.descriptor.rename(temporary, to: name)
      isPublished = true
    }
    guard let snapshot = try SnapshotFile(name, in: folder.descriptor) else {
      throw SnapshotFile.damaged("\(folder.descriptor.path)/\(name)", "it was replaced")
    }
    return snapshot
  }
}
