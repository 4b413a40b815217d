// The failures of the notebook as errors of the protocol.

internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

extension ResponseError {
  /// A request of a client that may reach nothing but the notes of one folder.
  static func confined(_ message: String) -> ResponseError { .requestFailed("confined", message) }

  /// A failure to write a change, or to read a note from the archive. The request has changed nothing.
  init(_ error: StoreError) {
    switch error.reason {
    case .diskFull, .readOnly, .tooLarge:
      self = .requestFailed(error.reason.rawValue, "\(error)")
    case .permission: self = .requestFailed("readOnly", "\(error)")
    case .damaged: self = .requestFailed("damaged", "\(error)")
    default: self = .requestFailed("writeFailed", "\(error)")
    }
  }

  /// A failure to read something from the archive.
  init(_ failure: ArchiveFailure) {
    self = .requestFailed("damaged", "the notebook's archive: \(failure.reason)")
  }

  /// A failure to open the notebook. Nothing was changed.
  init(opening error: StoreError) {
    switch error.reason {
    case .newerFormat, .otherFormat, .damaged:
      self = .requestFailed(error.reason.rawValue, "\(error)")
    default: self = .requestFailed("unusableFolder", "\(error)")
    }
  }

  /// A failure to merge changes. None of them was merged.
  init(_ error: NoteStore.MergeError) {
    switch error {
    case .undecodable(let failure):
      self = .requestFailed(
        failure.isOfLaterVersion ? "newerChanges" : "damagedChanges",
        "changes: \(failure.reason), at byte \(failure.offset)")
    case .foreign(let notebook):
      self = .requestFailed(
        "foreignNotebook", "changes: they belong to another notebook, \(notebook)")
    case .refused(.missing(let missing)):
      self = .requestFailed(
        "missingChanges",
        "changes: they follow changes that are not here, \(missing.needed.description)")
    case .refused(.invalid(let change, let reason)):
      self = .requestFailed(
        "invalidChanges", "changes: number \(change.number) of \(change.replica) is \(reason)")
    case .refused(.newer(let change, let reason)):
      self = .requestFailed(
        "newerChanges",
        "changes: number \(change.number) of \(change.replica) was made by a later version of this program: \(reason)"
      )
    case .refused(.unreadable(let failure)): self = ResponseError(failure)
    case .notKept(let error): self = ResponseError(error)
    }
  }
}
