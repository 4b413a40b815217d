internal import NoteStore
internal import ReplicatingTypes

/// The journal of the attachments of one process (`JournalEntry.swift` has its format).
final class AttachmentJournal {
  private var file: Journal?
  /// The file that was given up and that the disk has not removed yet.
  private var unremoved: Journal?
  /// The size in bytes above which the journal is written anew: the least one, and the present one.
  private let longSize: Int
  private var nextRewriting: Int
  /// The entries that are to be written together; nil if each is written by itself.
  private var gathered: ByteWriter?

  /// - Parameters:
  ///   - name: a new one.
  ///   - longSize: in bytes.
  init(_ name: Identifier, in store: NoteStore, longSize: Int) {
    file = (try? store.createJournal("\(name)")) ?? nil
    self.longSize = longSize
    nextRewriting = longSize
  }

  /// The resume token of an attachment; nil if it can't be resumed.
  func resumeToken(of attachment: Int) -> String? { file.map { "\($0.name).\(attachment)" } }

  func append(_ entry: JournalEntry, of attachment: Int) {
    if gathered?.journalEntry(entry, of: attachment) != nil { return }
    // An entry for a keystroke fits.
    var writer = ByteWriter(capacity: 64)
    writer.journalEntry(entry, of: attachment)
    write(writer.bytes)
  }

  /// Begins to gather entries: they are written by `writeGathered`. What they note must not happen before.
  func gather() { gathered = ByteWriter(capacity: 4096) }

  /// Writes the gathered entries, if there are any, with one write.
  func writeGathered() {
    guard let entries = gathered else { return }
    gathered = nil
    if !entries.bytes.isEmpty { write(entries.bytes) }
  }

  private func write(_ entries: [UInt8]) {
    guard let file else { return giveUp() }
    do { try file.append(entries) } catch { giveUp() }
  }

  /// True if the journal should be written anew.
  var isLong: Bool { file.map { $0.size > nextRewriting } ?? false }

  /// Writes the journal anew with these entries only.
  func rewrite(_ entries: [(attachment: Int, entry: JournalEntry)]) {
    var writer = ByteWriter()
    for (attachment, entry) in entries { writer.journalEntry(entry, of: attachment) }
    nextRewriting = max(longSize, writer.bytes.count * 2)
    do { file = try file?.replaced(by: writer.bytes) } catch { giveUp() }
  }

  var isGivenUp: Bool { file == nil }

  /// Removes the journal: no client will resume, or an entry could not be written and the others would mislead.
  func giveUp() {
    unremoved = file ?? unremoved
    file = nil
    do { try unremoved?.discard() } catch { return }
    unremoved = nil
  }
}
