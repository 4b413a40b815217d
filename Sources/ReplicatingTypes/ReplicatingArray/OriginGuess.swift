// Where insertions were made, guessed from what they led to.
//
// An element stands between two that were there before it. So its left origin is likely the nearest element before it that
// has a smaller logical time, and its right origin the nearest such element behind it. With one author that is always so:
// every element that stands nearer came later. With several it fails where they inserted at one place without having seen
// each other. An encoding that writes down the wrong guesses needs no other origins.

extension ReplicatingArray {
  /// The same value with nothing open and all origins.
  var restored: Self {
    var copy = settled
    copy.restoreOrigins()
    return copy
  }

  /// Finds all origins, if that wasn't done yet.
  mutating func restoreOrigins() {
    guard var saved = unrestored else { return }
    unrestored = nil
    saved.counts += Array(repeating: 0, count: authors.count - saved.counts.count)
    restoreOrigins(saved.counts, wrong: saved.wrong)
  }

  /// Elements of one author that stand side by side with offsets and logical times in sequence.
  private struct Atom {
    var author: AuthorIndex
    var first: UInt32
    var count: UInt32
    var lamport: UInt64
    /// True if the element before is not the author's one before; that would be the left origin.
    var isHead: Bool

    /// The number of elements that are not later than `lamport`; there is one.
    func count(before lamport: UInt64) -> UInt32 {
      UInt32(Swift.min(UInt64(count), lamport - self.lamport))
    }
  }

  /// The guesses for all elements with offsets below `counts` of their authors, as if there were no others; by author, then
  /// offset. O(n log n) in the pieces and in the runs of logical time.
  func guessOrigins(_ counts: [UInt32]) -> [GuessedOrigin] {
    let atoms = atoms(counts)
    let lefts = guessLefts(atoms)
    var guesses: [GuessedOrigin] = []
    guesses.reserveCapacity(atoms.count)
    // From the end: the atoms that may hold the nearest earlier element, the nearest last, each earlier than the next.
    var stack: [Int] = []
    for index in atoms.indices.reversed() {
      let atom = atoms[index]
      // The later an element, the nearer is its guess: those of an atom are found from its last element to its first.
      var end = atom.count
      func guess(from start: UInt32, _ right: LocalID) {
        let left = start == 0 ? lefts[index] : LocalID(atom.author, atom.first + start - 1)
        guesses.append(
          GuessedOrigin(
            author: atom.author, first: atom.first + start, count: end - start, left: left,
            right: right))
        end = start
      }
      while end > 0, let last = stack.last {
        let other = atoms[last]
        let isLater = other.lamport >= atom.lamport
        let start = isLater ? UInt32(Swift.min(other.lamport - atom.lamport + 1, UInt64(end))) : 0
        if start < end { guess(from: start, LocalID(other.author, other.first)) }
        if !isLater { break }
        stack.removeLast()
      }
      if end > 0 { guess(from: 0, .none) }
      stack.append(index)
    }
    return guesses.sorted { ($0.author, $0.first) < ($1.author, $1.first) }
  }

  private func guessLefts(_ atoms: [Atom]) -> [LocalID] {
    var lefts: [LocalID] = []
    lefts.reserveCapacity(atoms.count)
    var stack: [Int] = []
    for (index, atom) in atoms.enumerated() {
      while let last = stack.last, atoms[last].lamport >= atom.lamport { stack.removeLast() }
      if !atom.isHead {
        lefts.append(LocalID(atom.author, atom.first - 1))
      } else if let last = stack.last {
        let other = atoms[last]
        lefts.append(
          LocalID(other.author, other.first + other.count(before: atom.lamport) - 1))
      } else {
        lefts.append(.none)
      }
      stack.append(index)
    }
    return lefts
  }

  private func atoms(_ counts: [UInt32]) -> [Atom] {
    var atoms: [Atom] = []
    var before = LocalID.none
    tree.forEachPiece { piece in
      let end = Swift.min(piece.end, counts[Int(piece.author)])
      var first = piece.offset
      let author = authors[Int(piece.author)]
      while first < end {
        let run = author.stamps.index(holding: first)
        let skew = author.skews.index(holding: first)
        var stop = end
        if run + 1 < author.stamps.count { stop = Swift.min(stop, author.stamps[run + 1].first) }
        if skew + 1 < author.skews.count { stop = Swift.min(stop, author.skews[skew + 1].first) }
        let lamport = author.lamport(of: first)
        let isHead = before != LocalID(piece.author, first &- 1) || first == 0
        if !isHead, let last = atoms.last,
          last.lamport + UInt64(last.count) == lamport
        {
          atoms[atoms.count - 1].count += stop - first
        } else {
          atoms.append(
            Atom(
              author: piece.author, first: first, count: stop - first, lamport: lamport,
              isHead: isHead))
        }
        before = LocalID(piece.author, stop - 1)
        first = stop
      }
    }
    return atoms
  }

  /// The runs of elements whose origins are not as guessed, with what they are.
  func wrongGuesses() -> [GuessedOrigin] {
    var wrong: [GuessedOrigin] = []
    for guess in guessOrigins(authors.map(\.count)) {
      let author = authors[Int(guess.author)]
      let end = guess.first + guess.count
      var first = guess.first
      while first < end {
        let index = author.origins.index(holding: first)
        let origin = author.origins[index]
        let stop =
          index + 1 < author.origins.count ? Swift.min(end, author.origins[index + 1].first) : end
        let left = origin.first == first ? origin.left : LocalID(guess.author, first - 1)
        let guessed = first == guess.first ? guess.left : LocalID(guess.author, first - 1)
        if left != guessed || origin.right != guess.right {
          wrong.append(
            GuessedOrigin(
              author: guess.author, first: first, count: stop - first, left: left,
              right: origin.right))
        }
        first = stop
      }
    }
    return wrong
  }

  /// Puts back the origins of the elements below `counts`: as guessed, but for the `wrong` guesses, which are sorted.
  private mutating func restoreOrigins(_ counts: [UInt32], wrong: [GuessedOrigin]) {
    var restored = authors.map { _ in [Author<Element>.Origin]() }
    func add(_ guess: GuessedOrigin) {
      let author = Int(guess.author)
      let goesOn = guess.first > 0 && guess.left == LocalID(guess.author, guess.first - 1)
      if goesOn, let last = restored[author].last, last.right == guess.right { return }
      restored[author].append(
        Author.Origin(first: guess.first, left: guess.left, right: guess.right))
    }
    var next = 0
    for guess in guessOrigins(counts) {
      var first = guess.first
      let end = guess.first + guess.count
      while first < end {
        let isWrong =
          next < wrong.count && wrong[next].author == guess.author && wrong[next].first < end
        let stop = isWrong ? Swift.max(wrong[next].first, first) : end
        if first < stop {
          add(
            GuessedOrigin(
              author: guess.author, first: first, count: stop - first,
              left: first == guess.first ? guess.left : LocalID(guess.author, first - 1),
              right: guess.right))
          first = stop
        }
        if isWrong {
          add(wrong[next])
          first = wrong[next].first + wrong[next].count
          next += 1
        }
      }
    }
    for (index, origins) in restored.enumerated() where !origins.isEmpty {
      let later = authors[index].origins
      authors[index].origins = origins
      for origin in later {
        let goesOn =
          origin.first > 0 && origin.left == LocalID(AuthorIndex(index), origin.first - 1)
        if !goesOn || authors[index].origins.last?.right != origin.right {
          authors[index].origins.append(origin)
        }
      }
    }
  }
}
