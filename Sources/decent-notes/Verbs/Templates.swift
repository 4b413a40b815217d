internal import JSONRPC

// Templates are notes with the tag `template`, with places for the title, the date and the time of the note that is made of one.

/// What a new note has besides its title.
struct NoteContent {
  var text = ""
  var tags: [String] = []
  var priority = "normal"
}

/// The tag of templates.
let templateTag = "template"

extension LocalNotebook {
  /// Makes a note; returns its summary.
  ///
  /// - Parameter isNamedByTitle: true for a note that machines which have not met make alike.
  func make(
    _ title: String, _ content: NoteContent, namedByTitle isNamedByTitle: Bool = false
  ) throws(CommandFailure) -> JSONValue {
    let result = try request("note/create") {
      $0.member("title", title)
      $0.member("text", content.text)
      $0.member("tags", content.tags)
      $0.member("priority", content.priority)
      if isNamedByTitle { $0.member("titleAsIdentity", true) }
    }
    guard let note = result["note"] else { throw CommandFailure("note/create: there is no note") }
    return note
  }

  /// The summary of the template that goes by a name.
  func template(named name: String) throws(CommandFailure) -> JSONValue {
    try note(named: name, tags: [templateTag])
  }

  /// What a note made of a template has: its text with the places filled, its other tags and its priority.
  func content(
    ofTemplate template: JSONValue, title: String, at time: LocalTime
  ) throws(CommandFailure) -> NoteContent {
    let text = try request("note/get") { $0.member("id", template.id) }["text"]?.string ?? ""
    return NoteContent(
      text: filled(text, ["title": title, "date": time.date, "time": time.time, "cursor": ""]),
      tags: template.tags.filter { $0 != templateTag },
      priority: template["priority"]?.string ?? "normal")
  }
}

/// A text in which `{{name}}` is replaced by the value of that name. What a value brings is not looked at again, and what is no place stays.
/// O(text).
func filled(_ text: String, _ values: [String: String]) -> String {
  let places = values.map { (name: Array("{{\($0.key)}}".utf8), value: $0.value) }
  var bytes: [UInt8] = []
  var rest = Array(text.utf8)[...]
  while let first = rest.first {
    if first == UInt8(ascii: "{"), let place = places.first(where: { rest.starts(with: $0.name) }) {
      bytes += place.value.utf8
      rest = rest.dropFirst(place.name.count)
    } else {
      bytes.append(first)
      rest = rest.dropFirst()
    }
  }
  return String(decoding: bytes, as: UTF8.self)
}
