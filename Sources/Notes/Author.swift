/// The names of a person who makes changes and of the program that they use.
///
/// Both are one line of text without blanks around it. A name has 1 to 100 bytes, a program 1 to 40. Authors are the same if their bytes are.
///
/// They are kept as bytes: two authors made of one are the same array, which is told without a look at the bytes.
public struct Author: Hashable, Sendable {
  /// The name, a line feed and the program, in UTF-8: as a change holds them.
  let utf8: [UInt8]
  private let nameSize: Int

  /// The name of a person, or of a process to which nobody has given one: `ana@laptop`.
  public var name: String { String(decoding: utf8[..<nameSize], as: UTF8.self) }
  /// The name of the program.
  public var program: String { String(decoding: utf8[(nameSize + 1)...], as: UTF8.self) }

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
    utf8 = Array("\(name)\n\(program)".utf8)
    nameSize = name.utf8.count
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
