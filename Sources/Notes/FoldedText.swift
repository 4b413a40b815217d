internal import Bytes

/// Text as a search compares it: without case and without the marks on letters.
///
/// Of each scalar, in this order: canonical decomposition; none of the marks that don't count; Unicode's full case folding. So "Straße" is
/// found by "STRASSE", and "Ångström" by "angstrom". Marks of Latin and Greek don't count, nor Cyrillic stress, the points of Hebrew and the
/// vowels of Arabic; й, が and 각 are letters of their own, in whichever form they are written (`joint`), and vowels of India count.
struct FoldedText: Sendable {
  /// The folded text in UTF-8.
  var utf8: ArraySlice<UInt8> { buffer[..<count] }
  /// The folded text, and what was there before.
  private var buffer: [UInt8] = []
  private var count = 0
  /// Of each folded byte, where in the text the scalar begins that it comes from. Empty unless asked for.
  private var origins: [Int] = []
  private var length = 0
  /// The foldings of scalars that were met, in pages of 256, where those that were not met are unknown.
  private var foldings: [Folding] = []
  /// The index of the first folding of each page, by the number of the page.
  private var pages: [UInt32: Int] = [:]
  /// The one that was looked at last: as a rule a text needs no other.
  private var latest: (number: UInt32, start: Int) = (.max, 0)

  /// The folding of a scalar, in UTF-8: nine bytes at most, those of a Korean syllable, the first the lowest.
  struct Folding: Sendable {
    fileprivate static let unknown = Folding(count: .max)

    fileprivate var bytes: UInt64 = 0
    fileprivate var ninth: UInt8 = 0
    fileprivate(set) var count: UInt8 = 0

    fileprivate var isKnown: Bool { count != .max }

    subscript(index: Int) -> UInt8 {
      index < 8 ? UInt8(truncatingIfNeeded: bytes >> UInt64(index * 8)) : ninth
    }
  }

  /// By how much a text may grow: a syllable's bytes become three times as many, and a folding is written with nine.
  private static let growth = 3
  private static let slack = 9

  /// The part of the text that a range of folded bytes comes from: whole scalars, with the marks that follow.
  func range(of folded: Range<Int>) -> Range<Int> {
    let start = origins[folded.lowerBound]
    let last = origins[folded.upperBound - 1]
    var end = folded.upperBound
    // The rest of what the last scalar folds to.
    while end < origins.count, origins[end] == last { end += 1 }
    return start..<(end < origins.count ? origins[end] : length)
  }

  /// Folds a text. O(n).
  mutating func fold(_ text: ArraySlice<UInt8>, withOrigins: Bool = false) {
    length = text.count
    origins.removeAll(keepingCapacity: true)
    reserve(length)
    var target = buffer.mutableSpan
    if Self.lower(text.span, into: &target) < 0x80 {
      count = length
      if withOrigins { origins.append(contentsOf: 0..<length) }
    } else {
      reserve(Self.growth * length + Self.slack)
      foldScalars(text.span, withOrigins)
    }
  }

  private mutating func reserve(_ size: Int) {
    if buffer.count < size { buffer = [UInt8](repeating: 0, count: size) }
  }

  private mutating func foldScalars(_ bytes: Span<UInt8>, _ withOrigins: Bool) {
    // Taken out, since what scalars fold to is learnt meanwhile.
    var folded: [UInt8] = []
    swap(&folded, &buffer)
    var target = folded.mutableSpan
    var end = 0
    var index = 0
    // The folding of the last scalar beyond ASCII, by which it may be known that nothing has come since.
    var letter = 0..<0
    while index < bytes.count {
      let start = index
      // The bytes behind the ASCII are written over.
      while bytes.count - index >= ByteWord.size {
        let word = ByteWord(bytes, at: index)
        word.lowercased.store(into: &target, at: end)
        let marks = word.marksBeyondASCII
        let count = marks == 0 ? ByteWord.size : ByteWord.countBefore(marks)
        (index, end) = (index &+ count, end &+ count)
        if marks != 0 { break }
      }
      while index < bytes.count, bytes[index] < 0x80 {
        target[end] = Self.lowered(bytes[index])
        (index, end) = (index &+ 1, end &+ 1)
      }
      if withOrigins { origins.append(contentsOf: start..<index) }
      while index < bytes.count, bytes[index] >= 0x80 {
        let place = index
        let scalar = Self.scalar(bytes, &index)
        if Self.mayJoin(scalar), letter.upperBound == end,
          join(scalar, at: place, to: &letter, in: &target, &end, withOrigins)
        {
          continue
        }
        letter = Range(uncheckedBounds: (end, end))
        folding(of: scalar).store(into: &target, at: &end)
        letter = Range(uncheckedBounds: (letter.lowerBound, end))
        if withOrigins {
          origins.append(contentsOf: repeatElement(place, count: end - origins.count))
        }
      }
    }
    count = end
    swap(&folded, &buffer)
  }

