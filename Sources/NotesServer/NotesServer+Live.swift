internal import Bytes
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// Live text: what clients show, what they change, and what is pushed to them.

extension NotesServer {
  /// Up to this many bytes a text's hash goes with every push; above, its size.
  private static let largestHashed = 256 << 10

  mutating func openNote(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let resume = try params.object("resume").map { params throws(ResponseError) in
      try Resumption(params)
    }
    let session = resume.flatMap { LiveSession($0.session, in: store!) }
    if resume != nil { readFolder(for: session) }
    let note = try note(params)
    let isObserver = try params.word("mode", [("edit", false), ("observe", true)])
    guard let isObserver else { throw .invalidParams("mode", "is missing") }
    let form = try params.word(
      "push", [("lines", Attachment.Form.lines), ("ranges", .ranges), ("text", .text)])
    let check = try params.word(
      "check", [("sha256", Attachment.Check.sha256), ("length", .length), ("none", .none)])
    let opened = (isObserver: isObserver, form: form ?? .lines, check: check ?? .sha256)
    beginSharingPresence()
    if let resume { return try self.resume(note, resume, session, opened, &result) }
    let attachment = live.open(
      note.id, isObserver: isObserver, form: opened.form, check: opened.check)
    journal(opening: attachment)
    let text = live[text: note.id].present ?? TextBuffer(note.text.utf8)
    live.keep(present: text, of: note.id)
    writeOpened(attachment, text: text.utf8, &result)
  }

  /// The result of `note/open`; the outcome of a resumption comes after it.
  func writeOpened(
    _ attachment: Attachment, text: [UInt8], _ result: inout JSONWriter,
    _ more: (inout JSONWriter) -> Void = { _ in }
  ) {
    result.beginObject()
    result.member("attachment", attachment.id)
    result.member(
      "session",
      journal?.session(of: attachment.id) ?? "\(environment.makeIdentifier())")
    result.member("version", attachment.version)
    result.member("rev", attachment.rev)
    result.member("text", utf8: text)
    result.member("readOnly", attachment.isObserver)
    more(&result)
    result.endObject()
  }

  mutating func closeNote(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    live.close(try attachment(params).id)
    result.null()
  }

  func attachment(_ params: Parameters) throws(ResponseError) -> Attachment {
    let id = try params.requiredCount("attachment")
    guard let attachment = live[id] else {
      throw .requestFailed("reopen", "attachment: \(id) is not open")
    }
    return attachment
  }

  // MARK: - From the client

  mutating func changeNote(
    _ params: Parameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    var attachment = try attachment(params)
    let version = try params.requiredCount("version")
    let rev = try params.requiredCount("rev")
    let wantsSameStep = try params.boolean("sameStep") ?? false
    guard !attachment.isObserver else {
      throw .requestFailed("readOnly", "attachment: \(attachment.id) only observes")
    }
    guard version > attachment.version else {
      throw .invalidParams("version", "must be greater than \(attachment.version)")
    }
    if rev != attachment.rev {
      guard let push = attachment.pending.first(where: { $0.rev == rev }) else {
        throw .requestFailed("reopen", "rev: \(rev) is no push to this attachment")
      }
      attachment.shown = push.shown
    }
    attachment.version = version
    attachment.rev = rev
    attachment.pending = []

    let plan = try plan(params, attachment)
    let isJoined = wantsSameStep && live[undoListOf: attachment.id].isOpen
    let journal = journal
    let effects = try commit(plan.operations, from: attachment.id) {
      journal?.append(.change(version: version, isJoined: isJoined, $0), of: attachment.id)
    }
    live.record(
      UndoList.Step(inserted: UndoList.Step(effects).inserted, removed: plan.operations.removals),
      joining: isJoined, by: attachment)
    if plan.isPresent {
      live.keep(present: plan.buffer, of: attachment.note)
      attachment.shown = Attachment.Shown(seen: live[text: attachment.note].count)
    } else {
      live.record(repeated: plan.operations.removals, on: attachment.note, from: attachment.id)
    }
    live[attachment.id] = attachment
    live.trim(attachment.note)
    result.beginObject()
    result.member("version", version)
    result.endObject()
  }

  /// What a client's change comes to.
  private struct Plan {
    /// What the client shows after it.
    var buffer: TextBuffer
    /// Whether that is the present text, once the change is made.
    var isPresent: Bool
    var operations: [Change.Operation]
  }

