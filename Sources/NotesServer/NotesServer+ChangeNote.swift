internal import Bytes
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// `note/change`: a client's own change of the text that it shows.

/// The parameters of `note/change`.
struct ChangeNoteParameters {
  enum Name: String, ParameterName, CaseIterable {
    case attachment, version, rev, text, lines, ranges, sha256, bytes, lineCount, sameStep
  }

  /// The client's change of the text that it shows.
  enum Content {
    /// The whole text after the change; the server finds the difference.
    case text([UInt8])
    case lines([LineReplacement])
    case ranges([RangeReplacement])
  }

  struct RangeReplacement {
    var start: TextPosition
    var end: TextPosition
    var text: [UInt8]
  }

  let attachment: Int
  let version: Int
  /// The last push that the client had applied.
  let rev: Int
  let content: Content
  // Checks of the text after the change, as far as the client gives them.
  let sha256: String?
  let bytes: Int?
  let lineCount: Int?
  /// True if the change is to be undone together with the one before it.
  let wantsSameStep: Bool
}

extension ChangeNoteParameters: MethodParameters {
  init(_ params: Parameters) throws(ResponseError) {
    attachment = try params.requiredCount(Name.attachment)
    version = try params.requiredCount(Name.version)
    rev = try params.requiredCount(Name.rev)
    content = try Content(params)
    sha256 = try params.string(Name.sha256)
    bytes = try params.count(Name.bytes)
    lineCount = try params.count(Name.lineCount)
    wantsSameStep = try params.boolean(Name.sameStep) ?? false
  }
}

extension ChangeNoteParameters.Content {
  private typealias Name = ChangeNoteParameters.Name

  fileprivate init(_ params: Parameters) throws(ResponseError) {
    let (text, lines, ranges) = (params[Name.text], params[Name.lines], params[Name.ranges])
    switch (text, lines, ranges) {
    case (let text?, nil, nil): self = .text(try Parameters.text(text, Name.text.rawValue))
    case (nil, let lines?, nil): self = .lines(try Self.lines(try params.array(lines, Name.lines)))
    case (nil, nil, let ranges?):
      self = .ranges(try Self.ranges(try params.array(ranges, Name.ranges)))
    default:
      let last = ranges != nil ? Name.ranges : lines != nil ? .lines : .text
      throw .invalidParams(last.rawValue, "one of text, lines and ranges must be given")
    }
  }

  private static func lines(_ array: JSONArray) throws(ResponseError) -> [LineReplacement] {
    var replacements: [LineReplacement] = []
    replacements.reserveCapacity(array.count)
    for item in array {
      let item = item.array
      var parts = item?.makeIterator()
      guard item?.count == 3, let start = parts?.next()?.integer,
        let end = parts?.next()?.integer, let lines = parts?.next()?.array
      else { throw .invalidParams("lines", "must be an array of [start, end, [lines]]") }
      guard start >= 0, start <= end else {
        throw .invalidParams("lines", "\(start) to \(end) is no range of lines")
      }
      var new: [UInt8]?
      for line in lines {
        let text = try Parameters.text(line, "lines")
        guard text.span.firstIndex(of: 0x0A) == nil else {
          throw .invalidParams("lines", "a line must not contain a line feed")
        }
        if new == nil { new = text } else { new! += [0x0A] + text }
      }
      replacements.append(LineReplacement(lines: start..<end, text: new))
    }
    return replacements
  }

  private static func ranges(
    _ array: JSONArray
  ) throws(ResponseError) -> [ChangeNoteParameters.RangeReplacement] {
    var replacements: [ChangeNoteParameters.RangeReplacement] = []
    for item in array {
      let item = Parameters(value: item, path: "ranges.")
      let text = try item.requiredText("newText")
      let (start, end) = try item.requiredObject("range").range()
      replacements.append(.init(start: start, end: end, text: text))
    }
    return replacements
  }
}

