internal import Notes
internal import ReplicatingTypes

/// The search for forks between this notebook and that of a peer, by digests of versions that both know.
///
/// The first probe is all that both know. Where the digests of a replica differ, the next probes narrow down from which of its changes on,
/// sixteen times with each.
struct ForkSearch {
  /// What is known of a replica whose digests differ.
  private struct Candidate {
    /// The number of changes up to which the digests are equal, and a greater one up to which they are not.
    var equal: UInt64 = 0
    var different: UInt64
    /// The digests up to `different`.
    var ours: UInt64
    var theirs: UInt64
  }

  private var candidates: [ReplicaID: Candidate] = [:]
  /// The versions of which digests are needed next, known on both sides; none when the search is done.
  private(set) var probes: [Version]
  private(set) var forks: [Fork] = []

  private static let width: UInt64 = 16

  /// - Parameter common: all that both know.
  init(common: Version) { probes = [common] }

  /// True if digests of the peer have the shape of an answer to the probes.
  func isAnswer(_ digests: [[UInt64]]) -> Bool {
    digests.map(\.count) == probes.map(\.count)
  }

  /// Takes the digests of the probes: here, and there.
  mutating func narrow(_ ours: [[UInt64]], _ theirs: [[UInt64]]) {
    for (probe, digests) in zip(probes, zip(ours, theirs)) {
      for (change, (ours, theirs)) in zip(probe.changes, zip(digests.0, digests.1)) {
        take(change, ours, theirs)
      }
    }
    for (replica, candidate) in candidates where candidate.different == candidate.equal + 1 {
      candidates[replica] = nil
      forks.append(
        Fork(
          replica: replica, shared: candidate.equal, ours: candidate.ours,
          theirs: candidate.theirs))
    }
    forks.sort { $0.replica < $1.replica }
    probes = candidates.isEmpty ? [] : (1..<Self.width).map(probe).filter { !$0.isEmpty }
  }

  private mutating func take(_ change: ChangeID, _ ours: UInt64, _ theirs: UInt64) {
    var candidate =
      candidates[change.replica]
      ?? Candidate(different: change.number, ours: ours, theirs: theirs)
    if ours == theirs {
      // Before the first difference is known there is none.
      guard candidates[change.replica] != nil else { return }
      candidate.equal = max(candidate.equal, min(change.number, candidate.different - 1))
    } else if change.number > candidate.equal, change.number <= candidate.different {
      (candidate.different, candidate.ours, candidate.theirs) = (change.number, ours, theirs)
    }
    candidates[change.replica] = candidate
  }

  /// The version that has of each candidate so many sixteenths of what is between its bounds.
  private func probe(_ part: UInt64) -> Version {
    var probe = Version()
    for (replica, candidate) in candidates {
      let span = candidate.different - candidate.equal
      let number =
        candidate.equal + (span / Self.width) * part + span % Self.width * part / Self.width
      if number > candidate.equal { probe[replica] = number }
    }
    return probe
  }
}
