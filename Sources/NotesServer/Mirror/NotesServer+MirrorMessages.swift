internal import Bytes
internal import FileTree
internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

// What the user, and those who wait for the mirror, are told of it.

extension NotesServer {
  /// Tells the user of a failure of the mirror, once as long as it is the same.
  mutating func tellMirror(_ message: String) {
    if requests.waitingForMirror.isEmpty {
      guard mirroring.told != message else { return }
      mirroring.told = message
      return showMessage(.error, "mirror: \(message)")
    }
    mirroring.told = message
    refuseMirrored("unusableFolder", "mirror: \(message)")
  }

  /// Does nothing more until the user says so from now on: what has been said before was about something else.
  mutating func stop(_ mirror: Mirror, _ brake: Mirror.Brake) {
    try? store!.stateFile(mirrorName(mirror.tree) + "-answer")?.replace(with: [])
    mirror.brake = brake
    tellBrake(mirror)
  }

  /// Tells the user why the mirror does nothing, and what to do.
  mutating func tellBrake(_ mirror: Mirror) {
    guard let brake = mirror.brake else { return }
    let all = mirror.fileCount
    let (files, notes) = ("writes the files again", "makes the notes what the files have")
    let (what, undoing) =
      switch brake {
      case .deletions(let count): ("\(count) of \(all) files are gone at once", files)
      case .changes(let count): ("\(count) of \(all) files have changed at once", files)
      case .removals(let count):
        ("\(count) of \(all) files would be removed at once, since their notes were trashed", notes)
      case .writes(let count):
        ("\(count) of \(all) files would change at once, since their notes have", notes)
      case .folder(let reason): (reason, files)
      }
    let message =
      "mirror: \(what). Nothing is done until `\(mirrorLine("--confirm"))` takes that over,"
      + " or `\(mirrorLine("--restore"))` \(undoing)."
    mirroring.told = nil
    if requests.waitingForMirror.isEmpty { return showMessage(.warning, message) }
    refuseMirrored("mirrorStopped", message)
  }

  /// Tells the user what the notebook lacks of what its files have, or may lack, and what came of that; those who wait are told each time.
  ///
  /// - Returns: False if there is nothing to tell.
  mutating func tellLacking(_ mirror: Mirror) -> Bool {
    let isWaiting = store?.gaps.allSatisfy { $0.cause == .waiting } ?? false
    // While two processes write, changes may wait for a moment.
    if isWaiting, store?.gaps.isEmpty == false, !mirror.lacking.isLookedThrough {
      mirror.lacking.isLookedThrough = true
      readFolder()
      if !mirror.isAtRest { return true }
    }
    let (lacking, gaps) = (mirror.lacking, gapsText)
    let kept = lacking.waiting.union(lacking.kept.keys).count
    guard let reason = gaps ?? (lacking.isOlder || kept > 0 ? Self.olderText : nil) else {
      mirror.lacking.told = nil
      mirror.lacking.isLookedThrough = false
      return false
    }
    let taken = lacking.created + lacking.updated
    var parts = ["mirror: \(reason)"]
    if taken > 0 {
      parts.append(
        "What \(taken) files had and it lacks was taken in: \(lacking.created) became new notes")
    }
    parts.append(
      kept > 0
        ? "\(kept) of \(mirror.fileCount) files stay as they are, though their notes are not there, in the trash or old"
        : "No file was removed or set back")
    if gaps != nil || kept > 0 { parts.append(helpText) }
    if !lacking.waiting.isEmpty {
      parts.append(
        "`\(mirrorLine("--confirm"))` makes new notes of files whose notes are not there")
    }
    let message = parts.joined(separator: ". ") + "."
    (mirror.lacking.created, mirror.lacking.updated, mirror.lacking.isOlder) = (0, 0, false)
    if !requests.waitingForMirror.isEmpty {
      refuseMirrored("incomplete", message)
    } else if taken > 0 || mirror.lacking.told != "\(reason) \(kept)" {
      showMessage(.warning, message)
    }
    mirror.lacking.told = "\(reason) \(kept)"
    return true
  }

