import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(.waitingLong, .tags(.slow))
struct `A mirrored folder that fails` {
  /// What every scene ends with: the folder takes and gives words again.
  private func goOn(_ scene: MirrorScene) throws {
    let word = scene.word("program")
    try shell("sed -i \"s/line9/& $3/\" \"$2\"", scene.file, word)
    try scene.awaitFile(try scene.type(behind: "line0"))
    try scene.check("at the end")
  }

  @Test(.enabled(if: canDropCapabilities || isContinuousIntegration, "setpriv is missing"))
  func `A folder that may not be written is read, and written when it may be`() throws {
    let scene = try MirrorScene(shell: withoutCapabilities)
    try FileManager.default.createDirectory(
      atPath: scene.files + "/sub", withIntermediateDirectories: true)
    #expect(chmod(scene.files, 0o500) == 0)
    let typed = try scene.type(behind: "line1")
    try scene.awaitTold("Permission denied")
    // In place, which is not refused.
    try shell(
      "sed \"s/line3/& $3/\" \"$2\" > \"$4\" && cat \"$4\" > \"$2\"",
      scene.file, scene.word("program"), scene.folder("copy"))
    try "new".write(toFile: scene.files + "/sub/b.md", atomically: false, encoding: .utf8)
    try waitUntil("it is read") {
      try scene.objections(to: scene.noteText).isEmpty
        && scene.client.call("notebook/list")["notes"]!.array!.count == 2
    }
    #expect(!scene.fileText.contains(typed))
    // Told once; and whoever asks hears it again.
    #expect(try scene.told() == [])
    let error = try scene.mirror.error("notebook/mirror")
    #expect(error["message"]?.string?.contains("Permission denied") == true, "\(error.written)")
    #expect(chmod(scene.files, 0o700) == 0)
    try scene.rest()
    unlink(scene.files + "/sub/b.md")
    try waitUntil("its note is deleted") {
      try scene.client.call("notebook/list")["notes"]!.array!.count == 1
    }
    try goOn(scene)
  }

  @Test(.enabled(if: canDropCapabilities || isContinuousIntegration, "setpriv is missing"))
  func `A file and a folder that may not be read stop none of the others, and delete nothing`()
    throws
  {
    let scene = try MirrorScene(shell: withoutCapabilities)
    let (closed, inside) = (scene.files + "/closed", scene.files + "/closed/x.md")
    try FileManager.default.createDirectory(atPath: closed, withIntermediateDirectories: true)
    for file in [inside, scene.files + "/0.md"] {
      try "text".write(toFile: file, atomically: false, encoding: .utf8)
    }
    try waitUntil("both are notes") {
      try scene.client.call("notebook/list")["notes"]!.array!.count == 3
    }
    try scene.rest()
    #expect(chmod(closed, 0) == 0 && chmod(scene.files + "/0.md", 0) == 0)
    // A start looks at all of it.
    try scene.restart(shell: withoutCapabilities)
    try scene.mirror.call("notebook/mirror")
    let told = try scene.told()
    #expect(told.count == 2 && told.allSatisfy { $0.contains("Permission denied") }, "\(told)")
    let word = scene.word("program")
    try shell("sed -i \"s/line9/& $3/\" \"$2\"", scene.file, word)
    try scene.awaitFile(try scene.type(behind: "line0"))
    try scene.rest()
    #expect(try scene.noteText == scene.fileText)
    #expect(try scene.objections(to: scene.noteText).isEmpty)
    #expect(try scene.client.call("notebook/list")["notes"]!.array!.count == 3)
    #expect(chmod(closed, 0o700) == 0 && chmod(scene.files + "/0.md", 0o600) == 0)
    try "text, more".write(toFile: scene.files + "/0.md", atomically: false, encoding: .utf8)
    try waitUntil("it is read again") { try scene.client.words()["more"] == 1 }
  }

  @Test func `A folder that is moved away and replaced by a link is not written any more`() throws {
    let scene = try MirrorScene()
    let (moved, other) = (scene.folder("moved"), scene.folder("elsewhere"))
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    try "theirs".write(toFile: other + "/theirs.md", atomically: false, encoding: .utf8)
    rename(scene.files, moved)
    symlink(other, scene.files)
    try scene.awaitTold("not the folder any more")
    try scene.type(behind: "line1")
    // The link leads to a folder that was never mirrored: a mirror like any other begins there.
    try waitUntil("the notes are in the other folder", within: 2 * patience) {
      try scene.mirror.receiveAvailable()
      return scene.objections(to: scene.fileText).isEmpty
    }
    let old = try contents(of: URL(fileURLWithPath: moved + "/a.md"))
    #expect(!old.contains("client"))
    #expect(try contents(of: URL(fileURLWithPath: other + "/theirs.md")) == "theirs")
    // And back, where what was typed meanwhile is, too.
    unlink(scene.files)
    rename(moved, scene.files)
    try scene.awaitTold("not the folder any more")
    try waitUntil("the file has what was typed", within: 2 * patience) {
      try scene.mirror.receiveAvailable()
      return scene.objections(to: scene.fileText).isEmpty
    }
  }

  @Test func `A folder that is removed stops the mirror, and is written again when that is wanted`()
    throws
  {
    let scene = try MirrorScene()
    try FileManager.default.removeItem(atPath: scene.files)
    try scene.awaitTold("--restore")
    try scene.type(behind: "line1")
    #expect(try scene.client.call("notebook/list")["notes"]!.array!.count == 1)
    let outcome = try Outcome(
      ["--notebook", scene.folder("notes"), "mirror", "--restore", scene.files],
      environment: ["XDG_STATE_HOME": scene.folder("state")])
    #expect(outcome.ending == .status(0), "\(outcome.errors)")
    try waitUntil("the file is there again", within: 2 * patience) {
      try scene.mirror.receiveAvailable()
      return scene.objections(to: scene.fileText).isEmpty
    }
    try goOn(scene)
  }

  @Test func `What tar extracts over the folder is read`() throws {
    let scene = try MirrorScene()
    let archive = scene.folder("a.tar")
    let word = scene.word("archive")
    try shell(
      """
      mkdir "$3" && sed "s/line3/& $4/" "$2"/a.md > "$3"/a.md && echo new > "$3"/b.md && tar -C "$3" -cf "$5" .
      """, scene.files, scene.folder("copy"), word, archive)
    try scene.type(behind: "line5")
    try shell("tar -C \"$2\" -xf \"$3\"", scene.files, archive)
    try waitUntil("both are read") {
      try scene.client.call("notebook/list")["notes"]!.array!.count == 2
        && scene.noteText.contains(word)
    }
    try scene.rest()
    #expect(try scene.objections(to: scene.noteText).isEmpty)
    #expect(try scene.noteText == scene.fileText)
  }
}
