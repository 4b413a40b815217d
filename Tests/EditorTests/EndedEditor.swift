import Foundation
import TestSupport

/// A process of an editor that has ended, and that its parent has not waited for: the system still lists it.
///
/// That is what becomes of an editor that is killed in a container whose first process waits for none.
final class EndedEditor {
  let process: pid_t
  private let parent: pid_t
  private let folder = TemporaryFolder()

  init() throws {
    // It ends after the shell has become another program: a shell waits for its children.
    let numbers = try shell(
      """
      cp "$(command -v sleep)" "$2/emacs-vi"
      sh -c '"$1/emacs-vi" 2 & echo $$ $!; exec sleep 600' sh "$2" > "$2/numbers" 2> /dev/null &
      until [ -s "$2/numbers" ]; do sleep 0.01; done
      cat "$2/numbers"
      """, folder.path
    ).split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
    guard numbers.count == 2 else { throw Failure("no processes: \(numbers)") }
    (parent, process) = (numbers[0], numbers[1])
    try waitUntil("the process has ended, and nobody has waited for it") {
      try shell("ps -o stat= -p $2 || true", "\(process)").hasPrefix("Z")
    }
  }

  deinit { kill(parent, SIGKILL) }

  /// Makes the unsent texts of a folder those of the ended process, by their names and by what is in the files.
  func takeOver(textsIn folder: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let file = name.hasSuffix(".new") ? name.dropLast(4) : name[...]
      let editor = file.split(separator: ".").dropLast().joined(separator: ".")
        .split(separator: "-").last!
      let new = name.replacingOccurrences(of: "-\(editor).", with: "-\(process).")
      let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
      let taken = text.replacing(try Regex("\"pid\": ?\(editor)\\b"), with: "\"pid\":\(process)")
      try taken.write(toFile: folder + "/" + new, atomically: false, encoding: .utf8)
      try FileManager.default.removeItem(atPath: folder + "/" + name)
    }
  }
}
