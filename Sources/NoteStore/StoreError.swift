#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// An error of the disk or in a file: the operation, the path, and the reason.
public struct StoreError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The reasons that callers tell apart.
  public enum Reason: String, Sendable {
    /// No space, no quota, or the file would exceed a size limit of the system.
    case diskFull
    /// The file system is mounted for reading only.
    case readOnly
    /// The device reported an error.
    case inputOutput
    /// The system refuses access.
    case permission
    /// A part of the path does not exist or is not a folder.
    case notFound
    /// A later version of the program wrote this; nothing was touched.
    case newerFormat
    /// A program from before the first release, or another one, wrote this; nothing was touched.
    case otherFormat
    /// The bytes are not what the format says.
    case damaged
    /// More than a limit of the format allows.
    case tooLarge
    /// Anything else: see `errno` and `detail`.
    case other
  }

  /// The operation that failed, in the words of the system call or of the format.
  public var operation: String
  /// The file or folder it was about.
  public var path: String
  /// The system's error number; 0 when it was not the system that refused.
  public var errno: Int32
  /// The reason why it failed.
  public var reason: Reason
  /// More about it, in words for users; may be empty.
  public var detail: String

  /// An error that did not come from the system.
  public init(operation: String, path: String, reason: Reason, detail: String) {
    self.operation = operation
    self.path = path
    self.errno = 0
    self.reason = reason
    self.detail = detail
  }

  /// An error of a system call; the reason follows from `errno`.
  public init(operation: String, path: String, errno: Int32, detail: String = "") {
    self.operation = operation
    self.path = path
    self.errno = errno
    self.detail = detail
    self.reason =
      switch errno {
      case ENOSPC, EDQUOT, EFBIG: .diskFull
      case EROFS: .readOnly
      case EIO: .inputOutput
      case EACCES, EPERM: .permission
      case ENOENT, ENOTDIR: .notFound
      default: .other
      }
  }

  /// True if the process, or the system, has too little of something to open or read any file: that says nothing of this one.
  var isOfProcess: Bool { [EMFILE, ENFILE, ENOMEM, EAGAIN].contains(errno) }

  /// True if it is about what is in the file, so that reading it once more is in vain as long as the file is the same.
  var isOfContent: Bool { reason == .damaged || isOfOtherVersion }

  /// True if it is about what another version of the program wrote.
  var isOfOtherVersion: Bool { reason == .newerFormat || reason == .otherFormat }

  /// One line naming operation, path and cause: `write /notes/log/…/0.open: No space left on device`.
  public var description: String {
    var cause: [String] = []
    if errno != 0 { cause.append(String(cString: strerror(errno))) }
    if !detail.isEmpty { cause.append(detail) }
    if cause.isEmpty { cause.append(reason.rawValue) }
    return "\(operation) \(path): \(cause.joined(separator: ", "))"
  }
}
