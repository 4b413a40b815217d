internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteStore

// What the user, and those who wait for the mirror, are told of it.

extension NotesServer {
  /// Tells the user of a failure of the mirror, once as long as it is the same.
  mutating func tellMirror(_ message: String) {
    if requests.waitingForMirror.isEmpty {
      guard mirroring.told != message else { return }
      mirroring.told = message
      return showMessage(.error, "mirror: \(message)")
    }
    mirroring.told = message
    refuseMirrored("unusableFolder", "mirror: \(message)")
  }

  /// Does nothing more until the user says so from now on: what has been said before was about something else.
  mutating func stop(_ mirror: Mirror, _ brake: Mirror.Brake) {
    try? store!.stateFile(mirrorName(mirror.tree) + "-answer")?.replace(with: [])
    mirror.brake = brake
    tellBrake(mirror)
  }

  /// Tells the user why the mirror does nothing, and what to do.
  mutating func tellBrake(_ mirror: Mirror) {
    guard let brake = mirror.brake else { return }
    let all = mirror.records.byPath.count
    let what =
      switch brake {
      case .deletions(let count): "\(count) of \(all) files are gone at once"
      case .changes(let count): "\(count) of \(all) files have changed at once"
      case .folder(let reason): reason
      }
    let path = environment.mirror ?? ""
    let message =
      "mirror: \(what). Nothing is done until `decent-notes mirror --confirm \(path)` takes that over,"
      + " or --restore writes the files again."
    mirroring.told = nil
    if requests.waitingForMirror.isEmpty { return showMessage(.warning, message) }
    refuseMirrored("mirrorStopped", message)
  }

  /// Tells the user, once, of copies that a synchronisation engine has put aside: what is in them is in no note.
  mutating func tellCopies(_ walk: MirrorWalk, _ mirror: Mirror) {
    let copies = walk.skipped.filter { $0.reason == FolderWalk.conflictCopy }.map(\.path)
    for path in copies.sorted() where !mirror.toldCopies.contains(path) {
      showMessage(.warning, "mirror: \(path) is left alone: \(FolderWalk.conflictCopy)")
    }
    mirror.toldCopies = Set(copies)
  }

  /// The name of what is known of a mirror, in the state folder.
  func mirrorName(_ tree: any FileTree) -> String {
    "mirror-" + SHA256.hexDigest(of: Array(tree.resolvedPath.utf8)).prefix(16)
  }

  /// Answers those who wait until the mirror is at rest, which it will not be.
  mutating func refuseMirrored(_ reason: String, _ message: String) {
    for id in requests.waitingForMirror { refuse(id, .requestFailed(reason, message)) }
    requests.waitingForMirror = []
  }
}
