internal import Notes

/// A batch of requests that is being carried out.
struct RunningBatch {
  /// The effects of its changes, which nobody is told before all of them are made.
  var effects = Effects()
  /// The notes that its requests have made, by the places of these.
  private var notes: [Int: NoteID] = [:]

  /// The note that the request at a place has made.
  subscript(place: Int) -> NoteID? {
    get { notes[place] }
    set { notes[place] = newValue }
  }

  /// The note that a later request names by the place of the one that has made it: `#0`.
  func note(named name: String) -> NoteID? {
    guard name.first == "#", let place = Int(name.dropFirst()), name == "#\(place)" else {
      return nil
    }
    return notes[place]
  }
}
