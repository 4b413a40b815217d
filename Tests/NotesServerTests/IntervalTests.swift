import Foundation
import JSONRPC
import NoteStore
import ReplicatingTypes
import TestSupport
import Testing

@testable import NotesServer

/// Everything that the server does by itself, with a clock that the test moves. Nothing here waits for time to pass.
@Suite struct `Intervals` {
  let scratch = TemporaryFolder()

  private func peer(_ seed: UInt64 = 1, isSingleRequest: Bool = false) -> Peer {
    let peer = Peer(scratch("notes"), seed: seed, isSingleRequest: isSingleRequest)
    peer.initialize()
    peer.wait(.zero)
    return peer
  }

  private func isDurable(_ peer: Peer) -> Bool { peer.call("notebook/status")["durable"] == true }

  private func names(_ suffix: String) -> [String] {
    let names = try? FileManager.default.subpathsOfDirectory(atPath: scratch("notes"))
    return (names ?? []).filter { $0.hasSuffix(suffix) }
  }

  // MARK: - Peers

  /// Carries an exchange to its end, while some time passes.
  private func carry(_ peer: Peer, _ partner: any SyncPartner, taking time: Duration) {
    let number = peer.exchanges[0]
    peer.wait(time)
    peer.carryAll(number, with: partner)
    peer.partnerEnded(number)
  }

  @Test(arguments: [1, 3, 30])
  func `exchanges changes with a peer of an older version as often as the interval says`(
    seconds: Int
  ) {
    let interval = Duration.seconds(seconds)
    let ana = Peer(scratch("notes"), peers: ["partner"], syncInterval: interval)
    ana.initialize()
    var began: [Duration] = []
    var time = Duration.zero
    ana.wait(.zero)
    while began.count < 5 {
      if ana.exchanges.isEmpty {
        // Nothing happens but the server's own deadlines.
        let rest = ana.deadline ?? .seconds(3600)
        ana.wait(rest)
        time += rest
      } else {
        began.append(time)
        let partner = ServerPartner(
          scratch("partner"), seed: UInt64(began.count + 10), isOlder: true)
        carry(ana, partner, taking: .milliseconds(300))
        time += .milliseconds(300)
        // The next one is known at once, not only when something else happens.
        #expect(ana.deadline == .zero)
      }
    }
    #expect(began == (0..<5).map { interval * $0 })
  }

  // MARK: - Typing

  @Test func `can wait for the time after changes of a text alone, and after nothing else`() {
    let ana = peer()
    let note = ana.create()
    let attachment = ana.call("note/open", ["id": .string(note), "mode": "edit"])["attachment"]!
    var version = 0
    func change() -> [UInt8] {
      version += 1
      return ana.line(
        "note/change",
        [
          "attachment": attachment, "version": JSON(version), "rev": 0,
          "lines": [[0, 1, [.string("\(version)")]]],
        ])
    }
    let place: JSON = ["line": 0, "character": 0]
    let cursor: JSON = [
      "attachment": attachment, "version": 0, "rev": 0, "ranges": [["start": place, "end": place]],
    ]
    #expect(!ana.isOnlyTyping, "a text was opened")
    ana.wait(.zero)
    #expect(ana.isOnlyTyping)
    for _ in 0..<3 { ana.receive(change()) }
    ana.receive(change() + change())
    #expect(ana.isOnlyTyping)
    let others: [() -> Void] = [
      { ana.send("note/get", ["id": .string(note)]) },
      { ana.receive(change() + ana.line("note/get", ["id": .string(note)]) + change()) },
      { ana.send("none") },
      { ana.notify("note/cursor", cursor) },
      { ana.becomesReady(.disk) },
      { ana.becomesReady(.folder) },
    ]
    for (number, other) in others.enumerated() {
      other()
      #expect(!ana.isOnlyTyping, "\(number)")
      ana.receive(change())
      #expect(!ana.isOnlyTyping, "\(number)")
      ana.wait(.zero)
      #expect(ana.isOnlyTyping, "\(number)")
    }
  }

