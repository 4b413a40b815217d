import Bytes
import TestSupport
import Testing

/// The hash of bytes that change, held against the hash of all of them.
@Suite struct `Hashed pieces` {
  @Test(arguments: seeds(20))
  func `have the hash of all bytes, wherever these change`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var bytes = random.bytes(random.pick([0, 1, 63, 64, 65, 1000, 4095, 4096, 4097, 13_000]))
    var hashed = HashedPieces()
    // As somebody types: as a rule beside the place before.
    var place = random.below(bytes.count + 1)
    for step in 0..<120 {
      for _ in 0..<random.below(3) {
        if random.chance(20) { place = random.below(bytes.count + 1) }
        place = min(place, bytes.count)
        let end = random.chance(30) ? min(bytes.count, place + random.below(100)) : place
        let new = random.bytes(random.pick([0, 1, 1, 2, 64, 200]))
        hashed.change(from: place)
        bytes.replaceSubrange(place..<end, with: new)
        place += new.count
      }
      #expect(hashed.hexDigest(of: bytes) == SHA256.hexDigest(of: bytes), at(seed, step))
    }
  }
}
