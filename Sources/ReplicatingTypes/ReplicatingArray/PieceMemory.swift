private import Synchronization

/// Frees the memory of nodes when no tree has it any more, and knows whether they are weighed.
///
/// A question weighs the nodes of a tree that it may not change, and of which there may be copies: other threads may ask at the same time, or
/// copy the nodes so as to change them. So, while others may have the nodes, weights are written with the lock as long as `isWeighed` is
/// false, and read with the lock or when it is true.
final class PieceMemory: @unchecked Sendable {
  private let nodes: PieceNodes
  private let lock = Mutex(())
  private let weighed: Atomic<Bool>
  private let asked: Atomic<Bool>

  init(_ nodes: PieceNodes, isWeighed: Bool, wasAsked: Bool) {
    self.nodes = nodes
    weighed = Atomic(isWeighed)
    asked = Atomic(wasAsked)
  }

  deinit { nodes.deallocate() }

  /// True if the weights of all nodes are right.
  @inline(__always)
  var isWeighed: Bool {
    get { weighed.load(ordering: .acquiring) }
    set { weighed.store(newValue, ordering: .releasing) }
  }

  /// True if somebody has asked for something that takes weights.
  @inline(__always)
  var wasAsked: Bool { asked.load(ordering: .relaxed) }

  func noteQuestion() {
    // Many threads may ask often: a store each time would have them wait for each other.
    if !wasAsked { asked.store(true, ordering: .relaxed) }
  }

  /// Does something while nobody else writes weights, or copies them.
  func alone<Result>(_ body: () -> Result) -> Result {
    lock.withLock { _ in body() }
  }
}
