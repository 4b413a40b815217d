#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A moment by the clock on the wall.
struct LocalTime {
  /// As `2026-11-24`.
  let date: String
  /// As `09:05`.
  let time: String

  /// - Parameter milliseconds: since 1970.
  init(_ milliseconds: Int64) {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    localtime_r(&seconds, &parts)
    self.init(parts)
  }

  /// The day as it was written, at the time of day of a moment.
  init(_ date: WrittenDate, now: Int64) {
    let present = LocalTime(now)
    time = present.time
    switch date {
    case .day(let year, let month, let day):
      self.date = Self.date(year, month, day)
    case .fromToday(let days):
      var seconds = time_t(now / 1000)
      var parts = tm()
      localtime_r(&seconds, &parts)
      // At noon: no change to or from summer time makes another day of it.
      (parts.tm_hour, parts.tm_isdst) = (12, -1)
      parts.tm_mday += Int32(days)
      _ = mktime(&parts)
      self.date = LocalTime(parts).date
    }
  }

  private init(_ parts: tm) {
    date = Self.date(Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
    time = "\(Self.digits(Int(parts.tm_hour), 2)):\(Self.digits(Int(parts.tm_min), 2))"
  }

  private static func date(_ year: Int, _ month: Int, _ day: Int) -> String {
    "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
  }

  private static func digits(_ number: Int, _ count: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }
}
