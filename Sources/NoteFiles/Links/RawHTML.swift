internal import Bytes

/// The parts of HTML in Markdown whose content is as it stands: comments and `<pre>`.
enum RawHTML: CaseIterable {
  case comment, pre

  /// The kind of part that a text begins with, at `<`; nil if it begins with none.
  init?(beginning text: ArraySlice<UInt8>) {
    if text.starts(with: "<!--".utf8) {
      self = .comment
    } else if text.prefix(4).elementsEqual("<pre".utf8, by: { $0.lowered == $1 }),
      text.dropFirst(4).first.map({ $0 <= 0x20 || $0 == .greater }) ?? true
    {
      self = .pre
    } else {
      return nil
    }
  }

  private var end: String { self == .comment ? "-->" : "</pre>" }

  /// Where the part ends of which a text has a piece: behind its end; nil if it does not end there. O(n).
  func end(in text: ArraySlice<UInt8>) -> Int? {
    let end = Array(end.utf8)
    guard text.count >= end.count else { return nil }
    return (text.startIndex...text.endIndex - end.count).first { index in
      text[index] == end[0]
        && text[index..<index + end.count].elementsEqual(end) { $0.lowered == $1 }
    }.map { $0 + end.count }
  }

  /// Where the part ends that a text begins with; nil if it does not end there. O(n).
  func end(of text: ArraySlice<UInt8>) -> Int? { end(in: text.dropFirst(4)) }
}

extension UInt8 {
  static let less = UInt8(ascii: "<")
  static let greater = UInt8(ascii: ">")

  fileprivate var lowered: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}
