import Foundation
import TestSupport
import Testing

@Suite(.waiting, .serialized)
struct `Transcripts` {
  private static let isRecording =
    ProcessInfo.processInfo.environment["DECENT_NOTES_RECORD"] == "1"

  @Test(arguments: Transcript.names)
  func `say what the program says`(name: String) throws {
    let written = try Transcript(name)
    let player = try TranscriptPlayer(playing: written)
    if Self.isRecording {
      var recorded = written
      recorded.lines = player.played
      try Data(recorded.text.utf8).write(to: Transcript.file(name))
      return
    }
    for (index, (expected, played)) in zip(written.lines, player.played).enumerated() {
      #expect(played == expected, "\(name).txt, line \(index + 1)")
      if played != expected { return }
    }
    #expect(player.played.count == written.lines.count, "\(name).txt ends otherwise")
  }

  @Test(arguments: Transcript.names)
  func `are written as they are read`(name: String) throws {
    #expect(try Transcript(name).text == contents(of: Transcript.file(name)))
  }

  @Test func `are all played`() throws {
    let folder = protocolFolder.appendingPathComponent("transcripts")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let transcripts = files.filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }
    #expect(transcripts.sorted() == Transcript.names.sorted())
  }
}
