import Foundation
import Testing

/// The stored properties of types that other files can see, found in source text.
///
/// It relies on the layout that `swift format` gives to sources, which another test checks: a declaration begins a line.
/// Counted are `let` and `var` in the body of a struct, class or actor that are not `private`, `fileprivate`, `static` or
/// computed, unless the type itself is private.
private struct VisibleProperties {
  /// The names of the properties, by those of their types.
  private(set) var names: [String: [String]] = [:]
  /// What the open braces belong to: a type whose properties count, or anything else.
  private var scopes: [String?] = []

  mutating func read(_ source: String) {
    let declaration =
      #/\s*(?<modifiers>(@?\w+(\([a-z]+\))?\s+)*?)(?<kind>struct|class|actor|enum|extension|protocol|func|init|var|let)\b\s*(?<name>[\w.]*)(?<rest>.*)/#
    scopes = []
    var type: String?
    let lines = Self.code(of: source).split(separator: "\n")
    for (index, line) in lines.enumerated() {
      if let match = line.wholeMatch(of: declaration) {
        let modifiers = match.modifiers.split(separator: " ")
        let isPrivate = modifiers.contains("private") || modifiers.contains("fileprivate")
        switch match.kind {
        case "var", "let":
          let isStored = match.kind == "let" || !Self.isComputed(match.rest, lines[index + 1])
          if let type = scopes.last ?? nil, isStored, !isPrivate, !modifiers.contains("static") {
            names[type, default: []] += Self.names(match.name, match.rest)
          }
        case "struct", "class", "actor":
          guard !isPrivate else { break }
          type = ((scopes.last ?? nil).map { "\($0)." } ?? "") + match.name
          names[type!, default: []] += []
        default: type = nil
        }
      }
      for character in line {
        if character == "{" {
          scopes.append(type)
          type = nil
        } else if character == "}" {
          scopes.removeLast()
        }
      }
    }
  }

  /// The source without comments and without what is in string literals.
  private static func code(of source: String) -> String {
    source.replacing(#/"""(?s:.)*?"""|"(\\.|[^"\\\n])*"|//.*/#) {
      $0.output.0.hasPrefix("/") ? "" : "\"\""
    }
  }

  /// Whether an accessor follows the name of a variable: a brace before any equals sign, with no observer behind it.
  private static func isComputed(_ rest: Substring, _ next: Substring) -> Bool {
    guard let brace = rest.firstIndex(of: "{"), !rest[..<brace].contains("=") else { return false }
    let body = (String(rest[brace...].dropFirst()) + next).drop { $0 == " " }
    return !body.hasPrefix("didSet") && !body.hasPrefix("willSet")
  }

  /// The first name of a declaration, and those behind commas that are in no brackets.
  private static func names(_ first: Substring, _ rest: Substring) -> [String] {
    var names = [String(first)]
    var depth = 0
    for (index, character) in zip(rest.indices, rest) {
      switch character {
      case "(", "[", "<", "{": depth += 1
      case ">" where rest[..<index].hasSuffix("-"): break
      case ")", "]", ">", "}": depth -= 1
      case "," where depth == 0:
        names.append(String(rest[index...].dropFirst().drop { $0 == " " }.prefix { $0.isLetter }))
      default: break
      }
    }
    return names
  }
}

@Suite struct `The structure of NoteStore` {
  /// A type that shows other files more than this has no state of its own.
  static let most = 12

  @Test func `no type shows other files more than 12 stored properties`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/NoteStore")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)!
      .compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    var found = VisibleProperties()
    for file in files { found.read(try String(contentsOf: file, encoding: .utf8)) }
    for (type, names) in found.names {
      #expect(names.count <= Self.most, "\(type): \(names)")
    }
    // It has seen what there is.
    #expect(found.names["FileStatus"]?.count == 7)
    #expect(found.names["LogFolder"]?.contains("writer") == true)
    #expect(found.names["NoteStore"]?.contains("folder") == true)
    #expect(found.names.count > 50)
  }

  @Test func `properties are counted as other files see them`() {
    var found = VisibleProperties()
    found.read(
      #"""
      public final class Wide {
        let a: Int  // not b: Int
        public var b = 0, c: [Int: (Int, Int)] = [:], d: (Int) -> Array<Int>
        private(set) var e = "{"
        lazy var f: Int = { 1 }()
        var g: Int? {
          didSet { e = "" }
        }
        private var hidden = 1
        fileprivate let alsoHidden: Int
        static let shared = Wide()
        var computed: Int { 2 }
        var alsoComputed: Int {
          let local = 3
          return local
        }
        /// let comment = 1
        func method() {
          let local = 4
        }

        struct Nested {
          weak var h: Wide?
        }
        private struct Hidden {
          var i = 0
        }
        nonisolated(unsafe) var j = 0
        enum Kind { case k }
        unowned let l: Wide
        let m: Int
        let n: Int
        let o: Int
        let p: Int
        let q: Int
      }
      extension Wide {
        var r: Int { 5 }
      }
      protocol Shape {
        var s: Int { get }
      }
      """#)
    #expect(found.names["Wide"]!.count > Self.most)
    #expect(found.names["Wide"]?.joined() == "abcdefgjlmnopq", "a planted violation")
    #expect(found.names["Wide.Nested"] == ["h"])
    #expect(found.names.count == 2)
  }
}
