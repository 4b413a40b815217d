import NoteStore
import Testing

@testable import NotesServer

/// A schedule, and a clock that the test moves. No test here waits.
@Suite struct `The schedule of peers` {
  /// Moves the clock and takes what is due, as the owner of a schedule does.
  private final class Run {
    private var schedule: PeerSchedule
    private var now = Instant(nanoseconds: 0)
    var busy: Set<String> = []

    /// - Parameter mayLink: whether a link may be kept with the peers; otherwise it was found out that they are of a version without links.
    init(_ peers: [String] = ["ben"], every interval: Duration, mayLink: Bool = false) {
      schedule = PeerSchedule(peers, every: interval)
      if !mayLink { for peer in peers { _ = schedule.succeeded(peer, mayLink: true) } }
    }

    /// Lets time pass; returns the peers that are due then, and how long after that the next is.
    func wait(_ time: Duration) -> (due: [String], next: Duration?) {
      now += time
      let (due, next) = schedule.takeDue(at: now, unless: busy.contains)
      busy.formUnion(due)
      return (due, next.map { $0 - now })
    }

    /// The exchange with a peer ends after some time; returns how long after that the next is due.
    func end(
      _ peer: String = "ben", after time: Duration, fails: Bool = false
    ) -> Duration? {
      now += time
      busy.remove(peer)
      _ = fails ? failed(peer) : succeeded(peer)
      return wait(.zero).next
    }

    func succeeded(_ peer: String = "ben", mayLink: Bool = true) -> Bool {
      schedule.succeeded(peer, mayLink: mayLink)
    }

    /// An exchange that a request has asked for, beside the link or the tries to make one.
    func askedFor(_ peer: String = "ben") { _ = schedule.succeeded(peer, mayLink: false) }

    func failed(_ peer: String = "ben") -> Bool { schedule.failed(peer) }
  }

  @Test func `begins with every peer at once, and names none twice`() {
    let run = Run(["ben", "cleo", "ben"], every: .seconds(30))
    let first = run.wait(.zero)
    #expect(first.due == ["ben", "cleo"] && first.next == nil)
    // Under way: nothing is due until one ends.
    let later = run.wait(.seconds(3600))
    #expect(later.due == [] && later.next == nil)
  }

  @Test func `has nothing due without peers`() {
    let run = Run([], every: .seconds(1))
    let first = run.wait(.zero)
    #expect(first.due == [] && first.next == nil)
  }

  @Test(arguments: [Duration.seconds(1), .seconds(30), .seconds(86_400)])
  func `counts the interval from beginning to beginning`(interval: Duration) {
    let run = Run(every: interval)
    _ = run.wait(.zero)
    for _ in 0..<5 {
      // An exchange takes a tenth of the interval.
      #expect(run.end(after: interval / 10) == interval * 9 / 10)
      let early = run.wait(interval * 9 / 10 - .milliseconds(1))
      #expect(early.due == [] && early.next == .milliseconds(1))
      #expect(run.wait(.milliseconds(1)).due == ["ben"])
    }
  }

  @Test(arguments: [Duration.milliseconds(500), .milliseconds(501), .seconds(1), .seconds(3600)])
  func `rests half an interval at least`(duration: Duration) {
    let run = Run(every: .seconds(1))
    _ = run.wait(.zero)
    #expect(run.end(after: duration) == .milliseconds(500))
    #expect(run.wait(.milliseconds(499)).due == [])
    #expect(run.wait(.milliseconds(1)).due == ["ben"])
  }

  @Test func `is not put off by looking often, nor ahead of its time by looking late`() {
    let run = Run(every: .seconds(10))
    _ = run.wait(.zero)
    _ = run.end(after: .seconds(1))
    for second in 1..<9 {
      #expect(run.wait(.seconds(1)).next == .seconds(9 - second))
    }
    // Five seconds late: the next counts from this beginning.
    #expect(run.wait(.seconds(6)).due == ["ben"])
    #expect(run.end(after: .seconds(1)) == .seconds(9))
  }

