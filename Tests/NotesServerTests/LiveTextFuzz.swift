import Notes
import TestSupport
import Testing

@testable import NotesServer

/// Several editors at several servers on one note, with every message under way for as long as chance has it.
///
/// Every scalar that is inserted, but for spaces and line ends, occurs once in a run, so that what is lost or doubled can
/// be named at the end. A change that makes a sentence another one replaces all of it: what was in it is *retyped*, so others who delete or select
/// that mean what is not there any more. Of retyped scalars it is asked only whether all see the same.
struct LiveTextFuzz {
  private struct Editor {
    let host: Int
    var client: LiveClient
    /// Changes on their way to the server, and what the server sent, each in order.
    var outgoing: [JSON] = []
    var incoming: [JSON] = []
    /// The scalars that it has put its selection around.
    var marked: Set<Unicode.Scalar> = []
    /// What the user did and the server has not taken yet, each with the version of the first message that tells of it.
    var untold: [(version: Int, step: Step)] = []
    /// What the server has to undo and redo, in its order.
    var done: [Step] = []
    var undone: [Step] = []
    /// Whether the next change can be a part of the last step.
    var isOpen = false
  }

  /// What a message did to the text, as far as scalars can be told apart.
  private struct Step {
    var inserted: Set<Unicode.Scalar> = []
    var deleted: Set<Unicode.Scalar> = []
    /// Whether it also inserted or deleted what is told apart only by its place.
    var hasSeparators = false
    /// The numbers of what it consists of, once the server has taken it.
    var numbers: Set<Int> = []

    mutating func append(_ next: Step) {
      let taken = next.deleted.intersection(inserted)
      inserted.subtract(taken)
      inserted.formUnion(next.inserted)
      deleted.formUnion(next.deleted.subtracting(taken))
      hasSeparators = hasSeparators || next.hasSeparators
      numbers.formUnion(next.numbers)
    }
  }

  private struct Host {
    var peer: Peer
    let encoding: String
    /// Requests that are not answered yet, and the editors they are of.
    var open: [Int: Int] = [:]
    /// What a tool has got, works on and will put back.
    var borrowed: (text: String, revision: JSON)?
  }

  private let seed: UInt64
  /// Every other run writes journals anew all the time.
  private let longJournal: Int
  private var random: SplitMix64
  private let scratch = TemporaryFolder()
  private var hosts: [Host] = []
  private var editors: [Editor] = []
  /// A replica in a folder of its own.
  private let remote: Peer
  private var note: JSON = ""
  private var inserted: Set<Unicode.Scalar> = []
  /// What an undo or redo has taken away or brought back.
  private var reversed: Set<Unicode.Scalar> = []
  /// By number of a step of an editor, whether it is undone; 0 is what nobody can undo.
  private var isUndone = [false]
  /// The steps that are or were undone.
  private var reversedSteps: Set<Int> = []
  /// By which steps each scalar was inserted and deleted.
  private var inserters: [Unicode.Scalar: Int] = [:]
  private var deleters: [Unicode.Scalar: Set<Int>] = [:]
  private let mistake: LiveClient.Mistake
  /// Whether the note begins as a DOS file, and half of the editors hide carriage returns. Then nobody selects anything: PresenceTests has
  /// the places of selections in such a text.
  private let isDOS: Bool
  /// How many undos and redos did something.
  private(set) var reversals = 0
  /// How many selections of others were shown.
  private(set) var shown = 0
  /// How many of those were of editors at other hosts.
  private(set) var shownAcross = 0
  /// How often a server died.
  private(set) var kills = 0
  private var problems: [String] = []
  /// The number of scalars that were inserted, and of those of them that were inserted more than once.
  var insertedCount: Int { inserted.count }
  private(set) var retypedCount = 0
  /// How many messages were delivered, and pushes applied: for the one who wants to know what a run is worth.
  private(set) var delivered = 0
  var applied: Int { editors.reduce(0) { $0 + $1.client.applied } }

