internal import Bytes
internal import JSONRPC
internal import Notes
internal import ReplicatingTypes

// Digests of histories, and forks, in messages.

/// How digests are written: one as 16 lower-case hexadecimal digits; a list as base64 of 8 bytes for each, big-endian.
enum Digest {
  static func text(_ digest: UInt64) -> String { Identifier(high: 0, low: digest).suffix }

  static func text(_ list: [UInt64]) -> String {
    var bytes: [UInt8] = []
    for digest in list {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: digest >> UInt64(shift)))
      }
    }
    return Base64.encode(bytes)
  }

  static func digest(_ text: String) -> UInt64? {
    Identifier(String(repeating: "0", count: 16) + text)?.low
  }

  static func list(_ text: String) -> [UInt64]? {
    guard let bytes = Base64.decode(Array(text.utf8)), bytes.count % 8 == 0 else { return nil }
    return stride(from: 0, to: bytes.count, by: 8).map { start in
      bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) }
    }
  }
}

extension Identifier {
  fileprivate var suffix: String { String(description.suffix(16)) }
}

extension Parameters {
  /// A digest; nil if it is absent.
  func digest(_ name: some ParameterName) throws(ResponseError) -> UInt64? {
    guard let text = try string(name) else { return nil }
    guard let digest = Digest.digest(text) else {
      throw .invalidParams(name.rawValue, "must be a digest")
    }
    return digest
  }

  /// Forks as the other side has found them, seen from this side: what is theirs there is ours here.
  func forks(_ name: some ParameterName) throws(ResponseError) -> [Fork] {
    guard self[name] != nil else { return [] }
    var forks: [Fork] = []
    for element in try requiredArray(name) {
      let fork = Parameters(value: element, path: "\(name.rawValue).")
      guard let replica = ReplicaID(try fork.requiredString("session")) else {
        throw .invalidParams("\(name.rawValue).session", "is none")
      }
      guard let ours = try fork.digest("theirs"), let theirs = try fork.digest("ours") else {
        throw .invalidParams("\(name.rawValue).ours", "is missing")
      }
      forks.append(
        Fork(
          replica: replica, shared: UInt64(try fork.requiredCount("after")), ours: ours,
          theirs: theirs))
    }
    return forks
  }
}

extension JSONWriter {
  /// Writes the member `without`.
  mutating func forks(_ forks: [Fork]) {
    key("without")
    beginArray()
    for fork in forks {
      beginObject()
      member("session", "\(fork.replica)")
      member("after", Int(clamping: fork.shared))
      member("ours", Digest.text(fork.ours))
      member("theirs", Digest.text(fork.theirs))
      endObject()
    }
    endArray()
  }
}
