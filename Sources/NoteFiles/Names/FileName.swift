/// The name of the file of a note that has none of its own.
public enum FileName {
  /// The most bytes of a name.
  public static let longest = 200
  /// What all such names end with, whatever the title.
  public static let suffix = ".md"

  /// The name for a title.
  ///
  /// The title composed (NFC); with `-` for each of `/ \ : * ? " < > | # ^ [ ]` and each control character; without dots and blanks at
  /// its ends, `untitled` if nothing is left; behind `_` if Windows takes it for a device; and with a number in parentheses
  /// from 2 on. At most `longest` bytes, cut between characters.
  ///
  /// - Complexity: O(n).
  public static func of(title: String, number: Int = 1) -> String {
    let end = (number > 1 ? " (\(number))" : "") + suffix
    let stem = replaced(title.composed)
    // One byte is left for the sign before a device.
    var cut = trimmed(stem.cut(toBytes: longest - end.utf8.count - 1))
    if cut.isEmpty { cut = "untitled" }
    return (isDevice(cut) ? "_" : "") + cut + end
  }

  private static let signs: Set<Unicode.Scalar> = Set("/\\:*?\"<>|#^[]".unicodeScalars)

  private static func replaced(_ title: String) -> String {
    var name = String.UnicodeScalarView()
    for scalar in title.unicodeScalars {
      let isControl = scalar.properties.generalCategory == .control
      let isBreak = scalar.value == 0x2028 || scalar.value == 0x2029
      name.append(isControl || isBreak || signs.contains(scalar) ? "-" : scalar)
    }
    // The mark of a synchronisation engine, whose files are left alone.
    return trimmed(String(name).replacing(IgnoredNames.conflictMark, with: "-sync-conflict-"))
  }

  private static func trimmed(_ name: String) -> String {
    let isEnd = { (scalar: Unicode.Scalar) in scalar == "." || scalar.properties.isWhitespace }
    var scalars = name.unicodeScalars.drop(while: isEnd)
    while let last = scalars.last, isEnd(last) { scalars.removeLast() }
    return String(scalars)
  }

  /// True for the names of Windows' devices, also with an end behind them: `nul`, `COM¹.txt`.
  private static func isDevice(_ name: String) -> Bool {
    let base = name.prefix { $0 != "." }.lowercased()
    let word = trimmed(base)
    if ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(word) { return true }
    guard word.hasPrefix("com") || word.hasPrefix("lpt"), word.count == 4 else { return false }
    return "0123456789¹²³".contains(word.last!)
  }
}

extension String {
  /// As many characters as have so many bytes; of a first one that has more, as many scalars.
  func cut(toBytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    let end = utf8.index(startIndex, offsetBy: limit)
    var index = unicodeScalars.startIndex
    while true {
      let next = unicodeScalars.index(after: index)
      if next > end { break }
      index = next
    }
    let scalarEnd = index
    while index > startIndex, !isCharacterBoundary(index) {
      index = unicodeScalars.index(before: index)
    }
    return String(self[..<(index > startIndex ? index : scalarEnd)])
  }

  private func isCharacterBoundary(_ index: Index) -> Bool { Index(index, within: self) != nil }
}
