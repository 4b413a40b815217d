internal import NotesServer

/// What an argument or an option takes: what is checked before anything is done, and what completions offer.
enum ValueKind: Equatable {
  /// Anything, also nothing.
  case any
  case filled
  /// Text, or `-` for standard input.
  case text
  case title
  case note
  case trashedNote
  case template
  /// A tag that any note has, or one of the note that is named before.
  case tag, tagOfNote
  case file
  case folder
  case peer
  case method
  case verb
  case word([String])
  case number(ClosedRange<Int>)
  case seed
  /// A time in days, hours or minutes.
  case age
  /// A time in seconds, minutes or hours, to be repeated after.
  case interval
  case date
  /// A moment: how long ago, a day, or a day and a time of day.
  case moment

  /// What a value that can't be used must be; nil for one that can.
  func complaint(_ text: String) -> String? {
    switch self {
    case .any, .text, .title, .note, .trashedNote, .template, .tag, .tagOfNote, .method, .verb: nil
    case .filled: text.isEmpty ? "must not be empty" : nil
    case .file: text.isEmpty ? "must name a file or a folder" : nil
    case .folder: text.isEmpty ? "must name a folder" : nil
    case .peer:
      PeerAddress(text) == nil ? "must be a folder, a command, or rclone:REMOTE:PATH" : nil
    case .word(let words):
      words.contains(text)
        ? nil : "must be \(words.dropLast().joined(separator: ", ")) or \(words.last!)"
    case .number(let range):
      Int(text).map(range.contains) == true
        ? nil : "must be a number from \(range.lowerBound) to \(range.upperBound)"
    case .seed: UInt64(text) == nil ? "must be a number" : nil
    case .age:
      Self.age(text) == nil ? "must be a time of days, hours or minutes, as 30d or 12h" : nil
    case .interval:
      Self.interval(text) == nil ? "must be a time from 1s to 24h, as 30s, 5m or 1h" : nil
    case .date:
      WrittenDate(text) == nil
        ? "must be today, yesterday, tomorrow, or a day as 2026-11-24" : nil
    case .moment:
      Self.age(text) == nil && WrittenDate(text) == nil
        && !NotesServer.isTime(text)
        ? "must be how long ago, as 2h, a day, as today, or a time, as 2026-11-24T09:30" : nil
    }
  }

  /// A time in days, hours or minutes, as `30d`, in milliseconds; at most a million of them.
  static func age(_ text: String) -> Int64? {
    let units: [Character: Int64] = ["m": 60_000, "h": 3_600_000, "d": 86_400_000]
    guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()),
      (0...1_000_000).contains(number)
    else { return nil }
    return number * unit
  }

  /// A time in seconds, minutes or hours, as `30s`; `s` may be left out.
  static func interval(_ text: String) -> Duration? {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600]
    let unit = text.last.flatMap { units[$0] }
    guard let number = Int(unit == nil ? text[...] : text.dropLast()), number > 0,
      number <= 86_400
    else { return nil }
    let seconds = number * (unit ?? 1)
    return seconds <= 86_400 ? .seconds(seconds) : nil
  }
}

/// A day as a user writes it.
enum WrittenDate: Equatable {
  /// A number of days after the present one.
  case fromToday(Int)
  /// A day of the calendar.
  case day(year: Int, month: Int, day: Int)

  /// The words for days near the present one.
  static let words = ["today": 0, "yesterday": -1, "tomorrow": 1]

  /// Reads `today`, `yesterday`, `tomorrow`, or a day as `2026-11-24`; nil for anything else, and for days that no month has.
  init?(_ text: String) {
    if let days = Self.words[text] {
      self = .fromToday(days)
      return
    }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2],
      parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]),
      (1...12).contains(month), day >= 1, day <= Self.days(ofMonth: month, in: year)
    else { return nil }
    self = .day(year: year, month: month, day: day)
  }

  private static func days(ofMonth month: Int, in year: Int) -> Int {
    let isLeap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }
}
