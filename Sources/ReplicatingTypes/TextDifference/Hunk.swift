/// A part of the old text, and the part of the new one that stands in its place.
struct Hunk: Equatable {
  var old: Range<Int>
  var new: Range<Int>

  init(old: Range<Int>, new: Range<Int>) {
    self.old = old
    self.new = new
  }

  init(from start: (old: Int, new: Int), to end: (old: Int, new: Int)) {
    self.init(old: start.old..<end.old, new: start.new..<end.new)
  }

  var start: (old: Int, new: Int) { (old.lowerBound, new.lowerBound) }
  var end: (old: Int, new: Int) { (old.upperBound, new.upperBound) }
}
