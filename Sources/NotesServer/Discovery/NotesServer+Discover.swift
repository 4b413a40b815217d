internal import JSONRPC

// `rpc.discover`: what this program takes and answers, for programs that want to know it.

extension NotesServer {
  /// Answers with the description of all messages, which is made of `Protocol/metaModel.json` and stands in the program.
  static func discover(_ result: inout JSONWriter) { result.raw(Array(OpenRPCDocument.json.utf8)) }
}
