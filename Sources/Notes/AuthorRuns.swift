/// The authors of one replica's changes: each is that of the change that names it, and of those up to the next that names one.
struct AuthorRuns: Sendable {
  private(set) var runs: [(first: UInt64, author: Author)] = []

  /// The author of the last change.
  var last: Author? { runs.last?.author }

  /// Adds the author that a change names; those before it are here.
  mutating func append(_ author: Author, from first: UInt64) { runs.append((first, author)) }

  /// The author of a change; nil before the first that names one. O(log authors).
  func author(of number: UInt64) -> Author? {
    let count = count(upTo: number)
    return count > 0 ? runs[count - 1].author : nil
  }

  /// True if a change names an author. O(log authors).
  func isNamed(by number: UInt64) -> Bool {
    let count = count(upTo: number)
    return count > 0 && runs[count - 1].first == number
  }

  /// The number of runs that begin with a change or before it.
  private func count(upTo number: UInt64) -> Int {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].first <= number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// These, and those that later changes name.
  func appending(_ later: AuthorRuns) -> AuthorRuns {
    var all = self
    all.runs += later.runs
    return all
  }

  /// Those that changes after a number name.
  func after(_ number: UInt64) -> AuthorRuns {
    var rest = AuthorRuns()
    rest.runs = Array(runs[count(upTo: number)...])
    return rest
  }
}
