internal import JSONRPC

// Imports and exports take longer than a request may hold up others, so they are done in pieces.

extension NotesServer {
  /// Does a piece of the request that came first.
  mutating func proceedWithFiles() {
    var failure: ResponseError?
    switch requests.fileTasks.removeFirst() {
    case .importing(var task):
      do {
        if try proceed(&task) { return requests.fileTasks.insert(.importing(task), at: 0) }
      } catch { failure = error }
      finish(task, failure)
    case .exporting(var task):
      do {
        if try proceed(&task) { return requests.fileTasks.insert(.exporting(task), at: 0) }
      } catch { failure = error }
      finish(task, failure)
    }
    push()
  }

  /// Ends a request before it is complete. What it has done stays.
  mutating func cancelFileTask(at index: Int) {
    switch requests.fileTasks.remove(at: index) {
    case .importing(let task): finish(task, .requestCancelled)
    case .exporting(let task): finish(task, .requestCancelled)
    }
  }
}
