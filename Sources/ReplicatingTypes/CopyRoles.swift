/// The roles of copies in a state (shown, withheld, or standing for others), and the converted line ends that are hidden in it.
struct CopyRoles {
  private let shownAlone: Counterparts
  /// By copy that is shown alone, the others of its list.
  private let others: [Insertion: [Insertion]]
  private let withheld: Counterparts
  /// The converted line ends that are hidden (LineEnds.swift).
  var hiddenLineEnds: Set<LocalID> = []
  /// By line end: the changes that put converted ones in its place.
  var converters: [LocalID: Set<LocalChange>] = [:]
  /// True if there are no copies.
  let isEmpty: Bool

  /// - Parameter lists: the copies, each list with those of it that are shown.
  init(_ lists: [(list: [Insertion], shown: [Insertion])]) {
    var others: [Insertion: [Insertion]] = [:]
    for (list, shown) in lists where shown.count == 1 {
      others[shown[0]] = list.filter { $0 != shown[0] }
    }
    self.others = others
    isEmpty = lists.isEmpty
    shownAlone = Counterparts(in: others.keys.map { [$0] })
    withheld = Counterparts(in: lists.map { list, shown in list.filter { !shown.contains($0) } })
  }

  /// The elements of the copies that are shown alone.
  var elementsThatStandForOthers: [LocalID] {
    shownAlone.all.flatMap { copy in copy.offsets.map { LocalID(copy.author, $0) } }
  }

  /// True if an element is of a copy that is not shown, or a hidden line end.
  func isWithheld(_ element: LocalID) -> Bool {
    withheld.copy(holding: element) != nil || hiddenLineEnds.contains(element)
  }

  /// The elements of others that an element stands for. O(log copies + answer).
  func counterparts(of element: LocalID) -> [LocalID] {
    guard let copy = shownAlone.copy(holding: element) else { return [] }
    return others[copy]!.map { LocalID($0.author, $0.offset + element.offset - copy.offset) }
  }

  /// All elements that are withheld, if these are spared.
  func withheldElements(
    sparing spared: Set<LocalID>, _ isRemoved: (LocalID) -> Bool
  ) -> Set<LocalID> {
    var elements = hiddenLineEnds
    for copy in withheld.all {
      for offset in copy.offsets { elements.insert(LocalID(copy.author, offset)) }
    }
    for element in elementsThatStandForOthers
    where !spared.contains(element) && counterparts(of: element).contains(where: isRemoved) {
      elements.insert(element)
    }
    return elements
  }
}
