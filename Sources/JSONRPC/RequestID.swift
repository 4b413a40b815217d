/// The name that a request's sender has given it; its response carries the same.
public enum RequestID: Hashable, Sendable {
  case integer(Int)
  case string(String)
}

extension JSONWriter {
  /// Writes an id as a value.
  public mutating func requestID(_ id: RequestID) {
    switch id {
    case .integer(let number): integer(number)
    case .string(let text): string(text)
    }
  }
}
