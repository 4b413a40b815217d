internal import NoteStore
internal import Notes

/// The client, if it is another notebook's process that is told at once what is new.
struct Follower {
  /// The time that a follower may say nothing: it is gone then, though the connection seems to stand.
  static let silence = Duration.seconds(45)

  var listener: Listener
  /// The time when something came from it last; nil until the first look at the clock after it.
  var heard: Instant?
}
