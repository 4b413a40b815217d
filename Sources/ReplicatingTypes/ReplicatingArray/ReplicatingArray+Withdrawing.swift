// Showing a sequence without the changes that are withdrawn (Withdrawals.swift).

extension ReplicatingArray {
  /// Shows the sequence without some changes, and with those that were withdrawn and are not any more.
  ///
  /// - Parameter changes: all that are withdrawn now.
  /// - Complexity: O(runs), and the elements that the changes inserted and removed.
  mutating func withdraw(_ changes: ChangeRanges, _ report: (Effect) -> Void) {
    settle()
    hasWithdrawals = true
    let turned = changes.subtracting(withdrawn).union(withdrawn.subtracting(changes))
    if turned.isEmpty { return }
    self.turned = self.turned.union(turned)
    withdrawn = changes
    let touched = ElementRanges(insertions(by: turned) + removals(by: turned))
    if touched.isEmpty { return }
    if !isIndexed { buildIndex() }
    let removed = ElementRanges(removals(among: touched))
    let absent = ElementRanges(insertions(by: changes))
    if !spared.isEmpty {
      spared = spared.filter {
        !contains(touched, $0) || contains(removed, $0) && !contains(absent, $0)
      }
    }
    var hidden = removed.subtracting(sparedElements).union(absent.sorted)
    if !withheld.isEmpty {
      hidden = hidden.union(withheld.map { range(of: $0) })
    }
    var (returned, gone): ([ElementRange], [ElementRange]) = ([], [])
    for range in touched.sorted {
      var offset = range.offset
      while offset < range.end {
        let run = hidden.run(of: range.author, from: offset, to: range.end)
        let part = ElementRange(author: range.author, offset: offset, count: run.end - offset)
        if run.isMember {
          show(part, false) { gone.append($0) }
        } else {
          show(part, true) { returned.append($0) }
        }
        offset = run.end
      }
    }
    for range in ElementRanges(gone).sorted { report(.withdrawn(range)) }
    for range in ElementRanges(returned).sorted { report(.returned(range)) }
  }

  /// True if a change is withdrawn.
  func isWithdrawn(_ change: LocalChange) -> Bool {
    !withdrawn.isEmpty
      && withdrawn.contains(
        ChangeID(replica: authors[Int(change.author)].id, number: change.number))
  }

  private func contains(_ ranges: ElementRanges, _ element: LocalID) -> Bool {
    let offset = Int(element.offset)
    return ranges.run(of: authors[Int(element.author)].id, from: offset, to: offset + 1).isMember
  }

  /// The elements that some changes inserted.
  func insertions(by changes: ChangeRanges) -> [ElementRange] {
    var ranges: [ElementRange] = []
    for run in changes.runs {
      guard let index = index(known: run.replica) else { continue }
      let author = authors[Int(index)]
      let start = Int(author.count(upTo: run.numbers.lowerBound - 1))
      let count = Int(author.count(upTo: run.numbers.upperBound)) - start
      ranges.append(ElementRange(author: run.replica, offset: start, count: count))
    }
    return ranges
  }

  /// The elements that some changes removed.
  func removals(by changes: ChangeRanges) -> [ElementRange] {
    var ranges: [ElementRange] = []
    for run in changes.runs {
      guard let index = index(known: run.replica) else { continue }
      let removals = authors[Int(index)].removals
      let before = run.numbers.lowerBound - 1
      for removal in removals[removals.firstIndex(after: before)...] {
        if UInt64(removal.number) > run.numbers.upperBound { break }
        let (offset, count) = removal.dropping(upTo: before).range(upTo: run.numbers.upperBound)
        ranges.append(range(offset, count, of: removal.target))
      }
    }
    return ranges
  }

  /// The removals of some elements by changes that are not withdrawn, and of those beside them.
  private func removals(among elements: ElementRanges) -> [ElementRange] {
    var ranges: [ElementRange] = []
    for author in authors {
      for run in author.removals(without: withdrawn) {
        let range = range(run.offset, run.count, of: run.target)
        let first = elements.run(of: range.author, from: range.offset, to: range.end)
        if first.isMember || first.end < range.end { ranges.append(range) }
      }
    }
    return ranges
  }

  private func range(_ offset: UInt32, _ count: UInt32, of target: AuthorIndex) -> ElementRange {
    ElementRange(author: authors[Int(target)].id, offset: Int(offset), count: Int(count))
  }
}