  /// Folds a scalar together with the one before it; returns false if it is folded as if it stood alone.
  @inline(never)
  private mutating func join(
    _ scalar: UInt32, at place: Int, to letter: inout Range<Int>,
    in target: inout MutableSpan<UInt8>, _ end: inout Int, _ withOrigins: Bool
  ) -> Bool {
    if letter.isEmpty { return false }
    let letterStart = letter.lowerBound
    var index = letterStart
    let base = Self.scalar(target.span, &index)
    guard index == end else { return false }
    let joined: UInt32
    var origin = place
    switch Self.joint(base, scalar) {
    case .apart: return false
    case .ignored: return true
    case .mark: joined = scalar
    case .letter(let whole):
      joined = whole
      end = letterStart
      if withOrigins {
        origin = origins[end]
        origins.removeLast(origins.count - end)
      }
    }
    let start = end
    for byte in String(Unicode.Scalar(joined)!).utf8 {
      target[end] = byte
      end += 1
    }
    if withOrigins { origins.append(contentsOf: repeatElement(origin, count: end - start)) }
    letter = start..<end
    return true
  }

  /// The folding of the scalar at `index` of a text, one beyond ASCII. Moves `index` behind it, as folding the text does.
  @inline(__always)
  mutating func folding(_ text: Span<UInt8>, at index: inout Int) -> Folding {
    folding(of: Self.scalar(text, &index))
  }

  @inline(__always)
  static func lowered(_ byte: UInt8) -> UInt8 { byte | (byte &- 65 < 26 ? 0x20 : 0) }

  /// Writes the bytes with ASCII letters in lower case; returns what bits they have together. Not inlined, so that the compiler
  /// makes vectors of it.
  @inline(never)
  private static func lower(
    _ bytes: Span<UInt8>, into target: inout MutableSpan<UInt8>
  ) -> UInt8 {
    let count = bytes.count
    precondition(target.count >= count)
    var bits: UInt8 = 0
    var index = 0
    while index < count {
      let byte = bytes[index]
      bits |= byte
      target[index] = lowered(byte)
      index &+= 1
    }
    return bits
  }

  /// The scalar at `index` of valid UTF-8, which moves behind it. Of what isn't valid, some scalar.
  @inline(__always)
  private static func scalar(_ bytes: Span<UInt8>, _ index: inout Int) -> UInt32 {
    let first = UInt32(bytes[index])
    index &+= 1
    var rest = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3
    var value = first & (first < 0xE0 ? 0x1F : first < 0xF0 ? 0x0F : 0x07)
    while rest > 0, index < bytes.count {
      value = value &<< 6 | UInt32(bytes[index] & 0x3F)
      index &+= 1
      rest &-= 1
    }
    return value
  }

  private mutating func folding(of scalar: UInt32) -> Folding {
    let number = scalar >> 8
    if latest.number != number { latest = (number, page(number)) }
    let folding = foldings[latest.start + Int(scalar & 0xFF)]
    return folding.isKnown ? folding : learn(scalar)
  }

  private mutating func page(_ number: UInt32) -> Int {
    if let start = pages[number] { return start }
    let start = foldings.count
    foldings.append(contentsOf: repeatElement(.unknown, count: 256))
    pages[number] = start
    return start
  }

  /// Notes the folding of a scalar of the latest page. It takes about a microsecond, and texts of thousands of scalars have few of each page.
  @inline(never)
  private mutating func learn(_ scalar: UInt32) -> Folding {
    let folding = Folding(of: scalar)
    foldings[latest.start + Int(scalar & 0xFF)] = folding
    return folding
  }
}

