// The values of the model as JSON.

internal import JSONRPC
internal import NoteStore
internal import Notes
internal import ReplicatingTypes

extension JSONWriter {
  mutating func member(_ name: String, utf8: [UInt8]) {
    key(name)
    string(utf8: utf8)
  }

  mutating func summary(_ note: NoteSummary) {
    beginObject()
    member("id", "\(note.id)")
    member("title", note.title)
    member("tags", note.tags.map(\.name))
    member("priority", note.priority.name)
    member("created", iso8601(note.created))
    member("modified", iso8601(note.modified))
    member("length", note.length)
    member("trashed", note.isTrashed)
    if !note.path.isEmpty { member("path", note.path) }
    endObject()
  }

  mutating func author(_ author: Author) {
    key("author")
    beginObject()
    member("name", author.name)
    member("program", author.program)
    endObject()
  }

  mutating func range(_ start: TextPosition, _ end: TextPosition) {
    beginObject()
    key("start")
    position(start)
    key("end")
    position(end)
    endObject()
  }

  private mutating func position(_ position: TextPosition) {
    beginObject()
    member("line", position.line)
    member("character", position.character)
    endObject()
  }
}

/// A time as ISO 8601 in UTC with milliseconds. Years outside 0 to 9999 are written as the nearest of them.
func iso8601(_ milliseconds: Int64) -> String {
  let clamped = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
  let (days, rest) = (clamped.dividedFloor(by: 86_400_000), clamped.moduloFloor(86_400_000))
  // The civil calendar, counted from 1 March 0000, so that the leap day ends a year.
  let shifted = days + 719_468
  let era = shifted.dividedFloor(by: 146_097)
  let dayOfEra = shifted - era * 146_097
  let yearOfEra =
    (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let month = (5 * dayOfYear + 2) / 153
  let day = dayOfYear - (153 * month + 2) / 5 + 1
  let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
  func digits(_ number: Int64, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
  return "\(digits(year, 4))-\(digits(month < 10 ? month + 3 : month - 9, 2))-\(digits(day, 2))T"
    + "\(digits(rest / 3_600_000, 2)):\(digits(rest / 60_000 % 60, 2)):"
    + "\(digits(rest / 1000 % 60, 2)).\(digits(rest % 1000, 3))Z"
}

extension Int64 {
  fileprivate func dividedFloor(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }

  fileprivate func moduloFloor(_ divisor: Int64) -> Int64 {
    let rest = self % divisor
    return rest < 0 ? rest + divisor : rest
  }
}
