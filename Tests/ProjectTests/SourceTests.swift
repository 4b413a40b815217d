import Foundation
import TestSupport
import Testing

// The map of the sources is true, and its rules hold.

@Suite struct `The sources` {
  @Test(arguments: SourceRule.all) func `keep the rule`(_ rule: SourceRule) throws {
    let objections = rule.objections(try sourceFiles("Sources", ".swift"))
    #expect(objections.isEmpty, "\(objections.sorted().joined(separator: "\n"))")
  }

  @Test(arguments: SourceRule.all)
  func `are found out when they break the rule`(_ rule: SourceRule) {
    for (path, text) in rule.planted {
      #expect(rule.objections([path: text]).count == 1, "\(path): \(text)")
      // What a comment says breaks nothing.
      #expect(rule.objections([path: "/* \(text.replacing("\n", with: " ")) */"]).isEmpty)
    }
  }

  /// What the map lacks of the package's modules.
  private func lacking(_ map: String, _ modules: [String]) -> [String] {
    modules.filter { !map.contains("\n| \($0) | `") }
  }

  @Test func `have a map that names every module, and files that are there`() throws {
    let map = try contents(of: projectFolder.appendingPathComponent("Sources/README.md"))
    let modules = try FileManager.default
      .contentsOfDirectory(atPath: projectFolder.path + "/Sources").filter { !$0.hasSuffix(".md") }
    #expect(modules.count > 7)
    #expect(lacking(map, modules).isEmpty)
    let package = try contents(of: projectFolder.appendingPathComponent("Package.swift"))
    let targets = package.matches(of: /\.(?:executableT|t)arget\(\s*name: "([^"]+)"/)
      .map { String($0.1) }.filter { !["TestSupport", "Fuzzing"].contains($0) }
    #expect(Set(targets) == Set(modules))
    let files = try sourceFiles("Sources", ".swift").keys.map { "/\($0)" }
    for match in map.matches(of: /`([\w+\/-]+\.swift)`/) {
      #expect(files.contains { $0.hasSuffix("/\(match.1)") }, "there is no \(match.1)")
    }
  }

