import Foundation
import TestSupport
import Testing

@testable import ReplicatingTypes

/// The Unicode Consortium's test files, where Debian's package `unicode-data` puts them.
private let folder = "/usr/share/unicode"
private let isContinuousIntegration = ProcessInfo.processInfo.environment["CI"] == "true"

private let isThere = ConditionTrait.enabled(
  if: isContinuousIntegration || FileManager.default.fileExists(atPath: folder),
  "\(folder) is missing: install unicode-data")

/// The scalars of "0061 0301" as a text, or nothing where they are none: the files have lone surrogates too.
private func text(_ field: some StringProtocol) -> String? {
  var text = String.UnicodeScalarView()
  for number in field.split(separator: " ") {
    guard let value = UInt32(number, radix: 16), let scalar = Unicode.Scalar(value) else {
      return nil
    }
    text.append(scalar)
  }
  return String(text)
}

/// Lines such as "÷ 0020 × 0308 ÷ 0020 ÷ # comment".
private func breakTests(_ name: String) throws -> [String] {
  let path = "\(folder)/auxiliary/\(name)BreakTest.txt"
  return try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap {
    let field = $0.prefix { $0 != "#" }.filter { $0.isASCII && !$0.isWhitespace || $0 == " " }
    return field.isEmpty ? nil : text(field)
  }
}

private func expectProper(
  _ old: some Collection<UInt8>, _ new: some Collection<UInt8>
) {
  guard let defect = defect(ofDifferenceFrom: Array(old), to: Array(new)) else { return }
  let texts = [Array(old), Array(new)].map { String(decoding: $0, as: UTF8.self).debugDescription }
  Issue.record("\(defect), from \(texts[0]) to \(texts[1])")
}

@Suite(.computing) struct `Text difference of Unicode's tests` {
  @Test(isThere, arguments: ["Grapheme", "Word", "Sentence", "Line"])
  func `leads exactly to the new text, whatever regroups`(name: String) throws {
    let texts = try breakTests(name)
    #expect(texts.count > 400)
    for (number, old) in texts.enumerated() {
      var generator = SplitMix64(seed: UInt64(number))
      let utf8 = Array(old.utf8)
      // Another one, before, behind and instead.
      let other = Array(generator.pick(texts).utf8)
      expectProper(utf8, other)
      expectProper(utf8, other + utf8)
      expectProper(other + utf8, utf8 + other)
      expectProper(utf8, old.precomposedStringWithCanonicalMapping.utf8)
      expectProper(old.decomposedStringWithCanonicalMapping.utf8, utf8)

      // At each place between scalars something comes, or a scalar goes, or both. Of the many line breaks only some.
      if name == "Line", number % 8 != 0 { continue }
      let scalar = Array(String(generator.pick(Array(generator.pick(texts).unicodeScalars))).utf8)
      let scalars = old.unicodeScalars
      for index in scalars.indices {
        let head = Array(old.utf8[..<index])
        let tail = Array(old.utf8[scalars.index(after: index)...])
        let inserted = head + scalar + old.utf8[index...]
        let removed = head + tail
        expectProper(utf8, inserted)
        expectProper(inserted, utf8)
        expectProper(utf8, removed)
        expectProper(removed, utf8)
        expectProper(utf8, head + scalar + tail)
        expectProper(utf8, tail + head)
      }
    }
  }

  @Test(isThere)
  func `drops no difference that comparing strings does not see`() throws {
    let path = "\(folder)/NormalizationTest.txt"
    let unpacking = Process()
    let output = Pipe()
    unpacking.executableURL = URL(fileURLWithPath: "/bin/sh")
    unpacking.arguments = ["-c", "test -e $0 && cat $0 || bzip2 -dc $0.bz2", path]
    unpacking.standardOutput = output
    try unpacking.run()
    let data = try #require(
      try output.fileHandleForReading.readToEnd(), "neither \(path) nor bzip2")
    unpacking.waitUntilExit()

    var count = 0
    for (number, line) in String(decoding: data, as: UTF8.self).split(separator: "\n").enumerated()
    where !line.hasPrefix("#") && !line.hasPrefix("@") {
      let columns = line.split(separator: ";").prefix(5).compactMap { text($0) }
      guard columns.count == 5 else { continue }
      // Syllables of Hangul are most of the file, and composed by one rule.
      if ("\u{AC00}"..."\u{D7A3}").contains(columns[0].unicodeScalars.first!), number % 50 != 0 {
        continue
      }
      count += 1
      // In most lines several columns are the same: what two of them lead to is looked at once.
      var seen: Set<[[UInt8]]> = []
      for (old, new) in [(1, 2), (2, 1), (0, 2), (0, 4)] {
        let (before, after) = (Array(columns[old].utf8), Array(columns[new].utf8))
        guard before != after else { continue }
        if new < 3 {
          #expect(columns[old] == columns[new], "Foundation's and Swift's tables differ")
        }
        guard seen.insert([before, after]).inserted else { continue }
        expectProper(before, after)
        let (head, tail) = (Array("an é".utf8), Array("s e\u{301}nd".utf8))
        expectProper(head + before + tail, head + after + tail)
        expectProper(head + before + before + tail, head + after + before + tail)
      }
    }
    #expect(count > 5000)
  }
}