extension NotesServer {
  mutating func changeNote(
    _ params: ChangeNoteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    let id = params.attachment
    let (note, shown) = try shown(params)
    let view = openTexts.view(of: shown, of: note, by: id)
    var text = try takeText(of: note, view)
    let isJoined = params.wantsSameStep && openTexts.isStepOpen(of: id)
    let last = isJoined ? openTexts.lastChange(of: id) : nil
    let plan = try plan(params, of: note, shown, view, &text, goingOnFrom: last)
    let journal = journal
    var change: ChangeID?
    try commit(plan.operations, as: plan.session, from: id) {
      change = $0
      journal?.append(.change(version: params.version, isJoined: isJoined, $0), of: id)
    }
    openTexts.willChange(id)
    openTexts[open: id].takeChange(version: params.version, rev: params.rev, of: shown)
    openTexts.record(step: change, joining: isJoined, of: id)
    if view == nil {
      openTexts.keep(present: consume text, of: note)
      let count = openTexts[text: note].count
      openTexts[open: id].show(Attachment.Shown(seen: count, heads: store!.heads))
    } else {
      if let change {
        openTexts[open: id].noteCrossing(change)
        recordRemovals(of: plan.operations, by: change, on: note, from: id)
      }
    }
    openTexts.trim(note)
    result.beginObject()
    result.member("version", params.version)
    result.endObject()
  }

  /// Records the elements that a change removed and of which its client may be told later: those removed before by others, and dividers.
  mutating func recordRemovals(
    of operations: [Change.Operation], by change: ChangeID, on note: NoteID, from id: Int
  ) {
    // A note that was changed is open, so it can be read.
    let count = try? read(note) { $0.text.count(by: change.replica) }
    let dividers = count.map { operations.dividers(by: change.replica, of: $0) } ?? []
    openTexts.record(repeated: operations.removals + dividers, on: note, from: id)
  }

  /// The text that the client has changed, and its note.
  private func shown(
    _ params: ChangeNoteParameters
  ) throws(ResponseError) -> (note: NoteID, shown: Attachment.Shown) {
    let id = params.attachment
    try checkEditable(id)
    let version = openTexts[open: id].version
    guard params.version > version else {
      throw .invalidParams("version", "must be greater than \(version)")
    }
    guard let shown = openTexts[open: id].shown(at: params.rev) else {
      throw .requestFailed("reopen", "rev: \(params.rev) is no push to this attachment")
    }
    return (openTexts[open: id].note, shown)
  }

  /// The text that a client shows. The present one is taken out, so that it can be changed in place: it is to be kept again when the change is
  /// made.
  private mutating func takeText(
    of note: NoteID, _ view: SequenceView?
  ) throws(ResponseError) -> TextBuffer {
    if view == nil, let present = openTexts[text: note].takePresent() { return present }
    return try buffer(of: note, view)
  }

  /// The change of the notebook that is planned for a client's change.
  private struct Plan {
    var operations: [Change.Operation]
    /// The session that the operations were planned for, if they name a change of it.
    var session: ReplicaID?
  }

  /// - Parameters:
  ///   - buffer: the text that the client shows; then the one that it shows after the change.
  ///   - last: the last change of the step of which this one is a part.
  private mutating func plan(
    _ params: ChangeNoteParameters, of note: NoteID, _ shown: Attachment.Shown,
    _ view: SequenceView?, _ buffer: inout TextBuffer, goingOnFrom last: ChangeID?
  ) throws(ResponseError) -> Plan {
    var view = view
    let base = try view == nil ? nil : base(of: shown, in: note, params)
    if let base { view!.unseen = base.unseen }
    let form = shownForm(of: buffer, by: params.attachment)
    let edits =
      if let form { try checkedEdits(params, form, of: buffer.utf8) } else {
        try edits(params.content, &buffer)
      }
    var operations: [Change.Operation]
    do {
      operations = try store!.operations(for: edits, in: note, view, goingOnFrom: last)
    } catch {
      throw ResponseError(error)
    }
    if let base, !operations.isEmpty { operations.insert(.edit(note, .base(base.base)), at: 0) }
    buffer.apply(edits)
    if form == nil { try check(params, &buffer) }
    return Plan(operations: operations, session: base?.session)
  }

