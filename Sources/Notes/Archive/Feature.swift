internal import Bytes

/// Keys by which notes are found beside their words and their tags, made by a module that knows what a link is.
///
/// An archive keeps, of each note, that it has its keys. So the notes with one key are found without a look at the others.
public struct NoteKeys: Sendable {
  /// The name of this way of making keys; an archive that was written with another one is not asked for these. 0: there are none.
  public let format: UInt64
  /// The keys of a note that says this. Names that mean the same have the same key, in each process of this machine.
  let keys: @Sendable (NoteContent) -> [UInt64]

  /// A way of making keys, with a name that no other way has.
  public init(format: UInt64, _ keys: @escaping @Sendable (NoteContent) -> [UInt64]) {
    self.format = format
    self.keys = keys
  }

  /// No keys.
  public static let none = NoteKeys(format: 0) { _ in [] }
}

/// Something that a note may have, as a few places among 2^15 bits: those that a signature has if the note has the feature.
///
/// - Three bytes that stand together in the folded title or text: one place, since a word that is looked for has several.
/// - A title, a tag, and a key of `NoteKeys`: six places, so that hardly any other note has all of them.
struct Feature: Equatable, Sendable {
  /// A signature has so many bits before it is made shorter, as a power of two.
  static let longest = 15

  let places: [UInt16]

  /// Three bytes that stand together, the first the lowest.
  @inline(__always)
  static func place(ofTrigram bytes: UInt32) -> UInt16 {
    UInt16(truncatingIfNeeded: (UInt64(bytes) &* 0x9E37_79B9_7F4A_7C15) &>> 49)
  }

  private init(places: [UInt16]) { self.places = places }

  /// A key of `NoteKeys`.
  init(key: UInt64) {
    // The numbers that a generator gives which begins with the key: splitmix64 (Steele, Lea and Flood 2014).
    places = (1...6).map { round in
      var bits = key &+ UInt64(round) &* 0x9E37_79B9_7F4A_7C15
      bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
      bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
      return UInt16(truncatingIfNeeded: (bits ^ bits >> 31) >> 49)
    }
  }

  /// The trigrams of a text that is looked for: of very many the first, which are enough.
  static func trigrams(of folded: [UInt8]) -> [Feature] {
    guard folded.count >= 3 else { return [] }
    return folded.indices.dropLast(2).prefix(48).map { index in
      let bytes = UInt32(folded[index]) | UInt32(folded[index + 1]) << 8
      return Feature(places: [place(ofTrigram: bytes | UInt32(folded[index + 2]) << 16)])
    }
  }

  /// A tag by its folded name.
  init(tagFolded name: some Sequence<UInt8>) { self.init(name, 0) }

  /// A title, to the byte.
  init(title: some Sequence<UInt8>) { self.init(title, 1) }

  /// - Parameter kind: told apart from all others by it.
  private init(_ name: some Sequence<UInt8>, _ kind: UInt8) {
    var hash = WordHash()
    hash.combine(kind)
    for byte in name { hash.combine(byte) }
    self.init(key: hash.value)
  }

  /// A tag with a name that canonically equivalent ones may be folded to something else.
  static let unusualTag = Feature(key: 0x5461_6773)

  /// True if all strings that are canonically equivalent to one with just such scalars are folded as it is, or have other scalars, too:
  /// Latin, Greek, Cyrillic, Hebrew and Arabic letters, kana, the syllables of Hangul, and the common ideographs.
  static func isUsual(_ name: String) -> Bool {
    name.unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      // Marks fold to what their order says.
      case 0x300..<0x370: false
      case ..<0x900, 0x1E00..<0x1F00, 0x3040..<0x3100, 0x4E00..<0xA000, 0xAC00..<0xD7A4: true
      default: false
      }
    }
  }
}

/// The bits of one note, while they are gathered.
struct SignatureBits {
  private var words = [UInt64](repeating: 0, count: 1 << Feature.longest / 64)

  /// Takes all bits away.
  mutating func removeAll() {
    for index in words.indices { words[index] = 0 }
  }

  /// Adds what a feature has.
  mutating func insert(_ feature: Feature) {
    for place in feature.places { words[Int(place >> 6)] |= 1 << UInt64(place & 63) }
  }

  /// Adds the trigrams of a folded text. O(its length).
  mutating func insertTrigrams(of folded: Span<UInt8>) {
    guard folded.count >= 3 else { return }
    var bytes = UInt32(folded[0]) << 8 | UInt32(folded[1]) << 16
    var index = 2
    while index < folded.count {
      bytes = bytes &>> 8 | UInt32(folded[index]) &<< 16
      let place = Feature.place(ofTrigram: bytes)
      words[Int(place &>> 6)] |= 1 &<< UInt64(place & 63)
      index &+= 1
    }
  }

  /// The number of bits that are there.
  var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  /// Visits the places of the bits that are there in a signature of 2^exponent bits, in order; some more than once.
  @inline(__always)
  func forEachPlace(_ exponent: Int, _ body: (Int) -> Void) {
    let (words, shift) = (words.span, Feature.longest - exponent)
    var index = 0
    while index < words.count {
      var rest = words[index]
      while rest != 0 {
        body((index &<< 6 | rest.trailingZeroBitCount) &>> shift)
        rest &= rest &- 1
      }
      index &+= 1
    }
  }
}