  private mutating func plan(
    _ params: Parameters, _ attachment: Attachment
  ) throws(ResponseError) -> Plan {
    let shown = attachment.shown
    let view = live[text: attachment.note].view(of: shown, by: attachment.id)
    // Taken out, so that it can be changed in place; it is kept again when the change is.
    var buffer: TextBuffer
    if view == nil, let present = live[text: attachment.note].takePresent() {
      buffer = present
    } else {
      buffer = TextBuffer(
        try read(attachment.note) { view.map($0.text.utf8(in:)) ?? $0.text.utf8 })
    }
    let edits = try edits(params, &buffer)
    let operations: [Change.Operation]
    do { operations = try store!.operations(for: edits, in: attachment.note, view) } catch {
      throw ResponseError(error)
    }
    buffer.apply(edits)
    try check(params, buffer)
    return Plan(buffer: buffer, isPresent: view == nil, operations: operations)
  }

  /// What the client changed in what it shows.
  private func edits(
    _ params: Parameters, _ buffer: inout TextBuffer
  ) throws(ResponseError) -> [Edit<UInt8>] {
    let given = ["text", "lines", "ranges"].filter { params[$0] != nil }
    guard given.count == 1 else {
      throw .invalidParams(given.last ?? "text", "one of text, lines and ranges must be given")
    }
    if let text = try params.text("text") { return textDifference(from: buffer.utf8, to: text) }
    let edits =
      given[0] == "lines" ? try lineEdits(params, &buffer) : try rangeEdits(params, &buffer)
    // A client says what was replaced, by whole lines, or from the first to the last place that changed; what changed in that is for
    // us to find out. Taken as it is, what two people leave alone, or one deletes, would be typed again.
    return differences(within: edits, of: buffer.utf8)
  }

  private func lineEdits(
    _ params: Parameters, _ buffer: inout TextBuffer
  ) throws(ResponseError) -> [Edit<UInt8>] {
    var replacements: [LineReplacement] = []
    for item in try params.requiredArray("lines") {
      let parts = item.array.map(Array.init) ?? []
      guard parts.count == 3, let start = parts[0].integer, let end = parts[1].integer,
        let lines = parts[2].array
      else { throw .invalidParams("lines", "must be an array of [start, end, [lines]]") }
      guard start >= 0, start <= end else {
        throw .invalidParams("lines", "\(start) to \(end) is no range of lines")
      }
      var new: [UInt8]?
      for line in lines {
        let text = try Parameters.text(line, "lines")
        guard !text.contains(0x0A) else {
          throw .invalidParams("lines", "a line must not contain a line feed")
        }
        if new == nil { new = text } else { new! += [0x0A] + text }
      }
      replacements.append(LineReplacement(lines: start..<end, text: new))
    }
    guard let edits = buffer.edits(replacing: replacements) else {
      throw .contentModified("lines: there are no such lines; the text has \(buffer.lineCount)")
    }
    return edits
  }

  private func rangeEdits(
    _ params: Parameters, _ buffer: inout TextBuffer
  ) throws(ResponseError) -> [Edit<UInt8>] {
    var edits: [Edit<UInt8>] = []
    for item in try params.requiredArray("ranges") {
      let change = Parameters(value: item, path: "ranges.")
      let text = try change.requiredText("newText")
      guard let range = try change.object("range") else {
        throw .invalidParams("ranges.range", "is missing")
      }
      let start = try offset(range, "start", &buffer)
      let end = try offset(range, "end", &buffer)
      guard start <= end else { throw .invalidParams("ranges.range", "ends before it starts") }
      edits.append(Edit(range: start..<end, replacement: text))
    }
    guard edits.count > 1 else { return edits }
    let order = edits.indices.sorted {
      (edits[$0].range.lowerBound, edits[$0].range.upperBound, $0)
        < (edits[$1].range.lowerBound, edits[$1].range.upperBound, $1)
    }
    let sorted = order.map { edits[$0] }
    for (edit, next) in zip(sorted, sorted.dropFirst())
    where next.range.lowerBound < edit.range.upperBound {
      throw .invalidParams("ranges", "two ranges overlap")
    }
    return sorted.joiningNeighbours()
  }

  func offset(
    _ range: Parameters, _ name: String, _ buffer: inout TextBuffer
  ) throws(ResponseError) -> Int {
    guard let position = try range.object(name) else {
      throw .invalidParams(range.path + name, "is missing")
    }
    let place = TextPosition(
      line: try position.requiredCount("line"), character: try position.requiredCount("character"))
    guard let offset = buffer.offset(of: place, encoding) else {
      throw .contentModified("\(range.path)\(name): no such position in the text")
    }
    return offset
  }

