internal import Notes
internal import ReplicatingTypes

/// What is known of the changes that this process makes.
struct OwnChanges {
  /// The number of changes that it wrote in each of its sessions.
  var written = Version()
  /// The entries of history that its session is writing.
  var entries = OpenEntries()
}