  /// The parts of a note's text, without white characters at their ends, that came into the note after a state and that operations remove.
  ///
  /// - Complexity: O(bytes of the note), if the operations remove something.
  func words(
    takenAwayBy operations: [Change.Operation], from note: Note, since earlier: FileState
  ) throws(ResponseError) -> [String] {
    let removed = ElementRanges(operations.removals)
    if removed.isEmpty { return [] }
    let seen = try recall { book throws(ArchiveFailure) -> Version? in
      guard var version = try book.version(of: earlier.heads) else { return nil }
      for change in earlier.own where book.version.contains(change) { version.insert(change) }
      return version
    }
    guard let seen else { return [] }
    let later = removed.subtracting(removed.subtracting(note.text.insertions(after: seen)))
    let present = note.text.utf8
    let rest = note.text.utf8(in: SequenceView(hidden: later, revealed: ElementRanges()))
    return textDifference(from: present, to: rest).map { edit in
      let removed = present[edit.range].drop { $0 <= 0x20 }
      let end = removed.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? removed.startIndex
      return String(decoding: removed[..<end], as: UTF8.self)
    }.filter { !$0.isEmpty }
  }

  /// Tells the user the words that a save of a file took away, though they had come into the note since the save before: the program that saved it
  /// may have had an older text.
  mutating func tellTakenAway(_ words: [String], of note: NoteID, at path: FilePath) {
    if words.isEmpty { return }
    let shown = words.prefix(20).map { "\"\($0.prefix(200))\"" }.joined(separator: ", ")
    let more = words.count > 20 ? " and \(words.count - 20) more" : ""
    showMessage(
      .warning,
      "mirror: \(path.text) was saved without what had come into it a moment ago: \(shown)\(more). If it is to be there,"
        + " `\(commandLine("history", "\(note)"))` lists the states of the note, and"
        + " `\(commandLine("show", "\(note)", "--revision", "REVISION"))` prints one."
    )
  }

  /// Tells the user that files have other paths than their notes.
  mutating func tellOtherNames(_ names: [(path: String, file: String)], of operation: String) {
    let first = names.prefix(5).map { "the file of \($0.path) is \($0.file)" }
      .joined(separator: ", ")
    let more = names.count > 5 ? ", and \(names.count - 5) more" : ""
    showMessage(
      .info,
      "\(operation): the folder does not tell all names apart: \(first)\(more). The notes keep their paths."
    )
  }

  /// Tells the user, once, that a file is left alone.
  mutating func refuseFile(
    _ path: FilePath, _ mirror: Mirror, hash: UInt64, _ reason: String
  ) {
    mirror.touched.remove(path)
    guard mirror.refused[path] != hash else { return }
    mirror.refused[path] = hash
    showMessage(.warning, "mirror: \(path.text) is left alone: \(reason)")
  }

  /// Tells the user, once, what is left out of the folder: that is in no note. Folders that can't be looked into are told by themselves.
  mutating func tellSkipped(_ files: [SkippedFile], _ mirror: Mirror) {
    let skipped = files.filter { $0.cause != .unreadable }
    let new = skipped.filter { !mirror.toldSkipped.contains($0.path) }.sorted { $0.path < $1.path }
    for one in new.prefix(Self.mostTold) {
      showMessage(.warning, "mirror: \(one.path) is left alone: \(one.reason)")
    }
    if new.count > Self.mostTold {
      let (more, folder) = (new.count - Self.mostTold, mirror.tree.resolvedPath)
      let line = commandLine("import", "--dry-run", "--verbose", folder)
      showMessage(.warning, "mirror: \(more) more are left alone; `\(line)` lists them")
    }
    mirror.toldSkipped = Set(skipped.map(\.path))
  }

  /// The most files that are told one by one.
  private static let mostTold = 5

  /// The name of what is known of a mirror, in the state folder.
  func mirrorName(_ tree: any FileTree) -> String {
    "mirror-" + SHA256.hexDigest(of: Array(tree.resolvedPath.utf8)).prefix(16)
  }

  /// Answers those who wait until the mirror is at rest, which it will not be.
  mutating func refuseMirrored(_ reason: String, _ message: String) {
    for id in requests.waitingForMirror { refuse(id, .requestFailed(reason, message)) }
    requests.waitingForMirror = []
  }
}
