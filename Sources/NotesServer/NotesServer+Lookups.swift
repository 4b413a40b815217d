internal import JSONRPC

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
