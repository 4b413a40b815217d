import Foundation
import TestSupport
import Testing

// Files of a client depend on each other in one direction: what a file uses can be read and understood before it. In Sources that holds for
// folders.

@Suite(.waiting) struct `Circles between files` {
  @Test(.enabled(if: tool("swiftc") != nil || isContinuousIntegration, "swiftc is missing"))
  func `one between two files is found, and one with a file that is gone is not`() throws {
    let folder = TemporaryFolder()
    let sources = [
      "One.swift": "struct One { var two: Two? { nil } }",
      "Two.swift": "struct Two { func make() -> One { One() } }",
      "Three.swift": "func three() -> Int { One().two == nil ? 1 : 2 }\n"
        + "extension Two: Equatable { static func == (a: Two, b: Two) -> Bool { true } }",
    ]
    for (name, text) in sources {
      try text.write(toFile: folder(name), atomically: true, encoding: .utf8)
    }
    func circles() throws -> [String] {
      Uses(try IndexStore(folder("index")).names(below: folder.path)).circles
    }
    func compile(_ names: [String]) throws {
      try shell(
        """
        cd "$2" && swiftc -module-name Planted -index-store-path index -Onone \
          -emit-object -parse-as-library $3
        """, folder.path, names.joined(separator: " "), silence: 300)
    }
    try compile(sources.keys.sorted())
    let found = try circles()
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("a circle of 2:") == true)
    #expect(found.first?.contains("One.swift → Two.swift: ") == true)
    unlink(folder("Two.swift"))
    #expect(try circles().isEmpty)
  }

  @Test(arguments: Client.allCases) func `no client has one`(_ client: Client) throws {
    let folder = "clients/\(client.rawValue)"
    let sources = try sourceFiles(folder, "").reduce(into: [:]) {
      $0[String($1.key.dropFirst(folder.count + 1))] = $1.value
    }.filter { client.isSource($0.key) }
    #expect(sources.count > 5)
    let uses = client.uses(sources)
    #expect(uses.names.values.count { !$0.isEmpty } > 3)
    #expect(uses.circles.isEmpty, "\(uses.circles.joined(separator: "\n"))")
  }

  @Test(
    arguments: [
      (
        Client.vim,
        [
          "autoload/n/a.vim": "import autoload './b.vim'", "autoload/n/b.vim": "call n#a#Show()",
          "autoload/n.vim": "import autoload './n/a.vim'", "autoload/n/c.vim": "# n#a#Show()",
        ]
      ),
      (
        .nvim,
        [
          "lua/n/init.lua": "local a = require('n.a')", "lua/n/a.lua": "x(\"lua require'n'.y()\")",
          "lua/n/b.lua": "-- require('n')",
        ]
      ),
      (
        .emacs,
        [
          "a.el":
            "(cl-defstruct (a-note (:conc-name a--)) text (size 0))\n(defun a () (b-show ?\\\"))",
          "b.el": "(require 'a)\n(defun b-show (x) \"Not `c'.\" (a--size x)) ; c",
          "c.el": "(defvar b)\n(defun c () (a))",
        ]
      ),
    ] as [(Client, [String: String])])
  func `one that is planted in a client is found`(_ client: Client, _ files: [String: String]) {
    let circles = client.uses(files).circles
    #expect(circles.count == 1)
    #expect(circles.first?.hasPrefix("a circle of 2:") == true, "\(circles)")
  }
}
