import Foundation
import TestSupport
import Testing

@testable import NotesServer

/// Links between files as other programs follow them: by the path, or by the name of a file that only one has. They know nothing of titles and ids.
private struct Vault {
  /// The texts, header and all, by path.
  let files: [String: String]

  private static func withoutSuffix(_ path: String) -> String {
    path.hasSuffix(".md") ? String(path.dropLast(3)) : path
  }

  /// The file that a name between two brackets leads to; nil if none or several may be it.
  private func file(named name: String) -> String? {
    let stem = Self.withoutSuffix(name).lowercased()
    let paths = files.keys.filter { path in
      let own = Self.withoutSuffix(path).lowercased()
      return own == stem || own.split(separator: "/").last! == stem
    }
    return paths.count == 1 ? paths[0] : nil
  }

  /// The links of a file, in their order, and the files that they lead to.
  func links(of path: String) -> [(text: String, file: String?)] {
    let folder = path.split(separator: "/").dropLast().map(String.init)
    let pattern = /\[\[([^\]\[|#]+)[^\]\[]*\]\]|\]\(<?([^)>#]+\.md)[^)]*\)/
    return files[path]!.matches(of: pattern).map { match in
      if let name = match.output.1 {
        return ("\(match.output.0)", file(named: name.trimmingCharacters(in: .whitespaces)))
      }
      var parts = folder
      for part in match.output.2!.removingPercentEncoding!.split(separator: "/") where part != "." {
        if part == ".." { parts.removeLast() } else { parts.append(String(part)) }
      }
      let path = parts.joined(separator: "/")
      return ("\(match.output.0)", files[path] == nil ? nil : path)
    }
  }
}

@Suite("A note with a file, renamed") struct RenamedFileTests {
  private let scratch = TemporaryFolder()
  private let peer: Peer

  init() {
    peer = Peer(scratch("notes"), seed: 1, state: scratch("state"))
    peer.initialize()
  }

  private func write(_ files: [String: String]) throws {
    for (path, text) in files {
      let url = URL(fileURLWithPath: scratch("vault/\(path)"))
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    peer.call("notebook/import", ["path": .string(scratch("vault"))])
  }

  private var vault: Vault {
    peer.call("notebook/export", ["path": .string(scratch("vault")), "into": true])
    var files: [String: String] = [:]
    let names = FileManager.default.enumerator(atPath: scratch("vault"))
    while let name = names?.nextObject() as? String {
      guard name.hasSuffix(".md") else { continue }
      files[name] = try? contents(of: URL(fileURLWithPath: scratch("vault/\(name)")))
    }
    return Vault(files: files)
  }

  private func note(at path: String) -> JSON {
    peer.list().map { peer.call("note/get", ["id": .string($0)])["note"]! }
      .first { $0["path"]?.string == path }!
  }

  @discardableResult
  private func rename(_ path: String, _ title: String) -> JSON {
    peer.call("note/rename", ["id": note(at: path)["id"]!, "title": .string(title)])
  }

  private static let links = """
    [[Old name]] [[Old name|alias]] [[Old name#Head]] ![[Old name]] [[ old name ]] [[Old name.md]]
    [x](Old%20name.md) [x](./Old%20name.md#Head) [x](<Old name.md>)
    `[[Old name]]` <!-- [[Old name]] -->

        [[Old name]]

    """

  @Test func `takes its file along, and every link to that, and back`() throws {
    let header = "---\nup: \"[[Old name]]\"\nsee:\n  - '[[Old name|it]]'\n  - \"[[Refs]]\"\n---\n"
    try write([
      "Old name.md": "Text [[#Head]] [me](Old%20name.md)\n", "Refs.md": header + Self.links,
      "sub/Refs 2.md": "[x](../Old%20name.md) [[Old name]]\n",
    ])
    let before = vault.files
    let refs = peer.call("note/open", ["id": note(at: "Refs.md")["id"]!, "mode": "edit"])
    let result = rename("Old name.md", "New (name), 100%")
    #expect(result["updated"]!.array!.count == 3)
    let after = vault
    #expect(
      after.files.keys.sorted() == ["New (name), 100%.md", "Refs.md", "sub/Refs 2.md"])
    #expect(
      after.files["New (name), 100%.md"] == "Text [[#Head]] [me](New%20%28name%29,%20100%25.md)\n")
    for path in ["Refs.md", "sub/Refs 2.md"] {
      for (text, file) in after.links(of: path).filter({ !$0.text.contains("Refs") }) {
        #expect(file == "New (name), 100%.md" || text.contains("Old name"), "\(text) in \(path)")
      }
    }
    let new = "New (name), 100%"
    #expect(
      after.files["Refs.md"]
        == header.replacing("Old name", with: new)
        + Self.links.replacing("[[Old name", with: "[[\(new)").replacing(
          "`[[\(new)]]` <!-- [[\(new)]] -->\n\n    [[\(new)]]",
          with: "`[[Old name]]` <!-- [[Old name]] -->\n\n    [[Old name]]"
        ).replacing("[[ old name ]]", with: "[[ \(new) ]]")
        .replacing("./Old", with: "Old").replacing("<Old name.md>", with: "<Old%20name.md>")
        .replacing("Old%20name.md", with: "New%20%28name%29,%20100%25.md"))
    // It is one step of who has one of the notes open.
    #expect(peer.call("note/undo", ["attachment": refs["attachment"]!])["done"] == true)
    #expect(vault.files == before)
    #expect(peer.call("note/redo", ["attachment": refs["attachment"]!])["done"] == true)
    #expect(vault.files == after.files)
    #expect(peer.call("notebook/import", ["path": .string(scratch("vault"))])["updated"] == 0)
  }

  @Test func `gets a free name, and follows a title of which only the case changes`() throws {
    try write([
      "a/Old.md": "x\n", "a/new.md": "y\n",
      "Refs.md": "[[a/Old]] [[Old]] [o](a/Old.md) [[old.md]]\n",
    ])
    rename("a/Old.md", "New")
    #expect(vault.files.keys.sorted() == ["Refs.md", "a/New (2).md", "a/new.md"])
    #expect(vault.files["a/New (2).md"] == "---\ntitle: New\n---\nx\n")
    #expect(
      vault.files["Refs.md"]
        == "[[a/New (2)]] [[New (2)]] [o](a/New%20%282%29.md) [[New (2).md]]\n")
    rename("a/new.md", "NEW")
    #expect(vault.files.keys.sorted() == ["Refs.md", "a/NEW.md", "a/New (2).md"])
    #expect(vault.files["a/NEW.md"] == "y\n")
  }

  @Test func `stays in its folder where its name begins with a sign that combines with the slash`()
    throws
  {
    try write(["ab/\u{301}x.md": "y\n"])
    rename("ab/\u{301}x.md", "New")
    #expect(vault.files == ["ab/New.md": "y\n"])
  }

  @Test func `keeps its file where the title comes from elsewhere, and links to that`() throws {
    try write([
      "Old.md": "# Old\n\nx\n", "b.md": "---\ntitle: Titled\n---\ny\n",
      "Refs.md": "[[Old]] [o](Old.md) [[Titled]] [[b]]\n",
    ])
    rename("Old.md", "New")
    rename("b.md", "Named")
    #expect(vault.files.keys.sorted() == ["Old.md", "Refs.md", "b.md"])
    #expect(vault.files["Refs.md"] == "[[Old]] [o](Old.md) [[Named]] [[b]]\n")
    #expect(vault.files["Old.md"] == "---\ntitle: New\n---\n# Old\n\nx\n")
    #expect(vault.files["b.md"] == "---\ntitle: Named\n---\ny\n")
  }

  @Test func `has links in headers, which are listed, completed and found as others are`() throws {
    try write([
      "Up.md": "x\n",
      "a.md":
        "---\nup: \"[[Up|it]]\"\nplain: see [[Up]]\nlist: [[Up]]\nflow: [\"[[Up#H]]\", '[[no one]]']\nmap:\n  in: \"[[Up]]\"\n# [[Up]]\n---\n[[a]]\n",
    ])
    let (up, a) = (note(at: "Up.md")["id"]!, note(at: "a.md")["id"]!)
    let links = peer.call("note/links", ["id": a])
    #expect(links["links"]!.array!.count == 1)
    #expect(
      links["headerLinks"]!.array!.map { "\($0["field"]!.string!) \($0["target"]!.string!)" }
        == ["flow Up", "flow no one", "map Up", "plain Up", "up Up"])
    #expect(links["headerLinks"]!.array!.map { $0["id"] == up } == [true, false, true, true, true])
    let backlinks = peer.call("note/backlinks", ["id": up])["backlinks"]!.array!
    #expect(backlinks.count == 1 && backlinks[0]["ranges"] == [])
    #expect(backlinks[0]["fields"] == ["flow", "map", "plain", "up"])
    #expect(backlinks[0]["context"]!.string!.contains("Up#H"))
    // What means something in YAML is no name there; the id is.
    rename("Up.md", "it's \"up\": 1")
    let file = vault.files["a.md"]!
    #expect(file.contains("up: \"[[\(up.string!)|it]]\"") && file.contains("list: [[Up]]"))
    #expect(peer.call("note/backlinks", ["id": up])["backlinks"]!.array!.count == 1)
    // A field that is set later counts, too.
    peer.call("note/update", ["id": up, "title": "z"])
    #expect(peer.call("note/backlinks", ["id": up])["backlinks"]!.array!.count == 1)
  }

