internal import JSONRPC

/// The resources that the agent wants to be told of, and those of them that have changed since it was told last.
///
/// To be told is to look again, so what has happened twice before it is told is told once: what waits is never more than what was subscribed to.
struct Subscriptions {
  /// One `subscriptions/listen`; or, without an id, all subscriptions of a connection that has begun with `initialize`.
  struct Stream {
    let id: RequestID?
    var wantsList: Bool
    var notes: Set<NoteURI>
    fileprivate(set) var isListDue = false
    fileprivate(set) var due: Set<NoteURI> = []
  }

  /// The most streams, and the most resources in all of them.
  static let (mostStreams, mostResources) = (64, 10_000)

  private(set) var streams: [Stream] = []

  /// True if nothing waits to be told.
  var isQuiet: Bool { streams.allSatisfy { !$0.isListDue && $0.due.isEmpty } }

  /// True if there is room for so many more resources, and for a stream if one is begun.
  func hasRoom(forResources count: Int, stream isNew: Bool) -> Bool {
    streams.reduce(count) { $0 + $1.notes.count } <= Self.mostResources
      && streams.count + (isNew ? 1 : 0) <= Self.mostStreams
  }

  /// Begins a stream.
  mutating func add(_ stream: Stream) { streams.append(stream) }

  /// True if there is a stream of this id.
  func has(_ id: RequestID?) -> Bool { streams.contains { $0.id == id } }

  /// Ends a stream; returns whether it was there.
  mutating func remove(_ id: RequestID) -> Bool {
    let count = streams.count
    streams.removeAll { $0.id == id }
    return streams.count < count
  }

  /// Changes the stream without an id.
  mutating func change(_ change: (inout Stream) -> Void) {
    guard let index = streams.firstIndex(where: { $0.id == nil }) else { return }
    change(&streams[index])
    streams[index].due.formIntersection(streams[index].notes)
  }

  /// Notes that the list of resources has changed.
  mutating func noteList() {
    for index in streams.indices where streams[index].wantsList { streams[index].isListDue = true }
  }

  /// Notes that a resource has changed.
  mutating func note(_ note: NoteURI) {
    for index in streams.indices where streams[index].notes.contains(note) {
      streams[index].due.insert(note)
    }
  }

  /// Takes something that is to be told.
  mutating func takeNews() -> (stream: RequestID?, note: NoteURI?)? {
    guard let index = streams.firstIndex(where: { $0.isListDue || !$0.due.isEmpty }) else {
      return nil
    }
    if streams[index].isListDue {
      streams[index].isListDue = false
      return (streams[index].id, nil)
    }
    return (streams[index].id, streams[index].due.removeFirst())
  }
}