  init(seed: UInt64, mistake: LiveClient.Mistake = .none, isDOS: Bool = false) {
    self.seed = seed
    longJournal = seed % 2 == 0 ? 500 : 16 << 20
    self.mistake = mistake
    self.isDOS = isDOS
    random = SplitMix64(seed: seed)
    let folder = scratch("notes")
    for (index, encoding) in ["utf-16", "utf-8", "utf-32"].enumerated() {
      hosts.append(
        Host(
          peer: Peer(
            folder, seed: seed &* 8 &+ UInt64(index), state: scratch("state"),
            longJournal: longJournal),
          encoding: encoding))
      hosts[index].peer.initialize(encoding: encoding)
    }
    remote = Peer(scratch("elsewhere"), seed: seed &* 8 &+ 7)
    remote.initialize()
    var text = newText()
    if isDOS {
      text += "\n" + newText() + "\n"
      text = text.replacing("\n", with: "\r\n")
    }
    note = .string(hosts[0].peer.create(["title": "Fuzz", "text": .string(text)]))
    for host in hosts { host.peer.folderChanged() }
    exchange()
    for (host, form) in zip([0, 0, 1, 1, 2], LiveClient.Form.allCases + [.lines, .ranges]) {
      open(at: host, form, mistake: mistake)
    }
    for host in hosts.indices {
      open(at: host, random.pick(LiveClient.Form.allCases), isObserver: true)
    }
    hosts[0].peer.notifications = []
  }

  // MARK: - A run

  /// The scalars that changes have retyped.
  private var retyped: Set<Unicode.Scalar> {
    hosts.reduce(into: Set()) { found, host in
      found.formUnion((try? host.peer.retypedScalars(note.string!)) ?? [])
    }.intersection(inserted)
  }

  /// What is wrong after `steps` steps, when everything has been delivered.
  mutating func run(steps: Int) -> [String] {
    for count in 1...steps where problems.isEmpty {
      step()
      if count.isMultiple(of: 20) { rebuild() }
    }
    for index in editors.indices where problems.isEmpty { reverse(index) }
    settle()
    compare()
    return problems.map { "seed \(seed): \($0)" }
  }

  private mutating func step() {
    switch random.below(100) {
    case ..<21: type(random.below(editors.count))
    case ..<26: reverse(random.below(editors.count))
    case ..<30: mark(random.below(editors.count))
    case ..<57: deliverToServer(random.below(editors.count))
    case ..<84: deliverToEditor(random.below(editors.count))
    case ..<90: look(random.below(hosts.count))
    case ..<93: exchange()
    case ..<95: append()
    case ..<97: useTool(random.below(hosts.count))
    case ..<99: kill(random.below(hosts.count))
    default:
      _ = remote.call(
        "note/append", ["id": note, "text": .string(newText())])
    }
  }

  private mutating func settle() {
    for _ in 0..<12 where problems.isEmpty {
      var isQuiet = true
      for _ in 0..<12 {
        for index in editors.indices {
          while !editors[index].outgoing.isEmpty {
            deliverToServer(index)
            isQuiet = false
          }
          while !editors[index].incoming.isEmpty {
            deliverToEditor(index)
            isQuiet = false
          }
        }
        if editors.allSatisfy({ $0.outgoing.isEmpty && $0.incoming.isEmpty }) { break }
      }
      for index in editors.indices where editors[index].client.hasMissed {
        editors[index].outgoing.append(editors[index].client.confirm())
        isQuiet = false
      }
      let before = remote.revision + hosts.map(\.peer.revision).joined()
      for host in hosts.indices { look(host) }
      exchange()
      for host in hosts.indices { look(host) }
      if remote.revision + hosts.map(\.peer.revision).joined() != before { isQuiet = false }
      if isQuiet { return }
    }
    if problems.isEmpty { problems.append("messages never come to an end") }
  }

  /// Whatever the order in which changes came, the text is that of all of them.
  private mutating func rebuild() {
    for host in hosts {
      let (text, rebuilt) = (host.peer.text(note.string!), try? host.peer.rebuiltText(note.string!))
      if text != rebuilt {
        problems.append("\(host.encoding) shows \(text.debugDescription), not \(rebuilt ?? "")")
      }
    }
  }