  @Test func `have a page about trust that names suites of tests that are there`() throws {
    let page = try contents(of: projectFolder.appendingPathComponent("Protocol/trust.md"))
    let tests = try sourceFiles("Tests", ".swift").values.joined()
    var count = 0
    // The last column of a table.
    for row in page.split(separator: "\n") where row.hasPrefix("| ") {
      let cell = row.split(separator: "|").dropLast(row.hasSuffix("|") ? 0 : 1).last ?? ""
      for match in cell.matches(of: /`([A-Z][^`]+)`/) {
        count += 1
        #expect(tests.contains("struct `\(match.1)`"), "there is no suite \(match.1)")
      }
    }
    #expect(count > 20)
  }

  @Test func `have a map that is found out when it lacks a module`() {
    #expect(lacking("\n| A | `A.swift` |\nB\n", ["A", "B"]) == ["B"])
  }

  private static let mark =
    "// Library product only: the programs of this package do not use this file."

  /// Files of the library that no program reaches, directly or by other files, and are not marked so; and marked ones that are.
  private func misplacedMarks(_ uses: Uses, marked: Set<String>, library: String) -> [String] {
    var reached = Set(uses.names.keys.filter { !$0.hasPrefix(library) })
    var open = Array(reached)
    while let file = open.popLast() {
      for next in (uses.names[file] ?? [:]).keys where reached.insert(next).inserted {
        open.append(next)
      }
    }
    return uses.names.keys.filter {
      $0.hasPrefix(library) && reached.contains($0) == marked.contains($0)
    }
    .sorted()
  }

  @Test(
    .enabled(
      if: IndexStore.ofThisBuild != nil || isContinuousIntegration,
      "this build has no index of its sources"))
  func `say where only the library product uses them`() throws {
    let noPrograms = ["Benchmarks", "ReplicatingTypesFoundation", "ReplicatingTypesTesting"]
    let sources = try sourceFiles("Sources", ".swift").filter {
      !noPrograms.contains(module(of: $0.key))
    }
    let names = try IndexStore.names.get().filter { sources[$0.key] != nil }
    let marked = Set(sources.filter { $0.value.hasPrefix(Self.mark) }.keys)
    let misplaced = misplacedMarks(
      Uses(names), marked: marked, library: "Sources/ReplicatingTypes/")
    #expect(misplaced.isEmpty, "\(misplaced.map { "\($0), marked: \(marked.contains($0))" })")
    #expect(marked.isSubset(of: sources.keys.filter { module(of: $0) == "ReplicatingTypes" }))
  }

  @Test func `are found out when a mark is missing or wrong`() {
    var uses = Uses()
    uses.add("x", in: "main", declaredIn: "lib/a")
    uses.add("x", in: "lib/a", declaredIn: "lib/b")
    uses.add("x", in: "lib/c", declaredIn: "lib/a")
    for file in ["main", "lib/a", "lib/b", "lib/c"] { uses.add(file) }
    #expect(misplacedMarks(uses, marked: ["lib/c"], library: "lib/") == [])
    #expect(misplacedMarks(uses, marked: ["lib/b"], library: "lib/") == ["lib/b", "lib/c"])
  }

  // MARK: - Descriptions

  /// Public declarations without a description, but for those that do what a protocol says.
  private func undescribed(_ sources: [String: String], _ names: [String: FileNames]) -> [String] {
    sources.filter { hasAny(["public "], $0.value) }.flatMap { path, text in
      let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
        .map { String(Substring($0)).trimmingCharacters(in: .whitespaces) }
      return lines.indices.compactMap { index -> String? in
        let words = lines[index].split(separator: " ").drop { $0.hasPrefix("@") }
        guard words.first == "public", let next = words.dropFirst().first,
          next != "import", next != "extension", names[path]?.witnesses.contains(index + 1) != true
        else { return nil }
        let above = lines[..<index].last { !$0.hasPrefix("@") && !$0.hasPrefix("#") } ?? ""
        return above.hasPrefix("///") ? nil : "\(path):\(index + 1): \(lines[index])"
      }
    }.sorted()
  }

  @Test(
    .enabled(
      if: IndexStore.ofThisBuild != nil || isContinuousIntegration,
      "this build has no index of its sources"))
  func `describe every public declaration`() throws {
    let sources = try sourceFiles("Sources", ".swift")
    let names = try IndexStore.names.get()
    let lacking = undescribed(sources, names)
    let counts = Dictionary(grouping: lacking) { module(of: $0) }.mapValues(\.count)
    #expect(lacking.isEmpty, "\(counts)\n\(lacking.joined(separator: "\n"))")
  }

  @Test(.enabled(if: tool("swiftc") != nil || isContinuousIntegration, "swiftc is missing"))
  func `are found out when a public declaration has no description`() throws {
    let folder = TemporaryFolder()
    let text = """
      /// A number.
      public struct Number: CustomStringConvertible {
        public var value: Int
        /// Adds.
        @inlinable
        public mutating func add(_ other: Int) { value += other }
        public var description: String { "" }
      }
      extension Number: Equatable {
        public static func == (a: Self, b: Self) -> Bool { true }
        public func other() {}
      }
      """
    try text.write(toFile: folder("A.swift"), atomically: true, encoding: .utf8)
    try shell(
      """
      cd "$2" && sed -i 's/value += other/_ = other/' A.swift &&
      swiftc -module-name Planted -index-store-path index -Onone -emit-object -parse-as-library A.swift
      """, folder.path, silence: 300)
    let names = try IndexStore(folder("index")).names(below: folder.path)
    let found = undescribed(
      ["A.swift": try contents(of: URL(fileURLWithPath: folder("A.swift")))], names)
    #expect(found.count == 2, "\(found)")
    #expect(
      found.contains { $0.contains("var value") } && found.contains { $0.contains("other()") })
  }
}
