import ReplicatingTypes
import TestSupport
import Testing

@testable import Notes

@Suite(.computing) struct `Listings page by page` {
  /// Two people, of whom one lists while both go on.
  private struct Scene {
    var random: SplitMix64
    let reader = Person(1)
    let writer = Person(2)

    init(seed: UInt64) throws {
      random = SplitMix64(seed: seed)
      for _ in 0..<20 { random.actOrPurge(reader) }
      try writer.pull(reader)
      for _ in 0..<20 { try happen() }
    }

    /// Something happens, here or there.
    mutating func happen() throws {
      switch random.below(8) {
      case 0:
        try reader.pull(writer)
        try writer.pull(reader)
      case 1 where random.chance(20): try reader.putAway(andReopen: random.chance(50))
      case 2, 3: random.actOrPurge(writer)
      default: random.actOrPurge(reader)
      }
    }
  }

  private func isWanted(_ filter: Int, _ note: NoteSummary) -> Bool {
    switch filter {
    case 0: !note.isTrashed
    case 1: note.isTrashed
    default: !note.isTrashed && note.tags.contains(Tag("home"))
    }
  }

  @Test(arguments: seeds(60))
  func `has all that is there all the time once, in the order of its beginning`(seed: UInt64) throws
  {
    var scene = try Scene(seed: seed)
    for order in NoteOrder.allCases {
      for filter in 0..<3 {
        let limit = 1 + scene.random.below(5)
        let all = try scene.reader.book.listing(in: order, from: nil, atMost: .max) { _ in true }
        #expect(all?.next == nil, at(seed))
        let expected = all!.notes.map(\.id)
        var place: ListingPlace?
        var listed: [NoteID] = []
        var constant: Set<NoteID> = Set(expected)
        repeat {
          let now = scene.reader.book.summaries.filter { isWanted(filter, $0) }.map(\.id)
          constant.formIntersection(now)
          try scene.reader.book.openOrder()
          let page = try #require(
            try scene.reader.book.listing(
              in: order, from: place, atMost: limit, tagged: filter == 2 ? [Tag("home")] : []
            ) { isWanted(filter, $0) }, at(seed))
          #expect(page.notes.count == limit || page.next == nil, at(seed))
          for note in page.notes {
            #expect(try note == NoteSummary(#require(scene.reader.book[note.id])), at(seed))
          }
          listed += page.notes.map(\.id)
          place = page.next
          if let next = place { #expect(ListingPlace("\(next)") == next, at(seed)) }
          if scene.random.chance(70) {
            for _ in 0..<1 + scene.random.below(4) { try scene.happen() }
          }
        } while place != nil
        #expect(Set(listed).count == listed.count, "\(order), \(at(seed))")
        #expect(constant.isSubset(of: listed), "\(order), \(at(seed))")
        let known = listed.filter { expected.contains($0) }
        #expect(known == expected.filter { listed.contains($0) }, "\(order), \(at(seed))")
        if order != .created { #expect(known == listed, "\(order), \(at(seed))") }
      }
    }
  }

  @Test(arguments: seeds(20)) func `is sorted as it says`(seed: UInt64) throws {
    let scene = try Scene(seed: seed)
    let notes = scene.reader.book.summaries
    func ids(_ order: NoteOrder) throws -> [NoteID] {
      try scene.reader.book.listing(in: order, from: nil, atMost: .max) { _ in true }!.notes.map(
        \.id)
    }
    #expect(try ids(.order) == notes.map(\.id))
    #expect(
      try ids(.created) == notes.sorted { (-$0.created, $0.id) < (-$1.created, $1.id) }.map(\.id))
    #expect(
      try ids(.modified) == notes.sorted { (-$0.modified, $0.id) < (-$1.modified, $1.id) }.map(\.id)
    )
    func folded(_ title: String) -> String { title == "e\u{301}" || title == "é" ? "e" : title }
    #expect(
      try ids(.title)
        == notes.sorted { (folded($0.title), $0.id) < (folded($1.title), $1.id) }.map(\.id))
  }

  @Test func `keeps only what a page needs of very many notes`() throws {
    let person = Person(1)
    for number in 0..<2500 {
      person.now += 1
      person.create("\(number * 7919 % 2500 + 10_000)")
    }
    var titles: [String] = []
    var place: ListingPlace?
    repeat {
      let page = try person.book.listing(in: .title, from: place, atMost: 400) { _ in true }!
      titles += page.notes.map(\.title)
      place = page.next
    } while place != nil
    #expect(titles == (10_000..<12_500).map { "\($0)" })
  }

  @Test(arguments: seeds(30)) func `knows the order of each state`(seed: UInt64) throws {
    var scene = try Scene(seed: seed)
    var states: [(version: Version, order: [ChangeID])] = []
    for _ in 0..<30 {
      try scene.happen()
      for person in [scene.reader, scene.writer] {
        try person.book.openOrder()
        states.append((person.book.version, person.book.order.elements))
      }
    }
    try scene.reader.pull(scene.writer)
    try scene.reader.book.openOrder()
    for (version, order) in states {
      #expect(scene.reader.book.order.elements(at: version) == order, at(seed))
    }
    #expect(scene.reader.book.order.elements(at: Version()) == [])
  }

  @Test func `does not begin at what is no place, or not known here`() throws {
    let person = Person(1)
    let note = person.create("é/x")
    person.create("other")
    for order in NoteOrder.allCases {
      let page = try person.book.listing(in: order, from: nil, atMost: 1) { _ in true }!
      let place = "\(page.next!)"
      #expect(ListingPlace(place) == page.next && place.hasPrefix("\(order.rawValue)/"))
      for wrong in [
        "", "x/" + place, String(place.dropLast(order == .title ? 60 : 40)), place.uppercased(),
      ] {
        #expect(ListingPlace(wrong) == nil, "\(wrong)")
      }
      let stranger = Person(2)
      stranger.create("a")
      try stranger.book.openOrder()
      #expect(
        try stranger.book.listing(in: order, from: page.next, atMost: 1) { _ in true }?.notes == nil
      )
    }
    let state = person.book.revision
    for text in [
      "order/\(note)/\(state)/1", "title/\(note)/\(state)", "created/\(note)/\(state)/x",
      "modified/\(note)/\(state)/01", "none/\(note)/\(state)", "order/\(note)/x",
    ] {
      #expect(ListingPlace(text) == nil, "\(text)")
    }
  }

  /// Names of tags of which some are canonically equivalent, and some look alike.
  private static let names = [
    "home", "hom", "homer", "\u{E9}", "e\u{301}", "\u{212A}", "K", "k", "e",
  ]

  @Test(arguments: seeds(30))
  func `by tags have the notes that all of these, or canonically equivalent ones, are on`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let person = Person(1)
    var notes: [NoteID] = []
    for round in 0..<60 {
      if notes.isEmpty || random.chance(50) { notes.append(person.create("note \(round)")) }
      let note = notes[random.below(notes.count)]
      let tags = (0..<random.below(4)).map { _ in Tag(Self.names[random.below(Self.names.count)]) }
      try person.book.openOrder()
      for operation in person.book[note]!.operations(settingTags: Set(tags)) {
        person.edit(note, operation)
      }
      if random.chance(30) { try person.putAway(andReopen: true) }
      if random.chance(50) { try person.book.openOrder() }
      let wanted = (0..<1 + random.below(2)).map { _ in
        Tag(Self.names[random.below(Self.names.count)])
      }
      let isWanted = { (note: NoteSummary) in wanted.allSatisfy(note.tags.hasEquivalent) }
      var (all, some): ([NoteID], [NoteID]) = ([], [])
      try person.book.forEachSummary {
        if isWanted($0) { all.append($0.id) }
        return true
      }
      try person.book.forEachSummary(tagged: wanted) {
        if isWanted($0) { some.append($0.id) }
        return true
      }
      #expect(all == some, "\(wanted), \(at(seed))")
    }
  }

  @Test(arguments: seeds(20)) func `and what notes say is read without their past`(seed: UInt64)
    throws
  {
    var scene = try Scene(seed: seed)
    for _ in 0..<6 {
      for _ in 0..<5 { try scene.happen() }
      for person in [scene.reader, scene.writer] {
        let book = person.book
        for id in book.noteCache.ids {
          let content = try book.content(of: id, withText: true)
          guard let note = book[id], !note.isTrashed else {
            #expect(content == nil, at(seed))
            continue
          }
          #expect(content?.title.utf8.elementsEqual(note.title.value.utf8) == true, at(seed))
          #expect(content?.path == note.path && content?.utf8 == note.text.utf8, at(seed))
          #expect(content?.tags == note.tags.values.distinct, at(seed))
          #expect(
            content.map { Set($0.header.map(\.key)) } == Set(note.header.map(\.key)), at(seed))
          #expect(
            content.map { Set($0.header.map(\.value)) } == Set(note.header.map(\.value)), at(seed))
          #expect(try book.content(of: id, withText: false)?.utf8 == [], at(seed))
        }
      }
    }
  }
}
