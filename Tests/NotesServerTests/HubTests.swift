import Foundation
import JSONRPC
import TestSupport
import Testing

@testable import NotesServer

/// Machines that are linked to one that is always on. On each a process has notes open, in each of which a participant types.
private final class Hub {
  /// A participant: somebody at a machine, who types at the end of a note, and does not apply what others write into it.
  struct Typist {
    let machine: Int
    let note: String
    let attachment: JSON
    var version = 0
    var length = 0
    var words: [String] = []
  }

  /// Longer than names may be.
  static func name(_ machine: Int) -> String {
    "machine \(machine) " + String(repeating: "é", count: 100)
  }

  let scratch = TemporaryFolder()
  private(set) var machines: [Peer] = []
  /// The processes on the hub that serve the links.
  private(set) var served: [ServerPartner] = []
  private(set) var typists: [Typist] = []
  private(set) var appended: [String] = []
  /// Of each machine the attachment of somebody who looks at the note of a participant at another one, and that participant.
  private(set) var watched: [(attachment: JSON, typist: Int)] = []

  /// - Parameter count: the participants at each machine.
  init(machines: Int, participants count: Int) {
    for number in 0..<machines {
      self.machines.append(
        Peer(
          scratch("m\(number)"), seed: UInt64(1 + number), state: scratch("m\(number).state"),
          peers: ["hub"], name: Self.name(number)))
      served.append(
        ServerPartner(scratch("hub"), seed: UInt64(100_000 + number), state: scratch("hub.state")))
      self.machines[number].initialize()
    }
    // The first one has the notes. The others have nothing yet, so they get its notebook.
    let notes = (0..<machines * count).map { _ in self.machines[0].create() }
    for machine in self.machines { machine.wait(.zero) }
    carry()
    for (number, note) in notes.enumerated() {
      let machine = number % machines
      let opened = self.machines[machine].call(
        "note/open", ["id": .string(note), "mode": "edit", "check": "none"])
      typists.append(
        Typist(machine: machine, note: note, attachment: opened["attachment"] ?? .null))
    }
    for (number, machine) in self.machines.enumerated() {
      let typist = (number + 1) % typists.count
      let opened = machine.call(
        "note/open", ["id": .string(typists[typist].note), "mode": "observe"])
      watched.append((opened["attachment"] ?? .null, typist))
    }
  }

  /// Everything that is under way arrives.
  func carry() {
    for _ in 0..<100 {
      var isBusy = false
      for (machine, partner) in zip(machines, served) {
        partner.wait()
        for number in machine.exchanges where machine.carry(number, with: partner) { isBusy = true }
      }
      if !isBusy { return }
    }
    Issue.record("the hub never comes to rest")
  }

  /// Lets some time pass everywhere.
  func wait(_ time: Duration) {
    for machine in machines { machine.wait(time) }
    for partner in served { partner.wait(time) }
  }

  /// Everything that was said arrives everywhere: cursors are told a moment later, over two processes.
  func settle() {
    carry()
    for _ in 0..<4 {
      wait(.milliseconds(60))
      carry()
    }
  }

  /// Every participant types a word, and is where it ends; and each machine appends one to a note that is open at another.
  func type(_ round: Int) {
    for index in typists.indices {
      let word = "w\(index)x\(round)w "
      let (typist, place) = (typists[index], typists[index].length)
      typists[index].version += 1
      typists[index].length += word.utf8.count
      typists[index].words.append(word)
      let start: JSON = ["line": 0, "character": JSON(place)]
      machines[typist.machine].call(
        "note/change",
        [
          "attachment": typist.attachment, "version": JSON(typist.version + 1), "rev": 0,
          "ranges": [["range": ["start": start, "end": start], "newText": .string(word)]],
        ])
      move(index)
    }
    for (number, machine) in machines.enumerated() {
      let word = "a\(number)x\(round)a "
      appended.append(word)
      machine.call(
        "note/append",
        ["id": .string(typists[(number + 1) % typists.count].note), "text": .string(word)])
    }
  }

  /// Tells where a participant is.
  func move(_ index: Int, to place: Int? = nil) {
    let typist = typists[index]
    let at: JSON = ["line": 0, "character": JSON(place ?? typist.length)]
    machines[typist.machine].notify(
      "note/cursor",
      [
        "attachment": typist.attachment, "version": JSON(typist.version), "rev": 0,
        "ranges": [["start": at, "end": at]],
      ])
  }
}