  @Test(
    arguments: [
      (Duration.seconds(30), [1, 2, 4, 60, 120, 240, 480, 600, 600]),
      (.seconds(1), [1, 1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]),
      (.seconds(3), [1, 2, 3, 6, 12]),
      (.seconds(400), [1, 2, 4, 600, 600]),
      (.seconds(3600), [1, 2, 4, 3600, 3600]),
    ])
  func `backs off from a peer that fails, and forgets it once reached`(
    interval: Duration, delays: [Int]
  ) {
    let run = Run(every: interval)
    _ = run.wait(.zero)
    for delay in delays {
      // However long the failure took: 25 seconds of silence are one.
      #expect(run.end(after: .seconds(25), fails: true) == .seconds(delay))
      #expect(run.wait(.seconds(delay) - .milliseconds(1)).due == [])
      #expect(run.wait(.milliseconds(1)).due == ["ben"])
    }
    #expect(run.end(after: .zero) == interval)
    #expect(run.wait(interval).due == ["ben"])
    #expect(run.end(after: .zero, fails: true) == min(.seconds(1), interval))
  }

  /// Who starts an editor without a network has the notes of others when the network is there, whatever the interval.
  @Test func `tries a peer that was not reached yet like one whose link is broken`() {
    let run = Run(every: .seconds(3600), mayLink: true)
    _ = run.wait(.zero)
    for milliseconds in [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000] {
      #expect(run.end(after: .zero, fails: true) == .milliseconds(milliseconds))
      #expect(run.wait(.milliseconds(milliseconds)).due == ["ben"])
    }
    // An exchange that somebody has asked for meanwhile says nothing about links.
    run.askedFor()
    #expect(run.end(after: .zero, fails: true) == .seconds(60))
    #expect(run.wait(.seconds(60)).due == ["ben"])
    // It is of a version without links.
    #expect(run.end(after: .zero) == .seconds(3600))
  }

  /// No link is kept with files.
  @Test func `asks a store of files in intervals from the first time on`() {
    let run = Run(["rclone:remote:notes"], every: .seconds(30), mayLink: true)
    _ = run.wait(.zero)
    #expect(run.end("rclone:remote:notes", after: .zero, fails: true) == .seconds(1))
  }

  @Test func `backs off from a peer that fails for days`() {
    let run = Run(every: .seconds(30))
    _ = run.wait(.zero)
    for _ in 0..<1000 {
      _ = run.end(after: .zero, fails: true)
      #expect(run.wait(.seconds(600)).due == ["ben"])
    }
  }

  @Test func `keeps peers apart`() {
    let run = Run(["ben", "cleo"], every: .seconds(10))
    _ = run.wait(.zero)
    #expect(run.end("ben", after: .zero) == .seconds(10))
    #expect(run.end("cleo", after: .seconds(4), fails: true) == .seconds(1))
    #expect(run.wait(.seconds(1)).due == ["cleo"])
    // While one is under way the other's turn comes all the same.
    #expect(run.wait(.seconds(5)).due == ["ben"])
  }

  @Test func `leaves out a peer with which an exchange is under way`() {
    let run = Run(every: .seconds(10))
    run.busy = ["ben"]
    #expect(run.wait(.zero).due == [])
    run.busy = []
    #expect(run.wait(.zero).due == ["ben"])
  }

  @Test func `reports a failure once, after the quiet retries, and the return once`() {
    let run = Run(every: .seconds(30))
    for _ in 0..<2 {
      #expect(!run.succeeded())
      let told = (1...6).map { _ in run.failed() }
      #expect(told == [false, false, false, true, false, false])
      #expect(run.succeeded())
    }
    // Failures that pass by themselves.
    for _ in 0..<3 { #expect(!run.failed()) }
    #expect(!run.succeeded())
    // Of a peer that a client has named nothing is reported.
    for _ in 0..<9 { #expect(!run.failed("cleo")) }
    #expect(!run.succeeded("cleo"))
  }
}
