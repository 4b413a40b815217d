internal import JSONRPC

// The agent's cursor in the note that it edits.

extension AgentServer {
  /// Shows the agent at a place of a note.
  ///
  /// - Parameters:
  ///   - offset: where the text probably stands that it has written.
  ///   - written: that text.
  mutating func show(in note: String, at offset: Int, _ written: [UInt8]) {
    hide()
    ask("note/open") {
      $0.member("id", note)
      // The edits that it gets are dropped.
      $0.member("mode", "observe")
      $0.member("check", "none")
    } then: { server, answer in
      guard case .success(let opened) = answer, let attachment = opened["attachment"]?.integer,
        let text = opened["text"]?.utf8
      else { return }
      server.hide()
      server.presence.attachment = attachment
      let start = Occurrence.nearest(of: written, in: text, to: offset)
      server.tell("note/cursor") {
        $0.member("attachment", attachment)
        $0.member("version", opened["version"]?.integer ?? 0)
        $0.member("rev", opened["rev"]?.integer ?? 0)
        $0.key("ranges")
        $0.beginArray()
        $0.beginObject()
        for (name, place) in [("start", start.lowerBound), ("end", start.upperBound)] {
          let line = text[..<place].count { $0 == 0x0A }
          let lineStart = text[..<place].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
          $0.key(name)
          $0.beginObject()
          $0.member("line", line)
          $0.member("character", place - lineStart)
          $0.endObject()
        }
        $0.endObject()
        $0.endArray()
      }
    }
  }

  /// Shows the agent no more.
  mutating func hide() {
    guard let attachment = presence.attachment else { return }
    presence = Presence()
    ask("note/close") {
      $0.member("attachment", attachment)
    } then: { _, _ in
    }
  }

  /// Ends the presence when its time has come; returns when to call this again, nil for never.
  mutating func hideIfDue(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard presence.attachment != nil else { return nil }
    let end = presence.end ?? now + Presence.stay
    presence.end = end
    if now < end { return end }
    hide()
    return nil
  }
}

/// The open note by which others who have it open, too, are shown the agent.
///
/// It is there for a while after each edit: an edit itself is over before a person sees it.
struct Presence {
  /// The time for which it stays.
  static let stay = Duration.seconds(10)

  /// The open note by which it is shown; nil while it is not shown.
  var attachment: Int?
  /// The time at which it ends; nil until the time is told.
  var end: ContinuousClock.Instant?
}
