// Which file of a client uses which, read from its sources by the rules of its language.

import Foundation
import RegexBuilder

enum Client: String, CaseIterable, Sendable {
  case vim, nvim, emacs

  /// The uses between files, given by their paths in the client's folder.
  func uses(_ sources: [String: String]) -> Uses {
    switch self {
    case .vim: Self.vimUses(sources)
    case .nvim: Self.luaUses(sources)
    case .emacs: Self.lispUses(sources)
    }
  }

  /// Whether a file is part of the client, and none of its tests.
  func isSource(_ path: String) -> Bool {
    switch self {
    case .vim: path.hasSuffix(".vim") && !path.hasPrefix("test/")
    case .nvim: path.hasSuffix(".lua")
    case .emacs: path.hasSuffix(".el") && !path.hasSuffix("-tests.el")
    }
  }

  /// Vim script has two ways: `import autoload`, relative to the file or to `autoload`, and names with the path in them, as
  /// `decent_notes#server#Process`.
  private static func vimUses(_ sources: [String: String]) -> Uses {
    var uses = Uses()
    for (path, text) in sources {
      uses.add(path)
      for line in text.split(separator: "\n") where !line.drop(while: \.isWhitespace).isComment {
        if let match = line.firstMatch(of: /import\s+autoload\s+['"]([^'"]+)['"]/) {
          let name = String(match.1)
          let folder = (path as NSString).deletingLastPathComponent
          let file =
            name.hasPrefix(".")
            ? NSString.path(withComponents: [folder, name]).normalized : "autoload/\(name)"
          if sources[file] != nil { uses.add("import", in: path, declaredIn: file) }
        }
        for match in line.matches(of: /\b(\w+(?:#\w+)+)/) {
          let file = "autoload/" + match.1.split(separator: "#").dropLast().joined(separator: "/")
          if sources[file + ".vim"] != nil {
            uses.add(String(match.1), in: path, declaredIn: file + ".vim")
          }
        }
      }
    }
    return uses
  }

  /// Lua has `require`, which may stand in a string that is run later: that is a use, too.
  private static func luaUses(_ sources: [String: String]) -> Uses {
    var uses = Uses()
    for (path, text) in sources {
      uses.add(path)
      for line in text.split(separator: "\n") where !line.drop(while: \.isWhitespace).isComment {
        for match in line.matches(of: /require\s*\(?\s*['"]([\w.-]+)['"]/) {
          let name = "lua/" + match.1.replacing(".", with: "/")
          for file in [name + ".lua", name + "/init.lua"] where sources[file] != nil {
            uses.add("require", in: path, declaredIn: file)
          }
        }
      }
    }
    return uses
  }

  /// In Lisp every name is known everywhere once its file is loaded: a file uses another if it has a name that is defined there,
  /// or requires it.
  private static func lispUses(_ sources: [String: String]) -> Uses {
    let codes = sources.mapValues { LispCode($0) }
    var places: [String: String] = [:]
    for (path, code) in codes { for name in code.defined { places[name] = path } }
    var uses = Uses()
    for (path, code) in codes {
      uses.add(path)
      for name in code.names where !code.defined.contains(name) {
        if let file = places[name] { uses.add(name, in: path, declaredIn: file) }
      }
      for name in code.required where codes[name + ".el"] != nil {
        uses.add("require", in: path, declaredIn: name + ".el")
      }
    }
    return uses
  }
}

extension Substring {
  /// A comment of Vim script or Lua.
  fileprivate var isComment: Bool { hasPrefix("#") || hasPrefix("\"") || hasPrefix("--") }
}

extension String {
  /// The path without `.` and `..`.
  fileprivate var normalized: String {
    var parts: [Substring] = []
    for part in split(separator: "/") {
      if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }
}

/// The names in a file of Emacs Lisp, apart from its comments and strings.
private struct LispCode {
  /// Names that are defined: by `defun` and the like, and the functions of structures.
  private(set) var defined: Set<String> = []
  private(set) var required: Set<String> = []
  private(set) var names: Set<String> = []

  /// Groups of options are not among them: an option names its group, and does not need it.
  private static let forms: Set = [
    "defun", "defmacro", "defsubst", "defalias", "define-inline", "defvar", "defvar-local",
    "defconst", "defcustom", "defface", "define-error", "define-minor-mode",
    "define-derived-mode", "define-globalized-minor-mode", "cl-defun", "cl-defmacro",
    "cl-defsubst", "cl-defgeneric", "cl-defmethod",
  ]

  init(_ text: String) {
    let tokens = Self.tokens(text)
    for (index, token) in tokens.enumerated() {
      // A group of options, or a file, may have the name of a function.
      let isOther =
        index > 0 && [":group", "defgroup", "provide", "require"].contains(tokens[index - 1])
      if token != "(", token != ")", !isOther { names.insert(token) }
      guard token == "(", index + 3 < tokens.count else { continue }
      let (form, next, after) = (tokens[index + 1], tokens[index + 2], tokens[index + 3])
      switch form {
      case "require": required.insert(next)
      // `(defvar name)` only says that there is one.
      case "defvar" where after == ")": break
      case "cl-defstruct": addStructure(tokens[(index + 2)...])
      case _ where Self.forms.contains(form): defined.insert(next)
      default: break
      }
    }
  }

  /// The accessors of a structure, its constructors, copier and predicate.
  private mutating func addStructure(_ tokens: ArraySlice<String>) {
    guard let first = tokens.first else { return }
    var depth = 1
    var words: [(word: String, depth: Int, isFirst: Bool)] = []
    var previous = ""
    for token in tokens {
      if token == "(" { depth += 1 } else if token == ")" { depth -= 1 }
      if depth == 0 { break }
      if token != "(", token != ")" { words.append((token, depth, previous == "(")) }
      previous = token
    }
    let name = first == "(" ? words[0].word : first
    var prefix = name + "-"
    defined.formUnion([name, "make-" + name, "copy-" + name, name + "-p"])
    for (index, word) in words.enumerated().dropLast() where word.isFirst {
      let value = words[index + 1].word
      switch word.word {
      case ":conc-name": prefix = value
      case ":constructor" where value != "nil", ":copier" where value != "nil",
        ":predicate" where value != "nil":
        defined.insert(value)
      default: break
      }
    }
    for word in words.dropFirst() where word.depth == 1 || word.depth == 2 && word.isFirst {
      defined.insert(prefix + word.word)
    }
  }

  private static func tokens(_ text: String) -> [String] {
    var tokens: [String] = []
    var word = ""
    var characters = Array(text.unicodeScalars)[...]
    func isBreak(_ scalar: Unicode.Scalar) -> Bool {
      scalar.properties.isWhitespace || "()[]'`,#\"".unicodeScalars.contains(scalar)
    }
    func end() {
      if !word.isEmpty { tokens.append(word) }
      word = ""
    }
    while let scalar = characters.popFirst() {
      switch scalar {
      case ";":
        end()
        while let next = characters.first, next != "\n" { characters.removeFirst() }
      case "\"":
        end()
        while let next = characters.popFirst(), next != "\"" {
          if next == "\\" { characters = characters.dropFirst() }
        }
      case "?" where word.isEmpty:
        // A character: what follows is no string and no comment.
        if characters.popFirst() == "\\" { characters = characters.dropFirst() }
      case "(", ")":
        end()
        tokens.append(String(Character(scalar)))
      case _ where isBreak(scalar): end()
      default: word.unicodeScalars.append(scalar)
      }
    }
    end()
    return tokens
  }
}
