import TestSupport
import Testing

@Suite(.computing)
struct `Live text, with messages crossing at random` {
  @Test(arguments: seeds(30))
  func `ends the same everywhere, with nothing lost and nothing doubled`(seed: UInt64) {
    var fuzz = LiveTextFuzz(seed: seed)
    #expect(fuzz.run(steps: 240) == [])
    #expect(fuzz.applied > 0, "seed \(seed): no push was applied")
  }

  @Test(arguments: seeds(30))
  func `ends the same everywhere where some hide carriage returns`(seed: UInt64) {
    var fuzz = LiveTextFuzz(seed: seed, isDOS: true)
    #expect(fuzz.run(steps: 240) == [])
    #expect(fuzz.applied > 0, "seed \(seed): no push was applied")
  }

  @Test func `is worth something`() {
    var (shown, shownAcross, kills, reversals) = (0, 0, 0, 0)
    var (inserted, retyped) = (0, 0)
    for seed in 1...5 as ClosedRange<UInt64> {
      var fuzz = LiveTextFuzz(seed: seed)
      _ = fuzz.run(steps: 240)
      shown += fuzz.shown
      shownAcross += fuzz.shownAcross
      kills += fuzz.kills
      reversals += fuzz.reversals
      inserted += fuzz.insertedCount
      retyped += fuzz.retypedCount
    }
    #expect(20 * retyped < inserted, "\(retyped) of \(inserted) scalars are not asked for")
    #expect(shown > 0, "nobody's selection was shown")
    #expect(shownAcross > 0, "nobody's selection was shown at another server")
    #expect(kills > 0, "no server died")
    #expect(reversals > 0, "nothing was undone")
  }

  @Test(arguments: [
    LiveClient.Mistake.appliesEveryPush, .keepsItsRev, .undoesForOthers, .showsEveryPresence,
    .forgetsItsRev,
  ])
  func `does not, if clients make mistakes`(mistake: LiveClient.Mistake) {
    let problems = (1...5 as ClosedRange<UInt64>).flatMap { seed in
      var fuzz = LiveTextFuzz(seed: seed, mistake: mistake)
      return fuzz.run(steps: 240)
    }
    #expect(problems != [])
  }
}
