import Testing

@Suite("Live text, with messages crossing at random")
struct LiveTextFuzzTests {
  /// Whether the server has what it takes. Until then a few runs are made, each in a process of its own, which ends in
  /// the middle: by lines at the end of a text, deletions that are pushed for ever, lines that are replaced whole.
  private static let isMended = false

  @Test(arguments: seeds(isMended ? 30 : 2))
  func `ends the same everywhere, with nothing lost and nothing doubled`(seed: UInt64) async {
    guard Self.isMended else {
      await withKnownIssue("Lines at the end of a text end the process; crossing deletions") {
        await #expect(processExitsWith: .success, "seed \(seed)") { [seed] in
          var fuzz = LiveTextFuzz(seed: seed)
          precondition(fuzz.run(steps: 240) == [])
        }
      }
      return
    }
    var fuzz = LiveTextFuzz(seed: seed)
    #expect(fuzz.run(steps: 240) == [])
    #expect(fuzz.applied > 0, "seed \(seed): no push was applied")
  }

  @Test(
    .enabled(if: isMended, "the server itself fails"),
    arguments: [LiveClient.Mistake.appliesEveryPush, .keepsItsRev])
  func `does not, if clients make mistakes`(mistake: LiveClient.Mistake) {
    let problems = (1...5 as ClosedRange<UInt64>).flatMap { seed in
      var fuzz = LiveTextFuzz(seed: seed, mistake: mistake)
      return fuzz.run(steps: 240)
    }
    #expect(problems != [])
  }
}
