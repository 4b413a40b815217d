internal import Notes
internal import ReplicatingTypes

/// What is on its way from the folder into the notebook.
struct Merging {
  /// Changes that were read and are not merged yet, or follow others that were not read.
  var pending = PendingChanges()
  /// The files to be read next; nil if none are known to have something new.
  var unread: LogFolder.Scope?
  /// True if all files are to be looked at once more, because a look at all of them has stopped before the last.
  var needsFullLook = false
  /// True if records that the folder lacks are to be written again when everything is merged.
  var needsRepublish = false
  /// The notebook as it is shown while changes wait for missing ones, the number of these, and the version that it was made of.
  var shown: (notebook: NoteBook, waiting: Int, version: Version)?
  /// The work that merging has taken so far.
  var work = 0
}
