internal import Bytes

/// The names of a person who makes changes and of the program that they use.
///
/// Both are one line of text without blanks around it. A name has 1 to 100 bytes, a program 1 to 40. Authors are the same if their bytes are.
public struct Author: Sendable {
  /// The name of a person, or of a process to which nobody has given one: `ana@laptop`.
  public let name: String
  /// The name of the program.
  public let program: String

  static let longestName = 100
  static let longestProgram = 40

  /// Makes an author of any two texts: blanks around them are dropped, control characters become spaces, and what is too long is cut
  /// between two characters. Nil if nothing is left of one of them. O(bytes).
  public init?(name: String, program: String) {
    self.init(
      exactly: Self.line(of: name, Self.longestName),
      Self.line(of: program, Self.longestProgram))
  }

  /// Takes two texts as they are. Nil if they are not as those of an author.
  init?(exactly name: String, _ program: String) {
    guard Self.isLine(name, Self.longestName), Self.isLine(program, Self.longestProgram) else {
      return nil
    }
    self.name = name
    self.program = program
  }

  /// True for a text that may be the name of an author as it stands: one line of at most 100 bytes, without control characters and blanks
  /// around it. O(bytes).
  public static func isName(_ text: String) -> Bool { isLine(text, longestName) }

  private static func line(of text: String, _ limit: Int) -> String {
    let rest = text.unicodeScalars.drop(while: isBlank)
    var line = ""
    for character in Substring(rest) {
      guard line.utf8.count + character.utf8.count <= limit else { break }
      line.append(character)
    }
    if line.isEmpty {
      // One character may have any number of bytes: then its first ones.
      for scalar in rest.prefix(limit) where line.utf8.count + UTF8.width(scalar) <= limit {
        line.unicodeScalars.append(scalar)
      }
    }
    var scalars = line.unicodeScalars.map { isBlank($0) ? " " : $0 }
    while scalars.last == " " { scalars.removeLast() }
    return String(String.UnicodeScalarView(scalars))
  }

  private static func isLine(_ text: String, _ limit: Int) -> Bool {
    guard (1...limit).contains(text.utf8.count) else { return false }
    let scalars = text.unicodeScalars
    return scalars.first != " " && scalars.last != " "
      && scalars.allSatisfy { $0 == " " || !isBlank($0) }
  }

  /// True for a space, for control characters, those of direction too, and for what ends lines.
  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension Author: Hashable {
  public static func == (a: Self, b: Self) -> Bool {
    hasSameBytes(a.name, b.name) && hasSameBytes(a.program, b.program)
  }

  private static func hasSameBytes(_ a: String, _ b: String) -> Bool {
    guard a.utf8.count == b.utf8.count else { return false }
    let (a, b) = (a.utf8, b.utf8)
    let bytes = a.span
    let others = b.span
    var index = 0
    while bytes.count - index >= ByteWord.size {
      if ByteWord(bytes, at: index) != ByteWord(others, at: index) { return false }
      index += ByteWord.size
    }
    while index < bytes.count {
      if bytes[index] != others[index] { return false }
      index += 1
    }
    return true
  }

  public func hash(into hasher: inout Hasher) {
    // Authors with the same bytes have the same hash, because strings with the same bytes are equal.
    hasher.combine(name)
    hasher.combine(program)
  }
}
