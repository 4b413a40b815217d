import Foundation
import ReplicatingTypes

/// The bytes that are allocated and not freed; nil where the allocator can't be asked.
func allocatedBytes() -> Int? {
  #if canImport(Darwin)
    var statistics = malloc_statistics_t()
    malloc_zone_statistics(nil, &statistics)
    return Int(statistics.size_in_use)
  #elseif canImport(Glibc)
    // The C library's module leaves out <malloc.h>, so the function is looked up by its name.
    typealias MallocInfo = @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
    guard let symbol = dlsym(nil, "malloc_info") else { return nil }
    let mallocInfo = unsafeBitCast(symbol, to: MallocInfo.self)
    var buffer: UnsafeMutablePointer<CChar>?
    var size = 0
    guard let stream = open_memstream(&buffer, &size) else { return nil }
    let failed = mallocInfo(0, stream)
    fclose(stream)
    defer { free(buffer) }
    guard failed == 0, let buffer else { return nil }
    return allocatedBytes(String(cString: buffer))
  #else
    return nil
  #endif
}

/// Reads the totals, which come last, of what `malloc_info` writes: what the arenas have got from the system without what
/// is free in them, and what was mapped for itself.
private func allocatedBytes(_ report: String) -> Int? {
  func size(_ element: String) -> Int? {
    guard let start = report.range(of: element, options: .backwards) else { return nil }
    let rest = report[start.upperBound...]
    guard let size = rest.range(of: "size=\"") else { return nil }
    return Int(rest[size.upperBound...].prefix { $0 != "\"" })
  }
  guard let fast = size("<total type=\"fast\""), let rest = size("<total type=\"rest\""),
    let mapped = size("<total type=\"mmap\""), let system = size("<system type=\"current\"")
  else { return nil }
  return system - fast - rest + mapped
}

/// The bytes that a text keeps allocated after a trace.
func memoryRows(_ trace: Trace, _ report: inout Report) {
  let isPaper = ["automerge-paper", "generated"].contains(trace.name)
  func row(_ name: String, _ make: () -> ReplicatingText) {
    guard let before = allocatedBytes() else { return }
    let text = make()
    let after = allocatedBytes() ?? before
    expect(text.utf8 == trace.end, "memory, \(trace.name)")
    report.add(
      Row(
        "memory", "\(trace.name), \(name)", bytes: after - before,
        goal: isPaper ? .bytes(1.2e6) : nil))
  }
  row("after local replay") { .replaying(trace) }
  let changes = ReplicatingText.replaying(trace).changes(since: Version())
  row("after remote replay") {
    var text = ReplicatingText()
    text.join(changes)
    return text
  }
}
