// Completing the open segments of processes that were killed, one step at a time.

extension NoteStore {
  /// True if there may be something to complete that need not wait for the disk. A compaction that was begun comes first.
  var hasCompletion: Bool {
    if let running = completing.running {
      return !running.isWaiting || folder.disk.asideAnswer != nil
    }
    return completing.isDue && compaction == nil
  }

  /// Does one step. After a failure the next look tries again.
  func proceedCompleting() {
    let completion = completing.running ?? SessionCompletion()
    completing = Completing(isDue: false)
    do { try completion.step(&folder) } catch { return }
    if !completion.isDone { completing.running = completion }
  }

  /// Completes the open segments of processes of this user and machine that were killed. Waits for the disk.
  public func completeAbandoned() {
    guard compaction == nil else { return }
    while completing.isDue || completing.running != nil {
      proceedCompleting()
      if completing.running?.isWaiting == true, folder.disk.asideAnswer == nil {
        folder.awaitSync()
      }
    }
  }
}