extension FoldedText.Folding {
  fileprivate init(of value: UInt32) {
    guard let scalar = Unicode.Scalar(value) else { return }
    let folded = Array(FoldedText.folded(scalar))
    for byte in folded.prefix(8).reversed() { bytes = bytes << 8 | UInt64(byte) }
    if folded.count > 8 { ninth = folded[8] }
    count = UInt8(folded.count)
  }

  /// Writes all nine bytes, and moves `end` behind those that count.
  @inline(__always)
  fileprivate func store(into target: inout MutableSpan<UInt8>, at end: inout Int) {
    var all = target.mutableBytes
    all.storeBytes(of: bytes.littleEndian, toByteOffset: end, as: UInt64.self)
    target[end &+ 8] = ninth
    end &+= Int(count)
  }
}

extension FoldedText {
  fileprivate static func folded(_ scalar: Unicode.Scalar) -> String.UTF8View {
    var folded = String.UnicodeScalarView()
    for part in decomposition(of: scalar) where !isIgnored(part) {
      // As good as the full case folding, of which the standard library knows nothing.
      for lower in part.properties.lowercaseMapping.unicodeScalars {
        for upper in lower.properties.uppercaseMapping.unicodeScalars {
          for folding in upper.properties.lowercaseMapping.unicodeScalars {
            folded.append(contentsOf: decomposition(of: folding))
          }
        }
      }
    }
    folded.removeAll(where: isIgnored)
    return String(folded).utf8
  }

