import Bytes

/// Bytes of a group, compressed: their number, and the time to compress them and to get them back.
func compressionRows(
  _ group: String, _ name: String, _ bytes: [UInt8], goal: Row.Goal?, _ report: inout Report
) {
  let block = LZ4.compress(bytes[...])
  report.add(Row(group, "\(name), compressed", bytes: block.count, goal: goal))
  let compressing = measure {
    LZ4.compress(bytes[...])
  } check: {
    expect($0 == block, "compressing, \(name)")
  }
  report.add(Row(group, "\(name), compress", compressing))
  let decompressing = measure {
    decompressed(block, bytes.count)
  } check: {
    expect($0 == bytes, "decompressing, \(name)")
  }
  report.add(Row(group, "\(name), decompress", decompressing))
}

private func decompressed(_ block: [UInt8], _ count: Int) -> [UInt8] {
  do { return try LZ4.decompress(block[...], count: count) } catch {
    fatalError("wrong result: a block is refused: \(error)")
  }
}
