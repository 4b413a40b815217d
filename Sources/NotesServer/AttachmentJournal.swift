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
    guard let file else { return giveUp() }
    var writer = ByteWriter()
    writer.journalEntry(entry, of: attachment)
    do { try file.append(writer.bytes) } catch { giveUp() }
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
