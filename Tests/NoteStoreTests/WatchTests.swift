import Foundation
import ReplicatingTypes
import Testing

@testable import NoteStore

#if os(Linux)
  extension LogFolder {
    /// Waits until there may be something, as an event loop would.
    fileprivate mutating func awaken(within milliseconds: Int32 = 10_000) -> Bool {
      guard let number = watchDescriptor else { return false }
      var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      while poll(&entry, 1, milliseconds) == 1 {
        if drainWatch() { return true }
      }
      return false
    }

    fileprivate mutating func expectNews() {
      let isWoken = awaken()
      #expect(isWoken)
    }
  }

  @Suite struct `Watching a log folder` {
    let scratch = Scratch()

    @Test func `notices what another process appends`() throws {
      var writer = try scratch.open()
      try writer.append("zero")
      var reader = try scratch.open()
      #expect(reader.watchDescriptor != nil)
      #expect(reader.newTexts() == ["zero"])
      for i in 0..<20 {
        try writer.append("\(i)")
        reader.expectNews()
        #expect(reader.newTexts(.noticed) == ["\(i)"])
      }
      #expect(reader.newTexts(.noticed) == [])
      let isWoken = reader.awaken(within: 0)
      #expect(!isWoken)
    }

    @Test func `notices new sessions, and moves into the folder`() throws {
      var writer = try scratch.open()
      try writer.append("zero")
      var reader = try scratch.open()
      #expect(reader.watchDescriptor != nil)
      #expect(reader.newTexts() == ["zero"])
      var texts: Set<String> = []
      for i in 0..<5 {
        var other = try scratch.open()
        try other.append("first \(i)")
        try other.append("second \(i)")
      }
      let (bytes, _) = log(session: Identifier(high: 5, low: 5), [["moved"]])
      write(bytes, to: scratch.path + "/outside")
      let target = scratch.notebook + "/log/" + Identifier(high: 5, low: 5).description
      #expect(mkdir(target, 0o700) == 0)
      #expect(rename(scratch.path + "/outside", target + "/0.open") == 0)
      while texts.count < 11, reader.awaken() { texts.formUnion(reader.newTexts(.noticed)) }
      #expect(texts.count == 11)
    }

    @Test func `notices the first write to a notebook that does not exist`() throws {
      let path = scratch.path + "/a/b/notebook"
      var reader = try LogFolder(path: path, makeIdentifier: makeIdentifier)
      #expect(reader.watchDescriptor != nil)
      #expect(reader.newTexts() == [])
      var writer = try LogFolder(path: path, makeIdentifier: makeIdentifier)
      try writer.append("one")
      var texts: [String] = []
      while texts.isEmpty, reader.awaken() { texts = reader.newTexts(.noticed) }
      #expect(texts == ["one"])
      #expect(reader.notebook!.description == writer.notebook!.description)
      try writer.append("two")
      reader.expectNews()
      #expect(reader.newTexts(.noticed) == ["two"])
    }

    @Test func `begins again when the folder was moved away and came back`() throws {
      var writer = try scratch.open()
      try writer.append("one")
      var reader = try scratch.open()
      #expect(reader.watchDescriptor != nil)
      #expect(reader.newTexts() == ["one"])
      #expect(rename(scratch.notebook, scratch.path + "/elsewhere") == 0)
      reader.expectNews()
      #expect(reader.newTexts(.noticed) == [])
      #expect(rename(scratch.path + "/elsewhere", scratch.notebook) == 0)
      reader.expectNews()
      #expect(reader.newTexts(.noticed) == [])
      try writer.append("two")
      reader.expectNews()
      #expect(reader.newTexts(.noticed) == ["two"])
    }

    @Test func `is not woken by our own appends`() throws {
      var writer = try scratch.open()
      #expect(writer.watchDescriptor != nil)
      #expect(writer.newTexts() == [])
      try writer.append("one")
      while writer.awaken(within: 0) { #expect(writer.newTexts(.noticed) == []) }
      for _ in 0..<10 { try writer.append("more") }
      var entry = pollfd(fd: writer.watchDescriptor!, events: Int16(POLLIN), revents: 0)
      #expect(poll(&entry, 1, 0) == 0)
    }

    @Test func `looks at everything after an overflow`() throws {
      var reader = try scratch.open()
      #expect(reader.watchDescriptor != nil)
      _ = reader.readNew()
      var writer = try scratch.open()
      try writer.append("one")
      _ = reader.drainWatch()
      #expect(reader.newTexts(.noticed) == ["one"])
      var wanted: [String] = []
      for i in 0..<9_000 {
        wanted.append("\(i)")
        try writer.append("\(i)")
        // Two kinds of event in turn, or the queue would fold them into one.
        if i % 2 == 0 { close(open(writer.path + "/log/x", O_WRONLY | O_CREAT, 0o600)) }
      }
      var texts: [String] = []
      while texts.count < wanted.count, reader.awaken() { texts += reader.newTexts(.noticed) }
      #expect(texts == wanted)
    }
  }
#endif
