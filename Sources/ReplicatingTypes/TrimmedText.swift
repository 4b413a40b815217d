// Library product only: the programs of this package do not use this file.

/// A text that has forgotten what was removed from it: quick to open, small to keep, and edited and merged as before.
///
/// Of a removed element remains that it was there, by whom and when, so that every insertion still finds its place; what it
/// was, and when it was removed, is gone. So this text has no past, and can't tell it to others: it sends what happened
/// after it was trimmed, to those who had seen everything until then. Wherever the past matters a `ReplicatingText` keeps it.
///
///     var replica = Replica(id: ReplicaID(high: 0, low: 1))
///     var text = ReplicatingText()
///     text.insert([UInt8]("Hello, world".utf8).span, at: 0, by: &replica)
///     let bytes = TrimmedText(text).encoded()
///     var saved = try TrimmedText(encoded: bytes)
///     saved.string  // "Hello, world", and nothing else has been read
///     try saved.insert([UInt8]("!".utf8).span, at: 12, by: &replica)
///     try text.apply(saved.changes(since: text.version)!)
///     text.string  // "Hello, world!"
///
/// Reading one takes what looking through its bytes takes; the first edit reads the pieces, O(pieces + count); the first
/// insertion of another replica whose place is contested restores origins, O(n log n). Everything else is as with
/// `ReplicatingText`. All offsets and counts are in UTF-8 bytes.
public struct TrimmedText: Sendable {
  private enum State {
    /// The encoding, of which only the head and the text were looked at.
    case closed(TrimmedEncoding)
    case open(ReplicatingArray<UInt8>)
  }

  private var state: State
  /// The version at which the past was forgotten.
  public let trimmed: Version

  /// The same text. It has no past to send from now on, and what was removed is gone once it is encoded. O(replicas).
  public init(_ text: ReplicatingText) {
    trimmed = text.version
    state = .open(text.bytes)
  }

  // MARK: - Reading

  /// The visible text. O(count) as long as it is not open, then O(count + n).
  public var utf8: [UInt8] {
    switch state {
    case .closed(let encoding): encoding.text
    case .open(let array): array.elements
    }
  }

  /// The visible text, as `utf8`.
  public var string: String { String(decoding: utf8, as: UTF8.self) }

  /// The number of visible bytes.
  public var count: Int {
    switch state {
    case .closed(let encoding): encoding.textRange.count
    case .open(let array): array.count
    }
  }

  /// The changes that have been seen.
  public var version: Version {
    switch state {
    case .closed: trimmed
    case .open(let array): array.version
    }
  }

  // MARK: - Editing

  /// Reads the structure, if that wasn't done yet; the first edit does it otherwise. Throws when the bytes are damaged
  /// there, and then the text can still be read.
  public mutating func open() throws(DecodingFailure) {
    if case .closed(let encoding) = state { state = .open(try encoding.decoded()) }
  }

  /// Inserts text, as one change: valid UTF-8, between scalars. Throws as `open` does, and traps as `ReplicatingText` does.
  public mutating func insert(
    _ utf8: borrowing Span<UInt8>, at offset: Int, by replica: inout Replica
  ) throws(DecodingFailure) {
    var array = try take()
    array.insertScalars(utf8, at: offset, by: &replica)
    state = .open(array)
  }

  /// Removes text, as one change: whole scalars. Throws as `open` does, and traps as `ReplicatingText` does.
  public mutating func remove(
    _ range: Range<Int>, by replica: inout Replica
  ) throws(DecodingFailure) {
    var array = try take()
    array.checkScalars(removing: range)
    array.remove(range, by: &replica)
    state = .open(array)
  }

  /// The sequence, which is here once only meanwhile, so that an edit copies nothing.
  private mutating func take() throws(DecodingFailure) -> ReplicatingArray<UInt8> {
    try open()
    guard case .open(let array) = state else { preconditionFailure("a text that is not open") }
    state = .open(ReplicatingArray())
    return array
  }

  // MARK: - Merging

  /// The changes that a replica at `version` has not seen; `nil` if some of that was forgotten.
  public func changes(since version: Version) -> ReplicatingText.Changes? {
    guard version.isSuperset(of: trimmed) else { return nil }
    switch state {
    case .closed(let encoding): return ReplicatingText.Changes(bytes: encoding.noChanges)
    case .open(let array): return ReplicatingText.Changes(bytes: array.changes(since: version))
    }
  }

  /// Joins changes, wherever they come from; all of them, or none when it throws. `.invalid` also says that the bytes of
  /// this text are damaged, as `open` does.
  public mutating func apply(_ changes: ReplicatingText.Changes) throws(RefusedChanges) {
    let array: ReplicatingArray<UInt8>
    do { array = try take() } catch { throw .invalid(InvalidChange(error.reason)) }
    var text = ReplicatingText(bytes: array)
    defer { state = .open(text.bytes) }
    try text.apply(changes)
  }

  /// Checks what must always hold; nothing before the structure was read. O(elements): for tests.
  public func checkInvariants() {
    if case .open(let array) = state { array.checkInvariants() }
  }
}

extension TrimmedText: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    switch state {
    case .closed(let encoding): writer.counted(encoding.bytes)
    case .open(let array): array.encodeTrimmed(into: &writer)
    }
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    let encoding = try TrimmedEncoding(&reader)
    trimmed = encoding.version
    state = .closed(encoding)
  }
}
