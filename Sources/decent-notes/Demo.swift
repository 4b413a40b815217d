internal import JSONRPC

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Two editors on one note, each with a process of its own, in a temporary folder: they write at the same moment, and one
/// of the processes is killed.
///
/// The editors here are the smallest there can be: they send and receive whole texts.
struct Demo {
  /// A failure, in one line for the user.
  struct Failure: Error {
    var message: String
  }

  private let program: String
  private let folder: String

  /// Shows a text file being edited; prints what happens as it happens.
  static func run(_ program: String, path: String) throws(Failure) {
    guard let file = fopen(path, "rb") else { throw Failure(message: "\(path): can't be read") }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
      bytes += buffer[..<count]
    }
    fclose(file)
    guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else {
      throw Failure(message: "\(path): is not UTF-8 text")
    }
    var template = Array("/tmp/decent-notes-demo-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(message: "no temporary folder") }
    let folder = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    try Demo(program: program, folder: folder).show(path, text)
  }

  private func say(_ line: String) throws(Failure) {
    do { try printLines([line]) } catch {
      throw Failure(message: error.lines.joined(separator: "; "))
    }
  }

  private func show(_ name: String, _ text: String) throws(Failure) {
    try say("folder    \(folder)")
    let first = try Editor(program, folder)
    let title = String(name.split(separator: "/").last ?? "Demo")
    let created = try first.request("note/create") {
      $0.key("title")
      $0.string(title)
      $0.key("text")
      $0.string(text)
    }
    guard let note = created["note"]?["id"]?.string else { throw Failure(message: "no note") }
    try say("note      \(title), \(text.utf8.count) bytes")
    let second = try Editor(program, folder)
    try first.open(note)
    try second.open(note)

    // Both write before either has received the other's change.
    try first.write("Written at the top by editor 1.\n" + text)
    try second.write(text + "Written at the end by editor 2.\n")
    try say("editor 1  writes a line at the top")
    try say("editor 2  writes a line at the end, at the same moment")
    var rounds = 500
    while first.text != second.text {
      guard rounds > 0 else { throw Failure(message: "the editors don't agree") }
      rounds -= 1
      try first.receive(waiting: 20)
      try second.receive(waiting: 20)
    }
    try say("editor 1  shows \(first.text.utf8.count) bytes; they begin with")
    try say("          \(first.text.split(separator: "\n").first ?? "")")
    try say("editor 2  shows the same \(second.text.utf8.count) bytes; they end with")
    try say("          \(second.text.split(separator: "\n").last ?? "")")

    first.kill()
    second.kill()
    try say("both      processes are killed (kill -9)")
    let third = try Editor(program, folder)
    try third.open(note)
    guard third.text == second.text else { throw Failure(message: "the texts differ") }
    try say("editor 3  opens the note and shows the same \(third.text.utf8.count) bytes")
    third.kill()
  }
}

/// A process of the program, and the least that an editor does with it.
private final class Editor {
  private let process: ChildProcess
  private var frames = FrameDecoder(framing: .lines)
  private var attachment = 0
  private var version = 0
  private var rev = 0
  private var lastID = 0
  private(set) var text = ""

  init(_ program: String, _ folder: String) throws(Demo.Failure) {
    do {
      process = try ChildProcess(
        [program, "--framing", "lines", "--notebook", folder], keepingError: true)
    } catch { throw Demo.Failure(message: error.message) }
    _ = try request("initialize") { _ in }
  }

  func kill() { process.end() }

  func open(_ note: String) throws(Demo.Failure) {
    let result = try request("note/open") {
      $0.key("id")
      $0.string(note)
      $0.key("mode")
      $0.string("edit")
      $0.key("push")
      $0.string("text")
    }
    attachment = result["attachment"]?.integer ?? 0
    text = result["text"]?.string ?? ""
  }

  /// The user changed the text.
  func write(_ text: String) throws(Demo.Failure) {
    self.text = text
    version += 1
    try send("note/change") {
      $0.key("attachment")
      $0.integer(self.attachment)
      $0.key("version")
      $0.integer(self.version)
      $0.key("rev")
      $0.integer(self.rev)
      $0.key("text")
      $0.string(text)
    }
  }

  func request(
    _ method: String, _ params: (inout JSONWriter) -> Void
  ) throws(Demo.Failure) -> JSONValue {
    let id = try send(method, params)
    for _ in 0..<500 {
      if let reply = try receive(waiting: 20, for: id) { return reply }
    }
    throw Demo.Failure(message: "\(method): no answer")
  }

  @discardableResult
  private func send(
    _ method: String, _ params: (inout JSONWriter) -> Void
  ) throws(Demo.Failure) -> Int {
    lastID += 1
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("jsonrpc")
    writer.string("2.0")
    writer.key("id")
    writer.integer(lastID)
    writer.key("method")
    writer.string(method)
    writer.key("params")
    writer.beginObject()
    params(&writer)
    writer.endObject()
    writer.endObject()
    var rest = (writer.bytes + [0x0A])[...]
    while !rest.isEmpty {
      guard let count = process.write(rest) else {
        throw Demo.Failure(message: "\(method): the process has gone")
      }
      rest = rest.dropFirst(count)
    }
    return lastID
  }

  /// Takes the messages of the process that come within so many milliseconds; returns the result of a request, if it is among
  /// them.
  @discardableResult
  func receive(waiting milliseconds: Int32, for id: Int? = nil) throws(Demo.Failure) -> JSONValue? {
    var descriptor = pollfd(fd: process.output, events: Int16(POLLIN), revents: 0)
    if poll(&descriptor, 1, milliseconds) > 0 {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      guard let bytes = ChildProcess.read(process.output, into: &buffer) else {
        throw Demo.Failure(message: "the process has gone")
      }
      frames.append(bytes)
    }
    var result: JSONValue?
    while case .message(let bytes)? = frames.next() {
      guard let message = try? JSONValue(parsing: bytes) else { continue }
      if let error = message["error"]?["message"]?.string { throw Demo.Failure(message: error) }
      if message["method"]?.string == "note/edit", let push = message["params"] { apply(push) }
      if let id, message["id"]?.integer == id { result = message["result"] }
    }
    return result
  }

  /// A push that was sent before the process knew of our last change is left alone: a fresh one follows.
  private func apply(_ push: JSONValue) {
    guard push["version"]?.integer == version, let text = push["text"]?.string else { return }
    self.text = text
    rev = push["rev"]?.integer ?? rev
  }
}
