public import ReplicatingTypes

/// A name for a state of the notebook: the few changes that nothing known follows.
///
/// Like the heads of a version control system these stand for everything before them, so a revision stays short however
/// many sessions a notebook has seen. As a string: each head as replica, ".", number, in order, joined by "+"; "0" is the
/// empty notebook.
public struct Revision: Hashable, Sendable {
  /// Sorted.
  public internal(set) var heads: [ChangeID]

  init(heads: [ChangeID]) { self.heads = heads }

  /// The state that the author of a change saw after it.
  public init(of change: ChangeID) { heads = [change] }
}

extension Revision: CustomStringConvertible {
  public var description: String {
    heads.isEmpty ? "0" : heads.map { "\($0.replica).\($0.number)" }.joined(separator: "+")
  }

  /// Reads what `description` writes; `nil` for anything else.
  public init?(_ description: String) {
    self.init(heads: [])
    if description == "0" { return }
    for part in description.split(separator: "+", omittingEmptySubsequences: false) {
      guard let head = ChangeID(part), heads.last.map({ $0.replica < head.replica }) ?? true else {
        return nil
      }
      heads.append(head)
    }
  }
}

extension Version {
  /// "v", then each replica with its number as in a revision.
  public var description: String {
    "v" + replicas.map { "\($0).\(self[$0])" }.joined(separator: "+")
  }

  /// Reads what `description` writes; `nil` for anything else.
  public init?(_ description: String) {
    guard description.first == "v" else { return nil }
    self.init()
    if description == "v" { return }
    var previous: ReplicaID?
    for part in description.dropFirst().split(separator: "+", omittingEmptySubsequences: false) {
      guard let last = ChangeID(part), previous.map({ $0 < last.replica }) ?? true else {
        return nil
      }
      previous = last.replica
      self[last.replica] = last.number
    }
  }
}

extension ChangeID {
  fileprivate init?(_ description: Substring) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let replica = ReplicaID(parts[0]),
      let number = UInt64(canonical: parts[1]), number > 0
    else { return nil }
    self.init(replica: replica, number: number)
  }
}
