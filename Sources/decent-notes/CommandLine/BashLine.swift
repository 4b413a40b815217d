/// A command line of bash up to the cursor, taken apart as bash does it: at spaces, without quotes and backslashes.
struct BashLine {
  /// What a quote has begun that is not ended.
  enum Quote { case none, single, double }

  /// The words without their quotes. The last one is that at the cursor, and may be empty.
  private(set) var words: [String] = []
  /// The last word as it is written.
  private(set) var written = ""
  /// The quote that the last word is in.
  private(set) var quote = Quote.none

  /// - Complexity: O(line).
  init(_ line: String) {
    var word: String?
    var isEscaped = false
    for sign in line.unicodeScalars {
      if quote == .none, !isEscaped, sign == " " || sign == "\t" || sign == "\n" {
        if let word { words.append(word) }
        (word, written) = (nil, "")
        continue
      }
      written.unicodeScalars.append(sign)
      word = word ?? ""
      if isEscaped {
        // In double quotes a backslash before most signs is one.
        if quote == .double, !Self.special.contains(sign) { word!.unicodeScalars.append("\\") }
        word!.unicodeScalars.append(sign)
        isEscaped = false
      } else if sign == "\\", quote != .single {
        isEscaped = true
      } else if sign == "'", quote != .double {
        quote = quote == .single ? .none : .single
      } else if sign == "\"", quote != .single {
        quote = quote == .double ? .none : .double
      } else {
        word!.unicodeScalars.append(sign)
      }
    }
    words.append(word ?? "")
    // Variables are set before the program's name.
    words = Array(words.drop { $0.contains("=") && !$0.hasPrefix("-") && !$0.contains("/") })
  }

  /// The signs that mean something in double quotes, and nothing behind a backslash.
  private static let special: Set<Unicode.Scalar> = ["\"", "\\", "$", "`"]

  /// A word as it is written inside the quote.
  static func quoted(_ word: String, in quote: Quote) -> String {
    var text = ""
    for sign in word.unicodeScalars {
      switch quote {
      case .single:
        if sign == "'" { text += "'\\'" }
      case .double:
        // The history of the shell, for which a backslash does not help.
        if sign == "!" {
          text += "\"'!'\""
          continue
        }
        if special.contains(sign) { text += "\\" }
      case .none:
        let isPlain =
          sign.properties.isAlphabetic || sign.properties.numericType != nil
          || "-_./:=,+@%".unicodeScalars.contains(sign) || sign.value >= 0x80
        if !isPlain { text += "\\" }
      }
      text.unicodeScalars.append(sign)
    }
    return text
  }
}

/// How words are written for bash, which replaces a part of the last word of a line.
struct Quoting {
  private let quote: BashLine.Quote
  /// What stays of the last word in front of the part that is replaced.
  private let kept: String

  /// - Parameter replaced: the part that bash replaces.
  init(_ line: BashLine, replaced: String) {
    quote = line.quote
    var kept = line.written
    // The quote itself stays, whether bash tells it with the part or not.
    if quote != .none { kept = String(kept.dropFirst()) }
    let replaced =
      quote != .none && (replaced.hasPrefix("\"") || replaced.hasPrefix("'"))
      ? String(replaced.dropFirst()) : replaced
    self.kept = kept.hasSuffix(replaced) ? String(kept.dropLast(replaced.count)) : ""
  }

  /// What to put in the place of the part for this word; nil if the word does not go on with what stays.
  func quoted(_ word: String) -> String? {
    let text = BashLine.quoted(word, in: quote)
    return text.hasPrefix(kept) ? String(text.dropFirst(kept.count)) : nil
  }
}
