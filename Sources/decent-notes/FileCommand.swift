internal import JSONRPC
internal import NotesServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Imports files, or exports notes as files, from the command line.
struct FileCommand {
  /// What is done.
  enum Kind: Equatable {
    case importing(isDryRun: Bool)
    case exporting(isInto: Bool, hasIDs: Bool)
  }

  /// The status of the program: it failed if something failed, or was skipped.
  let status: CommandFailure.Status

  /// - Parameters:
  ///   - paths: of files or folders that are imported, one after the other; or of the one that is exported to.
  ///   - isJSON: whether results are printed as the server gives them, each in a line.
  ///   - isVerbose: whether all that is left out is listed; else it is counted.
  ///   - serve: serves a client of this process.
  init(
    _ kind: Kind, _ paths: [String], isJSON: Bool, isVerbose: Bool, _ serve: (LocalClient) -> Void
  ) {
    var progress = ProgressLine()
    let requests = paths.enumerated().map { index, path in
      var params = JSONWriter()
      params.beginObject()
      params.key("path")
      params.string(path)
      switch kind {
      case .importing(let isDryRun):
        params.key("dryRun")
        params.boolean(isDryRun)
      case .exporting(let isInto, let hasIDs):
        params.key("into")
        params.boolean(isInto)
        params.key("ids")
        params.boolean(hasIDs)
      }
      params.key("workDoneToken")
      params.integer(index)
      params.endObject()
      let method = if case .importing = kind { "notebook/import" } else { "notebook/export" }
      return (method: method, params: params.bytes)
    }
    var left = paths.count
    var status = CommandFailure.Status.failed
    var (hasFailed, isIncomplete) = (false, false)
    let client = LocalClient(requests) { message in
      if message["method"]?.string == "$/progress",
        let text = message["params"]?["value"]?["message"]?.string
      {
        progress.show(text)
      }
      guard let id = message["id"]?.integer else {
        if ["window/logMessage", "window/showMessage"].contains(message["method"]?.string),
          let text = message["params"]?["message"]?.string
        {
          progress.clear()
          printError(text)
          // An error that belongs to no request: the notebook lacks something.
          isIncomplete = isIncomplete || message["params"]?["type"]?.integer == 1
        }
        return false
      }
      if id > 0 || message["error"] != nil { progress.clear() }
      if let error = message["error"] {
        printError(error["message"]?.string ?? "an error")
        hasFailed = true
        // There is no notebook to do anything with.
        if id == 0 { return true }
      } else if id > 0, let result = message["result"] {
        let skipped = result["skipped"]?.array.map(Array.init) ?? []
        hasFailed = hasFailed || !skipped.isEmpty
        do throws(CommandFailure) {
          if isJSON {
            try printLines([String(decoding: result.rawBytes, as: UTF8.self)])
          } else {
            try printLines(["\(paths[id - 1]): \(Self.summary(of: result, kind))"])
            if isVerbose || skipped.count == 1 {
              for file in skipped {
                printError(
                  "\(file["path"]?.string ?? ""): left out: \(file["reason"]?.string ?? "")")
              }
            } else if !skipped.isEmpty {
              printError(
                "\(paths[id - 1]): \(skipped.count) left out (\(Self.counts(of: skipped))); --verbose lists them"
              )
            }
          }
        } catch {
          report(error)
          hasFailed = true
        }
      }
      if id > 0 { left -= 1 }
      if left == 0 { status = isIncomplete ? .incomplete : hasFailed ? .failed : .done }
      return left == 0
    }
    serve(client)
    self.status = status
  }

  /// How many files were left out, by the reason.
  private static func counts(of skipped: [JSONValue]) -> String {
    let causes = skipped.compactMap {
      $0["cause"]?.string.flatMap(SkippedFile.Cause.init(rawValue:))
    }
    return SkippedFile.Cause.allCases.compactMap { cause in
      let count = causes.count { $0 == cause }
      return count == 0 ? nil : "\(cause.words) \(count)"
    }.joined(separator: ", ")
  }

  private static func summary(of result: JSONValue, _ kind: Kind) -> String {
    let names =
      if case .importing = kind { ["created", "updated", "unchanged"] } else {
        ["written", "unchanged", "removed"]
      }
    return names.map { "\(result[$0]?.integer ?? 0) \($0)" }.joined(separator: ", ")
  }
}

/// A line on a terminal that is rewritten; nothing elsewhere.
private struct ProgressLine {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private var isShown = false

  mutating func show(_ text: String) {
    guard isTerminal else { return }
    write("\r\u{1B}[K\(text)")
    isShown = true
  }

  mutating func clear() {
    if isShown { write("\r\u{1B}[K") }
    isShown = false
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    #if canImport(Glibc)
      _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    #else
      _ = Darwin.write(STDERR_FILENO, bytes, bytes.count)
    #endif
  }
}
