/// The completion of what killed processes have left.
struct Completing {
  /// True if it is time to look for something.
  var isDue: Bool
  /// The completion that was begun and is not done.
  var running: SessionCompletion?
}
