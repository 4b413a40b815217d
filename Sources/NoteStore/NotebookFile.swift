internal import ReplicatingTypes

/// `decent.json`: marks a folder as a notebook, and holds the version of its format and its identity.
///
///     {"format":"Decent Notes","version":1,"notebook":"<32 hex>"}
///
/// Written once and never changed. Members that are not known are ignored, so that a later version of
/// the program may add some; a format that this version must not read has a greater `version`. Builds from before the first release wrote
/// another `format`: neither reads a folder of the other.
///
/// Two machines may each write one before they meet. A synchronisation engine then keeps one of them under another name
/// (`decent.sync-conflict-….json`, `decent (conflicted copy).json`, `decent.json.1`): both identities are the notebook's.
/// When two notebooks are made one, `decent-<32 hex>.json` names the identity of the other one.
enum NotebookFile {
  static let name = "decent.json"
  private static let format = "Decent Notes"
  /// The name of the file that adds another identity to the notebook.
  static func name(besides identity: Identifier) -> String { "decent-\(identity).json" }
  static let version: UInt64 = 1
  /// The most bytes that the file may have: a longer one is not read.
  static let maximumSize = 65_536

  static func encoded(_ notebook: Identifier) -> [UInt8] {
    Array(
      "{\"format\":\"\(format)\",\"version\":\(version),\"notebook\":\"\(notebook.description)\"}\n"
        .utf8
    )
  }

  /// The identities in `decent.json` and its copies in `folder`, none if there is no such file; and the reasons why copies could not be read.
  ///
  /// - Throws: `newerFormat`, `otherFormat`, `damaged`, or the system's error about the folder or `decent.json`.
  static func readAll(
    in folder: borrowing FileDescriptor
  ) throws(StoreError) -> (Set<Identifier>, unreadable: [StoreError]) {
    var found: Set<Identifier> = []
    var unreadable: [StoreError] = []
    if let identity = try read(in: folder) { found.insert(identity) }
    for copy in try folder.names() where isCopyName(copy) {
      do { if let identity = try read(copy, in: folder) { found.insert(identity) } } catch {
        // A notebook of a later version must not be touched. A file of another kind may have such a name.
        if error.isOfOtherVersion { throw error }
        if error.reason != .damaged, error.reason != .notFound { unreadable.append(error) }
      }
    }
    return (found, unreadable)
  }

  /// True if a synchronisation engine might give this name to a version of the file.
  static func isCopyName(_ name: String) -> Bool {
    name != Self.name && name.hasPrefix("decent") && name.contains("json")
      && !LogName.isTemporary(name)
  }

  /// The identity in the file `name` in `folder`; nil if there is no such file.
  ///
  /// - Throws: `newerFormat`, `otherFormat`, `damaged`, or the system's error.
  static func read(
    _ name: String = name, in folder: borrowing FileDescriptor
  ) throws(StoreError) -> Identifier? {
    let path = "\(folder.path)/\(name)"
    guard try folder.status(of: name) != nil else { return nil }
    func damaged(_ detail: String) -> StoreError {
      StoreError(operation: "read", path: path, reason: .damaged, detail: detail)
    }
    guard let file = try folder.regularFile(name) else { throw damaged("not a regular file") }
    let size = try file.status().size
    guard size <= UInt64(maximumSize) else { throw damaged("too long") }
    let bytes = try file.read(Int(size), at: 0)
    var parser = Parser(rest: bytes[...])
    guard let members = parser.members() else { throw damaged("not the JSON object it should be") }
    guard let format = members.format else { throw damaged("no format") }
    guard format == Self.format else {
      throw StoreError(
        operation: "open", path: path, reason: .otherFormat,
        detail:
          "a folder of the format “\(format)”, which this version of the program does not read")
    }
    guard let version = members.version else { throw damaged("no version") }
    guard version <= Self.version else {
      throw StoreError(
        operation: "open", path: path, reason: .newerFormat,
        detail: "written by a later version of the program (format \(version))")
    }
    guard version == Self.version else { throw damaged("no version \(version) exists") }
    guard let text = members.notebook, let notebook = Identifier(text) else {
      throw damaged("no notebook identity")
    }
    return notebook
  }

  struct Members {
    var format: String?
    var version: UInt64?
    var notebook: String?
  }

  /// A parser for three members of a JSON object. Nesting is counted, not recursed.
  struct Parser {
    var rest: ArraySlice<UInt8>

    /// The members of the one object in the text; nil if it is anything else.
    mutating func members() -> Members? {
      var members = Members()
      skipSpace()
      guard take("{") else { return nil }
      skipSpace()
      if !take("}") {
        repeat {
          skipSpace()
          guard let key = string() else { return nil }
          skipSpace()
          guard take(":") else { return nil }
          skipSpace()
          switch key {
          case "format":
            guard members.format == nil, let value = string() else { return nil }
            members.format = value
          case "version":
            guard members.version == nil, let value = integer() else { return nil }
            members.version = value
          case "notebook":
            guard members.notebook == nil, let value = string() else { return nil }
            members.notebook = value
          default:
            guard skipValue() else { return nil }
          }
          skipSpace()
        } while take(",")
        guard take("}") else { return nil }
      }
      skipSpace()
      return rest.isEmpty ? members : nil
    }

    private mutating func skipSpace() {
      rest = rest.drop { $0 == 0x20 || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard let first = rest.first, first == UInt8(ascii: character) else { return false }
      rest = rest.dropFirst()
      return true
    }

    /// A string. Escapes are kept as they are, because no value of this file contains any.
    private mutating func string() -> String? {
      guard take("\"") else { return nil }
      var at = rest.startIndex
      while at < rest.endIndex, rest[at] != UInt8(ascii: "\"") {
        guard rest[at] >= 0x20 else { return nil }
        at += rest[at] == UInt8(ascii: "\\") ? 2 : 1
      }
      guard at < rest.endIndex else { return nil }
      guard let text = String(validating: rest[..<at], as: UTF8.self) else { return nil }
      rest = rest[(at + 1)...]
      return text
    }

    /// A number without sign, fraction and exponent. One that is too large is `UInt64.max`, which counts as a later version
    /// all the same.
    private mutating func integer() -> UInt64? {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard let first = digits.first, first != 0x30 || digits.count == 1 else { return nil }
      rest = rest[digits.endIndex...]
      if let next = rest.first, [0x2e, 0x65, 0x45].contains(next) { return nil }
      return UInt64(String(decoding: digits, as: UTF8.self)) ?? .max
    }

    /// Skips a value, whose end follows from brackets and strings.
    private mutating func skipValue() -> Bool {
      var depth = 0
      repeat {
        skipSpace()
        guard let byte = rest.first else { return false }
        switch byte {
        case UInt8(ascii: "\""):
          guard string() != nil else { return false }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
          depth += 1
          rest = rest.dropFirst()
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          depth -= 1
          guard depth >= 0 else { return false }
          rest = rest.dropFirst()
        case UInt8(ascii: ","), UInt8(ascii: ":"):
          guard depth > 0 else { return false }
          rest = rest.dropFirst()
        case 0x2b, 0x2d, 0x2e, 0x30...0x39, 0x41...0x5a, 0x61...0x7a:
          rest = rest.drop { byte in
            switch byte {
            case 0x2b, 0x2d, 0x2e, 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
            default: false
            }
          }
        default: return false
        }
      } while depth > 0
      return true
    }
  }
}
