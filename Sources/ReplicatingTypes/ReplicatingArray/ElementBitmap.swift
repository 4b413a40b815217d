/// A set of elements, of which as a rule many are near each other: a bit for each, in pages of 1,024.
struct ElementBitmap {
  private static let pageSize: UInt32 = 1_024

  /// By the first element of a page, the place of the page in `words`.
  private var places: [LocalID: Int] = [:]
  private var words: [UInt64] = []
  /// The page that was asked about last, and its place.
  private var latest: (page: LocalID, place: Int)?

  /// Inserts an element; returns whether it was not there. O(1).
  mutating func insert(_ element: LocalID) -> Bool {
    let page = LocalID(element.author, element.offset & ~(Self.pageSize - 1))
    if latest?.page != page { latest = (page, place(of: page)) }
    let bit = Int(element.offset & (Self.pageSize - 1))
    let index = latest!.place + (bit >> 6)
    let mask: UInt64 = 1 << UInt64(bit & 63)
    let isNew = words[index] & mask == 0
    words[index] |= mask
    return isNew
  }

  private mutating func place(of page: LocalID) -> Int {
    if let place = places[page] { return place }
    let place = words.count
    places[page] = place
    words += repeatElement(0, count: Int(Self.pageSize) >> 6)
    return place
  }
}
