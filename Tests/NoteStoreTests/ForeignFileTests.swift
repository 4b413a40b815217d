import Foundation
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

@Suite struct `Foreign files in a log folder` {
  let scratch = TemporaryFolder()
  static let session = Identifier(high: 0xaaaa, low: 0xbbbb)
  static let appends = [["one"], ["two", "three"], ["four"], ["five"]]
  var folderPath: String { "\(scratch.notebook)/log/\(Self.session.description)" }
  let bytes = log(session: Self.session, Self.appends).bytes
  let ends = log(session: Self.session, Self.appends).ends

  @Test func `are neither followed nor waited for`() throws {
    var writer = try scratch.open()
    try writer.append("one")
    let logPath = scratch.notebook + "/log"
    let outside = scratch.path + "/outside"
    write(bytes, to: "\(outside)/0.open")
    for (target, name) in [
      ("\(outside)/0.open", "link"), (outside, "link-to-folder"), ("/dev/zero", "zero"),
      ("nowhere", "broken"),
    ] {
      #expect(symlink(target, "\(logPath)/\(name)") == 0)
    }
    #expect(mkfifo("\(logPath)/fifo", 0o600) == 0)
    #expect(mkdir(folderPath, 0o700) == 0)
    #expect(mkfifo("\(folderPath)/0.open", 0o600) == 0)
    #expect(symlink("\(outside)/0.open", "\(folderPath)/1.open") == 0)
    #expect(mkdir("\(folderPath)/2.open", 0o700) == 0)
    write(bytes, to: "\(folderPath)/2.open/0.open")
    write([], to: "\(logPath)/empty")
    write(SplitMix64.garbage(5_000), to: "\(logPath)/garbage")
    write(bytes, to: "\(logPath)/.syncthing.0.open.tmp")
    write(bytes, to: "\(folderPath)/~syncthing~0.open")
    write(bytes, to: "\(folderPath)/0.open.partial")
    var reader = try scratch.open()
    #expect(reader.newTexts() == ["one"])
    #expect(reader.damage == [])
  }

  @Test func `are reported when they are called like a log and are none`() throws {
    write(SplitMix64.garbage(500), to: "\(folderPath)/0.open")
    var reader = try scratch.open()
    #expect(reader.newTexts() == [])
    #expect(
      reader.damage == [
        .init(path: "\(folderPath)/0.open", offset: 0, description: "not a log", cause: .damaged)
      ])
  }

  @Test(arguments: [
    "0.sync-conflict-20260101-120000-ABCDEFG.open", "0 (someone's conflicted copy).open",
    "0 2.open",
  ])
  func `are read when they are conflict copies, whatever their name`(name: String) throws {
    for place in ["\(folderPath)/\(name)", "\(scratch.notebook)/log/\(name)"] {
      // The copy knows less, then more, than the file.
      for (own, copy) in [(4, 2), (2, 4), (4, 4), (0, 3)] {
        let scratchFile = "\(folderPath)/0.open"
        write(own == 0 ? [] : Array(bytes[..<ends[own - 1]]), to: scratchFile)
        write(Array(bytes[..<ends[copy - 1]]), to: place)
        var reader = try scratch.open()
        #expect(reader.newTexts() == Self.appends[..<max(own, copy)].flatMap(\.self))
        #expect(reader.damage == [])
      }
      try FileManager.default.removeItem(atPath: place)
    }
  }

  @Test(arguments: [1, 2, 3, 4])
  func `are damage when they tell a session differently`(common: Int) throws {
    let other = Self.appends[..<(common - 1)] + [["another"], ["history"], ["of", "it"]]
    let (fork, forkEnds) = log(session: Self.session, Array(other))
    for length in common...forkEnds.count {
      write(bytes, to: "\(folderPath)/0.open")
      write(Array(fork[..<forkEnds[length - 1]]), to: "\(folderPath)/copy.open")
      var reader = try scratch.open()
      #expect(reader.newTexts() == Self.appends.flatMap(\.self))
      #expect(reader.damage.map(\.path) == ["\(folderPath)/copy.open"], "length \(length)")
      #expect(reader.newTexts() == [])
      #expect(reader.damage.count == 1)
    }
  }

  @Test func `take nothing back by shrinking, vanishing or being replaced`() throws {
    let path = "\(folderPath)/0.open"
    write(Array(bytes[..<ends[2]]), to: path)
    var reader = try scratch.open()
    #expect(reader.newTexts() == ["one", "two", "three", "four"])
    write(Array(bytes[..<ends[0]]), to: path)
    #expect(reader.newTexts() == [])
    try FileManager.default.removeItem(atPath: path)
    #expect(reader.newTexts() == [])
    write(bytes, to: path)
    #expect(reader.newTexts() == ["five"])
    #expect(reader.damage == [])
    write(bytes, to: path + ".new")
    #expect(rename(path + ".new", path) == 0)
    #expect(reader.newTexts() == [])
    #expect(reader.damage == [])
    try FileManager.default.removeItem(atPath: scratch.notebook)
    #expect(reader.newTexts() == [])
    #expect(reader.damage == [])
  }

  @Test func `are damage where the log itself becomes one, and an error when the folder is opened`()
    throws
  {
    var reader = try scratch.open()
    write([1, 2, 3], to: scratch.notebook + "/log")
    #expect(reader.newTexts() == [])
    #expect(reader.damage.map(\.path) == [scratch.notebook + "/log"])
    #expect(reader.readNew(.noticed).isEmpty)
    #expect(throws: StoreError.self) { () throws in try reader.append("one") }
    #expect(throws: StoreError.self) { () throws in _ = try scratch.open() }
  }
}