  @Test func `can't wait for the time where others have written`() {
    let (ana, ben) = (peer(), peer(2))
    let note = ana.create()
    let attachment = ana.call("note/open", ["id": .string(note), "mode": "edit"])["attachment"]!
    // From now on the folder is watched.
    #expect(ana.isWatching)
    ana.wait(.zero)
    ana.folderChanged()
    ana.wait(.zero)
    ben.folderChanged()
    ben.create()
    #expect(ana.isOnlyTyping)
    ana.send(
      "note/change",
      ["attachment": attachment, "version": 1, "rev": 0, "lines": [[0, 1, ["x"]]]])
    #expect(!ana.isOnlyTyping)
  }

  // MARK: - The disk

  @Test func `puts changes on disk 20 ms after the first of them`() {
    let ana = peer()
    ana.create()
    ana.wait(.zero)
    #expect(ana.deadline == .milliseconds(20))
    ana.wait(.milliseconds(10))
    ana.create()
    ana.wait(.milliseconds(9))
    #expect(ana.deadline == .milliseconds(1) && !isDurable(ana))
    ana.wait(.milliseconds(1))
    ana.awaitDisk()
    #expect(isDurable(ana))
    ana.wait(.zero)
    #expect(ana.deadline! > .seconds(1))
  }

  @Test func `tries a disk that fails again after 1, 2, 4 seconds, and at last each minute`() {
    var timer = FlushTimer()
    let start = Instant(nanoseconds: 0)
    var tries: [Duration] = []
    for tenths in 0...3600 {
      let now = start + .milliseconds(100) * tenths
      if timer.isDue(.inDoubt, at: now) { tries.append(now - start) }
      #expect(timer.due != nil)
    }
    #expect(tries == [1, 3, 7, 15, 31, 63, 123, 183, 243, 303].map { .seconds($0) })
    // It is over: the next change is on its way in 20 ms, and the next failure is tried again in a second.
    let now = start + .seconds(361)
    var dues: [Duration?] = []
    for state in [FlushTimer.State.waiting, .durable, .inDoubt] {
      let isDue = timer.isDue(state, at: now)
      #expect(!isDue)
      dues.append(timer.due.map { $0 - now })
    }
    #expect(dues == [.milliseconds(20), nil, .seconds(1)])
  }

  @Test func `tries a disk that fails no sooner because something else is written, or a copy`() {
    var timer = FlushTimer()
    let start = Instant(nanoseconds: 0)
    var (retries, writes) = ([Duration](), 0)
    // The disk refuses whatever it gets, at once or ten milliseconds later. Each retry writes a copy; besides there is a change every 100 ms.
    for delay in [0, 10] {
      timer = FlushTimer()
      (retries, writes) = ([], 0)
      var state = FlushTimer.State.inDoubt
      var refused = Int.max
      for milliseconds in 0..<20_000 {
        if milliseconds % 100 == 50 { state = .waiting }
        if milliseconds == refused { state = .inDoubt }
        guard timer.isDue(state, at: start + .milliseconds(milliseconds)) else { continue }
        if state == .inDoubt { retries.append(.milliseconds(milliseconds)) } else { writes += 1 }
        refused = milliseconds + delay
        state = delay == 0 ? .inDoubt : .waiting
      }
      #expect(retries.count == 4, "\(retries)")
      #expect(retries.first.map { $0 >= .seconds(1) && $0 < .milliseconds(1100) } == true)
      #expect(writes >= 190)
    }
  }

  /// The folder is not where it was, and no other can be made there.
  private func takeFolderAway() throws {
    let path = scratch("notes")
    try FileManager.default.moveItem(atPath: path, toPath: scratch("away"))
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
  }

  @Test func `writes what a folder lacks again, a second after it could not`() throws {
    let ana = peer()
    ana.create(["text": "milk"])
    ana.run(for: .milliseconds(20))
    ana.awaitDisk()
    // The segment is complete, so that only the look at all files finds out.
    ana.run(for: .milliseconds(5980))
    ana.awaitDisk()
    try takeFolderAway()
    ana.run(for: .seconds(24))
    #expect(!isDurable(ana))
    try FileManager.default.removeItem(atPath: scratch("notes"))
    ana.wait(.zero)
    #expect(ana.deadline == .seconds(1))
    ana.wait(.milliseconds(999))
    #expect(!FileManager.default.fileExists(atPath: scratch("notes")))
    ana.wait(.milliseconds(1))
    ana.awaitDisk()
    #expect(isDurable(ana))
    #expect(peer(2).list().count == 1)
  }

