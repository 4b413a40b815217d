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
  init?(_ name: String) { self.init(name.utf8[...]) }

  /// Parses the bytes of a name, each once: a start does it for every file of the log.
  fileprivate init?(_ name: Substring.UTF8View) {
    var rest = name
    guard let segment = rest.takeDecimal(), rest.popFirst() == UInt8(ascii: "-"),
      let hash = rest.takeHexadecimal()
    else { return nil }
    self.segment = segment
    self.hash = hash
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

extension Substring.UTF8View {
  /// Takes decimal digits without needless zeros from the front; nil, and some of them are gone, for anything else.
  fileprivate mutating func takeDecimal() -> UInt32? {
    var number: UInt32 = 0
    var count = 0
    while let byte = first, (0x30...0x39).contains(byte) {
      guard count == 0 || number > 0 else { return nil }
      let (tens, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(UInt32(byte - 0x30))
      guard !overflow, !carry else { return nil }
      (number, count) = (sum, count + 1)
      removeFirst()
    }
    return count > 0 ? number : nil
  }

  /// Takes eight lower-case hexadecimal digits from the front; nil, and some of them are gone, for anything else.
  fileprivate mutating func takeHexadecimal() -> UInt32? {
    var number: UInt32 = 0
    for _ in 0..<8 {
      switch popFirst() {
      case .some(let byte) where (0x30...0x39).contains(byte):
        number = number << 4 | UInt32(byte - 0x30)
      case .some(let byte) where (0x61...0x66).contains(byte):
        number = number << 4 | UInt32(byte - 0x57)
      default: return nil
      }
    }
    return number
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
    guard let slash = key.utf8.firstIndex(of: UInt8(ascii: "/")), Identifier(key[..<slash]) != nil
    else { return nil }
    return SegmentName(key[slash...].utf8.dropFirst())
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
  static func top(_ key: String) -> String {
    key.utf8.firstIndex(of: UInt8(ascii: "/")).map { String(key[..<$0]) } ?? key
  }
}
