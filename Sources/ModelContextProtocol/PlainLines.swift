/// A text in which all lines end with a line feed alone, and the places of its bytes in the text that it was made of.
struct PlainLines {
  private(set) var bytes: [UInt8] = []
  /// The indices of the line feeds that have lost a carriage return, in order.
  private var shortened: [Int] = []

  /// - Complexity: O(`text`).
  init(_ text: some Collection<UInt8>) {
    bytes.reserveCapacity(text.count)
    for byte in text {
      if byte == 0x0A, bytes.last == 0x0D {
        bytes[bytes.count - 1] = byte
        shortened.append(bytes.count - 1)
      } else {
        bytes.append(byte)
      }
    }
  }

  /// The offset in the original text at which the byte with this index begins, with its carriage return if it has lost one.
  ///
  /// - Complexity: O(log line ends).
  func originalOffset(of index: Int) -> Int {
    var (low, high) = (0, shortened.count)
    while low < high {
      let middle = (low + high) / 2
      if shortened[middle] < index { low = middle + 1 } else { high = middle }
    }
    return index + low
  }
}
