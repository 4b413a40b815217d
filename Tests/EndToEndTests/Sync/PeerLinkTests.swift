import Foundation
import JSONRPC
import TestSupport
import Testing

@testable import decent_notes

/// A link with real programs, and a clock that the test moves.
@Suite struct `The link to a peer` {
  private final class Run {
    private(set) var now = ContinuousClock.now
    private var link: PeerLink!
    var outbox = Outbox(framing: .lines)
    var progress = 0
    var received: [UInt8] = []
    /// The failure of the end, if the link has ended.
    private(set) var end: String??

    init(_ turns: [PeerLink.Turn]) {
      var rest = turns[...]
      let clock = { [unowned self] in now }
      link = PeerLink(isInteractive: false, now: clock) { rest.popFirst() ?? .over }
    }

    convenience init(_ words: String..., role: PeerLink.Step.Role = .peer) {
      self.init([.run(PeerLink.Step(role: role, words: words))])
    }

    /// Lets time pass, and proceeds once; returns how long after that the link is due.
    @discardableResult
    func wait(_ time: Duration = .zero, isOver: Bool = false) -> Duration {
      now += time
      link.proceed(&outbox, isOver: isOver, isStanding: false, progress: progress) { event in
        switch event {
        case .received(let bytes): received += bytes
        case .ended(let failure): end = .some(failure)
        }
      }
      return link.due - now
    }

    /// Proceeds as often as it takes. No time passes by the link's clock.
    func wait(until condition: (Run) -> Bool) throws {
      for _ in 0..<10_000 {
        wait()
        if condition(self) { return }
        Thread.sleep(forTimeInterval: 0.001)
      }
      throw TimeoutError()
    }
  }

  private struct TimeoutError: Error {}

  @Test
  func `A peer that is silent for 25 seconds is given up`() {
    let run = Run("sleep", "1000")
    #expect(run.wait() == .seconds(25))
    #expect(run.wait(.milliseconds(24_999)) == .milliseconds(1))
    #expect(run.end == nil)
    run.wait(.milliseconds(1))
    #expect(run.end == "no answer for 25 seconds")
  }

  @Test
  func `The 25 seconds begin again with every byte, in both directions`() throws {
    let run = Run("cat")
    run.wait()
    for _ in 0..<3 {
      run.received = []
      run.progress += 1
      run.outbox.notify("exit") { _ in }
      // Sent, and taken by the pipe.
      #expect(run.wait(.seconds(4)) == .seconds(25) || !run.received.isEmpty)
      try run.wait { $0.received.last == 0x0A }
      #expect(run.wait() == .seconds(25))
      #expect(run.wait(.seconds(20)) == .seconds(5))
    }
    #expect(run.end == nil)
  }

  @Test
  func `A peer with which nothing goes on for a minute is given up, whatever it sends`() throws {
    let run = Run("cat")
    run.wait()
    for _ in 0..<5 {
      run.received = []
      run.outbox.notify("note") { _ in }
      run.wait()
      try run.wait { $0.received.last == 0x0A }
      run.wait(.seconds(10))
    }
    run.progress += 1
    #expect(run.wait() <= .seconds(25))
    // A minute later than that.
    for _ in 0..<5 {
      run.received = []
      run.outbox.notify("note") { _ in }
      run.wait()
      try run.wait { $0.received.last == 0x0A }
      #expect(run.end == nil)
      run.wait(.seconds(10))
    }
    #expect(run.end == nil && run.wait() == .seconds(10))
    run.wait(.seconds(10))
    #expect(run.end == "nothing went on for a minute")
  }

  @Test
  func `What a peer has started ends with it, also when the peer itself has ended`() throws {
    let folder = TemporaryFolder()
    for last in ["exec sleep 1000", "exit 3", "kill -9 $$"] {
      let run = Run("sh", "-c", "sleep 1000 & echo $! > \(folder("child")); echo x; \(last)")
      try run.wait { !$0.received.isEmpty }
      // Its child has the pipes, too, so they are not closed when it has ended.
      run.wait(.seconds(25))
      #expect(run.end != nil)
      let child = try contents(of: URL(fileURLWithPath: folder("child")))
      let number = try #require(pid_t(child.trimmingCharacters(in: .whitespacesAndNewlines)))
      try waitUntil("the child to end") { kill(number, 0) != 0 || isZombie(number) }
    }
  }

  @Test
  func `What a peer has started ends when this program is killed`() throws {
    let folder = TemporaryFolder()
    let peer = folder("peer")
    // What it is sent is sent by a program that has seen to its end.
    try writeProgram(
      "#!/bin/sh\nread line\nsleep 1000 & echo $! > \(folder("child"))\nexec sleep 1000\n", to: peer
    )
    let program = try Server(folder("notes"))
    try program.initialize()
    try program.post("notebook/sync", ["peer": .string(peer)])
    func child() -> pid_t? {
      let text = try? String(contentsOfFile: folder("child"), encoding: .utf8)
      return text.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
    try waitUntil("the peer to begin") { child() != nil }
    let number = try #require(child())
    kill(program.process, SIGKILL)
    _ = try program.waitForEnd()
    try waitUntil("the child to end") { kill(number, 0) != 0 || isZombie(number) }
  }

  /// Whoever has taken it over may not have looked yet.
  private func isZombie(_ process: pid_t) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    return status?.contains(") Z ") ?? true
  }

  @Test
  func `A peer that stays 5 seconds after all was sent is killed without a failure`() {
    let run = Run("sleep", "1000")
    run.wait(.seconds(1))
    #expect(run.wait(.seconds(20), isOver: true) == .seconds(5))
    #expect(run.wait(.milliseconds(4999), isOver: true) == .milliseconds(1))
    #expect(run.end == nil)
    #expect(run.wait(.milliseconds(1), isOver: true) == .zero)
    run.wait(isOver: true)
    #expect(run.end == .some(nil))
  }

  @Test
  func `A tool has all the time that it takes`() {
    let run = Run("sleep", "1000", role: .tool)
    run.wait()
    #expect(run.wait(.seconds(86_400)) > .seconds(86_400))
    #expect(run.end == nil)
  }

  @Test
  func `A program that has closed its output is looked after every 5 milliseconds`() throws {
    let run = Run("sh", "-c", "exec >&- 2>&-; sleep 1000")
    try run.wait { $0.wait() == .milliseconds(5) }
    #expect(run.end == nil)
  }

  @Test
  func `A lock that another process has is tried again every 200 milliseconds`() {
    let run = Run([.wait, .wait, .again, .over])
    #expect(run.wait() == .milliseconds(200))
    #expect(run.wait(.milliseconds(200)) == .milliseconds(200))
    #expect(run.wait(.milliseconds(200)) == .zero)
    run.wait()
    #expect(run.end == .some(nil))
  }
}
