internal import JSONRPC
internal import NoteStore
internal import Notes

/// A request that is answered when everything committed before it is on disk for good.
struct DiskRequest {
  var id: RequestID
  /// The token for reports of the progress, as the client wrote it; nil if the client wants none.
  var progress: [UInt8]?
  /// True if the client can cancel it.
  var canBeCancelled: Bool
  /// The number of records that had been written when it came.
  var through: UInt64
}

/// A request that looks something up for longer than others may be held up, so it is done in pieces.
protocol Lookup {
  var id: RequestID { get }

  /// Does a piece of the work: a few milliseconds. Returns the result when it is complete, else nil.
  mutating func proceed(in store: NoteStore?) throws(ResponseError) -> [UInt8]?
}

/// The requests that are not answered yet, and the results of those that a client may repeat.
struct Requests {
  var waitingForDisk: [DiskRequest] = []
  /// The requests that take long to look something up, in the order in which they came.
  var lookups: [any Lookup] = []
  /// The length of the result of such a request, in bytes, above which the rest is left out; the result says so.
  static let largestLookup = 8 << 20
  /// The requests that read or write files, in the order in which they came.
  var fileTasks: [FileTask] = []
  /// The requests that are answered when the mirror is at rest.
  var waitingForMirror: [RequestID] = []
  var remembered = RememberedResults()
  /// The changes that were made for requests with a key, also by other processes.
  var known = KnownRequests()
  /// The mark of changes that are made now, for a request with a key.
  var mark: RequestMark?
  /// The batch that is being carried out.
  var batch: RunningBatch?
  /// The group of changes that is being carried out.
  var group: RunningGroup?

  /// True if there is one that is answered after work that takes a while.
  var hasWork: Bool { !lookups.isEmpty || !fileTasks.isEmpty }
}

/// The results of requests that carried a key: the same key again gives the same result.
///
/// The results of at least the last 10,000 keys are kept, and of 16,384 at most. But when all results together have more than 64 MiB,
/// the older half of those above 4 KiB is forgotten.
struct RememberedResults {
  /// The results by the bytes of the key: two strings that are canonically equivalent are two keys.
  private var results: [[UInt8]: (method: String, result: [UInt8])] = [:]
  private var keys: [[UInt8]] = []
  private var size = 0

  private static let mostKeys = 16_384
  private static let mostBytes = 64 << 20
  private static let smallResult = 4 << 10

  subscript(key: [UInt8]) -> (method: String, result: [UInt8])? {
    get { results[key] }
    set {
      guard let newValue, results[key] == nil else { return }
      results[key] = newValue
      keys.append(key)
      size += newValue.result.count
      if size > Self.mostBytes {
        let large = keys.filter { results[$0]!.result.count > Self.smallResult }
        forget(Set(large.prefix(large.count / 2 + 1)))
      }
      if keys.count > Self.mostKeys { forget(Set(keys.prefix(keys.count / 4))) }
    }
  }

  private mutating func forget(_ victims: Set<[UInt8]>) {
    for key in victims { size -= results.removeValue(forKey: key)!.result.count }
    keys.removeAll { victims.contains($0) }
  }
}

// Requests that take long to look something up.

extension NotesServer {
  /// Begins a request, which is answered when it is complete. What takes not long is done at once.
  mutating func begin(_ lookup: some Lookup) {
    requests.lookups.append(lookup)
    if requests.lookups.count == 1 { proceedLookingUp() }
  }

  /// Does a piece of the request that came first.
  mutating func proceedLookingUp() {
    var lookup = requests.lookups.removeFirst()
    do {
      guard let result = try lookup.proceed(in: store) else {
        return requests.lookups.insert(lookup, at: 0)
      }
      currentOutbox.respond(to: lookup.id) { $0.raw(result) }
    } catch {
      currentOutbox.respond(to: lookup.id, error: error)
    }
  }
}
