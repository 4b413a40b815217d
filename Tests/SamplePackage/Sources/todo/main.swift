// todo note
// todo FOLDER NAME [add TITLE | done INDEX]

import Foundation

let arguments = CommandLine.arguments.dropFirst().map { $0 }
if arguments == ["note"] {
  try showNote()
} else if arguments.count >= 2 {
  var shared = try Shared(URL(filePath: arguments[0]), arguments[1])
  let now = Int64(Date.now.timeIntervalSince1970 * 1000)
  switch arguments.dropFirst(2).first {
  case "add": shared.list.add(arguments[3], at: now, by: &shared.replica)
  case "done": shared.list.setDone(Int(arguments[3]) ?? 0, at: now, by: &shared.replica)
  default: break
  }
  try shared.save()
  for line in shared.list.lines { print(line) }
}
