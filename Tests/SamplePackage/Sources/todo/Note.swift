import ReplicatingTypes

enum Priority: UInt8, Sendable {
  case low, normal, high
}

extension Priority: BinaryCodable {
  func encode(into writer: inout ByteWriter) { writer.byte(rawValue) }

  init(from reader: inout ByteReader) throws(DecodingFailure) {
    guard let priority = Priority(rawValue: try reader.byte()) else {
      throw reader.failure("an unknown priority")
    }
    self = priority
  }
}

struct Note: Composed, Identifiable {
  @Constant var id = Identifier(high: 0, low: 0)
  @Constant var created: Int64 = 0
  var title = ReplicatingRegister("")
  var text = ReplicatingText()
  var tags = ReplicatingSet<String>()
  var priority = ReplicatingRegister(Priority.normal)

  static var parts: some PartsOf<Self> {
    Composition(\Self._id, \._created, \.title, \.text, \.tags, \.priority)
  }
}

/// The first session of the tutorial.
func showNote() throws {
  var alice = Replica(id: .random())
  var bob = Replica(id: .random())
  var mine = Note(id: .random(), created: 1_767_225_600_000)
  mine.text.insert("Milk\n".utf8.span, at: 0, by: &alice)

  var theirs = try Note(encoded: mine.encoded())
  theirs.title.assign("Shopping", at: 1_767_225_660_000, by: &bob)
  mine.tags.insert("home", by: &alice)

  let sent = theirs.changes(since: mine.version).encoded()
  try mine.apply(Note.Changes(encoded: sent))
  try theirs.apply(mine.changes(since: theirs.version))
  print(mine == theirs, mine.title.value, mine.text.string, mine.tags.values)
}

extension Identifier {
  static func random() -> Identifier {
    Identifier(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
  }
}
