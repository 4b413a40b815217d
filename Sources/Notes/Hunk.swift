/// A part of the old text, and the part of the new one that stands in its place.
struct Hunk: Equatable {
  var old: Range<Int>
  var new: Range<Int>
}
