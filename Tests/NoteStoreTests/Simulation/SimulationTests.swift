import Foundation
import TestSupport
import Testing

@Suite(.computing) struct `Devices with disks that fail and an engine that carries files` {
  /// What is wrong with the first seeds with which something is.
  private func violation(
    _ seeds: ClosedRange<UInt64>, _ flaw: Simulation.Flaw? = nil
  ) -> (seed: UInt64, what: String, story: [String])? {
    for seed in seeds {
      let simulation = Simulation(seed: seed, flaw: flaw)
      do { try simulation.run() } catch { return (seed, error.description, simulation.story) }
    }
    return nil
  }

  /// With `DECENT_NOTES_SEED=17` only that one, and each step is printed before it is taken.
  @Test func `keep what was acknowledged, and come to know the same`() {
    if let seed = ProcessInfo.processInfo.environment["DECENT_NOTES_SEED"].flatMap(UInt64.init) {
      let simulation = Simulation(seed: seed, isPrinting: true)
      #expect(throws: Never.self) { try simulation.run() }
      return
    }
    if let (seed, what, story) = violation(seeds(20)) {
      Issue.record("seed \(seed): \(what)\n\(story.joined(separator: "\n"))")
    }
  }

  @Test(arguments: [
    Simulation.Flaw.repeatingIdentities, .neverRescanning, .lyingDisks, .silentFolders,
    .endingWhileWritersLive, .startingWithoutALook,
  ])
  func `do not, as soon as one rule is not kept`(flaw: Simulation.Flaw) {
    #expect(violation(1...200, flaw) != nil)
  }
}
