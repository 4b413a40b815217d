internal import Bytes
internal import Notes
internal import ReplicatingTypes

// What this user's programs have known beyond the archive, so that the next one notices if the folder has become an older one: an archive
// itself holds all that it knows, and what the folder lacks of that is written again.
//
//     known = format (a byte, 1), version, CRC-32C of all bytes before
//
// A file of the state folder. Without it, or with a wrong one, nothing is known.

extension NoteStore {
  private static var knownFile: String { "known" }

  /// Reads what was known. Call it when the folder's identity is known.
  func resumeKnown() {
    archiving.known = readKnown()
  }

  private func readKnown() -> Version {
    guard let bytes = stateFolder?.bytes(of: Self.knownFile), bytes.count > 5, bytes[0] == 1
    else { return Version() }
    var end = ByteReader(bytes.suffix(4))
    var reader = ByteReader(bytes.dropLast(4).dropFirst())
    guard (try? end.fixed(UInt32.self)) == CRC32C.checksum(of: bytes.dropLast(4)),
      let version = try? Version(from: &reader), reader.isAtEnd
    else { return Version() }
    return version
  }

  /// Notes what is known beyond the archive, for the next run. A failure is none: that does not notice then what is gone.
  func keepKnown() {
    guard let stateFolder, archiving.unkept > 0 || !archiving.known.isEmpty else { return }
    // Another process may have noted more meanwhile.
    var known = readKnown()
    let before = known
    known.merge(archiving.known)
    known.merge(notebook.version)
    let archived = notebook.archivedVersion
    for replica in known.replicas where known[replica] <= archived[replica] { known[replica] = 0 }
    if known == before { return }
    if known.isEmpty { return stateFolder.remove(Self.knownFile) }
    var writer = ByteWriter()
    writer.byte(1)
    known.encode(into: &writer)
    writer.fixed(CRC32C.checksum(of: writer.bytes[...]))
    stateFolder.replace(Self.knownFile, with: writer.bytes)
  }

  /// The changes that were known and are neither in the notebook nor among those that wait: of each session the last.
  var missingKnown: [ChangeID] {
    if archiving.known.isEmpty { return [] }
    return archiving.known.changes.filter {
      !notebook.version.contains($0) && !merging.pending.contains($0.replica)
    }
  }

  /// A report about changes that were known and are in no file any more.
  var missing: LogFolder.Damage? {
    if isMerging { return nil }
    let missing = missingKnown
    if missing.isEmpty { return nil }
    let names = missing.prefix(3).map { "change \($0.number) of session \($0.replica)" }
      .joined(separator: ", ")
    let more = missing.count > 3 ? " and those of \(missing.count - 3) more sessions" : ""
    return LogFolder.Damage(
      path: path, offset: 0,
      description:
        "it has been known here up to \(names)\(more), and no file that can be read has these now: the folder is an older one, or has lost"
        + " files (check --repair takes it as it is)",
      cause: .missing)
  }

  /// Takes the folder as it is: what is missing of what was known is not missed any more.
  ///
  /// - Returns: the sessions of which something was missing.
  func forgetMissing() -> Int {
    let missing = missingKnown
    for change in missing { archiving.known[change.replica] = notebook.version[change.replica] }
    guard !missing.isEmpty, let stateFolder else { return missing.count }
    stateFolder.remove(Self.knownFile)
    keepKnown()
    return missing.count
  }
}