@Suite struct `decent.json` {
  let scratch = TemporaryFolder()
  var path: String { scratch.notebook + "/decent.json" }
  static let id = "00112233445566778899aabbccddeeff"

  private func open(_ text: String) throws -> LogFolder {
    write(Array(text.utf8), to: path)
    return try scratch.open()
  }

  @Test(arguments: [
    #"{"format":"Decent Notes","version":1,"notebook":"\#(id)"}"#,
    #" { "notebook" : "\#(id)" , "version" : 1 ,\#n "format" : "Decent Notes" } \#n"#,
    #"{"x":{"a":[1,-2.5e3,{"b":"}]\""}],"c":null},"format":"Decent Notes","y":[],"version":1,"#
      + #""z":true,"notebook":"\#(id)"}"#,
  ])
  func `is read, whatever else is in it`(text: String) throws {
    let folder = try open(text)
    #expect(folder.notebook!.description == Self.id)
  }

  @Test(arguments: [
    "", "\n", "{", "{}", "null", "[]", "\u{feff}{}",
    #"{"format":"Decent Notes","notebook":"\#(id)"}"#,
    #"{"format":"Decent Notes","version":1}"#,
    #"{"format":"Decent Notes","version":0,"notebook":"\#(id)"}"#,
    #"{"format":"Decent Notes","version":01,"notebook":"\#(id)"}"#,
    #"{"format":"Decent Notes","version":1.0,"notebook":"\#(id)"}"#,
    #"{"format":"Decent Notes","version":-1,"notebook":"\#(id)"}"#,
    #"{"format":"Decent Notes","version":"1","notebook":"\#(id)"}"#,
    #"{"format":"Decent Notes","version":1,"notebook":"0011"}"#,
    #"{"format":"Decent Notes","version":1,"notebook":"\#(id)"} x"#,
    #"{"format":"Decent Notes","version":1,"notebook":"\#(id)",}"#,
    #"{"format":"Decent Notes","version":1,"version":1,"notebook":"\#(id)"}"#,
    #"{"format":"Decent Notes","version":1,"notebook":"\#(id)""#,
    String(repeating: "[", count: 60_000), "{\"x\":" + String(repeating: "[", count: 60_000),
    String(repeating: " ", count: 70_000),
  ])
  func `is refused when it is garbage, and left as it is`(text: String) throws {
    let error = #expect(throws: StoreError.self) { () throws in _ = try open(text) }
    #expect(error?.reason == .damaged)
    #expect(error?.path == path)
    #expect(contents(path) == Array(text.utf8))
  }

  @Test(arguments: ["decent-notes", "other", ""])
  func `of another format is refused by name, and nothing is touched`(format: String) throws {
    let text = #"{"format":"\#(format)","version":1,"notebook":"\#(Self.id)"}"#
    let error = #expect(throws: StoreError.self) { () throws in _ = try open(text) }
    #expect(error?.reason == .otherFormat)
    #expect(error?.description.contains("“\(format)”") == true)
    #expect(contents(path) == Array(text.utf8))
    #expect(listing(scratch.notebook).count == 1)
  }

  @Test(arguments: ["2", "10", "18446744073709551616", "99999999999999999999999999"])
  func `of a later version is refused, and nothing is touched`(version: String) throws {
    let text = #"{"format":"Decent Notes","version":\#(version),"new":{}}"#
    let error = #expect(throws: StoreError.self) { () throws in _ = try open(text) }
    #expect(error?.reason == .newerFormat)
    #expect(contents(path) == Array(text.utf8))
    #expect(listing(scratch.notebook).count == 1)
  }

  @Test func `of a later version stops the first append as well`() throws {
    var folder = try scratch.open()
    let text = #"{"format":"Decent Notes","version":2,"notebook":"\#(Self.id)"}"#
    write(Array(text.utf8), to: path)
    let error = #expect(throws: StoreError.self) { () throws in try folder.append("one") }
    #expect(error?.reason == .newerFormat)
    #expect(listing(scratch.notebook).count == 1)
    #expect(folder.newTexts() == [])
    #expect(folder.damage.map(\.path) == [path])
  }

  @Test func `is never followed elsewhere`() throws {
    write(Array(#"{"format":"Decent Notes","version":1}"#.utf8), to: scratch.path + "/x")
    try FileManager.default.createDirectory(
      atPath: scratch.notebook, withIntermediateDirectories: true)
    #expect(symlink(scratch.path + "/x", path) == 0)
    let error = #expect(throws: StoreError.self) { () throws in _ = try scratch.open() }
    #expect(error?.reason == .damaged)
  }

  @Test func `takes any bytes`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix64(seed: seed)
    let text = Array(
      #"{"format":"Decent Notes","v":[1,{"a":"\\"}],"version":1,"notebook":"\#(Self.id)"}"#.utf8)
    for _ in 0..<3_000 {
      var bytes = text
      for _ in 0...random.below(3) {
        let at = random.below(bytes.count)
        bytes[at] = random.below(3) == 0 ? text[random.below(text.count)] : bytes[at]
        if random.below(4) == 0 { bytes.remove(at: at) }
        if random.below(4) == 0 { bytes[random.below(bytes.count)] = 0x5c }
      }
      if random.below(3) == 0 { bytes.removeLast(random.below(bytes.count)) }
      var parser = NotebookFile.Parser(rest: bytes[...])
      _ = parser.members()
    }
  }
}

extension SplitMix64 {
  static func garbage(_ count: Int) -> [UInt8] {
    var random = SplitMix64(seed: 1)
    return random.bytes(count)
  }
}
