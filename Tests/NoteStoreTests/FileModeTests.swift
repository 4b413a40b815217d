import Testing

@testable import NoteStore

@Suite struct `The modes of what is created in a notebook` {
  @Test(arguments: [
    // Without the setgid bit: the owner's alone.
    (0o700, 0o700, 0o600), (0o755, 0o700, 0o600), (0o777, 0o700, 0o600), (0o1777, 0o700, 0o600),
    // The group reads files, and others where they may read the folder; nobody else writes to a file.
    (0o2770, 0o770, 0o640), (0o2775, 0o775, 0o644), (0o2777, 0o777, 0o644),
    (0o2750, 0o750, 0o640), (0o2700, 0o700, 0o600), (0o2710, 0o710, 0o600),
    // The sticky bit is handed on, the setuid bit is not, and the owner may always work.
    (0o3770, 0o1770, 0o640), (0o6770, 0o770, 0o640), (0o2070, 0o770, 0o640),
  ])
  func `follow from that of the folder`(_ mode: UInt32, _ folder: UInt32, _ file: UInt32) {
    for kind in [0, 0o040000] as [UInt32] {
      let modes = FileModes(in: kind | mode)
      #expect(modes.folder == folder && modes.file == file, "\(String(mode, radix: 8))")
    }
  }
}
