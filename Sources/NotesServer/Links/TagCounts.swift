internal import Notes

/// The tags of notes, and how many notes have each. Tags with canonically equivalent names are one.
struct TagCounts: Equatable {
  /// By name, the forms in which it is written, with the number of notes that have each.
  private var forms: [String: [Tag: Int]] = [:]

  /// Adds the tags of a note. O(tags).
  mutating func insert(_ tags: [Tag]) {
    for tag in tags { forms[tag.name, default: [:]][tag, default: 0] += 1 }
  }

  /// Takes away the tags of a note that were added. O(tags).
  mutating func remove(_ tags: [Tag]) {
    for tag in tags {
      forms[tag.name]![tag]! -= 1
      if forms[tag.name]![tag] == 0 { forms[tag.name]![tag] = nil }
      if forms[tag.name]!.isEmpty { forms[tag.name] = nil }
    }
  }

  /// Each tag, in the form in which lists show it, with the number of notes that have it; in no order. O(tags).
  var all: [(tag: Tag, count: Int)] {
    forms.values.map { forms in
      (forms.keys.distinct[0], forms.values.reduce(0, +))
    }
  }
}
