/// The open note by which others who have it open, too, are shown the agent.
///
/// It is there for a while after each edit: an edit itself takes no time that anybody could see.
struct Presence {
  /// The time for which it stays.
  static let stay = Duration.seconds(10)

  /// The open note by which it is shown; nil while it is not shown.
  var attachment: Int?
  /// The time at which it ends; nil until the time is told.
  var end: ContinuousClock.Instant?
}
