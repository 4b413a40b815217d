import Notes
import Testing

@Suite struct `Tags` {
  /// Of several that Unicode calls the same one is shown, and the same one everywhere.
  @Test func `that are one to people are one, whatever their order`() {
    let (composed, decomposed) = (Tag("\u{E9}"), Tag("e\u{301}"))
    // Of the same length.
    let (below, above) = (Tag("q\u{323}\u{307}"), Tag("q\u{307}\u{323}"))
    let other = Tag("home")
    let all = [composed, decomposed, below, above, other]
    for turn in all.indices {
      let turned = Array(all[turn...] + all[..<turn])
      for tags in [turned, turned.reversed()] {
        #expect(tags.distinct == [other, above, composed].sorted())
        #expect(tags.hasEquivalent(of: composed) && tags.hasEquivalent(of: decomposed))
      }
    }
    #expect(composed != decomposed && above < below)
  }
}
