// Times as programs write them into headers and names. Without a zone they are local.

/// By how many seconds local time is ahead of UTC, at a local time that is given as the seconds since 1970 that it would be in UTC.
public typealias LocalZone = (_ localSeconds: Int64) -> Int64

/// A time as people and programs write it, as `2026-11-23 10:00` or `2026-11-23T10:00:05Z`, in milliseconds since 1970; `nil` if the text is none.
///
/// - Parameter zone: of a time that says none.
public func writtenTime(_ text: some StringProtocol, zone: LocalZone) -> Int64? {
  FileTime.milliseconds(text, zone: zone)
}

/// Reads a time from its beginning to its end.
struct FileTime {
  private var rest: ArraySlice<UInt8>

  /// Milliseconds since 1970; `nil` if the text is no time.
  ///
  /// `2026-11-23` (also with slashes), a `T` or blanks, `10:00`, `:05`, `.123`, `Z`, `UTC` or `+01:00` (also `+0100`, `+01`, `UTC+01:00`); Org's day of the week and
  /// brackets; and without signs: `20261123`, `202611231000`, `20261123100000`, `20261123T100000`, seconds (10 digits) and milliseconds (13) since 1970.
  static func milliseconds(_ text: some StringProtocol, zone: LocalZone) -> Int64? {
    var bytes = Array(text.utf8)[...].trimmed
    guard bytes.count <= 64 else { return nil }
    // A link to the note of a day has two of them.
    while let first = bytes.first, let last = bytes.last, bytes.count > 1,
      (first, last) == (UInt8(ascii: "<"), UInt8(ascii: ">"))
        || (first, last) == (.openingBracket, .closingBracket)
    {
      bytes = bytes.dropFirst().dropLast().trimmed
    }
    var time = FileTime(rest: bytes)
    return time.read(zone)
  }

  private mutating func read(_ zone: LocalZone) -> Int64? {
    let digits = rest.prefix(while: \.isDigit).count
    if digits == rest.count, digits == 10 || digits == 13 {
      return number(digits).map { digits == 10 ? $0 * 1000 : $0 }
    }
    let isCompact = digits >= 8
    guard let year = number(4), isCompact || take("-/") != nil, let month = number(2),
      isCompact || take("-/") != nil, let day = number(2),
      let days = Self.days(year, month, day)
    else { return nil }
    var seconds = days * 86400
    var milliseconds: Int64 = 0
    var offset: Int64?
    skipWeekday()
    let hasBlanks = skipBlanks()
    if !rest.isEmpty {
      guard take("Tt") != nil || hasBlanks || isCompact else { return nil }
      let isTimeCompact = isCompact && rest.dropFirst(2).first != .colon
      guard let hour = number(2), hour < 24, isTimeCompact || take(":") != nil,
        let minute = number(2), minute < 60
      else { return nil }
      seconds += hour * 3600 + minute * 60
      if isTimeCompact ? rest.first?.isDigit == true : take(":") != nil {
        guard let second = number(2), second <= 60 else { return nil }
        seconds += second
        if take(".,") != nil {
          let fraction = rest.prefix(while: \.isDigit)
          guard !fraction.isEmpty else { return nil }
          rest = rest.dropFirst(fraction.count)
          milliseconds = Int64((fraction.text + "00").prefix(3))!
        }
      }
      _ = skipBlanks()
      if !rest.isEmpty {
        offset = readOffset()
        if offset == nil || !rest.isEmpty { return nil }
      }
    }
    return (seconds - (offset ?? min(max(zone(seconds), -86400), 86400))) * 1000 + milliseconds
  }

  private mutating func readOffset() -> Int64? {
    if take("Zz") != nil { return 0 }
    if ["utc", "gmt"].contains(rest.prefix(3).text.lowercased()) {
      rest = rest.dropFirst(3)
      if rest.isEmpty { return 0 }
    }
    guard let sign = take("+-"), let hours = number(2), hours < 24 else { return nil }
    var seconds = hours * 3600
    if !rest.isEmpty {
      _ = take(":")
      guard let minutes = number(2), minutes < 60 else { return nil }
      seconds += minutes * 60
    }
    return sign == .hyphen ? -seconds : seconds
  }

  /// Org's: ` Mon`, in any language.
  private mutating func skipWeekday() {
    let word = rest.drop(while: \.isBlank)
    let letters = word.prefix {
      $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") || $0 >= 0x80 || $0 == .dot
    }
    let behind = rest[letters.endIndex...]
    if word.count < rest.count, !letters.isEmpty, behind.isEmpty || behind.first == .space {
      rest = behind
    }
  }

  private mutating func skipBlanks() -> Bool {
    let blanks = rest.prefix(while: \.isBlank).count
    rest = rest.dropFirst(blanks)
    return blanks > 0
  }

  private mutating func number(_ count: Int) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(\.isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return Int64(digits.text)
  }

  private mutating func take(_ signs: String) -> UInt8? {
    guard let first = rest.first, signs.utf8.contains(first) else { return nil }
    rest = rest.dropFirst()
    return first
  }

  /// The days since 1970 of a day of the Gregorian calendar; `nil` if there is no such day.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64? {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths: [Int64] = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard year > 0, (1...12).contains(month), (1...lengths[Int(month) - 1]).contains(day) else {
      return nil
    }
    // Years that begin in March, so that the leap day is the last one.
    let shifted = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719468
  }
}
