import Foundation
import ReplicatingTypes
import TestSupport
import Testing

@testable import NoteStore

@Suite struct `A failing disk` {
  let scratch = TemporaryFolder()

  @Test(arguments: 0..<4)
  func `ends the session when our file is no longer in its place`(way: Int) throws {
    var writer = try scratch.open()
    var reader = try scratch.open()
    try writer.append("one")
    try writer.append("two")
    let first = writer.session()
    let path = writer.livePath()
    #expect(reader.newTexts() == ["one", "two"])
    switch way {
    case 0: try FileManager.default.removeItem(atPath: path)
    case 1: #expect(truncate(path, 80) == 0)
    case 2: #expect(link(path, path + ".copy") == 0)
    default:
      write(contents(path), to: path + ".new")
      #expect(rename(path + ".new", path) == 0)
    }
    let second = writer.session()
    #expect(second.description != first.description)
    #expect(writer.doubtful == (way == 2 ? nil : 0..<2), "a link takes nothing away")
    try writer.append("three")
    #expect(writer.session().description == second.description)
    #expect(reader.newTexts() == ["three"])
    #expect(reader.damage == [])
    #expect(writer.newTexts() == [])
    #expect(writer.damage == [])
  }

  @Test func `reads on in an abandoned file of ours, where others add to it`() throws {
    var writer = try scratch.open()
    try writer.append("one")
    let session = writer.session()
    let path = writer.livePath()
    // What a copy of this process on a restored machine would do.
    let header = LogHeader(notebook: writer.notebook!, session: session)
    var encoder = LogEncoder(header: header)
    encoder.encode([(type: 1, payload: Array("one".utf8))])
    encoder.accept()
    encoder.encode([(type: 1, payload: Array("from a clone".utf8))])
    append(Array(encoder.bytes[encoder.start...]), to: path)
    #expect(writer.session().description != session.description)
    #expect(writer.newTexts() == ["from a clone"])
    #expect(writer.damage == [])
  }

  /// In a process of its own, because the limit is the whole process's.
  @Test func `gives up the session and nothing else when the disk is full`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let scratch = TemporaryFolder()
      var writer = try scratch.open()
      var reader = try scratch.open()
      try writer.append("one")
      let first = writer.session().description
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      let before = limit.rlim_cur
      limit.rlim_cur = 300
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      let path = writer.livePath()
      do throws(StoreError) {
        // The first would fit; but an append is one thing.
        try writer.append("two", String(repeating: "x", count: 200))
        exit(2)
      } catch {
        guard error.reason == .diskFull, error.errno == EFBIG, error.path == path else { exit(3) }
      }
      guard contents(path).count == 300 else { exit(4) }
      limit.rlim_cur = 0
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      var given: Set<String> = [first]
      for _ in 0..<3 {
        guard given.insert(writer.session().description).inserted else { exit(5) }
        guard (try? writer.append("three")) == nil else { exit(6) }
      }
      guard reader.newTexts() == ["one"], reader.damage == [] else { exit(7) }
      guard writer.newTexts() == [], writer.damage == [] else { exit(8) }
      limit.rlim_cur = before
      setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      guard given.insert(writer.session().description).inserted else { exit(9) }
      try writer.append("four")
      guard reader.newTexts() == ["four"], writer.appended == 2 else { exit(10) }
      try writer.sync()
      guard writer.durable == 2, writer.doubtful == nil else { exit(11) }
    }
  }

  @Test func `never synchronizes again after a failure`() throws {
    var writer = try scratch.open()
    try writer.append("one")
    try writer.sync()
    try writer.append("two")
    try writer.append("three")
    let first = writer.session()
    // What cannot be synchronized fails like a disk that cannot.
    var pipeEnds: [Int32] = [0, 0]
    #expect(pipe(&pipeEnds) == 0)
    #expect(dup2(pipeEnds[0], writer.writer.open!.descriptor.number) >= 0)
    writer.requestSync()
    var entry = pollfd(fd: writer.wakeDescriptor, events: Int16(POLLIN), revents: 0)
    #expect(poll(&entry, 1, 10_000) == 1)
    let error = #expect(throws: StoreError.self) { () throws in try writer.drainWakeUps() }
    #expect(error?.operation == "fdatasync")
    #expect(writer.doubtful == 1..<3)
    #expect(writer.durable == 1)
    #expect(writer.session().description != first.description)
    try writer.drainWakeUps()
    try writer.append("two again", "three again")
    #expect(throws: error!) { () throws in try writer.sync() }
    #expect(writer.durable == 1)
    writer.markRewritten()
    #expect(writer.durable == 5)
    try writer.sync()
    for end in pipeEnds { close(end) }
  }

  @Test func `is on disk again only when what was in doubt is, where it was written again`() throws
  {
    var writer = try scratch.open()
    try writer.append("one")
    try writer.sync()
    try FileManager.default.removeItem(atPath: writer.livePath())
    _ = writer.session()
    #expect(writer.doubtful == 0..<1)
    #expect(writer.needsRepublish == true)
    try writer.append("one again")
    writer.markRewritten()
    #expect(writer.durable == 0, "the second copy is not on disk yet")
    try writer.sync()
    #expect(writer.durable == 2)
  }

  @Test func `is told with operation, path and cause`() throws {
    write([], to: scratch.path + "/file")
    let error = #expect(throws: StoreError.self) { () throws in
      _ = try LogFolder(path: scratch.path + "/file/notebook", makeIdentifier: makeIdentifier)
    }
    #expect(error?.reason == .notFound)
    #expect(error?.description == "open \(scratch.path)/file/notebook: Not a directory")
  }
}