  private mutating func compare() {
    let reader = Peer(scratch("notes"), seed: seed &* 8 &+ 6)
    reader.initialize()
    let expected = reader.text(note.string!)
    var texts: [(String, String)] = hosts.map { ($0.encoding, $0.peer.text(note.string!)) }
    texts.append(("elsewhere", remote.text(note.string!)))
    for editor in editors {
      let kind = editor.client.isObserver ? "observer" : "\(editor.client.form) editor"
      let name = "\(kind) at \(hosts[editor.host].encoding)"
      if editor.client.hidesReturns {
        let shown = LineFeedText(Array(expected.utf8)).shown.utf8
        if !editor.client.string.utf8.elementsEqual(shown) {
          problems.append(
            "\(name) has \(editor.client.string.debugDescription) of \(expected.debugDescription)")
        }
      } else {
        texts.append((name, editor.client.string))
      }
    }
    for (name, text) in texts where !text.utf8.elementsEqual(expected.utf8) {
      problems.append("\(name) has \(text.debugDescription), not \(expected.debugDescription)")
    }
    var counts: [Unicode.Scalar: Int] = [:]
    for scalar in expected.unicodeScalars { counts[scalar, default: 0] += 1 }
    let retyped = retyped
    retypedCount = retyped.count
    for scalar in inserted.subtracting(retyped).sorted() {
      let count = counts[scalar] ?? 0
      let isShown =
        !isUndone[inserters[scalar] ?? 0]
        && deleters[scalar, default: []].allSatisfy { isUndone[$0] }
      if count != (isShown ? 1 : 0) { problems.append("\(scalar) is there \(count) times") }
    }
  }

  // MARK: - What happens

  /// One to three scalars that were never there before, perhaps with a space or a line feed.
  private mutating func newText() -> String {
    var text = String.UnicodeScalarView()
    if random.chance(15) { text.append("\n") }
    for _ in 0...random.below(3) {
      let scalar = Self.alphabet[inserted.count]
      inserted.insert(scalar)
      text.append(scalar)
    }
    if random.chance(40) { text.append(random.pick([" ", "\n"])) }
    return String(text)
  }

  /// Symbols of three and four bytes of UTF-8, one and two units of UTF-16, none of which joins with another.
  private static let alphabet: [Unicode.Scalar] = {
    let blocks: [ClosedRange<UInt32>] = [
      0x1F400...0x1F4FF, 0x2800...0x28FF, 0x1F500...0x1F53D, 0x2200...0x22FF, 0x1D100...0x1D164,
      0x2500...0x25FC, 0x1FB00...0x1FB92, 0x2A00...0x2AFF,
    ]
    var symbols = blocks.map { $0.compactMap(Unicode.Scalar.init) }
    var mixed: [Unicode.Scalar] = []
    while symbols.contains(where: { !$0.isEmpty }) {
      for index in symbols.indices { if let last = symbols[index].popLast() { mixed.append(last) } }
    }
    return mixed
  }()

