internal import JSONRPC
internal import NoteFiles
internal import Notes

// `notebook/complete` and `notebook/tags`: what there is to link to, and to tag with.

/// The parameters of `notebook/complete`.
struct CompleteParameters: MethodParameters {
  enum Name: String, ParameterName, CaseIterable { case prefix, kind, limit }

  enum Kind { case link, tag }

  /// The most results, and how many there are where the client does not say.
  private static let most = 1000
  private static let usual = 100

  let prefix: String
  let kind: Kind
  let limit: Int

  init(_ params: Parameters) throws(ResponseError) {
    prefix = try params.string(Name.prefix) ?? ""
    guard let kind = try params.word(Name.kind, [("link", Kind.link), ("tag", .tag)]) else {
      throw .invalidParams("kind", "is missing")
    }
    self.kind = kind
    let limit = try params.limit(Name.limit)
    self.limit = limit == .max ? Self.usual : min(limit, Self.most)
  }
}

extension NotesServer {
  mutating func complete(
    _ params: CompleteParameters, _ result: inout JSONWriter
  ) throws(ResponseError) {
    try finishIndexing(.names)
    result.beginObject()
    result.key("results")
    result.beginArray()
    switch params.kind {
    case .link:
      var labels = TopK<NoteID>(params.limit, beginningWith: params.prefix)
      linkIndex.forEachLabel { labels.insert($0, $1) }
      // Notes whose names are compared as one come in the order of their ids, and not in that in which they were read.
      let ordered = labels.elements.sorted {
        $0.folded == $1.folded
          ? $0.value < $1.value : $0.folded.lexicographicallyPrecedes($1.folded)
      }
      for label in ordered {
        result.beginObject()
        result.member("label", label.name)
        result.member("id", "\(label.value)")
        result.member("target", target(of: label.name, for: label.value))
        result.endObject()
      }
    case .tag:
      var names = TopK<Void>(params.limit, beginningWith: params.prefix)
      for (tag, _) in linkIndex.tags.all.sorted(by: { $0.tag < $1.tag }) {
        names.insert(tag.name, ())
      }
      for name in names.elements {
        result.beginObject()
        result.member("label", name.name)
        result.endObject()
      }
    }
    result.endArray()
    result.endObject()
  }

  mutating func tags(_ result: inout JSONWriter) throws(ResponseError) {
    try finishIndexing(.names)
    result.beginObject()
    result.key("tags")
    result.beginArray()
    for (tag, count) in linkIndex.tags.all.sorted(by: { $0.tag < $1.tag }) {
      result.beginObject()
      result.member("tag", tag.name)
      result.member("count", count)
      result.endObject()
    }
    result.endArray()
    result.endObject()
  }
}

extension NotesServer {
  /// What stands between the brackets of a link to a note that is shown as `label`, one of its names: that, if nothing else has it and it can be
  /// written so, else the note's id, and the label as words.
  private func target(of label: String, for note: NoteID) -> String {
    if let name = NoteLink.name(for: label), meaning(of: LinkName(name)) == .note(note) {
      return name
    }
    return "\(note)" + (NoteLink.words(for: label).map { "|\($0)" } ?? "")
  }
}

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
