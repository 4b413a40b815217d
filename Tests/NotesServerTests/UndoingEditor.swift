import TestSupport
import Testing

/// An editor that shows whatever the server pushes, and changes its text whole.
final class UndoingEditor {
  let peer: Peer
  let attachment: JSON
  private(set) var client: LiveClient

  init(_ peer: Peer, _ id: String, _ form: LiveClient.Form = .ranges) {
    self.peer = peer
    let open = peer.call("note/open", ["id": .string(id), "mode": "edit"])
    attachment = open["attachment"]!
    client = LiveClient(
      attachment: attachment.integer!, isObserver: false, form: form, encoding: "utf-16",
      text: open["text"]!.string!)
  }

  var text: String { client.string }

  func replace(_ range: Range<Int>, with new: String, inSameStep: Bool = false) {
    sync()
    var change = client.replace(range, with: new)!
    if inSameStep { change["sameStep"] = true }
    #expect(peer.ask("note/change", change).error == nil)
  }

  /// Replaces the first occurrence of a text.
  func replace(_ old: String, with new: String) {
    sync()
    let scalars = Array(old.unicodeScalars)
    let start = client.text.indices.first { client.text[$0...].starts(with: scalars) }!
    replace(start..<start + scalars.count, with: new)
  }

  /// Takes in the pushes that have come for this attachment.
  func sync() {
    for push in peer.take("note/edit") {
      if push["attachment"] == attachment {
        do {
          let answer = try client.receive(push)
          #expect(answer == nil, "\(push) does not fit")
        } catch {
          Issue.record("\(push) can't be applied")
        }
      } else {
        peer.notifications.append(["method": "note/edit", "params": push])
      }
    }
  }

  /// A change of nothing.
  func confirm() -> JSON { client.confirm() }

  func undo() -> Bool { reverse("note/undo") }
  func redo() -> Bool { reverse("note/redo") }

  private func reverse(_ method: String) -> Bool {
    let done = peer.call(method, ["attachment": attachment])["done"]!.boolean!
    sync()
    return done
  }
}
