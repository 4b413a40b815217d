/// A position in a session's chain of records: the number of a record and the hash after it.
///
/// The default is the position before the first record. Files with the same position have the same records of the session up to it,
/// in themselves or in earlier segments.
struct ChainPosition: Equatable {
  var number: UInt64 = 0
  var hash: UInt64 = 0
}