  /// Whether the client shows what we think it does: what it sends of the text after the change must fit.
  private func check(_ params: Parameters, _ after: TextBuffer) throws(ResponseError) {
    if let bytes = try params.count("bytes"), bytes != after.count { throw .contentModified }
    if let lineCount = try params.count("lineCount"), lineCount != after.lineCount {
      throw .contentModified
    }
    if let sha256 = try params.string("sha256"),
      sha256.lowercased() != SHA256.hexDigest(of: after.utf8)
    {
      throw .contentModified
    }
  }

  // MARK: - To the client

  /// Sends each client what leads from the text it shows, once it has applied what is on its way, to the present one.
  mutating func push() {
    for notify in outboxAfterReply { notify(&said) }
    outboxAfterReply = []
    for id in live.lagging { push(to: id) }
    pushPresence()
    shortenJournal()
  }

  private mutating func push(to id: Int) {
    var attachment = live[id]!
    let text = live[text: attachment.note]
    let present = Attachment.Shown(seen: text.count)
    guard let view = text.view(of: attachment.pushed, by: id) else {
      if attachment.pending.isEmpty { attachment.shown = present }
      live[id] = attachment
      return
    }
    // What can't be read now is pushed when it can.
    guard let edits = try? read(attachment.note, { $0.text.edits(from: view) }) else { return }
    if edits.isEmpty {
      // What came and went again in between: what the client shows is the present, element by element.
      attachment.pushed = present
      live[id] = attachment
      return
    }
    var shown: TextBuffer
    if let kept = live[text: attachment.note].take(attachment.pushed, by: id) {
      shown = kept
    } else {
      guard let text = try? read(attachment.note, { $0.text.utf8(in: view) }) else { return }
      shown = TextBuffer(text)
    }
    attachment.lastRev += 1
    journal(pushing: attachment.lastRev, to: id)
    notify(attachment, edits, &shown)
    live.keep(present: shown, of: attachment.note)
    if attachment.isObserver {
      // It can't cross a push with a change of its own, so it will apply each one.
      attachment.shown = present
      attachment.rev = attachment.lastRev
    } else {
      attachment.pending.append((attachment.lastRev, present))
    }
    live[id] = attachment
    live.trim(attachment.note)
  }

  /// - Parameter text: what the client shows; afterwards the present text.
  private mutating func notify(
    _ attachment: Attachment, _ edits: [Edit<UInt8>], _ text: inout TextBuffer
  ) {
    let encoding = encoding
    said.notify("note/edit") {
      $0.beginObject()
      $0.member("attachment", attachment.id)
      $0.member("version", attachment.version)
      $0.member("rev", attachment.lastRev)
      if attachment.check == .sha256 && text.count <= Self.largestHashed {
        $0.member("sha256", SHA256.hexDigest(of: text.utf8))
      } else if attachment.check != .none {
        $0.member("bytes", text.count)
        $0.member("lineCount", text.lineCount)
      }
      switch attachment.form {
      case .lines: $0.lines(text.lineEdits(for: edits))
      case .ranges:
        $0.key("ranges")
        $0.beginArray()
        for edit in edits { $0.range(edit, in: &text, encoding) }
        $0.endArray()
      case .text: break
      }
      text.apply(edits)
      if attachment.form == .text { $0.member("text", utf8: text.utf8) }
      $0.endObject()
    }
  }
}

extension JSONWriter {
  fileprivate mutating func lines(_ edits: [LineReplacement]) {
    key("lines")
    beginArray()
    for edit in edits {
      beginArray()
      integer(edit.lines.lowerBound)
      integer(edit.lines.upperBound)
      beginArray()
      var rest = edit.text?[...]
      while let text = rest {
        let end = text.firstIndex(of: 0x0A)
        string(utf8: text[..<(end ?? text.endIndex)])
        rest = end.map { text[($0 + 1)...] }
      }
      endArray()
      endArray()
    }
    endArray()
  }

  fileprivate mutating func range(
    _ edit: Edit<UInt8>, in buffer: inout TextBuffer, _ encoding: PositionEncoding
  ) {
    beginObject()
    key("range")
    beginObject()
    key("start")
    position(buffer.position(of: edit.range.lowerBound, encoding))
    key("end")
    position(buffer.position(of: edit.range.upperBound, encoding))
    endObject()
    member("newText", utf8: edit.replacement)
    endObject()
  }
}
