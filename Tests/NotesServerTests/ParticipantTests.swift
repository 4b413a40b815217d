import Notes
import TestSupport
import Testing

@testable import NotesServer

@Suite struct `Who uses the program` {
  let folder = TemporaryFolder()

  private func participant(_ params: JSON, name: String = "ana@laptop") -> [String]? {
    let peer = Peer(folder("notes"), name: name)
    peer.call("initialize", params)
    return peer.participant.map { [$0.name, $0.program] }
  }

  @Test func `is said by the client, else by the environment`() {
    #expect(participant([:]) == ["ana@laptop", "decent-notes"])
    #expect(
      participant(["participant": ["name": "Ana"], "clientInfo": ["name": "Vim"]]) == [
        "Ana", "Vim",
      ])
    #expect(
      participant(["participant": nil, "clientInfo": nil]) == ["ana@laptop", "decent-notes"])
    #expect(participant(["participant": ["name": "Ana"]], name: "") == ["Ana", "decent-notes"])
    #expect(participant([:], name: "") == nil)
    // A name of nothing but blanks is none.
    #expect(
      participant(["participant": ["name": " \n"], "clientInfo": ["name": ""]])
        == ["ana@laptop", "decent-notes"])
  }

  @Test func `is one line of bounded length`() {
    let long = String(repeating: "x", count: 1000)
    #expect(
      participant([
        "participant": ["name": .string("A\n\(long)")], "clientInfo": ["name": .string(long)],
      ])
        == ["A " + String(repeating: "x", count: 98), String(repeating: "x", count: 40)])
  }

  @Test(arguments: [
    ("participant", #"{"participant":"Ana"}"#), ("participant", #"{"participant":[]}"#),
    ("participant.name", #"{"participant":{"name":1}}"#),
  ])
  func `has to be of the right kind`(_ field: String, _ params: String) {
    let error = Peer(folder("notes")).ask("initialize", .raw(params)).error
    #expect(error?.code == -32602)
    #expect(error?.message.hasPrefix("\(field): ") == true, "\(error?.message ?? "")")
  }
}
