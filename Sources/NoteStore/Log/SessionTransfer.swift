internal import Notes
internal import ReplicatingTypes

// SESSIONS THAT ARE HANDED OVER
//
// Each command of a shell is a process of its own. If each had a session of its own, a thousand commands would leave a thousand folders,
// and a thousand replicas in every version. So a process of one request that ends in order leaves its session to the next one,
// which goes on with it: the same replica, the next number.
//
//     <memory>/decent-notes/<notebook>-<hash of its path>/<session>
//
//     block = device and inode of the notebook's folder; name of the last segment, counted; its status; number of its last
//             record and the hash after it; number of changes of the session
//
// The file is a container (Container.swift in Notes) of one block. Numbers are varints, the hash has eight bytes, the lowest first.
//
// WHY NO SESSION EVER GOES ON TWICE
//
// Two processes that went on from one record would make two histories of a session, for ever. A file of this kind says where one may go on,
// so there must never be two of it, nor an old one.
//
// - It is in a file system in memory (`FileSystem.isInMemory`). No backup, no snapshot of a disk and no image of a container has
//   one, and none outlives the start of the system, or comes to another machine. What duplicates it is what duplicates
//   memory, a virtual machine that is resumed twice; that duplicates running processes, and their sessions, as well.
// - A process takes it by giving it another name, which only one can do, before it reads the notebook, and removes it before it writes. If it is
//   killed after that, nobody goes on with its session.
// - It is left as the last thing: when the segment is complete and on disk, no other one of the session is open, and its claim
//   (`SessionLocks`) is gone.
// - It counts only as long as the segment has the status that it had then, device, inode and time of change included, and its bytes
//   end with the same hash; as long as no segment of the session is open; and only for a process that has read the session just so far.
//   So a notebook that was restored, copied, moved, or that another container has at the same path is not gone on with.

/// A session that its last process has left for another one to go on with.
struct SessionTransfer {
  let session: Identifier
  /// The name of its last segment, which is complete, and the file's status.
  let segment: String
  let status: FileStatus
  /// The position after its last record.
  let end: ChainPosition
  /// The number of changes of the session.
  let changes: UInt64
}

/// The sessions that processes of this user have left at one notebook. Failures are not reported: then a process begins a session.
struct SessionTransfers {
  /// So many sessions are left at once at most; more are left when more processes than this run at the same time.
  private static let most = 4
  /// Longer files are none of ours.
  private static let longest: UInt64 = 1024
  /// The age in nanoseconds at which what was left at any notebook is removed: a day.
  private static let leftoverAge: Int64 = 86_400_000_000_000

  private let memory: String?
  private let root: NotebookRoot

  /// - Parameter memory: a folder of this user in memory; nil for none.
  init(_ root: NotebookRoot, memory: String?) {
    self.root = root
    self.memory = memory
  }

  /// The folder for the notebook; nil if none can be used.
  private var folder: StateFolder? {
    guard let memory, let identity = root.notebook else { return nil }
    return StateFolder(memory, notebook: identity, at: root.path, on: root.system)
  }

  /// Takes a session, so that no other process gets it; nil if there is none. Call it before the notebook is read.
  func take() -> SessionTransfer? {
    guard let path = folder?.path,
      let folder = try? FileDescriptor.folder(path, on: root.system), isUsable(folder)
    else { return nil }
    for name in (try? folder.names()) ?? [] {
      guard let session = Identifier(name) else { continue }
      let own = FileDescriptor.temporary + "\(root.makeIdentifier())"
      guard (try? folder.rename(name, to: own)) != nil else { continue }
      let bytes = try? read(own, in: folder)
      folder.remove(own)
      if let bytes, let transfer = try? decode(bytes, of: session) { return transfer }
    }
    return nil
  }

  /// Leaves a session to the next process, unless there are enough.
  func leave(_ transfer: SessionTransfer) {
    guard canLeave, let state = folder, let folder = try? state.create(), isUsable(folder),
      let bytes = try? encode(transfer)
    else { return }
    let temporary = FileDescriptor.temporary + "\(root.makeIdentifier())"
    do {
      try folder.createFile(temporary).append(bytes[...])
      try folder.rename(temporary, to: transfer.session.description)
    } catch { folder.remove(temporary) }
  }

  /// True if a session may be left.
  var canLeave: Bool {
    guard let memory, let path = folder?.path,
      let above = try? FileDescriptor.folder(memory, on: root.system), isUsable(above)
    else { return false }
    guard let folder = try? FileDescriptor.folder(path, on: root.system) else { return true }
    return ((try? folder.names()) ?? []).count < Self.most
  }

  /// Removes what was left long ago at any notebook, and not taken.
  func removeLeftovers() {
    guard let memory,
      let all = try? FileDescriptor.folder("\(memory)/\(StateFolder.name)", on: root.system),
      isUsable(all)
    else { return }
    for name in (try? all.names()) ?? [] {
      guard let folder = try? all.folder(name), let names = try? folder.names() else { continue }
      for file in names {
        guard let status = try? folder.status(of: file),
          status.changed < root.system.now - Self.leftoverAge
        else { continue }
        folder.remove(file)
      }
      all.removeFolder(name)
    }
  }

  private func isUsable(_ folder: borrowing FileDescriptor) -> Bool {
    root.system.isInMemory(folder.number)
  }

  private func read(
    _ name: String, in folder: borrowing FileDescriptor
  ) throws(StoreError) -> [UInt8]? {
    guard let file = try folder.regularFile(name) else { return nil }
    let size = try file.status().size
    return size <= Self.longest ? try file.read(Int(size), at: 0) : nil
  }

  // MARK: - Encoding

  private func encode(_ transfer: SessionTransfer) throws(StoreError) -> [UInt8] {
    let place = try root.open().status()
    var writer = ByteWriter()
    writer.varint(place.device)
    writer.varint(place.inode)
    writer.counted(transfer.segment.utf8)
    writer.status(transfer.status)
    writer.varint(transfer.end.number)
    writer.fixed(transfer.end.hash)
    writer.varint(transfer.changes)
    return Container.encode(writer.bytes, as: .transfer)
  }

  /// Decodes what was left at this folder; nil if it is another one.
  private func decode(_ bytes: [UInt8], of session: Identifier) throws -> SessionTransfer? {
    let place = try root.open().status()
    var reader = ByteReader(try Container.decode(bytes, as: .transfer))
    guard try reader.varint() == place.device, try reader.varint() == place.inode else {
      return nil
    }
    let segment = String(decoding: try reader.counted(), as: UTF8.self)
    let status = try reader.status(.file)
    let end = ChainPosition(number: try reader.varint(), hash: try reader.fixed(UInt64.self))
    let transfer = SessionTransfer(
      session: session, segment: segment, status: status, end: end, changes: try reader.varint())
    return reader.isAtEnd ? transfer : nil
  }
}
