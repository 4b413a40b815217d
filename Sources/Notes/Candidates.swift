/// Notes of an archive among which those are that somebody looks for.
struct Candidates: Sendable {
  /// Of each note, by its place in the archive's index, whether it is one.
  private var isOne: [Bool]
  /// The number of candidates.
  private(set) var count: Int

  /// All notes of an archive with so many, or none of them.
  init(of notes: Int, all isAll: Bool) {
    isOne = [Bool](repeating: isAll, count: notes)
    count = isAll ? notes : 0
  }

  /// The number of notes among which they are.
  var total: Int { isOne.count }

  subscript(place: Int) -> Bool { isOne[place] }

  mutating func insert(_ place: Int) {
    if !isOne[place] { count += 1 }
    isOne[place] = true
  }

  /// Leaves those that are candidates of others, too. O(notes).
  mutating func formIntersection(_ other: Candidates) {
    for place in isOne.indices where isOne[place] && !other[place] {
      isOne[place] = false
      count -= 1
    }
  }

  /// Their places, in order. O(notes).
  var places: [Int] { isOne.indices.filter { isOne[$0] } }
}
