internal import JSONRPC
internal import Notes
internal import ReplicatingTypes

// Who else has a note open, and where their cursors are. Kept by elements, never stored.
//
// Those of other processes come from `SharedPresence`. Their elements are the same everywhere, but the change that made one may not
// have been read yet: its cursor is not shown until then, though its owner is.

extension NotesServer {
  /// So many ranges are taken of a client.
  static let mostSelections = 100

  /// `note/cursor`. One that can't be understood, or is for another text than we take the client to show, is dropped.
  mutating func setCursor(_ params: Parameters) {
    guard let id = try? params.requiredCount("attachment"), var attachment = live[id],
      (try? params.requiredCount("version")) == attachment.version,
      let rev = try? params.requiredCount("rev"),
      let ranges = try? params.requiredArray("ranges")
    else { return }
    if rev != attachment.rev {
      guard let push = attachment.pending.first(where: { $0.rev == rev }) else { return }
      attachment.shown = push.shown
    }
    guard let selections = selections(ranges, attachment) else { return }
    live.setSelections(selections, of: id)
    push()
  }

  private mutating func selections(
    _ ranges: JSONArray, _ attachment: Attachment
  ) -> [Selection]? {
    let view = live[text: attachment.note].view(of: attachment.shown, by: attachment.id)
    var offsets: [(start: Int, end: Int)] = []
    do {
      var buffer = try buffer(of: attachment.note, view)
      for range in ranges.prefix(Self.mostSelections) {
        let range = Parameters(value: range, path: "ranges.")
        offsets.append(
          (try offset(range, "start", &buffer), try offset(range, "end", &buffer)))
      }
      let sorted = Set(offsets.flatMap { [$0.start, $0.end] }).sorted()
      let neighbours = try read(attachment.note) { $0.text.neighbours(of: sorted, in: view) }
      let elements = Dictionary(uniqueKeysWithValues: zip(sorted, neighbours))
      // What is inserted at the ends of a selection is not in it.
      func inner(_ offset: Int) -> Anchor { elements[offset]!.right.map { .before($0) } ?? .start }
      func outer(_ offset: Int) -> Anchor { elements[offset]!.left.map { .after($0) } ?? .start }
      return offsets.map { start, end in
        Selection(
          start: start < end ? inner(start) : outer(start),
          end: end < start ? inner(end) : outer(end))
      }
    } catch {
      return nil
    }
  }

  /// What a client shows, or the present text.
  private func buffer(of note: NoteID, _ view: SequenceView?) throws(ResponseError) -> TextBuffer {
    if view == nil, let present = live[text: note].present { return present }
    return TextBuffer(try read(note) { view.map($0.text.utf8(in:)) ?? $0.text.utf8 })
  }

  /// Tells each client of its peers if that has changed, or the numbers that it would go by. Everything else was pushed.
  mutating func pushPresence() {
    for id in live.withoutPresence { pushPresence(to: id) }
  }

  private mutating func pushPresence(to id: Int) {
    var attachment = live[id]!
    let note = attachment.note
    // What can't be read now is told when it can.
    guard live[text: note].view(of: attachment.pushed, by: id) == nil else { return }
    let peers = live.peers(of: attachment)
    let elements = Set(
      peers.flatMap { $0.selections.flatMap { [$0.start, $0.end] } }
        .compactMap(\.element))
    guard var buffer = try? buffer(of: note, nil),
      let places = try? read(note, { $0.text.places(of: elements) })
    else { return }
    let (encoding, version, rev) = (encoding, attachment.version, attachment.pushedRev)
    var isIncomplete = false
    said.notify("note/presence") {
      $0.beginObject()
      $0.member("attachment", id)
      $0.member("version", version)
      $0.member("rev", rev)
      $0.key("peers")
      $0.beginArray()
      for peer in peers {
        $0.beginObject()
        $0.member("id", peer.id)
        $0.key("ranges")
        $0.beginArray()
        for selection in peer.selections {
          guard let start = selection.start.offset(places), let end = selection.end.offset(places)
          else {
            isIncomplete = true
            continue
          }
          $0.beginObject()
          $0.key("start")
          $0.position(buffer.position(of: start, encoding))
          $0.key("end")
          $0.position(buffer.position(of: end, encoding))
          $0.endObject()
        }
        $0.endArray()
        $0.endObject()
      }
      $0.endArray()
      $0.endObject()
    }
    live.keep(present: buffer, of: note)
    attachment.presence.tell(
      version, rev, hasPeers: !peers.isEmpty, isIncomplete: isIncomplete)
    live[id] = attachment
  }
}
