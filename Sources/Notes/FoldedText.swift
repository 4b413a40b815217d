internal import Bytes

/// Text as a search compares it: without case and without the marks on letters.
///
/// Of each scalar, in this order: canonical decomposition; no nonspacing marks; Unicode's full case folding. So "Straße" is
/// found by "STRASSE", and "Ångström" by "angstrom".
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
        let folding = folding(of: Self.scalar(bytes, &index))
        folding.store(into: &target, at: &end)
        if withOrigins {
          origins.append(contentsOf: repeatElement(place, count: end - origins.count))
        }
      }
    }
    count = end
    swap(&folded, &buffer)
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
    for part in decomposition(of: scalar) where part.properties.generalCategory != .nonspacingMark {
      // As good as the full case folding, of which the standard library knows nothing.
      for lower in part.properties.lowercaseMapping.unicodeScalars {
        for upper in lower.properties.uppercaseMapping.unicodeScalars {
          for folding in upper.properties.lowercaseMapping.unicodeScalars {
            folded.append(contentsOf: decomposition(of: folding))
          }
        }
      }
    }
    folded.removeAll { $0.properties.generalCategory == .nonspacingMark }
    return String(folded).utf8
  }

  private static func decomposition(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
    if (0xAC00...0xD7A3).contains(scalar.value) {
      // A Korean syllable: its two or three letters.
      let syllable = scalar.value - 0xAC00
      let letters = [
        0x1100 + syllable / 588, 0x1161 + syllable % 588 / 28, 0x11A7 + syllable % 28,
      ]
      return letters.filter { $0 != 0x11A7 }.compactMap(Unicode.Scalar.init)
    }
    return [bases[scalar] ?? scalar]
  }

  private static let bases: [Unicode.Scalar: Unicode.Scalar] = {
    var bases: [Unicode.Scalar: Unicode.Scalar] = [:]
    for word in composed.unicodeScalars.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      for scalar in word.dropFirst() { bases[scalar] = word.first! }
    }
    return bases
  }()

  /// The base letters of composed ones, after canonical decomposition and without their marks, from UnicodeData.txt: each word
  /// is a letter and all those that are made of it. The compatibility ideographs, two spaces and some vowel signs of two parts
  /// are not in it: they are found as they are written.
  private static let composed = """
    ;; <≮ =≠ >≯ AÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶÅ BḂḄḆ CÇĆĈĊČḈ DĎḊḌḎḐḒ EÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ FḞ
    GĜĞĠĢǦǴḠ HĤȞḢḤḦḨḪ IÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ JĴ KĶǨḰḲḴK LĹĻĽḶḸḺḼ MḾṀṂ NÑŃŅŇǸṄṆṈṊ
    OÒÓÔÕÖŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ PṔṖ RŔŖŘȐȒṘṚṜṞ SŚŜŞŠȘṠṢṤṦṨ TŢŤȚṪṬṮṰ
    UÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ VṼṾ WŴẀẂẄẆẈ XẊẌ YÝŶŸȲẎỲỴỶỸ ZŹŻŽẐẒẔ `` aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ
    bḃḅḇ cçćĉċčḉ dďḋḍḏḑḓ eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ fḟ gĝğġģǧǵḡ hĥȟḣḥḧḩḫẖ iìíîïĩīĭįǐȉȋḭḯỉị jĵǰ kķǩḱḳḵ
    lĺļľḷḹḻḽ mḿṁṃ nñńņňǹṅṇṉṋ oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṝṟ sśŝşšșṡṣṥṧṩ tţťțṫṭṯṱẗ
    uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự vṽṿ wŵẁẃẅẇẉẘ xẋẍ yýÿŷȳẏẙỳỵỷỹ zźżžẑẓẕ ¨΅῁῭΅ ´´ ·· ÆǢǼ ØǾ æǣǽ øǿ ſẛ ƷǮ
    ʒǯ ʹʹ ΑΆἈἉἊἋἌἍἎἏᾈᾉᾊᾋᾌᾍᾎᾏᾸᾹᾺΆᾼ ΕΈἘἙἚἛἜἝῈΈ ΗΉἨἩἪἫἬἭἮἯᾘᾙᾚᾛᾜᾝᾞᾟῊΉῌ ΙΊΪἸἹἺἻἼἽἾἿῘῙῚΊ ΟΌὈὉὊὋὌὍῸΌ ΡῬ
    ΥΎΫὙὛὝὟῨῩῪΎ ΩΏὨὩὪὫὬὭὮὯᾨᾩᾪᾫᾬᾭᾮᾯῺΏῼΩ αάἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ εέἐἑἒἓἔἕὲέ ηήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ
    ιΐίϊἰἱἲἳἴἵἶἷὶίιῐῑῒΐῖῗ οόὀὁὂὃὄὅὸό ρῤῥ υΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ ωώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ ϒϓϔ ІЇ АӐӒ ГЃ
    ЕЀЁӖ ЖӁӜ ЗӞ ИЍЙӢӤ КЌ ОӦ УЎӮӰӲ ЧӴ ЫӸ ЭӬ аӑӓ гѓ еѐёӗ жӂӝ зӟ ийѝӣӥ кќ оӧ уўӯӱӳ чӵ ыӹ эӭ ії ѴѶ ѵѷ ӘӚ әӛ
    ӨӪ өӫ אאַאָאּ בבּבֿ גגּ דדּ ההּ ווּוֹ זזּ טטּ ייִיּ ךךּ ככּכֿ ללּ ממּ ננּ ססּ ףףּ פפּפֿ צצּ קקּ ררּ ששׁשׂשּׁשּׂשּ תתּ ײײַ اآأإ وؤ يئ ہۂ
    ےۓ ەۀ कक़ खख़ गग़ जज़ डड़ ढढ़ नऩ फफ़ यय़ रऱ ळऴ ডড় ঢঢ় যয় ਖਖ਼ ਗਗ਼ ਜਜ਼ ਫਫ਼ ਲਲ਼ ਸਸ਼ ଡଡ଼ ଢଢ଼ େୈ ೂೊ ೕೀೇ ೖೈ ෙේ ཀཀྵ གགྷ ཌཌྷ དདྷ
    བབྷ ཛཛྷ ဥဦ ᬵᬻᬽᭃ ᾿῍῎῏ ῾῝῞῟ ←↚ →↛ ↔↮ ⇐⇍ ⇒⇏ ⇔⇎ ∃∄ ∈∉ ∋∌ ∣∤ ∥∦ ∼≁ ≃≄ ≅≇ ≈≉ ≍≭ ≡≢ ≤≰ ≥≱ ≲≴ ≳≵ ≶≸ ≷≹ ≺⊀ ≻⊁
    ≼⋠ ≽⋡ ⊂⊄ ⊃⊅ ⊆⊈ ⊇⊉ ⊑⋢ ⊒⋣ ⊢⊬ ⊨⊭ ⊩⊮ ⊫⊯ ⊲⋪ ⊳⋫ ⊴⋬ ⊵⋭ ⫝⫝̸ 〈〈 〉〉 うゔ かが きぎ くぐ けげ こご さざ しじ すず せぜ そぞ ただ ちぢ つづ
    てで とど はばぱ ひびぴ ふぶぷ へべぺ ほぼぽ ゝゞ ウヴ カガ キギ クグ ケゲ コゴ サザ シジ スズ セゼ ソゾ タダ チヂ ツヅ テデ トド ハバパ ヒビピ フブプ ヘベペ ホボポ ワヷ
    ヰヸ ヱヹ ヲヺ ヽヾ 𑂙𑂚 𑂛𑂜 𑂥𑂫 𑒹𑒻
    """
}
