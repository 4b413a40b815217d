import Foundation
import JSONRPC
import TestSupport
import Testing

@Suite(
  .waitingLong, .tags(.root, .slow),
  .enabled(if: Mount.isPossible || isContinuousIntegration, "only root can mount a file system"))
struct `A mirrored folder on a file system of its own` {
  @Test func `On a full disk files are read, and written when there is room again`() throws {
    let disk = try Mount(memory: "size=1m")
    let scene = try MirrorScene(files: disk.path + "/files")
    let filler = disk.path + "/filler"
    _ = FileManager.default.createFile(atPath: filler, contents: nil)
    _ = try? shell("cat /dev/zero > \"$2\"", filler)
    // More than the rest of a page that a file has anyway.
    let long = String(repeating: "x", count: 5000) + scene.word("client")
    scene.expect(String(long.dropFirst(5000)), false)
    scene.expect(long, true)
    try scene.client.call("note/append", ["id": scene.note, "text": .string(long + "\n")])
    try scene.awaitTold("No space left on device")
    let before = scene.fileText
    #expect(scene.objections(to: before) == ["\(long) is there 0 times"])
    // In place there is room.
    let descriptor = open(scene.file, O_WRONLY | O_CLOEXEC)
    let word = scene.word("program")
    let text = Array(before.replacing("line9", with: "line9 \(word)").utf8)
    #expect(write(descriptor, text, text.count) == text.count)
    close(descriptor)
    try waitUntil("it is read") { try scene.objections(to: scene.noteText).isEmpty }
    #expect(try scene.told() == [])
    #expect(try scene.leftovers == [])
    unlink(filler)
    try scene.check("with room")
  }

  @Test func `A folder that is not mounted any more deletes nothing, and goes on when it is`()
    throws
  {
    var disk: Mount? = try Mount(memory: "size=1m")
    let path = disk!.path
    let scene = try MirrorScene(files: path)
    let saved = scene.folder("saved")
    try shell("cp -a \"$2\" \"$3\"", path, saved)
    try shell("umount -l \"$2\"", path)
    let typed = try scene.type(behind: "line1")
    try scene.awaitTold("not mounted")
    try scene.awaitTold(".decent-mirror is gone")
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
    #expect(try scene.client.call("notebook/list")["notes"]!.array!.count == 1)
    // Mounted again, with its files.
    try shell("mount -t tmpfs -o size=1m tmpfs \"$2\" && cp -a \"$3\"/. \"$2\"", path, saved)
    try scene.awaitTold("not the folder any more")
    try scene.awaitFile(typed)
    try scene.check("mounted again")
    disk = nil
  }
}
