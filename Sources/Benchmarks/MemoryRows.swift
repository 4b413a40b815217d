import Foundation
import ReplicatingTypes

/// How many bytes of memory the program takes: resident on Linux, allocated on macOS; `nil` elsewhere.
func bytesInUse() -> Int? {
  #if canImport(Darwin)
    var statistics = malloc_statistics_t()
    malloc_zone_statistics(nil, &statistics)
    return Int(statistics.size_in_use)
  #else
    guard let pages = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
      return nil
    }
    return pages.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map {
      $0 * Int(getpagesize())
    }
  #endif
}

/// What a text takes after a trace: the mean of many, which were made after as many others, so that what was free before
/// is used up.
func memoryRows(_ trace: Trace, _ report: inout Report) {
  let isPaper = ["automerge-paper", "generated"].contains(trace.name)
  let count = 24
  func row(_ name: String, _ make: () -> ReplicatingText) {
    let others = (0..<count).map { _ in make() }
    guard let before = bytesInUse() else { return }
    let texts = (0..<count).map { _ in make() }
    let after = bytesInUse() ?? before
    for text in others + texts { expect(text.utf8 == trace.end, "memory, \(trace.name)") }
    report.add(
      Row(
        "memory", "\(trace.name), \(name)", bytes: (after - before) / count,
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