  @Test(arguments: seeds(12))
  func `has as many links that lead to its file as before, in random folders`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let names = ["a", "b", "c d", "é", "B", "x (2)", "100% (y)"]
    var files: [String: String] = [:]
    for _ in 0..<7 {
      files[random.pick(["", "f/", "f/g/", "h i/"]) + random.pick(names) + ".md"] = ""
    }
    func link(from path: String) -> String {
      let target = random.pick(files.keys.sorted())
      let name = target.split(separator: "/").last!.dropLast(3)
      let up = String(repeating: "../", count: path.count { $0 == "/" })
      let encoded = target.addingPercentEncoding(
        withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "/.")))!
      return random.pick([
        "[[\(name)]]", "[[\(name)|w]]", "[[\(name).md]]", "[[\(target.dropLast(3))#h]]",
        "[[\(target)]]",
        "[w](\(up)\(encoded))", "[[\(random.pick(names))]]",
      ])
    }
    for path in files.keys.sorted() {
      let fields = (0..<random.below(3)).map {
        "f\($0): \"\(link(from: path).replacing(/\[w.*/, with: "[[a]]"))\"\n"
      }
      let title = random.chance(20) ? "title: \(random.pick(names).prefix(3))\n" : ""
      let header = fields.isEmpty && title.isEmpty ? "" : "---\n\(title)\(fields.joined())---\n"
      let heading = random.chance(20) ? "# \(random.pick(names))\n" : ""
      let text = (0..<random.below(5)).map { _ in link(from: path) }.joined(separator: " ")
      files[path] = "\(header)\(heading)\(text) .\n"
    }
    try write(files)
    var before = vault
    #expect(before.files == files)
    for step in 0..<12 {
      let paths = peer.list().map {
        ($0, peer.call("note/get", ["id": .string($0)])["note"]!["path"]!.string!)
      }
      let id = random.pick(paths).0
      let opened = peer.call("note/open", ["id": .string(id), "mode": "edit"])
      let title = random.pick(names) + random.pick(["", "", " new", "/slash", "#"])
      peer.call("note/rename", ["id": .string(id), "title": .string(title)])
      let after = vault
      var places: [String: String] = [:]
      for (id, path) in paths {
        places[path] = peer.call("note/get", ["id": .string(id)])["note"]!["path"]!.string!
      }
      for (old, new) in places {
        let (links, now) = (before.links(of: old), after.links(of: new))
        #expect(links.count == now.count)
        for (link, other) in zip(links, now) {
          guard let file = link.file else { continue }
          let isMeant = places[file] == other.file
          // A file of another folder may have the name: then a link by that leads to neither, and one to the top has the note's id.
          let name = places[file]!.split(separator: "/").last!.lowercased()
          let isOnly =
            after.files.keys.count { $0.split(separator: "/").last!.lowercased() == name } == 1
          #expect(
            isMeant || other.file == nil && !isOnly && !link.text.contains("]("),
            "\(at(seed, step)): \(link) in \(old) is \(other) in \(new); \(title)")
        }
      }
      if random.chance(50), after.files != before.files {
        #expect(peer.call("note/undo", ["attachment": opened["attachment"]!])["done"] == true)
        let undone = vault
        #expect(undone.files == before.files, "\(at(seed, step))")
      } else {
        before = after
      }
      peer.call("note/close", ["attachment": opened["attachment"]!])
    }
  }
}
