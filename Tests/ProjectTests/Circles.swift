// Circles between files: the strongly connected parts of a graph (Tarjan, 1972).

/// The files that each file uses, with names by which it does.
struct Uses: Sendable {
  private(set) var names: [String: [String: Set<String>]] = [:]

  mutating func add(_ file: String) { names[file, default: [:]].merge([:]) { $1 } }

  mutating func add(_ name: String, in user: String, declaredIn file: String) {
    guard user != file else { return }
    names[user, default: [:]][file, default: []].insert(name)
  }

  /// The uses between files that each declare names and use those of others.
  init(_ files: [String: FileNames] = [:]) {
    var places: [String: String] = [:]
    for (path, file) in files { for name in file.declared.keys { places[name] = path } }
    for (path, file) in files {
      add(path)
      for (unique, name) in file.used where file.declared[unique] == nil {
        if let place = places[unique] { add(name, in: path, declaredIn: place) }
      }
    }
  }

  /// The circles, each with what ties it: empty if files depend on each other in one direction.
  var circles: [String] {
    var search = Search(names.mapValues { Array($0.keys) })
    return search.parts().filter { $0.count > 1 }.map { part in
      let ties = part.sorted().flatMap { user in
        part.sorted().compactMap { file -> String? in
          guard let shared = names[user]?[file] else { return nil }
          return "  \(user) → \(file): \(shared.sorted().prefix(12).joined(separator: ", "))"
        }
      }
      return "a circle of \(part.count):\n" + ties.joined(separator: "\n")
    }.sorted()
  }

  private struct Search {
    let edges: [String: [String]]
    private var order: [String: Int] = [:]
    private var lowest: [String: Int] = [:]
    private var stack: [String] = []
    private var found: [[String]] = []

    init(_ edges: [String: [String]]) { self.edges = edges }

    mutating func parts() -> [[String]] {
      for file in edges.keys.sorted() where order[file] == nil { visit(file) }
      return found
    }

    private mutating func visit(_ file: String) {
      order[file] = order.count
      lowest[file] = order[file]
      stack.append(file)
      for next in edges[file] ?? [] {
        if order[next] == nil {
          visit(next)
          lowest[file] = min(lowest[file]!, lowest[next]!)
        } else if stack.contains(next) {
          lowest[file] = min(lowest[file]!, order[next]!)
        }
      }
      guard lowest[file] == order[file] else { return }
      let start = stack.lastIndex(of: file)!
      found.append(Array(stack[start...]))
      stack.removeSubrange(start...)
    }
  }
}
