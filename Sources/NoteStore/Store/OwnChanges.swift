internal import Notes
internal import ReplicatingTypes

/// The changes that this process makes, as far as they are known.
struct OwnChanges {
  /// The number of changes that it wrote in each of its sessions.
  var written = Version()
  /// The entries of history that its session is writing.
  var entries = OpenEntries()
  /// Those that are made together and not written yet.
  var group: ChangeGroup?
}
