/// Frees the memory of nodes when no tree has it any more, and keeps the weights that were found for a question.
///
/// A question finds the weights of a tree that it may not change, and of which there may be copies: other threads may ask at the same time, or copy the
/// nodes so as to change them. So what is found is an object that never changes, and the first one stays. It is stored and loaded by the functions with which
/// the standard library keeps what it bridges: with a lock or an atomic of the module Synchronization each start of a program would
/// load one library more, which took a tenth of it.
final class PieceMemory: @unchecked Sendable {
  private let nodes: PieceNodes
  private let found: UnsafeMutablePointer<AnyObject?>

  init(_ nodes: PieceNodes) {
    self.nodes = nodes
    found = .allocate(capacity: 1)
    found.initialize(to: nil)
  }

  deinit {
    nodes.deallocate()
    found.deinitialize(count: 1)
    found.deallocate()
  }

  /// The weights of the nodes, if somebody has asked for them.
  var weights: FoundWeights? {
    _stdlib_atomicLoadARCRef(object: found).map { unsafeDowncast($0, to: FoundWeights.self) }
  }

  /// The same, found now if nobody has asked.
  func weights(_ find: () -> FoundWeights) -> FoundWeights {
    if let weights { return weights }
    let new = find()
    return _stdlib_atomicInitializeARCRef(object: found, desired: new) ? new : weights!
  }

  /// Forgets the weights before the nodes are changed, by the only tree that has them; whether there were any.
  @inline(__always)
  func forgetWeights() -> Bool {
    if found.pointee == nil { return false }
    found.pointee = nil
    return true
  }
}

/// The weights of the blocks in their list, and of the leaves by their slots.
final class FoundWeights: Sendable {
  let top: [TextWeight]
  let slots: [TextWeight]

  init(top: [TextWeight], slots: [TextWeight]) { (self.top, self.slots) = (top, slots) }
}
