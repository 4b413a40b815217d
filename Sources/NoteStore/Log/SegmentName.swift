internal import ReplicatingTypes

/// The name of a complete segment: its number, the first eight digits of the hash at its end, and whether its session
/// ends there.
struct SegmentName: Equatable, CustomStringConvertible {
  var segment: UInt32
  var hash: UInt32
  /// True if the session has no records after those in this segment, and never will have.
  var endsSession: Bool

  init(segment: UInt32, end: UInt64, endsSession: Bool = false) {
    self.segment = segment
    hash = UInt32(end >> 32)
    self.endsSession = endsSession
  }

  /// Parses the name of a file; nil if it is not that of a complete segment.
  init?(_ name: String) {
    let parts = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count >= 2, let segment = UInt32(decimal: parts[0]), parts[1].count >= 8,
      parts[1].prefix(8).allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
      let hash = UInt32(Substring(parts[1].prefix(8)), radix: 16)
    else { return nil }
    self.segment = segment
    self.hash = hash
    let rest = name.utf8.dropFirst(parts[0].count + 9)
    if rest.elementsEqual(".seg".utf8) {
      endsSession = false
    } else if rest.elementsEqual("-end.seg".utf8) {
      endsSession = true
    } else {
      return nil
    }
  }

  /// True if this is the name of a complete segment with this number and this hash at its end.
  func names(_ segment: UInt32, end: UInt64) -> Bool {
    self.segment == segment && hash == UInt32(end >> 32)
  }

  var description: String {
    let digits = String(hash, radix: 16)
    let zeros = String(repeating: "0", count: 8 - digits.count)
    return "\(segment)-\(zeros)\(digits)\(endsSession ? "-end" : "").seg"
  }

  /// The end of the name of an open segment.
  static let openSuffix = ".open"

  /// The name before the segment was complete.
  var whileOpen: String { Self.whileOpen(segment) }

  /// The name of a segment that is not complete.
  static func whileOpen(_ segment: UInt32) -> String { "\(segment)\(openSuffix)" }
}

extension UInt32 {
  /// Parses decimal digits without needless zeros; nil for anything else.
  fileprivate init?(decimal digits: Substring.UTF8View) {
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }), let first = digits.first,
      first != 0x30 || digits.count == 1
    else { return nil }
    self.init(Substring(digits))
  }
}

/// The names of files in `log`.
enum LogName {
  /// True if synchronisation engines, copying programs or this program use the name for files that are not finished.
  static func isTemporary(_ name: String) -> Bool {
    name.hasPrefix(".") || name.hasPrefix("~")
      || [".tmp", ".partial", ".part", ".filepart", ".!sync"].contains { name.hasSuffix($0) }
  }

  /// Parses a path below `log` as that of a complete segment:
  /// `<32 hex>/<number>-<8 hex>.seg` or `<32 hex>/<number>-<8 hex>-end.seg`; nil if it is anything else.
  static func segment(_ key: String) -> SegmentName? {
    let parts = key.split(separator: "/")
    guard parts.count == 2, Identifier(parts[0]) != nil else { return nil }
    return SegmentName(String(parts[1]))
  }

  /// True if a path below `log` is one that this program gives to a segment, open or complete.
  static func isSegment(_ key: String) -> Bool {
    segment(key) != nil || isOpenSegment(key)
  }

  /// True if a path below `log` is one that this program gives to an open segment.
  static func isOpenSegment(_ key: String) -> Bool {
    let parts = key.utf8.split(separator: UInt8(ascii: "/"))
    guard parts.count == 2, Identifier(Substring(parts[0])) != nil,
      key.hasSuffix(SegmentName.openSuffix)
    else { return false }
    return parts[1].dropLast(5).allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The first part of a path below `log`: the name of a folder or file in `log`.
  static func top(_ key: String) -> String { String(key.prefix { $0 != "/" }) }
}