  /// The state that the client changes, as its change says it, and the elements that it lacks; nil if that is not known, or can't be
  /// said. Then the change counts as made by an author who had seen all.
  private mutating func base(
    of shown: Attachment.Shown, in note: NoteID, _ params: ChangeNoteParameters
  ) throws(ResponseError) -> (base: TextBase, unseen: ElementRanges, session: ReplicaID)? {
    guard let heads = shown.heads else { return nil }
    let session = try nextSession()
    let last = openTexts[open: params.attachment].crossing(at: params.rev)
    // A change of a session that has ended can't be said without what it follows.
    if let last, last.replica != session { return nil }
    let base = TextBase(heads: heads, previous: last?.number ?? 0)
    // An archive that can't be read is no reason to refuse what was typed.
    guard let unseen = try? book.unseen(in: note, on: base, by: session) else { return nil }
    return (base, unseen, session)
  }

  /// The edits that the client has made in the text that it shows.
  ///
  /// A client sends the lines that were replaced, or the range from the first to the last change. Only what differs inside is an
  /// edit. Otherwise text that the client left alone would be inserted anew: twice if two clients change the same lines, and
  /// although another client has deleted it.
  private func edits(
    _ content: ChangeNoteParameters.Content, _ buffer: inout TextBuffer
  ) throws(ResponseError) -> [Edit<UInt8>] {
    switch content {
    case .text(let text): return textDifference(from: buffer.utf8, to: text)
    case .lines(let replacements):
      if let edit = buffer.edit(inLineOf: replacements) { return [edit] }
      guard let edits = buffer.edits(replacing: replacements) else {
        throw .contentModified("lines: there are no such lines; the text has \(buffer.lineCount)")
      }
      return differences(within: edits, of: buffer.utf8)
    case .ranges(let replacements):
      return differences(within: try edits(replacements, &buffer), of: buffer.utf8)
    }
  }

  /// The edits of a text that a client shows without carriage returns, with what the client sent along found right.
  private func checkedEdits(
    _ params: ChangeNoteParameters, _ form: LineFeedText, of text: [UInt8]
  ) throws(ResponseError) -> [Edit<UInt8>] {
    var shown = form.shown
    let edits = try edits(params.content, &shown)
    shown.apply(edits)
    try check(params, &shown)
    return differences(within: form.edits(forShown: edits), of: text)
  }

  private func edits(
    _ replacements: [ChangeNoteParameters.RangeReplacement], _ buffer: inout TextBuffer
  ) throws(ResponseError) -> [Edit<UInt8>] {
    var edits: [Edit<UInt8>] = []
    for replacement in replacements {
      let start = try offset(of: replacement.start, "ranges.range.start", in: &buffer)
      let end = try offset(of: replacement.end, "ranges.range.end", in: &buffer)
      guard start <= end else { throw .invalidParams("ranges.range", "ends before it starts") }
      edits.append(Edit(range: start..<end, replacement: replacement.text))
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

  /// True if a client's hash is this one, whose letters are small. Those of nearly all clients are, too.
  private static func isHash(_ sha256: String, _ digest: String) -> Bool {
    sha256 == digest || sha256.lowercased() == digest
  }

  /// Compares the hash and the lengths that the client has sent with the text that it should show after the change.
  ///
  /// - Throws: `contentModified`, so that the client sends the whole text. Where it has just done so it would go on for ever: then its hash
  ///   or its lengths are wrong, and it is told so.
  private func check(
    _ params: ChangeNoteParameters, _ after: inout TextBuffer
  ) throws(ResponseError) {
    let name: ChangeNoteParameters.Name
    if let bytes = params.bytes, bytes != after.count {
      name = .bytes
    } else if let lineCount = params.lineCount, lineCount != after.lineCount {
      name = .lineCount
    } else if let sha256 = params.sha256, !Self.isHash(sha256, after.hexDigest()) {
      name = .sha256
    } else {
      return
    }
    guard case .text = params.content else { throw .contentModified }
    throw .invalidParams(name.rawValue, "is not that of text in UTF-8")
  }
}