  /// True for a mark that doesn't count, behind whatever letter but those that `joint` knows: of Latin and Greek, the points of Hebrew, the
  /// vowels of Arabic and Syriac, and what surrounds signs.
  private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .nonspacingMark
      && ignoredMarks.contains { $0.contains(scalar.value) }
  }

  private static let ignoredMarks: [ClosedRange<UInt32>] = [
    0x300...0x36F, 0x591...0x5C7, 0x610...0x61A, 0x64B...0x65F, 0x670...0x670, 0x6D6...0x6ED,
    0x711...0x711, 0x730...0x74A, 0x897...0x8FF, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF,
    0x20D0...0x20FF, 0xFB1E...0xFB1E, 0xFE00...0xFE0F, 0xFE20...0xFE2D, 0x10EFA...0x10EFF,
    0xE0100...0xE01EF,
  ]

  private static func decomposition(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    split[scalar] ?? [bases[scalar] ?? scalar]
  }

  private static let bases: [Unicode.Scalar: Unicode.Scalar] = {
    var bases: [Unicode.Scalar: Unicode.Scalar] = [:]
    for word in composed.unicodeScalars.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      for scalar in word.dropFirst() { bases[scalar] = word.first! }
    }
    return bases
  }()

  /// The base letters of composed ones, after canonical decomposition and without their marks, from UnicodeData.txt: each word
  /// is a letter and all those that are made of it. The compatibility ideographs and two spaces
  /// are not in it: they are found as they are written.
  private static let composed = """
    ;; <≮ =≠ >≯ AÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶÅ BḂḄḆ CÇĆĈĊČḈ DĎḊḌḎḐḒ EÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ FḞ GĜĞĠĢǦǴḠ HĤȞḢḤḦḨḪ
    IÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ JĴ KĶǨḰḲḴK LĹĻĽḶḸḺḼ MḾṀṂ NÑŃŅŇǸṄṆṈṊ OÒÓÔÕÖŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ PṔṖ RŔŖŘȐȒṘṚṜṞ SŚŜŞŠȘṠṢṤṦṨ
    TŢŤȚṪṬṮṰ UÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ VṼṾ WŴẀẂẄẆẈ XẊẌ YÝŶŸȲẎỲỴỶỸ ZŹŻŽẐẒẔ `` aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ bḃḅḇ
    cçćĉċčḉ dďḋḍḏḑḓ eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ fḟ gĝğġģǧǵḡ hĥȟḣḥḧḩḫẖ iìíîïĩīĭįǐȉȋḭḯỉị jĵǰ kķǩḱḳḵ lĺļľḷḹḻḽ mḿṁṃ
    nñńņňǹṅṇṉṋ oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṝṟ sśŝşšșṡṣṥṧṩ tţťțṫṭṯṱẗ uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự
    vṽṿ wŵẁẃẅẇẉẘ xẋẍ yýÿŷȳẏẙỳỵỷỹ zźżžẑẓẕ ¨΅῁῭΅ ´´ ·· ÆǢǼ ØǾ æǣǽ øǿ ſẛ ƷǮ ʒǯ ʹʹ ΑΆἈἉἊἋἌἍἎἏᾈᾉᾊᾋᾌᾍᾎᾏᾸᾹᾺΆᾼ ΕΈἘἙἚἛἜἝῈΈ
    ΗΉἨἩἪἫἬἭἮἯᾘᾙᾚᾛᾜᾝᾞᾟῊΉῌ ΙΊΪἸἹἺἻἼἽἾἿῘῙῚΊ ΟΌὈὉὊὋὌὍῸΌ ΡῬ ΥΎΫὙὛὝὟῨῩῪΎ ΩΏὨὩὪὫὬὭὮὯᾨᾩᾪᾫᾬᾭᾮᾯῺΏῼΩ αάἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ
    εέἐἑἒἓἔἕὲέ ηήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ ιΐίϊἰἱἲἳἴἵἶἷὶίιῐῑῒΐῖῗ οόὀὁὂὃὄὅὸό ρῤῥ υΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ
    ωώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ ϒϓϔ ЕЀЁ ИЍ еѐё иѝ אאַאָאּ בבּבֿ גגּ דדּ ההּ ווּוֹ זזּ טטּ ייִיּ ךךּ ככּכֿ ללּ ממּ ננּ ססּ ףףּ פפּפֿ צצּ קקּ ררּ
    ששׁשׂשּׁשּׂשּ תתּ ײײַ اآأإ وؤ يئ ہۂ ےۓ ەۀ ᾿῍῎῏ ῾῝῞῟ ←↚ →↛ ↔↮ ⇐⇍ ⇒⇏ ⇔⇎ ∃∄ ∈∉ ∋∌ ∣∤ ∥∦ ∼≁ ≃≄ ≅≇ ≈≉ ≍≭ ≡≢ ≤≰ ≥≱ ≲≴ ≳≵ ≶≸ ≷≹ ≺⊀
    ≻⊁ ≼⋠ ≽⋡ ⊂⊄ ⊃⊅ ⊆⊈ ⊇⊉ ⊑⋢ ⊒⋣ ⊢⊬ ⊨⊭ ⊩⊮ ⊫⊯ ⊲⋪ ⊳⋫ ⊴⋬ ⊵⋭ ⫝⫝̸ 〈〈 〉〉
    """

  /// The decompositions of letters into several that are none of `bases`: letters of India and its neighbours with signs of their own. From
  /// UnicodeData.txt, in hexadecimal digits.
  private static let split: [Unicode.Scalar: [Unicode.Scalar]] = {
    var split: [Unicode.Scalar: [Unicode.Scalar]] = [:]
    for word in decompositions.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      let scalars = word.split { $0 == "=" || $0 == "+" }.map {
        Unicode.Scalar(UInt32($0, radix: 16)!)!
      }
      split[scalars[0]] = Array(scalars.dropFirst())
    }
    return split
  }()

  private static let decompositions = """
    929=928+93C 931=930+93C 934=933+93C 958=915+93C 959=916+93C 95A=917+93C 95B=91C+93C 95C=921+93C
    95D=922+93C 95E=92B+93C 95F=92F+93C 9CB=9C7+9BE 9CC=9C7+9D7 9DC=9A1+9BC 9DD=9A2+9BC 9DF=9AF+9BC
    A33=A32+A3C A36=A38+A3C A59=A16+A3C A5A=A17+A3C A5B=A1C+A3C A5E=A2B+A3C B48=B47+B56 B4B=B47+B3E
    B4C=B47+B57 B5C=B21+B3C B5D=B22+B3C B94=B92+BD7 BCA=BC6+BBE BCB=BC7+BBE BCC=BC6+BD7 C48=C46+C56
    CC0=CBF+CD5 CC7=CC6+CD5 CC8=CC6+CD6 CCA=CC6+CC2 CCB=CC6+CC2+CD5 D4A=D46+D3E D4B=D47+D3E D4C=D46+D57
    DDA=DD9+DCA DDC=DD9+DCF DDD=DD9+DCF+DCA DDE=DD9+DDF F43=F42+FB7 F4D=F4C+FB7 F52=F51+FB7 F57=F56+FB7
    F5C=F5B+FB7 F69=F40+FB5 F73=F71+F72 F75=F71+F74 F76=FB2+F80 F78=FB3+F80 F81=F71+F80 F93=F92+FB7
    F9D=F9C+FB7 FA2=FA1+FB7 FA7=FA6+FB7 FAC=FAB+FB7 FB9=F90+FB5 1026=1025+102E 1B06=1B05+1B35 1B08=1B07+1B35
    1B0A=1B09+1B35 1B0C=1B0B+1B35 1B0E=1B0D+1B35 1B12=1B11+1B35 1B3B=1B3A+1B35 1B3D=1B3C+1B35 1B40=1B3E+1B35
    1B41=1B3F+1B35 1B43=1B42+1B35 1109A=11099+110BA 1109C=1109B+110BA 110AB=110A5+110BA 1112E=11131+11127
    1112F=11132+11127 1134B=11347+1133E 1134C=11347+11357 114BB=114B9+114BA 114BC=114B9+114B0
    114BE=114B9+114BD 115BA=115B8+115AF 115BB=115B9+115AF 11938=11935+11930
    """
}

