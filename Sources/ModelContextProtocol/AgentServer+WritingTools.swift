internal import Bytes
internal import JSONRPC

// The tools that change something. What people type at the same time is merged with it by the notebook's server.

extension AgentServer {
  mutating func createNote(_ call: Tool.Call) {
    ask("note/create", for: call) {
      for name in ["title", "text", "tags", "priority"] {
        $0.member(name, copying: call.arguments[name])
      }
    } then: { server, made in
      let id = made["note"]?["id"]?.string ?? ""
      server.noteChange(of: id, ["created"])
      server.succeed(call) {
        $0.member("id", id)
        $0.member("revision", copying: made["revision"])
      }
    }
  }

  /// Adds whole lines, with the line ends of the note.
  mutating func appendNote(_ call: Tool.Call) {
    ask("note/append", for: call) {
      $0.member("id", call.note)
      $0.member("text", copying: call.arguments["text"])
      $0.member("lines", true)
    } then: { server, appended in
      server.ask("note/get", for: call) {
        $0.member("id", call.note)
      } then: { server, found in
        server.noteChange(of: call.note, ["text"])
        server.succeed(call) {
          $0.member("id", call.note)
          $0.member("revision", copying: appended["revision"])
        }
        server.show(in: call.note, at: found["text"]?.utf8?.count ?? 0, [])
      }
    }
  }

  /// Replaces what stands in the text at `base`, just once there, and merges that with what the note is now.
  mutating func editNote(_ call: Tool.Call) {
    ask("note/get", for: call) {
      $0.member("id", call.note)
      $0.member("revision", copying: call.arguments["base"])
    } then: { server, found in
      let text = found["text"]?.utf8 ?? []
      let (old, new) = (call.arguments["old"]?.utf8 ?? [], call.arguments["new"]?.utf8 ?? [])
      guard !old.isEmpty else {
        return server.fail(
          call.id,
          "old: it must not be empty. To insert text, take some of the text beside its place into old and new; append_note adds lines at the end."
        )
      }
      let edited: Replacement
      do throws(Replacement.Mistake) {
        edited = try Replacement(of: old, in: text, by: new)
      } catch {
        return server.fail(call.id, "old: \(error.message)")
      }
      server.ask("note/get", for: call) {
        $0.member("id", call.note)
      } then: { server, present in
        let present = present["text"]?.utf8 ?? []
        let hasChanged = present != text
        guard call.arguments["dry_run"]?.boolean == true else {
          return server.set(edited, over: present, isMerged: hasChanged, call)
        }
        server.succeed(call) {
          $0.member("id", call.note)
          $0.member("revision", copying: found["revision"])
          $0.member("merged", hasChanged)
          $0.member("lines", edited.lines)
        }
      }
    }
  }

  /// - Parameters:
  ///   - present: the text when it was looked at last.
  ///   - isMerged: whether that is another one than at the base.
  private mutating func set(
    _ edited: Replacement, over present: [UInt8], isMerged: Bool, _ call: Tool.Call
  ) {
    ask("note/setText", for: call) {
      $0.member("id", call.note)
      $0.key("text")
      $0.string(utf8: edited.text)
      $0.member("base", copying: call.arguments["base"])
    } then: { server, result in
      server.noteChange(of: call.note, ["text"])
      let merged = result["text"]?.utf8 ?? []
      server.succeed(call) {
        $0.member("id", call.note)
        $0.member("revision", copying: result["revision"])
        $0.member("merged", isMerged || merged != edited.text)
        $0.member("lines", edited.lines(in: merged, insteadOf: present))
      }
      server.show(in: call.note, at: edited.range.lowerBound, Array(edited.text[edited.range]))
    }
  }

  mutating func updateNote(_ call: Tool.Call) {
    let (added, removed) = (call.arguments["add_tags"], call.arguments["remove_tags"])
    let (title, priority) = (call.arguments["title"], call.arguments["priority"])
    guard title != nil || priority != nil || added != nil || removed != nil else {
      return fail(
        call.id, "There is nothing to change: give title, add_tags, remove_tags or priority.")
    }
    ask("note/update", for: call) {
      $0.member("id", call.note)
      $0.member("title", copying: title)
      $0.member("priority", copying: priority)
      if added != nil || removed != nil {
        $0.key("tags")
        $0.beginObject()
        $0.member("add", copying: added)
        $0.member("remove", copying: removed)
        $0.endObject()
      }
    } then: { server, updated in
      server.noteChange(of: call.note, title == nil ? ["tags"] : ["title"])
      server.succeed(call) { result in
        for name in ["id", "title", "tags", "priority"] {
          result.member(name, copying: updated["note"]?[name])
        }
        result.member("revision", copying: updated["revision"])
      }
    }
  }

  mutating func deleteNote(_ call: Tool.Call) { moveNote(call, "note/delete") }

  mutating func restoreNote(_ call: Tool.Call) { moveNote(call, "note/restore") }

  /// Moves a note into the trash or out of it.
  private mutating func moveNote(_ call: Tool.Call, _ method: String) {
    ask(method, for: call) {
      $0.member("id", call.note)
    } then: { server, moved in
      server.noteChange(of: call.note, ["trashed"])
      server.succeed(call) {
        $0.member("id", call.note)
        $0.member("revision", copying: moved["revision"])
      }
    }
  }
}
