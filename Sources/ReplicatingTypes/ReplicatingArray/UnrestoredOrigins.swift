/// Where one element was inserted, or several of one author that follow each other.
struct GuessedOrigin: Equatable, Sendable {
  var author: AuthorIndex
  var first: UInt32
  var count: UInt32
  /// Of the first; the others were inserted each after the one before it.
  var left: LocalID
  var right: LocalID
}

/// The facts from which the origins of elements that were read are found.
struct UnrestoredOrigins: Sendable {
  /// The number of these elements, of each author.
  var counts: [UInt32]
  /// By author, then offset.
  var wrong: [GuessedOrigin]
}