@Suite(.computing, .tags(.slow)) struct `A hub of many links` {
  /// The machines, and the participants at each: with all of them 1,000 in as many notes.
  private static let size =
    isLong ? (machines: 50, participants: 20) : (machines: 6, participants: 4)

  @Test func `converges, and what is told is linear in what is said`() {
    let (machines, participants) = Self.size
    let hub = Hub(machines: machines, participants: participants)
    let (here, others) = (participants, (machines - 1) * participants)
    var earlier = hub.served.map { $0.bytes }
    for round in 0..<4 {
      hub.type(round)
      hub.settle()
      // What the others say, and where they are, is told over a link once, whatever was said before; and what is said here.
      for (number, partner) in hub.served.enumerated() {
        let told = (partner.bytes.sent - earlier[number].sent) / others
        let said = (partner.bytes.received - earlier[number].received) / here
        #expect((150..<450).contains(told), "\(told) bytes told of each in round \(round)")
        #expect((150..<600).contains(said), "\(said) bytes said of each in round \(round)")
      }
      earlier = hub.served.map { $0.bytes }
    }
    let words = hub.typists.flatMap(\.words) + hub.appended
    let texts = hub.typists.map { hub.machines[0].text($0.note) }
    let counts = Dictionary(
      texts.joined().split(separator: " ").map { ("\($0) ", 1) }, uniquingKeysWith: +)
    #expect(counts == Dictionary(uniqueKeysWithValues: words.map { ($0, 1) }))
    for machine in hub.machines.dropFirst() {
      #expect(machine.revision == hub.machines[0].revision)
      #expect(hub.typists.map { machine.text($0.note) } == texts)
    }
  }

  @Test func `tells of all participants everywhere, twenty times a second at most`() {
    let (machines, participants) = Self.size
    let hub = Hub(machines: machines, participants: participants)
    let all = machines * participants
    hub.type(0)
    hub.settle()
    for machine in hub.machines {
      let known = machine.participantsElsewhere
      #expect(known.count == all - participants)
      // As much of the name as there is room for.
      #expect(known.allSatisfy { (99...100).contains($0.utf8.count) })
    }
    // All move a hundred times in a second.
    let moves = scaled(100, 30)
    let earlier = hub.served.map {
      (told: $0.sentOf["notebook/presence"]!, said: $0.receivedOf["notebook/presence"]!)
    }
    for machine in hub.machines { machine.notifications = [] }
    for move in 1...moves {
      for index in hub.typists.indices { hub.move(index, to: move % hub.typists[index].length) }
      hub.wait(.milliseconds(10))
      hub.carry()
    }
    // One telling in 50 milliseconds; more than some hundreds are told of in several messages.
    let tellings = moves / 5 + 1
    for (number, partner) in hub.served.enumerated() {
      let told = partner.sentOf["notebook/presence"]! - earlier[number].told
      let said = partner.receivedOf["notebook/presence"]! - earlier[number].said
      #expect((tellings / 2...tellings * (1 + all / 250)).contains(told), "\(told)")
      #expect((tellings / 2...tellings).contains(said), "\(said)")
    }
    for machine in hub.machines {
      #expect((tellings / 2...tellings).contains(machine.take("note/presence").count))
    }
    // And in the end all are seen where they are.
    for index in hub.typists.indices { hub.move(index, to: 1) }
    hub.settle()
    for (machine, watched) in zip(hub.machines, hub.watched) {
      let told = machine.take("note/presence").last { $0["attachment"] == watched.attachment }
      let peers = told?["peers"]?.array ?? []
      // Behind the first letter of the first word, whatever others have written before it.
      let typist = hub.typists[watched.typist]
      let before = machine.text(typist.note).components(separatedBy: typist.words[0])[0]
      #expect(peers.count == 1)
      #expect(
        peers.first?["ranges"]?[0]?["end"]?["character"]?.integer == before.utf8.count + 1)
      let name = Hub.name(typist.machine)
      #expect(name.hasPrefix(peers.first?["name"]?.string ?? "?"))
    }
  }
}