  @Test func `finds out within 2 seconds that a disk takes changes again`() throws {
    let ana = peer()
    ana.create()
    ana.run(for: .milliseconds(20))
    ana.awaitDisk()
    try takeFolderAway()
    ana.wait(.zero)
    var errors = 0
    for _ in 0..<2 where ana.ask("note/create").error != nil { errors += 1 }
    #expect(errors > 0)
    ana.wait(.zero)
    try FileManager.default.removeItem(atPath: scratch("notes"))
    ana.notifications = []
    ana.run(for: .milliseconds(1999))
    #expect(ana.take("window/showMessage") == [])
    ana.run(for: .milliseconds(1))
    #expect(
      ana.take("window/showMessage").map { $0["message"] } == ["Changes can be saved again."])
  }

  @Test func `completes a segment when it has not grown for 5 seconds`() {
    let ana = peer()
    ana.create()
    ana.run(for: .milliseconds(20))
    ana.awaitDisk()
    ana.run(for: .milliseconds(4979))
    #expect(names(".seg") == [])
    ana.run(for: .milliseconds(1))
    #expect(names(".seg").count == 1)
  }

  @Test func `completes a segment that grows all the time after 60 seconds`() {
    let ana = peer()
    ana.create()
    ana.wait(.zero)
    for second in 0..<60 {
      if second % 4 == 0 { ana.create() }
      ana.run(for: .seconds(1))
      ana.awaitDisk()
      #expect(names(".seg").count == (second < 59 ? 0 : 1), "second \(second)")
    }
  }

  // MARK: - Files of others

  @Test func `looks at every file each 30 seconds, though nothing tells of a change`() {
    let (ana, ben) = (peer(), peer(2))
    for _ in 0..<3 {
      ben.create()
      ana.run(for: .milliseconds(29_999))
      #expect(ana.take("notebook/didChange") == [])
      ana.run(for: .milliseconds(1))
      #expect(ana.take("notebook/didChange").count == 1)
    }
  }

  @Test func `looks each second where it is not told of changes, also the first time`() {
    let (ana, ben) = (peer(isSingleRequest: true), peer(2))
    for _ in 0..<3 {
      ben.create()
      ana.run(for: .milliseconds(999))
      #expect(ana.take("notebook/didChange") == [])
      ana.run(for: .milliseconds(1))
      #expect(ana.take("notebook/didChange").count == 1)
    }
  }

  @Test func `spends no more than a twentieth of the time on looking`() {
    var timer = RescanTimer()
    let start = Instant(nanoseconds: 0)
    var isDue: [Bool] = []
    var dues: [Duration?] = []
    for milliseconds in [0, 1000, 3000, 42_999, 43_000] {
      isDue.append(timer.isDue(mustPoll: true, at: start + .milliseconds(milliseconds)))
      dues.append(timer.due.map { $0 - start })
    }
    // When a look begins, the time is to be told at its end. The first one takes two seconds.
    #expect(isDue == [false, true, false, false, true])
    #expect(dues == [1, 1, 43, 43, 43].map { .seconds($0) })
  }

  // MARK: - Work

  @Test func `does a slice of work when idle, and each 20 ms, or 1 ms if it is urgent, when not`() {
    var timer = WorkTimer()
    let start = Instant(nanoseconds: 0)
    func isDue(
      _ milliseconds: Int, _ urgency: WorkTimer.Urgency = .awaited, isIdle: Bool = false
    ) -> Bool {
      timer.isDue(urgency, isIdle: isIdle, at: start + .milliseconds(milliseconds))
    }
    let first = isDue(0)
    timer.didWork()
    // The slice has taken 5 ms.
    let second = [isDue(5), isDue(24), isDue(24, isIdle: true), isDue(25)]
    timer.didWork()
    let third = [isDue(30, .urgent), isDue(31, .urgent)]
    #expect(first && second == [false, false, true, true] && third == [false, true])
  }

  @Test func `work for which nobody waits gets a tenth of the time, and goes on within 250 ms`() {
    var timer = WorkTimer()
    let start = Instant(nanoseconds: 0)
    func isDue(_ milliseconds: Int, isIdle: Bool = false) -> Bool {
      timer.isDue(.upkeep, isIdle: isIdle, at: start + .milliseconds(milliseconds))
    }
    var seen: [Bool] = []
    seen.append(isDue(0))
    timer.didWork()
    // The slice has taken 1 ms, then 5 ms, then 400 ms.
    seen += [isDue(1), isDue(20), isDue(21)]
    timer.didWork()
    seen += [isDue(26), isDue(70), isDue(71)]
    timer.didWork()
    seen += [isDue(471), isDue(720), isDue(721)]
    timer.didWork()
    seen.append(isDue(722, isIdle: true))
    #expect(seen == [true, false, false, true, false, false, true, false, false, true, true])
  }

  @Test func `what is wanted while upkeep rests does not wait for that`() {
    var timer = WorkTimer()
    let start = Instant(nanoseconds: 0)
    func isDue(_ milliseconds: Int, _ urgency: WorkTimer.Urgency) -> Bool {
      timer.isDue(urgency, isIdle: false, at: start + .milliseconds(milliseconds))
    }
    let first = isDue(0, .upkeep)
    timer.didWork()
    let second = [
      isDue(28, .upkeep), isDue(29, .urgent), isDue(40, .awaited), isDue(48, .awaited),
    ]
    #expect(first && second == [false, true, false, true])
  }

  @Test func `goes on searching while idle, and each 20 ms while the client types`() {
    let ana = peer()
    for _ in 0..<4 { ana.create(["text": .string(String(repeating: "milk ", count: 250_000))]) }
    ana.run(for: .seconds(1))
    let id = ana.send("notebook/search", ["query": "tea"])
    var milliseconds = 0
    ana.wait(.zero)
    #expect(ana.deadline == .zero)
    while !ana.hasAnswer(to: id), milliseconds < 200 {
      ana.wait(.milliseconds(1))
      milliseconds += 1
    }
    #expect((20...190).contains(milliseconds))
    let second = ana.send("notebook/search", ["query": "tea"])
    for _ in 0..<20 { ana.work() }
    #expect(ana.hasAnswer(to: second))
  }

  // MARK: - The end

  /// Makes some 20 pieces of an archive.
  private func fill(_ peer: Peer) {
    for number in 0..<400 {
      peer.create(["text": .string(String(repeating: "milk \(number) ", count: 120))])
    }
  }

  @Test(arguments: [false, true])
  func `a process of one request finishes an archive, others have 1.2 seconds`(isOne: Bool) {
    let folder = scratch("one \(isOne)")
    let peer = Peer(folder, seed: 1, state: scratch("state \(isOne)"), isSingleRequest: isOne)
    peer.initialize()
    fill(peer)
    #expect(peer.keep(taking: .milliseconds(200)) == isOne)
  }

  @Test(arguments: [1, 5])
  func `an archive may take four times as long as opening the notebook has`(seconds: Int) {
    let folder = scratch("slow \(seconds)")
    let script = Peer(folder, seed: 1)
    script.initialize()
    fill(script)
    let peer = Peer(folder, seed: 2, state: scratch("state \(seconds)"))
    peer.wait(.zero)
    peer.initialize()
    peer.wait(.seconds(seconds))
    peer.wait(.seconds(60))
    #expect(peer.keep(taking: .milliseconds(400)) == (seconds == 5))
  }

  /// A script has made many notes, and left an archive of some of them. On a machine that takes a hundred times as long each command threw away
  /// what it had written of the next archive, and read all the rest again.
  @Test(arguments: [1, 10, 100])
  func `what one command reads no later one does, however slow the machine is`(slowness: Int) {
    let (folder, state) = (scratch("notes \(slowness)"), scratch("state \(slowness)"))
    let script = Peer(folder, seed: 1, state: state)
    script.initialize()
    fill(script)
    #expect(script.keep(taking: .zero))
    for _ in 0..<2 { fill(script) }
    var read: [Int] = []
    for number in 0..<3 {
      let command = Peer(folder, seed: UInt64(2 + number), state: state, isSingleRequest: true)
      command.initialize()
      read.append(command.bytesInMemory)
      #expect(command.keep(taking: .milliseconds(20 * slowness)))
    }
    #expect(read[0] > 700_000 && read[1] < 1_000 && read[2] < 1_000, "\(read)")
  }

  @Test func `an archive is given up when the process is told to end`() {
    let state = scratch("state")
    let peer = Peer(scratch("notes"), seed: 1, state: state, isSingleRequest: true)
    peer.initialize()
    fill(peer)
    var looks = 0
    #expect(
      !peer.keep(taking: .zero) {
        looks += 1
        return looks > 3
      })
    let left = FileManager.default.enumerator(atPath: state)?.allObjects as? [String] ?? []
    #expect(left.allSatisfy { !$0.contains("archive") && !$0.contains(".tmp") }, "\(left)")
  }

  @Test func `ends within 5 seconds of the process that started it`() {
    var isRunning = true
    let ana = Peer(scratch("notes"), isRunning: { isRunning || $0 != 4711 })
    ana.call("initialize", ["processId": 4711])
    ana.run(for: .seconds(60))
    #expect(ana.exitStatus == nil)
    isRunning = false
    ana.run(for: .milliseconds(4999))
    #expect(ana.exitStatus == nil)
    ana.run(for: .milliseconds(1))
    #expect(ana.exitStatus == 1)
  }

  @Test func `says why it ends with the process that started it`() {
    var isRunning = true
    let ana = Peer(scratch("notes"), isRunning: { _ in isRunning })
    ana.call("initialize", ["processId": 4711])
    ana.run(for: .seconds(5))
    #expect(ana.notifications.isEmpty && ana.endReasons.isEmpty)
    isRunning = false
    ana.run(for: .seconds(5))
    #expect(ana.exitStatus == 1)
    #expect(ana.endReasons.count == 1 && ana.endReasons.first?.contains("4711") == true)
    #expect(ana.notifications.map { $0["method"]?.string } == ["window/showMessage"])
    #expect(ana.notifications.first?["params"]?["message"]?.string == ana.endReasons.first)
  }

  @Test func `does not end with a process that it has never seen`() {
    let ana = Peer(scratch("notes"), isRunning: { _ in false })
    ana.call("initialize", ["processId": 4711])
    ana.run(for: .seconds(60))
    #expect(ana.exitStatus == nil && ana.endReasons.isEmpty)
  }

  @Test func `says nothing of its end to a client that has ended it`() {
    var isRunning = true
    let ana = Peer(scratch("notes"), isRunning: { _ in isRunning })
    ana.call("initialize", ["processId": 4711])
    ana.call("shutdown")
    isRunning = false
    ana.run(for: .seconds(10))
    #expect(ana.exitStatus == 0 && ana.endReasons.isEmpty && ana.notifications.isEmpty)
  }

  @Test func `gives a client that has hung up a second and a half to read the rest`() {
    var random = SplitMix64(seed: 1)
    var server = NotesServer(
      NotesServer.Environment(
        folder: scratch("notes"), framing: .lines, now: { 0 },
        makeIdentifier: { Identifier(high: random.next(), low: random.next()) }))
    let start = ContinuousClock.now
    server.receive(
      Array(#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#.utf8)[...] + [0x0A])
    server.inputEnded()
    server.advance(to: start)
    #expect(!server.outbox.isEmpty && server.nextDeadline == start + .milliseconds(1500))
    server.advance(to: start + .milliseconds(1499))
    #expect(server.isOver && server.exitStatus == nil)
    server.advance(to: start + .milliseconds(1500))
    #expect(server.exitStatus == 1)
  }
}
