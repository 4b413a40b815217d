import Testing

@testable import decent_notes

@Suite struct `Waiting without sleep` {
  /// The numbers of the answers after which it is tried.
  private func tries(of waiting: inout BusyWaiting, answers: Int, inVain: Bool) -> [Int] {
    (1...answers).filter { _ in
      guard waiting.isDue() else { return false }
      waiting.didWait(inVain: inVain)
      return true
    }
  }

  @Test func `is tried ever more seldom while it is in vain, and not for ever`() {
    var waiting = BusyWaiting()
    let tries = tries(of: &waiting, answers: 10_000, inVain: true)
    #expect(tries.prefix(6) == [1, 3, 6, 11, 20, 37])
    #expect(zip(tries, tries.dropFirst()).allSatisfy { $1 - $0 <= 1_025 })
    #expect(tries.count < 20)
  }

  @Test func `is tried after each answer while it is of use`() {
    var waiting = BusyWaiting()
    #expect(tries(of: &waiting, answers: 100, inVain: false) == Array(1...100))
    _ = tries(of: &waiting, answers: 5_000, inVain: true)
    let last = tries(of: &waiting, answers: 5_000, inVain: false)
    #expect(last == Array((last.first ?? 0)...5_000))
  }
}