  /// True for what is told apart only by its place.
  private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
    [" ", "\n", "\r"].contains(scalar)
  }

  private mutating func type(_ index: Int) {
    guard !editors[index].client.isObserver else { return }
    let text = editors[index].client.text
    let isMissed = random.chance(10)
    var range = 0..<0
    var new = ""
    if !text.isEmpty, random.chance(40) {
      let start = random.below(text.count)
      var end = min(text.count, start + 1 + random.below(4))
      // What is told apart only by its place is not deleted where a whole text may have to tell of it.
      if isMissed || editors[index].client.hasMissed || editors[index].client.form == .text {
        end = text[start..<end].firstIndex { Self.isSeparator($0) } ?? end
      }
      range = start..<end
      let hasSeparators = text[range].contains { Self.isSeparator($0) }
      if random.chance(30), editors[index].client.form != .lines || !hasSeparators {
        new = newText()
      }
    } else {
      let place = random.below(text.count + 1)
      range = place..<place
      new = newText()
    }
    let both = Array(text[range]) + Array(new.unicodeScalars)
    let step = Step(
      inserted: inserted.intersection(new.unicodeScalars),
      deleted: inserted.intersection(text[range]),
      hasSeparators: both.contains { Self.isSeparator($0) })
    let change = editors[index].client.replace(range, with: new, isMissed: isMissed)
    let version = editors[index].client.version + (change == nil ? 1 : 0)
    editors[index].untold.append((version, step))
    if let change { editors[index].outgoing.append(change) }
  }

  /// An editor selects a scalar that there is only once.
  private mutating func mark(_ index: Int) {
    // What the server does not know of would not be where the editor says.
    if editors[index].client.hasMissed || isDOS { return }
    let places = editors[index].client.text.indices.filter {
      inserted.contains(editors[index].client.text[$0])
    }
    guard !places.isEmpty else { return }
    let place = random.pick(places)
    editors[index].marked.insert(editors[index].client.text[place])
    editors[index].outgoing.append(editors[index].client.select(place..<place + 1))
  }

  /// An editor shows the selections of others: each is around the scalar that was selected, or empty where that was.
  private mutating func show(_ presence: JSON, at index: Int) {
    let client = editors[index].client
    guard let peers = client.peers(presence) else { return }
    for (id, ranges) in peers {
      let isHere = !id.contains(".")
      let candidates = editors.filter {
        isHere
          ? $0.host == editors[index].host && "\($0.client.attachment)" == id
          : $0.host != editors[index].host
      }
      let marked = candidates.reduce(into: Set()) { $0.formUnion($1.marked) }
      for range in ranges {
        shown += 1
        if !isHere { shownAcross += 1 }
        guard let range else {
          problems.append("a selection lies outside the text: \(presence)")
          continue
        }
        let text = Set(client.text)
        let isRight =
          switch range.count {
          case 0:
            marked.contains { !text.contains($0) || reversed.contains($0) }
              || !marked.isDisjoint(with: retyped)
          case 1: marked.contains(client.text[range.lowerBound])
          default: false
          }
        if !isRight { problems.append("a selection is around \(client.text[range]): \(presence)") }
      }
    }
  }

  /// An editor undoes or redoes at its server, which must do so with what is the editor's own and with nothing else.
  private mutating func reverse(_ index: Int) {
    guard !editors[index].client.isObserver else { return }
    let host = editors[index].host
    editors[index].isOpen = false
    let isUndo = random.chance(65)
    let before = Array(hosts[host].peer.text(note.string!).unicodeScalars)
    var attachment = editors[index].client.attachment
    if mistake == .undoesForOthers {
      attachment = editors.last { $0.host == host && !$0.client.isObserver }!.client.attachment
    }
    let direction: UndoList.Direction = isUndo ? .undo : .redo
    let stepCount = hosts[host].peer.stepCount(direction, of: attachment)
    let isDone =
      hosts[host].peer.call(
        isUndo ? "note/undo" : "note/redo", ["attachment": JSON(attachment)])["done"]!.boolean!
    let count = stepCount - hosts[host].peer.stepCount(direction, of: attachment)
    let after = Array(hosts[host].peer.text(note.string!).unicodeScalars)
    collect(host)
    var change = Step(hasSeparators: true)
    for scalar in inserted {
      let (old, new) = (before.count { $0 == scalar }, after.count { $0 == scalar })
      if new < old { change.deleted.insert(scalar) }
      if new > old { change.inserted.insert(scalar) }
    }
    let steps = check(change, of: index, isUndo, isDone: isDone, count, in: Set(before))
    let others = inserted.subtracting(change.deleted.union(change.inserted))
    if before.filter(others.contains) != after.filter(others.contains),
      case let others = others.subtracting(retyped),
      before.filter(others.contains) != after.filter(others.contains)
    {
      problems.append("an undo has moved something, or doubled it")
    }
    for number in steps.flatMap(\.numbers) {
      isUndone[number] = isUndo
      reversedSteps.insert(number)
    }
    reversed.formUnion(change.deleted.union(change.inserted))
    if isDone { reversals += 1 }
    if steps.isEmpty { return }
    if isUndo {
      // What was undone together is redone together.
      editors[index].undone.append(
        steps.dropFirst().reduce(into: steps[0]) {
          $0.inserted.formUnion($1.inserted)
          $0.deleted.formUnion($1.deleted)
          $0.hasSeparators = $0.hasSeparators || $1.hasSeparators
          $0.numbers.formUnion($1.numbers)
        })
    } else {
      editors[index].done += steps
    }
  }

  /// Whether what an undo or redo did is what the editor's last steps say, of which all but the last one came to nothing.
  ///
  /// - Parameter count: the number of steps that the server has taken.
  /// - Returns: the steps that it has reversed, the last first.
  private mutating func check(
    _ change: Step, of index: Int, _ isUndo: Bool, isDone: Bool, _ count: Int,
    in present: Set<Unicode.Scalar>
  ) -> [Step] {
    var steps: [Step] = []
    var (gone, back, mustBack): (Set<Unicode.Scalar>, Set<Unicode.Scalar>, Set<Unicode.Scalar>)
    (gone, back, mustBack) = ([], [], [])
    let verb = isUndo ? "undo" : "redo"
    while steps.count < count {
      if !gone.isEmpty || !mustBack.isEmpty { problems.append("\(verb) did more than a step") }
      guard let step = isUndo ? editors[index].done.popLast() : editors[index].undone.popLast()
      else {
        problems.append("\(verb) did what nobody did")
        return steps
      }
      steps.append(step)
      let own = Set(steps.flatMap(\.numbers))
      gone.formUnion((isUndo ? step.inserted : step.deleted).intersection(present))
      back.formUnion((isUndo ? step.deleted : step.inserted).subtracting(present))
      // What nobody else has deleted comes back. Of others it depends on whether this server knows of them.
      mustBack = back.filter { scalar in
        deleters[scalar, default: []].isSubset(of: isUndo ? own : [])
          && (own.contains(inserters[scalar] ?? 0) && !isUndo
            || !reversedSteps.contains(inserters[scalar] ?? 0))
      }
    }
    let wrong = change.deleted.symmetricDifference(gone)
      .union(change.inserted.subtracting(back)).union(mustBack.subtracting(change.inserted))
    let isRight = wrong.isEmpty || wrong.isSubset(of: retyped)
    let isAll = isUndo ? editors[index].done.isEmpty : editors[index].undone.isEmpty
    if !isRight || !isDone && !(gone.isEmpty && mustBack.isEmpty && isAll) || isDone && count == 0 {
      let did = "\(verb) did \((change.deleted, change.inserted))"
      problems.append("\(did), not \((gone, back))")
    }
    return steps
  }

  /// The server has taken a message, and with it everything that the user did until then.
  private mutating func take(
    _ version: Int, of index: Int, isChange: Bool, wantsSameStep: Bool = false
  ) {
    let isJoined = wantsSameStep && editors[index].isOpen
    editors[index].isOpen = isChange || isJoined
    var step = Step()
    var typed: Set<Unicode.Scalar> = []
    for (_, next) in editors[index].untold.filter({ $0.version <= version }) {
      step.append(next)
      typed.formUnion(next.inserted)
    }
    // What was deleted before it was told never came to be.
    for scalar in typed.subtracting(step.inserted) { deleters[scalar, default: []].insert(0) }
    editors[index].untold.removeAll { $0.version <= version }
    for scalar in step.inserted.union(step.deleted) where !isChange {
      problems.append("\(scalar) came to nothing")
    }
    guard isChange else { return }
    step.numbers = [isUndone.count]
    for scalar in step.inserted { inserters[scalar] = isUndone.count }
    for scalar in step.deleted { deleters[scalar, default: []].insert(isUndone.count) }
    isUndone.append(false)
    if isJoined {
      editors[index].done[editors[index].done.count - 1].append(step)
    } else {
      editors[index].done.append(step)
    }
    editors[index].undone = []
  }

  private mutating func append() {
    let host = random.below(hosts.count)
    _ = hosts[host].peer.call("note/append", ["id": note, "text": .string(newText())])
    collect(host)
  }

  /// A tool gets the text, and later puts it back with something deleted and something inserted.
  private mutating func useTool(_ host: Int) {
    guard let (old, revision) = hosts[host].borrowed else {
      let got = hosts[host].peer.call("note/get", ["id": note])
      hosts[host].borrowed = (got["text"]!.string!, got["revision"]!)
      return
    }
    hosts[host].borrowed = nil
    var text = Array(old.unicodeScalars)
    if !text.isEmpty {
      let victim = random.below(text.count)
      if inserted.contains(text[victim]) {
        deleters[text.remove(at: victim), default: []].insert(0)
      }
    }
    text.insert(contentsOf: newText().unicodeScalars, at: random.below(text.count + 1))
    var view = String.UnicodeScalarView()
    view.append(contentsOf: text)
    _ = hosts[host].peer.call(
      "note/setText", ["id": note, "text": .string(String(view)), "base": revision])
    collect(host)
  }

  private mutating func exchange() {
    let host = random.below(hosts.count)
    remote.merge(from: hosts[host].peer)
    hosts[host].peer.merge(from: remote)
    collect(host)
  }

  /// A server looks at what the others wrote.
  private mutating func look(_ host: Int) {
    hosts[host].peer.sharePresence()
    hosts[host].peer.folderChanged()
    collect(host)
  }

  private mutating func open(
    at host: Int, _ form: LiveClient.Form, isObserver: Bool = false,
    mistake: LiveClient.Mistake = .none
  ) {
    let result = hosts[host].peer.call(
      "note/open",
      [
        "id": note, "mode": isObserver ? "observe" : "edit",
        "push": .string(random.pick(LiveClient.Form.allCases).rawValue),
        "hidesReturns": .boolean(isDOS && random.chance(50)),
      ])
    var client = LiveClient(
      attachment: result["attachment"]!.integer!, session: result["session"]!.string!,
      isObserver: isObserver, form: form, encoding: hosts[host].encoding,
      text: result["text"]!.string!, mistake: mistake)
    client.hidesReturns = result["hidesReturns"]?.boolean ?? false
    editors.append(Editor(host: host, client: client))
  }

  /// A server dies when it has read a part of what was sent to it, and its clients a part of what it said. They come back to
  /// another one, which may die as well before they hear from it.
  private mutating func kill(_ host: Int) {
    let clients = editors.indices.filter { editors[$0].host == host }
    for index in clients {
      for _ in 0..<random.below(editors[index].incoming.count + 1) { deliverToEditor(index) }
      editors[index].incoming = []
      editors[index].outgoing = []
    }
    hosts[host].open = [:]
    var results: [JSON]
    repeat {
      kills += 1
      let next = Peer(
        scratch("notes"), seed: (seed &* 8 &+ UInt64(host)) ^ UInt64(kills) << 40,
        state: scratch("state"), longJournal: longJournal)
      // The cursors of the one before count as long as somebody holds the lock of their file.
      Spawning.alone { hosts[host].peer = next }
      hosts[host].peer.initialize(encoding: hosts[host].encoding)
      results = clients.map { resume($0) }
    } while random.chance(25)
    for (index, result) in zip(clients, results) {
      editors[index].client.resumed(result)
      if !editors[index].marked.isEmpty { mark(index) }
    }
    collect(host)
  }

  private mutating func resume(_ index: Int) -> JSON {
    let (host, client) = (editors[index].host, editors[index].client)
    let revision = hosts[host].peer.revision
    var params: [String: JSON] = [
      "id": note, "mode": client.isObserver ? "observe" : "edit",
      "push": .string(random.pick(LiveClient.Form.allCases).rawValue),
      "resume": client.resumption,
    ]
    let answer = hosts[host].peer.ask("note/open", JSON(params))
    // Where it is may have been forgotten by a journal written anew: an observer doesn't say what it has applied.
    if client.isObserver, answer.error?.reason == "reopen" {
      params["resume"] = nil
      return hosts[host].peer.call("note/open", JSON(params))
    }
    let result = answer.result ?? .null
    if result["resumed"] != "exact" { problems.append("resumed in vain: \(answer)") }
    if !client.isObserver {
      take(.max, of: index, isChange: hosts[host].peer.revision != revision)
      editors[index].isOpen = false
    }
    return result
  }

  // MARK: - Messages

  private mutating func deliverToServer(_ index: Int) {
    guard !editors[index].outgoing.isEmpty else { return }
    delivered += 1
    let host = editors[index].host
    var change = editors[index].outgoing.removeFirst()
    if change["selection"] != nil {
      hosts[host].peer.notify("note/cursor", change)
      return collect(host)
    }
    let revision = hosts[host].peer.revision
    let wantsSameStep = random.chance(30)
    if wantsSameStep { change["sameStep"] = true }
    let id = hosts[host].peer.send("note/change", change)
    hosts[host].open[id] = index
    let isTaken = hosts[host].peer.responses.contains {
      $0["id"]?.integer == id && $0["result"] != nil
    }
    if isTaken {
      take(
        change["version"]!.integer!, of: index, isChange: hosts[host].peer.revision != revision,
        wantsSameStep: wantsSameStep)
    }
    collect(host)
  }

  /// Hands out what a server said: answers come before the pushes that follow them.
  private mutating func collect(_ host: Int) {
    for response in hosts[host].peer.responses {
      guard let id = response["id"]?.integer, let index = hosts[host].open.removeValue(forKey: id)
      else { continue }
      editors[index].incoming.append(response)
    }
    hosts[host].peer.responses = []
    for message in hosts[host].peer.notifications {
      guard ["note/edit", "note/presence"].contains(message["method"]?.string) else { continue }
      let push = message["params"]!
      let attachment = push["attachment"]!.integer!
      let index = editors.firstIndex { $0.host == host && $0.client.attachment == attachment }!
      editors[index].incoming.append(push)
    }
    hosts[host].peer.notifications = []
  }

  private mutating func deliverToEditor(_ index: Int) {
    guard !editors[index].incoming.isEmpty else { return }
    delivered += 1
    let message = editors[index].incoming.removeFirst()
    if message["peers"] != nil {
      show(message, at: index)
    } else if message["rev"] != nil {
      do {
        if let change = try editors[index].client.receive(message) {
          editors[index].outgoing.append(change)
        }
      } catch {
        problems.append("a push that fits cannot be applied: \(message)")
      }
    } else if let error = message["error"] {
      if error["code"] == -32801 {
        editors[index].outgoing.append(editors[index].client.whole())
      } else {
        problems.append("a change was refused: \(error)")
      }
    }
  }
}
