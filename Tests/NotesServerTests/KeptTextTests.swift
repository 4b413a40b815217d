import Notes
import ReplicatingTypes
import TestSupport
import Testing

@testable import NotesServer

@Suite
struct `The text that is kept` {
  /// A text that two clients show, and others change.
  private struct Room: ~Copyable {
    var text = ReplicatingText()
    var open = OpenText()
    var shown = [Attachment.Shown(seen: 0), Attachment.Shown(seen: 0)]
    var author = Replica(id: ReplicaID(high: 0, low: 1))
    var random: SplitMix64
    var taken = 0

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func step() {
      switch random.below(8) {
      case 0...1: change(by: nil)
      case 2...4: change(by: random.below(2))
      default: push(to: random.below(2))
      }
      if let present = open.present { #expect(present.utf8 == text.utf8) }
    }

    private func shows(_ client: Int) -> [UInt8] {
      open.view(of: shown[client], by: client).map { text.utf8(in: $0) } ?? text.utf8
    }

    /// As `note/change` does it, or another process.
    private mutating func change(by client: Int?) {
      let before = client.map { shows($0) } ?? text.utf8
      let view = client.flatMap { open.view(of: shown[$0], by: $0) }
      var buffer = view == nil && client != nil ? open.takePresent() : nil
      buffer = buffer ?? TextBuffer(before)
      #expect(buffer!.utf8 == before)
      let edit = edit(of: before)
      buffer!.apply([edit])
      let operations = text.operations(for: [edit], in: view)
      for operation in operations {
        var ticks: UInt64 = 1
        if case .insert(let bytes, _, _, _) = operation { ticks = UInt64(bytes.count) }
        let stamp = author.stamp(after: text.lamport, ticks: ticks)
        for effect in text.apply(operation, stamp) {
          open.append(effect, from: client)
        }
      }
      guard let client else { return }
      if view == nil {
        open.keep(present: buffer!)
        shown[client] = Attachment.Shown(seen: open.count)
      } else {
        let removals = operations.compactMap {
          if case .remove(let range) = $0 { range } else { nil }
        }
        open.append(repeated: removals, from: client)
      }
      #expect(shows(client) == buffer!.utf8)
    }

    private mutating func edit(of text: [UInt8]) -> Edit<UInt8> {
      let start = random.below(text.count + 1)
      let end = min(text.count, start + (random.chance(40) ? random.below(6) : 0))
      let letters = (0..<random.below(4)).map { _ in UInt8(97 + random.below(26)) }
      return Edit(range: start..<end, replacement: letters)
    }

    /// As `note/edit` is made.
    private mutating func push(to client: Int) {
      guard let view = open.view(of: shown[client], by: client) else { return }
      let edits = text.edits(from: view)
      var buffer = TextBuffer(text.utf8(in: view))
      if let kept = open.take(shown[client], by: client) {
        #expect(kept.utf8 == buffer.utf8)
        taken += 1
      }
      buffer.apply(edits)
      #expect(buffer.utf8 == text.utf8)
      if random.chance(80) { open.keep(present: buffer) }
      shown[client] = Attachment.Shown(seen: open.count)
    }
  }

  @Test(arguments: seeds(20))
  func `is what the client shows that it is taken for, whatever crosses`(_ seed: UInt64) {
    var room = Room(seed: seed)
    for _ in 0..<300 { room.step() }
    #expect(room.taken > 5)
  }

  @Test func `is kept of a few notes only, however many are open`() {
    var texts = OpenTexts()
    let text = TextBuffer([UInt8](repeating: 0x61, count: 1 << 20))
    func notes(_ range: ClosedRange<UInt64>) -> [NoteID] {
      range.map { NoteID(creation: ChangeID(replica: ReplicaID(high: 0, low: 1), number: $0)) }
    }
    func open(_ notes: [NoteID]) -> [Int] {
      notes.map { note in
        let id = texts.open(
          note, Attachment.Options(isObserver: false, form: .lines, check: .none), at: [])
        texts.keep(present: text, of: note)
        return id
      }
    }
    let many = notes(1...100)
    let attachments = open(many)
    #expect(many.count { texts[text: $0].present != nil } <= 64)
    #expect(texts[text: many.last!].present != nil)
    for attachment in attachments { texts.close(attachment) }
    let others = notes(201...264)
    _ = open(others)
    #expect(others.allSatisfy { texts[text: $0].present != nil })
  }
}
