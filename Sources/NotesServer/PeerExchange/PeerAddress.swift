/// The address of a peer, as `notebook/sync` and the command line take it.
public enum PeerAddress: Equatable, Sendable {
  /// `rclone:remote:path`: a folder of a remote that rclone knows.
  case rclone(String)
  /// A folder, or a program with its arguments that speaks the protocol on its standard input and output. Only the file system can
  /// say which of the two: `words` is the address as a command, the string the address as a path.
  case folderOrCommand(String, words: [String])

  private static let longest = 4096

  /// True if the address means a store of files, which no process serves.
  static func isStore(_ text: String) -> Bool { text.hasPrefix("rclone:") }

  /// - Returns: nil for text that cannot be an address: it is empty or too long, has a quotation without an end, or the like.
  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.count <= Self.longest, !text.utf8.contains(0) else { return nil }
    if text.hasPrefix("rclone:") {
      let remote = text.dropFirst("rclone:".count)
      // rclone would take it for an option.
      guard !remote.isEmpty, !remote.hasPrefix("-") else { return nil }
      self = .rclone(String(remote))
      return
    }
    guard let words = Self.words(of: text), words.first?.isEmpty == false else { return nil }
    self = .folderOrCommand(text, words: words)
  }

  /// The words of a command, with the quotations of a shell and nothing else of it: `'…'`, `"…"` with `\"` and `\\`, and `\` before
  /// any character.
  static func words(of text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = text[...]
    while let character = rest.popFirst() {
      switch (character, quote) {
      case ("\\", nil):
        guard let next = rest.popFirst() else { return nil }
        word = (word ?? "") + String(next)
      case ("\\", "\""?) where rest.first == "\"" || rest.first == "\\":
        word = (word ?? "") + String(rest.removeFirst())
      case (_, let open?):
        if character == open { quote = nil } else { word?.append(character) }
      case ("'", nil), ("\"", nil):
        quote = character
        word = word ?? ""
      case (" ", nil), ("\t", nil), ("\n", nil):
        if let word { words.append(word) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    guard quote == nil else { return nil }
    if let word { words.append(word) }
    return words
  }
}
