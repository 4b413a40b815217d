import Foundation
import ReplicatingTypes
import TestSupport
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
    let scratch = TemporaryFolder()

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

    @Test func `is enough on a disk of our own`() throws {
      var folder = try scratch.open()
      #expect(folder.watchDescriptor != nil)
      try folder.append("one")
      _ = folder.readNew()
      let mustPoll = folder.mustPoll
      #expect(!mustPoll)
      var other = try LogFolder(
        path: "/notes", on: MemoryDisk(), makeIdentifier: makeIdentifier)
      _ = other.readNew()
      let mustPollOther = other.mustPoll
      #expect(mustPollOther)
    }

    @Test(arguments: [
      (0x1f, true), (0x2d, true), (0x801, false), (0xfe00, false), (0x7, false),
      (0x1_2345_6678_9ab3, true),
    ])
    func `is not enough on disks that others have, too`(device: UInt64, isShared: Bool) {
      let mounts = """
        22 1 254:0 / / rw,relatime - ext4 /dev/root rw
        26 22 8:1 / /home rw,noatime shared:1 master:2 - btrfs /dev/sda1 rw
        30 22 0:31 / /mnt/a\\040b rw shared:7 - nfs4 server:/export rw,vers=4.2
        31 22 0:45 / /mnt/cloud rw - fuse.rclone remote: rw
        32 22 75930:878077875 / /x rw - cifs //x/y rw
        nonsense
        1 2 3 - \u{0}
        - - -
        """
      #expect(MountTable(Array(mounts.utf8)).isShared(device: device) == isShared)
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

    @Test func `tells of all that happened before it was asked, or that there was too much`() throws
    {
      let watcher = try #require(InotifyWatcher())
      try #require(watcher.watch(scratch.path, followingLinks: true, contents: true) != nil)
      // Not by `open`: a process that another test begins at that moment has the file, too, and the system tells of its end when both have closed it.
      for number in 0..<1_500 { #expect(symlink("x", "\(scratch.path)/\(number)") == 0) }
      guard case .events(let events) = watcher.report() else {
        Issue.record("so few are too many")
        return
      }
      #expect(Set(events.map(\.name)).count == 1_500)
      guard case .events(let rest) = watcher.report() else {
        Issue.record("an overflow of nothing")
        return
      }
      #expect(rest.isEmpty)
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
