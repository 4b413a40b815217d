// Library product only: the programs of this package do not use this file.

// Equal values have seen the same changes, so the version is what is hashed: O(replicas that ever changed the value).

extension ReplicatingArray: Hashable where Element: Hashable {
  public func hash(into hasher: inout Hasher) { hasher.combine(version) }
}

extension ReplicatingText: Hashable {
  public func hash(into hasher: inout Hasher) { hasher.combine(version) }
}

extension ReplicatingOrderedSet: Hashable {
  public func hash(into hasher: inout Hasher) { hasher.combine(version) }
}
