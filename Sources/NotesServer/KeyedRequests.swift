internal import Bytes
internal import Notes
internal import ReplicatingTypes

/// The requests whose keys are kept in the notebook: with the changes that were made for them (`RequestMark`).
///
/// A request with an attachment is none of them, because its answer means nothing when that has gone with its process; nor is a merge, which
/// does nothing when it is repeated.
enum KeyedRequest: UInt8, CaseIterable {
  case create = 1
  case update, setText, append, move, delete, restore, restoreVersion, purge, rename, batch, merge

  /// The name of its method.
  var method: String {
    switch self {
    case .create: "note/create"
    case .update: "note/update"
    case .setText: "note/setText"
    case .append: "note/append"
    case .move: "note/move"
    case .delete: "note/delete"
    case .restore: "note/restore"
    case .restoreVersion: "note/restoreVersion"
    case .purge: "note/purge"
    case .rename: "note/rename"
    case .batch: "notebook/batch"
    case .merge: "note/merge"
    }
  }

  private static let byMethod = Dictionary(
    uniqueKeysWithValues: allCases.map { ($0.method, $0) })

  /// The request of this method; nil if its keys are not kept.
  init?(method: String) {
    guard let known = Self.byMethod[method] else { return nil }
    self = known
  }

  /// The mark of a change that is made for such a request.
  func mark(_ key: [UInt8], place: UInt16 = 0) -> RequestMark {
    RequestMark(key: Self.hash(of: key), kind: rawValue, place: place)
  }

  /// The hash by which a key is known.
  static func hash(of key: [UInt8]) -> Identifier {
    Identifier(SHA256.hexDigest(of: key).prefix(32))!
  }
}

/// The changes of the last day that were made for requests with a key, whichever process has made them.
struct KnownRequests {
  /// A change that was made for a request.
  struct Made {
    let key: Identifier
    let change: ChangeID
    let kind: UInt8
    let place: UInt16
    let time: Int64
  }

  private var made: [Identifier: [Made]] = [:]
  private var count = 0
  /// The version of which all changes were looked at.
  private(set) var seen = Version()

  /// A key is kept for so many milliseconds.
  private static let age: Int64 = 24 * 60 * 60 * 1000
  /// The most changes that are kept. If there are more in a day, the oldest are forgotten.
  private let most: Int

  init(most: Int = 1 << 17) { self.most = most }

  /// The changes with keys that a notebook has, and a version has not. O(replicas + those changes).
  func new(
    in book: borrowing NoteBook, at now: Int64
  ) throws(ArchiveFailure) -> [Made] {
    var new: [Made] = []
    if seen == book.version { return new }
    let most = most
    try book.forEachRequest(after: seen, since: now - Self.age) { mark, change, time in
      new.append(
        Made(key: mark.key, change: change, kind: mark.kind, place: mark.place, time: time))
      if new.count > 2 * most { Self.forget(&new, atMost: most) }
    }
    return new
  }

  /// Takes what `new` has found; now all changes of this version were looked at.
  mutating func learn(_ new: [Made], upTo version: Version, at now: Int64) {
    seen = version
    for one in new { made[one.key, default: []].append(one) }
    count += new.count
    if count <= most { return }
    var all = made.values.joined().filter { $0.time >= now - Self.age }
    // Not all that may be kept, so that the next change does not lead here again.
    Self.forget(&all, atMost: most / 2)
    made = Dictionary(grouping: all, by: \.key)
    count = all.count
  }

  /// The changes that were made for the requests of a key within the last day, in the order of their places.
  func changes(of key: Identifier, at now: Int64) -> [Made] {
    let recent = (made[key] ?? []).filter { $0.time >= now - Self.age }
    // Two processes that did not know of each other may both have carried it out.
    guard let first = recent.min(by: { ($0.time, $0.change) < ($1.time, $1.change) }) else {
      return []
    }
    return recent.filter { $0.change.replica == first.change.replica }
      .sorted { ($0.place, $0.change) < ($1.place, $1.change) }
  }

  private static func forget(_ list: inout [Made], atMost most: Int) {
    list.sort { ($0.time, $0.change) > ($1.time, $1.change) }
    list.removeLast(max(0, list.count - most))
  }
}
