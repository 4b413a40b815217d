// The changes that other changes say they follow: as few as are needed.
//
// The changes of a value that a replica at version v has not seen could say that they follow all of v. After a thousand short-lived
// replicas that would be a thousand names for one keystroke. But whoever joins them needs less. It must have
//
// - of the replicas whose changes they bring, all that they leave out: what these replicas made up to v;
// - what they refer to: the elements that an insertion stands between or that a removal names, the additions that a removal covers;
// - what made changes superfluous that they do not bring: the write that won, the removal that covers more;
// - who reached the logical time that they bring along.
//
// So a value that has what they follow is, afterwards, what the changes of its version make of it, and a value at v becomes the same as by
// following all of v. Of the replicas that are not named, both versions say nothing: a join leaves what is known of them as it is.

/// From where to where changes go.
struct FollowedChanges {
  /// The changes that a value must have.
  private(set) var since = Version()
  /// The changes that it has afterwards, of the replicas named.
  private(set) var version = Version()
  private let asked: Version
  private let own: Version

  /// The changes of a value at `own` that a replica at `asked` has not seen.
  init(of own: Version, since asked: Version) {
    self.asked = asked
    self.own = own
    var changes: [ChangeID] = []
    _ = own.allSatisfy(beyond: asked) {
      changes.append($0)
      return true
    }
    for change in changes {
      since[change.replica] = asked[change.replica]
      version[change.replica] = change.number
    }
  }

  /// True if nothing is to be said.
  var isEmpty: Bool { version.isEmpty }

  /// Lets them follow what the value has of a replica.
  mutating func follow(_ replica: ReplicaID) {
    guard version[replica] == 0, own[replica] > 0 else { return }
    since[replica] = own[replica]
    version[replica] = own[replica]
  }

  /// Lets them follow what the value has of some replicas; all that was asked of, if these aren't known.
  mutating func follow(_ replicas: [ReplicaID]?) {
    for replica in replicas ?? own.replicas { follow(replica) }
  }
}
