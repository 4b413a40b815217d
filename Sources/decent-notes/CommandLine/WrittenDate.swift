/// A day as a user writes it.
enum WrittenDate: Equatable {
  /// So many days after the present one.
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
