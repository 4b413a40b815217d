import Foundation
import TestSupport
import Testing

@testable import FileTree

@Suite("Folders of files") struct SystemFileTreeTests {
  private let folder = TemporaryFolder()
  private let tree: SystemFileTree

  init() throws {
    try FileManager.default.createDirectory(
      atPath: folder("tree"), withIntermediateDirectories: true)
    var count = 0
    tree = try SystemFileTree(folder("tree"), mask: 0o027) {
      count += 1
      return "\(count)"
    }
  }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func text(_ path: String) throws -> String? {
    try tree.read(path, limit: 1000).map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  private func names(_ path: String = "") throws -> [String] {
    try tree.entries(of: path).map { $0.name ?? "not UTF-8" }.sorted()
  }

  private func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder("tree/\(path)")))
  }

  @Test func `a folder is in its place until it is moved, removed or a link leads elsewhere`()
    throws
  {
    let (path, link) = (folder("tree"), folder("link"))
    symlink(path, link)
    let linked = try SystemFileTree(link, mask: 0o022) { "1" }
    #expect(tree.isInPlace && linked.isInPlace)
    rename(path, folder("moved"))
    #expect(!tree.isInPlace && !linked.isInPlace)
    // A link to it is not it: tomorrow that may lead elsewhere.
    symlink(folder("moved"), path)
    #expect(!tree.isInPlace && linked.isInPlace)
    unlink(path)
    rename(folder("moved"), path)
    #expect(tree.isInPlace && linked.isInPlace)
    unlink(link)
    symlink(folder.path, link)
    #expect(!linked.isInPlace)
  }

  @Test func `a file is made with the folders above it, and never in the place of another`() throws
  {
    let status = try tree.create("a/b/c.md", bytes("one"))
    #expect(try text("a/b/c.md") == "one")
    #expect(try tree.status(of: "a/b/c.md") == status && status.size == 3)
    let failure = #expect(throws: FileTreeError.self) {
      _ = try tree.create("a/b/c.md", bytes("two"))
    }
    #expect(failure?.reason == .exists)
    #expect(try text("a/b/c.md") == "one")
    #expect(try names("a/b") == ["c.md"])
    for (path, mode) in [("a/b", 0o750), ("a/b/c.md", 0o640)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder("tree/\(path)"))
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
    #expect(try names() == ["a"])
    #expect(try text("a/b") == nil && tree.read("missing/x", limit: 9) == nil)
  }

  @Test func `a file that is replaced is set aside with its mode kept`() throws {
    try write("one", "a.md")
    // Not that of a new file.
    chmod(folder("tree/a.md"), 0o604)
    let (status, old) = try tree.replace("a.md", bytes("two"))
    #expect(try text("a.md") == "two")
    #expect(try tree.status(of: "a.md")?.inode == status.inode)
    let mode = try FileManager.default.attributesOfItem(atPath: folder("tree/a.md"))
    #expect(mode[.posixPermissions] as? Int == 0o604)
    #expect(try old.read(limit: 10).bytes == bytes("one"))
    #expect(try !old.putBack(), "something is there")
    old.discard()
    #expect(try names() == ["a.md"])
    #expect(throws: FileTreeError.self) { _ = try tree.replace("b.md", bytes("")) }
    #expect(try names() == ["a.md"])
  }

  @Test func `a writer that has the replaced file open writes into what was set aside`() throws {
    try write("one", "a.md")
    let writer = try #require(FileHandle(forWritingAtPath: folder("tree/a.md")))
    let (_, old) = try tree.replace("a.md", bytes("two"))
    try writer.write(contentsOf: Data("ONE and more".utf8))
    #expect(try old.read(limit: 100).bytes == bytes("ONE and more"))
    #expect(try text("a.md") == "two")
  }

  @Test func `a file that was taken away can be put back`() throws {
    try write("one", "a.md")
    let aside = try #require(try tree.takeAway("a.md"))
    #expect(try tree.status(of: "a.md") == nil)
    #expect(try aside.putBack())
    #expect(try names() == ["a.md"] && text("a.md") == "one")
    #expect(try tree.takeAway("missing.md") == nil)
    let again = try #require(try tree.takeAway("a.md"))
    again.discard()
    #expect(try names().isEmpty)
  }

  @Test func `a file moves to a path that nothing has`() throws {
    _ = try tree.create("a.md", bytes("a"))
    _ = try tree.create("b.md", bytes("b"))
    #expect(throws: FileTreeError.self) { try tree.move("a.md", to: "b.md") }
    try tree.move("a.md", to: "x/y.md")
    #expect(try text("x/y.md") == "a" && text("b.md") == "b")
    try tree.move("x/y.md", to: "a.md")
    tree.removeEmptyFolders(above: "x/y.md")
    #expect(try names() == ["a.md", "b.md"])
  }

  @Test func `no link is followed, and nothing but a file is read`() throws {
    try FileManager.default.createDirectory(
      atPath: folder("outside"), withIntermediateDirectories: true)
    try Data("secret".utf8).write(to: URL(fileURLWithPath: folder("outside/s.md")))
    try FileManager.default.createSymbolicLink(
      atPath: folder("tree/link"), withDestinationPath: folder("outside"))
    try FileManager.default.createSymbolicLink(
      atPath: folder("tree/s.md"), withDestinationPath: folder("outside/s.md"))
    mkfifo(folder("tree/fifo.md"), 0o600)
    #expect(try text("link/s.md") == nil && text("s.md") == nil && text("fifo.md") == nil)
    #expect(throws: FileTreeError.self) { _ = try tree.create("link/new.md", []) }
    #expect(throws: FileTreeError.self) { _ = try tree.replace("s.md", []) }
    #expect(try tree.takeAway("link/s.md") == nil && tree.takeAway("s.md") == nil)
    let kinds = try tree.entries(of: "").map { "\($0.name!) \($0.kind)" }.sorted()
    #expect(kinds == ["fifo.md other", "link link", "s.md link"])
    #expect(try tree.status(of: "s.md")?.kind == .link)
  }

  @Test
  func `the time of its birth stays with a file, whatever its name, where the system tells it`()
    throws
  {
    let made = try tree.create("a.md", bytes("one"))
    try tree.move("a.md", to: "b.md")
    try write("two", "b.md")
    let status = try #require(try tree.status(of: "b.md"))
    #expect(try status == tree.read("b.md", limit: 10)?.status)
    if made.inode == status.inode { #expect(status.born == made.born) }
    let (new, old) = try tree.replace("b.md", bytes("three"))
    #expect(new.born == 0 || new.born != made.born)
    old.discard()
  }

  @Test func `a file above the limit is refused, and one of exactly the limit is read`() throws {
    try write("12345", "a.md")
    #expect(try tree.read("a.md", limit: 5)?.bytes.count == 5)
    let failure = #expect(throws: FileTreeError.self) { _ = try tree.read("a.md", limit: 4) }
    #expect(failure?.reason == .tooLarge)
    #expect(try "\(#require(failure))".hasSuffix("a.md: it has more than 4 bytes"))
  }

  #if os(Linux)
    /// The system says of such a file that it is empty.
    @Test func `a file that has more than its size says is read to its end, or refused`() throws {
      let process = try SystemFileTree("/proc/self", mask: 0) { "" }
      let name = try #require(try process.read("cmdline", limit: 1 << 20)?.bytes)
      #expect(try process.status(of: "cmdline")?.size == 0 && !name.isEmpty)
      #expect(try process.read("cmdline", limit: name.count)?.bytes == name)
      let failure = #expect(throws: FileTreeError.self) {
        _ = try process.read("cmdline", limit: name.count - 1)
      }
      #expect(failure?.reason == .tooLarge)
    }
  #endif

  #if os(Linux)
    private func read(_ path: String) throws -> Data {
      try Data(contentsOf: URL(fileURLWithPath: folder("tree/\(path)")))
    }

    private func reads(_ watcher: any TreeWatcher) -> [String] {
      watcher.report().events.filter { $0.kind == .read }.map(\.path)
    }

    @Test func `what other programs read is reported, and what is read through the tree is not`()
      throws
    {
      for path in ["a.md", "sub/a.md"] { _ = try tree.create(path, bytes("one")) }
      let watcher = try #require(tree.makeWatcher())
      #expect(watcher.watch("") && watcher.watch("sub") && watcher.isWatching("sub"))
      #expect(!watcher.isWatching("other"))
      for _ in 0..<3 {
        for path in ["a.md", "sub/a.md"] { #expect(try text(path) == "one") }
        #expect(reads(watcher) == [])
        #expect(try read("sub/a.md").count == 3)
        #expect(try text("sub/a.md") == "one")
        #expect(Set(reads(watcher)) == ["sub/a.md"])
        #expect(try text("a.md") == "one" && read("a.md").count == 3)
        #expect(Set(reads(watcher)) == ["a.md"])
      }
      // Looks into folders, writes and what is set aside are no reads.
      _ = try names("sub")
      try write("two", "a.md")
      let (_, old) = try tree.replace("a.md", bytes("three"), mark: "0")
      #expect(try old.read(limit: 10).bytes == bytes("two"))
      #expect(reads(watcher) == [])
      old.discard()
    }
  #endif

  @Test func `a name that is not UTF-8 is told`() throws {
    let path = Array(folder("tree/").utf8) + [0xFF, 0x2E, 0x6D, 0x64, 0]
    path.withUnsafeBytes {
      _ = close(
        open($0.assumingMemoryBound(to: CChar.self).baseAddress!, O_CREAT | O_WRONLY, 0o600))
    }
    let entries = try tree.entries(of: "")
    #expect(entries.count == 1 && entries[0].name == nil && entries[0].kind == .file)
    #expect(entries[0].rawName == [0xFF, 0x2E, 0x6D, 0x64])
  }
}
