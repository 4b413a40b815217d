import NoteFiles
import TestSupport
import Testing

@Suite(.computing) struct `Dates in files` {
  /// 2026-11-23T10:00:05Z.
  private let time: Int64 = 1_795_428_005_000

  private static let createdNames = [
    "created", "date", "created_at", "createdAt", "creation_date", "creationDate", "date created",
    "dateCreated", "Created Time", "created-at", "user_created_time",
  ]
  private static let modifiedNames = [
    "updated", "modified", "updated_at", "updatedAt", "lastmod", "lastModified", "last_modified",
    "last-modified", "date modified", "Date Modified", "dateModified", "last_modified_at",
    "modification date", "updated_time", "last updated", "Last Edited Time", "mtime",
  ]

  @Test(arguments: seeds(5)) func `the names, the forms and the quotes that programs use are read`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let forms = [
      "2026-11-23T10:00:05Z", "2026-11-23 10:00:05 UTC", "2026-11-23 11:00:05",
      "2026-11-23T11:00:05", "2026-11-23T12:00:05+02:00", "2026-11-23 05:00:05 -0500",
      "2026-11-23 12:00:05 UTC+02:00", "1795428005", "2026-11-23T10:00:05.000Z",
    ]
    for name in Self.createdNames + Self.modifiedNames {
      for form in forms {
        let quote = random.pick(["", "'", "\""])
        let isBare = !name.contains(" ")
        let isTOML = isBare && quote == "\"" && random.chance(50)
        let header =
          isTOML
          ? "+++\na = 1\n\(name) = \(quote)\(form)\(quote)\n+++\n"
          : "---\na: 1\n\(name): \(quote)\(form)\(quote)\n---\n"
        let content = try read(header + "text")
        let isCreation = Self.createdNames.contains(name)
        #expect(
          (isCreation ? content.created : content.modified) == time, "\(header) \(at(seed))")
        #expect((isCreation ? content.modified : content.created) == nil, "\(header)")
      }
    }
  }

  @Test func `the day of a link and of brackets is read`() throws {
    for value in ["\"[[2026-11-23]]\"", "[[2026-11-23]]", "[2026-11-23 Mon]", "<2026-11-23 Mon>"] {
      #expect(try read("---\ndate: \(value)\n---\n").created == 1_795_388_400_000, "\(value)")
    }
  }

  @Test func `a date that can't be read is named, and the next one counts`() throws {
    let dates = try read(
      "---\ndate: last summer\ncreated: \ncreated_at: 2026-11-23T10:00:05Z\nupdated: [a, b]\nmodified: ~\n---\n"
    ).dates
    #expect(
      dates.created == [.init(key: "date", time: nil), .init(key: "created_at", time: time)])
    #expect(dates.modified == [.init(key: "updated", time: nil)])
  }

  @Test func `a name of another field is no date, and an identifier that is none is not told`()
    throws
  {
    let dates = try read(
      "---\nidentifier: abc\nupdater: 2026-11-23\nrecreated: 2026-11-23\ndate_of_birth: 1970-11-23\n---\n"
    ).dates
    #expect(dates.created.isEmpty && dates.modified.isEmpty)
    #expect(try read("---\nidentifier: \"20261123T110005\"\n---\n").created == time)
  }

  @Test func `what Joplin's raw export says behind a note is read, and stays in its text`() throws {
    let note =
      "title\n\nbody\n\nid: 0123456789abcdef0123456789abcdef\nparent_id: \ncreated_time: 2026-11-23T10:00:05.000Z\nupdated_time: 2026-11-24T10:00:05.000Z\nis_conflict: 0\nuser_created_time: 2026-11-23T10:00:05.000Z\nuser_updated_time: \ntype_: 1"
    let content = try read(note)
    #expect(content.created == time && content.modified == time + 86_400_000)
    #expect(content.file.text == Array(note.utf8))
    // Without the line that says that it is a note it is a text that tells of times.
    for other in [note.replacing("type_: 1", with: "type_: 2"), note + "\n\nsee above"] {
      let content = try read(other)
      #expect(content.created == nil && content.modified == nil)
    }
  }

  @Test func `a front matter of Joplin is read`() throws {
    let content = try read(
      "---\ntitle: a\nupdated: 2026-11-24 10:00:05Z\ncreated: 2026-11-23 10:00:05Z\n---\n\nbody")
    #expect(content.created == time && content.modified == time + 86_400_000)
  }

  @Test func `keywords of Org say both dates`() throws {
    let content = try read(
      "#+title: a\n#+date: [2026-11-23 Mon 11:00:05]\n#+last_modified: [2026-11-24 Tue 11:00:05]\n",
      "a.org")
    #expect(content.created == time && content.modified == time + 86_400_000)
  }
}
