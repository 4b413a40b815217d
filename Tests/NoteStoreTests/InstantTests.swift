import Testing

@testable import NoteStore

@Suite struct `Instants` {
  @Test func `are as far apart as they were put`() {
    let start = Instant(nanoseconds: 5)
    var later = start + .seconds(3)
    #expect(later - start == .seconds(3) && start - later == .seconds(-3) && start < later)
    later += .milliseconds(1)
    #expect(later - .milliseconds(3001) == start)
    #expect(Instant(.microseconds(7)) == Instant(nanoseconds: 7000))
    #expect(Instant(nanoseconds: 7000).sinceBeginning == .microseconds(7))
    #expect(Instant(.nanoseconds(-1)) < Instant(.zero))
  }

  @Test func `do not overflow`() {
    let start = Instant(nanoseconds: 0)
    let (first, last) = (Instant(nanoseconds: .min), Instant(nanoseconds: .max))
    let ages = Duration.seconds(Int64.max / 2)
    #expect(start + ages == last && start - ages == first)
    #expect(last + .nanoseconds(1) == last && first - .nanoseconds(1) == first)
    #expect(last - first == .nanoseconds(Int64.max) && first - last == .nanoseconds(Int64.min))
    #expect(Instant(ages) == last && Instant(.zero - ages) == first)
  }
}
