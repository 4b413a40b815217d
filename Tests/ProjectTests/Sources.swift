import Foundation
import TestSupport

/// The texts of the files below a folder of the project whose names end in `suffix`, by their paths in the project.
func sourceFiles(_ folder: String, _ suffix: String) throws -> [String: String] {
  let path = projectFolder.appendingPathComponent(folder).path
  var texts: [String: String] = [:]
  for name in try FileManager.default.subpathsOfDirectory(atPath: path) where name.hasSuffix(suffix)
  {
    guard let data = FileManager.default.contents(atPath: "\(path)/\(name)") else { continue }
    texts["\(folder)/\(name)"] = String(decoding: data, as: UTF8.self)
  }
  return texts
}

/// The module of a source file, that is its folder below `Sources`.
func module(of path: String) -> String { String(path.split(separator: "/")[1]) }

/// The lines of a Swift source without comments; strings stay.
func codeLines(_ text: String) -> [String] {
  let bytes = Array(text.utf8)
  var code: [UInt8] = []
  var (isString, depth, at) = (false, 0, 0)
  func isMark(_ first: UInt8, _ second: UInt8) -> Bool {
    bytes[at] == first && at + 1 < bytes.count && bytes[at + 1] == second
  }
  let (slash, star, quote, newline) = (
    UInt8(ascii: "/"), UInt8(ascii: "*"), UInt8(ascii: "\""), UInt8(0x0A)
  )
  while at < bytes.count {
    let byte = bytes[at]
    if depth > 0 {
      let (opens, closes) = (isMark(slash, star), isMark(star, slash))
      depth += opens ? 1 : closes ? -1 : 0
      if byte == newline { code.append(byte) }
      at += opens || closes ? 2 : 1
    } else if isString, byte == UInt8(ascii: "\\"), at + 1 < bytes.count {
      code += bytes[at...(at + 1)]
      at += 2
    } else if !isString, isMark(slash, slash) {
      while at < bytes.count, bytes[at] != newline { at += 1 }
    } else if !isString, isMark(slash, star) {
      depth = 1
      at += 2
    } else {
      // A string of one line ends with it, even where an interpolation has hidden its end.
      if byte == quote { isString.toggle() } else if byte == newline { isString = false }
      code.append(byte)
      at += 1
    }
  }
  return code.split(separator: newline, omittingEmptySubsequences: false)
    .map { String(decoding: $0, as: UTF8.self) }
}

/// Whether a text has one of `words`, looked for by the C library.
func hasAny(_ words: [String], _ text: String) -> Bool {
  text.withCString { text in words.contains { strstr(text, $0) != nil } }
}
