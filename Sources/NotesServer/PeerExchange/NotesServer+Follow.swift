internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// The end of a link at which the client is another notebook's process. `push` tells it what is new.

/// The parameters of `notebook/follow`.
struct FollowParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case since }

  /// The version that the client knows; nil if it follows already, and only asks whether this process is there.
  let since: ChangesParameters.Start?

  init(_ params: Parameters) throws(ResponseError) {
    since = try params.string(Name.since).map { name throws(ResponseError) in
      try ChangesParameters.Start(name, Name.since)
    }
  }
}

extension NotesServer {
  /// `notebook/follow`: from now on the client is told what is new here.
  mutating func follow(
    _ params: FollowParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    if let since = params.since {
      client.follower = Follower(listener: Listener(knowing: try version(of: since)))
    } else if client.follower == nil {
      throw .invalidParams("since", "is missing")
    }
    beginSharingPresence()
    if params.since != nil { sharedPresence?.begin(.follower) }
    // New changes are told behind the answer.
    let digest = try digest(of: book.version)
    result.beginObject()
    result.member("revision", revision)
    if let digest { result.member("digest", Digest.text(digest)) }
    result.endObject()
  }
}
