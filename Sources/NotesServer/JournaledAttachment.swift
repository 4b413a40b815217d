internal import NoteStore
internal import Notes
internal import ReplicatingTypes

/// One attachment, as the journals of its process and of later ones describe it.
struct JournaledAttachment {
  /// The resume token of its client.
  private let token: String
  private let attachment: Int
  /// The number of changes that later processes have added.
  private var additions = 0
  var note: NoteID
  /// The text that the client showed after each push, by rev; the lowest is that of the opening.
  var states: [Int: JournalEntry.State]
  /// The client's own changes.
  var changes: [(version: Int, change: ChangeID)] = []
  /// The steps that the client could undo and redo when it opened the text.
  var undoing: UndoList
  /// The client's changes, undos and redos since, in order.
  var steps: [Step] = []

  enum Step {
    case change(ChangeID, isJoined: Bool)
    case turn(UndoList.Direction, ChangeID, Int)
  }

  /// Finds the attachment that a resume token names, with the entries that later processes have added.
  init?(_ token: String, in store: NoteStore) {
    guard let dot = token.firstIndex(of: "."), let name = Identifier(token[..<dot]),
      let attachment = Int(token[token.index(after: dot)...]),
      token == "\(name).\(attachment)"
    else { return nil }
    // The name of an addition begins with the token, so it comes after the journal, and additions come in the order in which they were
    // made.
    let files = store.journals { $0 == "\(name)" || $0.hasPrefix("\(token)-") }
    var found: JournaledAttachment?
    for file in files {
      let isWhole = Self.forEachEntry(in: file) { number, entry in
        guard number == attachment else { return }
        switch entry {
        case .open(let note, _, let rev, let state, let undoing):
          found = JournaledAttachment(
            token: token, attachment: attachment, note: note, states: [rev: state],
            undoing: undoing)
        case .push(let rev, let state): found?.states[rev] = state
        case .change(let version, let isJoined, let change):
          found?.changes.append((version, change))
          found?.steps.append(.change(change, isJoined: isJoined))
        case .step(let change, let isPart):
          found?.steps.append(.change(change, isJoined: isPart))
        case .turn(let direction, let change, let count):
          found?.steps.append(.turn(direction, change, count))
        }
      }
      guard isWhole else { return nil }
    }
    guard var found else { return nil }
    found.additions = files.count - 1
    self = found
  }

  private init(
    token: String, attachment: Int, note: NoteID, states: [Int: JournalEntry.State],
    undoing: UndoList
  ) {
    self.token = token
    self.attachment = attachment
    self.note = note
    self.states = states
    self.undoing = undoing
  }

  /// Adds, in a later process, a change that the process is about to write for the client.
  ///
  /// - Parameter name: of the addition; a new one.
  /// - Throws: the error of the disk. Then the change must not be written: it would seem to be another client's.
  func add(
    _ change: ChangeID, version: Int, _ name: Identifier, in store: NoteStore
  ) throws(StoreError) {
    var writer = ByteWriter()
    writer.journalEntry(.change(version: version, isJoined: false, change), of: attachment)
    let digits = String(additions, radix: 16)
    let order = String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    guard let addition = try store.createJournal("\(token)-\(order)-\(name)") else { return }
    do { try addition.append(writer.bytes) } catch {
      // The change that it names is not going to be written.
      try? addition.discard()
      throw error
    }
  }

  /// Visits the entries up to the first that is damaged; returns whether none is. The last one may have been cut by a kill.
  private static func forEachEntry(
    in bytes: [UInt8], _ body: (Int, JournalEntry) -> Void
  ) -> Bool {
    var rest = ByteReader(bytes)
    do {
      while let content = try rest.blockIfComplete() {
        var reader = ByteReader(content)
        let (attachment, entry) = try reader.journalEntry()
        guard reader.isAtEnd else { return false }
        body(attachment, entry)
      }
      return true
    } catch { return false }
  }
}

extension JournaledAttachment.Step {
  var change: ChangeID {
    switch self {
    case .change(let change, _), .turn(_, let change, _): change
    }
  }
}
