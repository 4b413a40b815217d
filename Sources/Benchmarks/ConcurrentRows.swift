import ReplicatingTypes

/// A new replica takes what several authors did at the same time: all at once, and message by message.
func concurrentRows(_ trace: ConcurrentTrace, _ report: inout Report) {
  let isGoal = trace.name.hasPrefix("friendsforever") || trace.name == "generated"
  let changes = trace.whole.changes(since: Version())
  let bulk = measure {
    var text = ReplicatingText()
    text.join(changes)
    return (text, text.utf8)
  } check: {
    expect($0.1 == trace.end, "concurrent replay, \(trace.name)")
    expect($0.0 == trace.whole, "concurrent replay, history, \(trace.name)")
  }
  report.add(
    Row("concurrent", "\(trace.name), bulk", bulk, goal: isGoal ? .units(0.23) : nil))

  let each = measure {
    var text = ReplicatingText()
    for message in trace.messages {
      for (operation, stamp) in message.operations { text.apply(operation, stamp) }
    }
    return text
  } check: {
    expect($0.utf8 == trace.end, "concurrent replay by messages, \(trace.name)")
    expect($0 == trace.whole, "concurrent replay by messages, history, \(trace.name)")
  }
  report.add(
    Row(
      "concurrent", "\(trace.name), one message",
      each.divided(by: trace.messages.count), .microseconds, goal: isGoal ? .units(1e-4) : nil))
}

/// 60,000 replicas insert at one place without having seen each other, and their insertions come in different orders.
func crowdRows(_ report: inout Report) {
  var base = ReplicatingText()
  var replica = Replica(id: ReplicaID(high: 1, low: 0))
  base.insert([UInt8]("[]".utf8).span, at: 0, by: &replica)
  let after = ElementID(author: replica.id, offset: 0)
  let before = ElementID(author: replica.id, offset: 1)
  let messages = (1...60_000).map { number in
    let change = ChangeID(replica: ReplicaID(high: 0, low: UInt64(number)), number: 1)
    return (
      operation: ReplicatingText.Operation.insert(
        [UInt8(97 + number % 26)], after: after, before: before),
      stamp: Stamp(change: change, lamport: UInt64(number) + 2)
    )
  }
  var random = SeededRandom(seed: 6)
  let orders = [
    ("oldest last", Array(messages.reversed())), ("newest last", messages),
    ("shuffled", messages.shuffled(using: &random)),
  ]
  var end: [UInt8]?
  for (name, order) in orders {
    let timing = measure(
      prepare: { base },
      body: { text in
        for (operation, stamp) in order { text.apply(operation, stamp) }
      },
      check: { text, _ in
        let utf8 = text.utf8
        expect(utf8 == end ?? utf8 && utf8.count == 60_002, "60,000 at one place")
        end = utf8
      })
    report.add(Row("concurrent", "60,000 at one place, \(name)", timing, goal: .units(90)))
  }
}

/// Two authors type in turns far from each other; each keystroke is made into changes and taken by the other.
func liveRows(_ report: inout Report) {
  var random = SeededRandom(seed: 7)
  var prose = Prose()
  let start = prose.text(atLeast: 100_000, &random)
  var base = ReplicatingText()
  var typist = Replica(id: ReplicaID(high: 0, low: 9))
  base.insert(start.span, at: 0, by: &typist)
  let letters = [UInt8]("abcdefghij".utf8)
  let keystrokes = 1_000
  let timing = measure {
    var first = Replica(id: ReplicaID(high: 0, low: 1))
    var second = Replica(id: ReplicaID(high: 0, low: 2))
    var (a, b) = (base, base)
    for index in 0..<keystrokes / 2 {
      let letter = letters.span.extracting(index % 10..<index % 10 + 1)
      a.insert(letter, at: index, by: &first)
      b.join(a.changes(since: b.version))
      b.insert(letter, at: b.count, by: &second)
      a.join(b.changes(since: a.version))
    }
    return (a, b)
  } check: { (a, b) in
    expect(a == b && a.count == start.count + keystrokes, "live typing")
  }
  report.add(
    Row(
      "concurrent", "edit, changes(since:), join", timing.divided(by: keystrokes), .microseconds))
}
