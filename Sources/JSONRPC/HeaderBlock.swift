/// The header of one message, as far as it has been read.
struct HeaderBlock {
  /// The number of its bytes that have been read, line by line.
  private(set) var size = 0

  private let limit: Int
  private var contentLength: Int?
  /// The number of bytes after `size` that are known to hold no line break.
  private var scanned = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// Reads the complete lines at the start of `bytes`, up to the empty line that ends the header.
  ///
  /// - Parameter bytes: The stream from the first line on that has not been read yet.
  /// - Returns: The length of the message, nil if the header goes on, and how many bytes were read.
  /// - Throws: What is wrong with the header; where the message ends is unknown then.
  mutating func read(
    _ bytes: ArraySlice<UInt8>
  ) throws(ResponseError) -> (length: Int?, count: Int) {
    var start = bytes.startIndex
    while let end = bytes[(start + scanned)...].firstIndex(of: UInt8(ascii: "\n")) {
      size += end + 1 - start
      scanned = 0
      guard size <= limit else { throw tooLarge }
      var line = bytes[start..<end]
      start = end + 1
      if line.last == UInt8(ascii: "\r") { line.removeLast() }
      if line.isEmpty {
        guard let contentLength else {
          throw .parseError("The header has no Content-Length.")
        }
        return (contentLength, start - bytes.startIndex)
      }
      try readLine(line)
    }
    scanned = bytes.endIndex - start
    guard size + scanned < limit else { throw tooLarge }
    return (nil, start - bytes.startIndex)
  }

  private var tooLarge: ResponseError {
    .parseError("The header is above the limit of \(limit) bytes.")
  }

  private mutating func readLine(_ line: ArraySlice<UInt8>) throws(ResponseError) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
      throw .parseError("A header line is not a name, a colon and a value.")
    }
    guard isContentLength(line[..<colon]) else { return }
    guard contentLength == nil else {
      throw .parseError("Content-Length is there twice.")
    }
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var value = line[(colon + 1)...].drop(while: isSpace)
    while let last = value.last, isSpace(last) { value.removeLast() }
    guard let length = Self.length(value) else {
      throw .parseError("Content-Length is not a number of bytes.")
    }
    contentLength = length
  }

  private func isContentLength(_ name: ArraySlice<UInt8>) -> Bool {
    let wanted = "content-length".utf8
    guard name.count == wanted.count else { return false }
    return zip(name, wanted).allSatisfy { byte, letter in
      byte == letter || byte | 0x20 == letter && letter != UInt8(ascii: "-")
    }
  }

  /// The number that `digits` are, nil if there is anything else among them, or nothing, or too much.
  private static func length(_ digits: ArraySlice<UInt8>) -> Int? {
    if digits.isEmpty { return nil }
    var length = 0
    for byte in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
      let (tens, tooMany) = length.multipliedReportingOverflow(by: 10)
      let (sum, overflow) = tens.addingReportingOverflow(Int(byte - UInt8(ascii: "0")))
      if tooMany || overflow { return nil }
      length = sum
    }
    return length
  }
}
