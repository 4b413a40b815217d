/// A position in a session's chain of records: the number of a record and the hash after it.
///
/// The default is the position before the first record. Two files with the same position hold the same records up to it.
struct ChainPosition: Equatable {
  var number: UInt64 = 0
  var hash: UInt64 = 0
}
