// A sequence in bytes, with all of its past.
//
//     format                 a byte, 2
//     lamport                varint: the largest logical time seen
//     authors                varint: how many; of each, in their order, 16 bytes of identity and as a varint the number of
//                            the last change seen
//     elements               varint: how many; all ever inserted, in the order of the steps
//     steps                  varint: how many; the steps (StepCode.swift), with notes before those that need one
//
// The steps are made one after the other, by their authors, in logical time. A decoder makes the edits again:
// "insert here, remove there", at positions among the elements visible just then. So neither the origins of an insertion
// nor what a removal removed is written. An author who edits alone, or sees the edits of others before going on, costs nothing
// but that; only an insertion or removal that others' concurrent steps make ambiguous comes with notes that name elements.
//
// The distance of a step is from where the last one ended: behind inserted elements, where removed ones were. Each author's
// changes are numbered on, and its logical time goes on, after a step of another author from the end of all that went
// before; a note tells when not. After notes of `left` and `right` the step's distance is 0: an insertion goes between these
// two, and an author of −1 is the beginning or the end. After a note of `left` alone a removal names a run of one author's
// elements, all removed already, which begins there or, if it is backward, ends there; where the last step ended stays.
//
// The steps are written as above, in steps as long as they can be, in the order in which `changes(since:)` has them. What is
// read besides: steps cut into more, and steps in another order in which each finds what it refers to. Notes that say what is
// plain without them are refused.

extension ReplicatingArray: BinaryCodable where Element: BinaryCodable {
  public func encode(into writer: inout ByteWriter) {
    let value = settled
    if value.authors.count == 1 {
      var encoder = HistoryEncoder(of: value, by: Fragments(of: value))
      encoder.encode(value.authors[0])
      value.write(encoder, value.authors[0].content, to: &writer)
    } else {
      let changes = value.changes(since: Version())
      var encoder = HistoryEncoder(of: value, by: Fragments(of: value, cutBy: changes))
      encoder.encode(changes)
      value.write(encoder, changes.content, to: &writer)
    }
  }

  private func write(
    _ steps: borrowing HistoryEncoder<Element>, _ content: [Element], to writer: inout ByteWriter
  ) {
    // Besides elements and steps, the head.
    writer.reserve(content.count + steps.writer.count + 64 + 32 * steps.names.count)
    writer.format(2)
    writer.varint(steps.names.isEmpty ? 0 : lamport)
    writer.varint(steps.names.count)
    let version = version
    for author in steps.names {
      writer.replica(author)
      writer.varint(version[author])
    }
    writer.elements(content)
    writer.varint(steps.steps)
    steps.writer.append(to: &writer)
  }

  public init(from reader: inout ByteReader) throws(DecodingFailure) {
    try reader.format(2, of: "a sequence")
    let head = try HistoryHead<Element>(&reader)
    var decoder = HistoryDecoder(head, byList: head.areWorthListing)
    try decoder.decode(&reader)
    self = decoder.value
    // Of the past states nothing is known: one author, too, may have made changes on an earlier state.
    isContested = !authors.isEmpty
    isConcurrent = isContested
  }
}