extension FoldedText {
  /// The meaning of a mark, vowel or final consonant behind a folded scalar.
  fileprivate enum Joint {
    /// Both are this letter.
    case letter(UInt32)
    /// The mark doesn't count.
    case ignored
    /// The mark counts, beside the letter.
    case mark
    /// The scalar is folded as if it stood alone.
    case apart
  }

  /// True if the folding of a scalar may depend on the one before it.
  @inline(__always)
  fileprivate static func mayJoin(_ scalar: UInt32) -> Bool {
    scalar &- 0x300 < 0x70 || scalar &- 0x1161 < 0x62 || scalar &- 0x3099 < 2
  }

  /// Puts two scalars together that are one letter: a Cyrillic or Japanese one with its mark, two or three Korean ones. So the composed and the
  /// decomposed form of a letter fold to the same, and not to what another letter begins with.
  fileprivate static func joint(_ base: UInt32, _ scalar: UInt32) -> Joint {
    if base &- 0x1100 < 19, scalar &- 0x1161 < 21 {
      return .letter(0xAC00 + ((base - 0x1100) * 21 + scalar - 0x1161) * 28)
    }
    if base &- 0xAC00 < 11_172, (base - 0xAC00) % 28 == 0, scalar &- 0x11A8 < 27 {
      return .letter(base + scalar - 0x11A7)
    }
    if let letter = joined[UInt64(scalar) << 32 | UInt64(base)] { return .letter(letter) }
    guard base &- 0x400 < 0x130, scalar < 0x370 else { return .apart }
    // Stress, which teachers and dictionaries write; and е stands for ё.
    let isStress = scalar == 0x300 || scalar == 0x301
    return isStress || base == 0x435 && scalar == 0x308 ? .ignored : .mark
  }

  private static let joined: [UInt64: UInt32] = {
    var joined: [UInt64: UInt32] = [:]
    for (mark, letters) in marked {
      for letter in letters.split(separator: " ") {
        let scalars = Array(letter.unicodeScalars)
        joined[mark << 32 | UInt64(scalars[0].value)] = scalars[1].value
      }
    }
    return joined
  }()

  /// Marks, and the small letters of Cyrillic and Japanese without and with each, from UnicodeData.txt.
  private static let marked: [(UInt64, String)] = [
    (0x301, "гѓ кќ"),
    (0x304, "иӣ уӯ"),
    (0x306, "ий уў жӂ аӑ еӗ"),
    (0x308, "ії аӓ әӛ жӝ зӟ иӥ оӧ өӫ эӭ уӱ чӵ ыӹ"),
    (0x30B, "уӳ"),
    (0x30F, "ѵѷ"),
    (
      0x3099,
      "かが きぎ くぐ けげ こご さざ しじ すず せぜ そぞ ただ ちぢ つづ てで とど はば ひび ふぶ へべ ほぼ うゔ ゝゞ カガ キギ クグ ケゲ コゴ サザ シジ スズ セゼ ソゾ タダ チヂ ツヅ テデ トド ハバ ヒビ フブ ヘベ ホボ ウヴ ワヷ ヰヸ ヱヹ ヲヺ ヽヾ"
    ),
    (0x309A, "はぱ ひぴ ふぷ へぺ ほぽ ハパ ヒピ フプ ヘペ ホポ"),
  ]
}
