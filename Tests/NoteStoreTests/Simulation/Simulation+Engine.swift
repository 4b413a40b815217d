import ReplicatingTypes
import TestSupport

@testable import NoteStore

// The engine that carries files between the devices: file by file, in any order, as late as it likes. It knows nothing of what
// is in them.

extension Simulation {
  /// Copies a file as it should be done. Where both devices have changed it, there is no good way.
  func carry(from source: Device, to device: Device) throws(Violation) {
    guard let (path, bytes) = anyFile(of: source), device.files[path] != bytes else { return }
    guard let present = device.files[path], !bytes.starts(with: present) else {
      tell("engine: \(path) from device \(source.number) to \(device.number)")
      return try put(bytes, at: path, on: device)
    }
    // It has the older one.
    if present.starts(with: bytes) { return }
    tell("engine: \(path) from device \(source.number) to \(device.number), where another one is")
    switch random.below(4) {
    case 0: try put(bytes, at: path, on: device)
    case 1: try put(bytes, at: conflictName(of: path), on: device)
    default:
      try put(present, at: conflictName(of: path), on: device)
      try put(bytes, at: path, on: device)
    }
  }

  /// Puts any version that there ever was of a file into its place, whatever is there, or perhaps beside it.
  func carryOlder(to device: Device) throws(Violation) {
    let paths = versions.keys.sorted()
    guard !paths.isEmpty else { return }
    let path = paths[random.below(paths.count)]
    let bytes = versions[path]![random.below(versions[path]!.count)]
    let name = random.below(3) == 0 ? conflictName(of: path) : path
    tell("engine: \(bytes.count) old bytes to device \(device.number) as \(name)")
    try put(bytes, at: name, on: device)
  }

  /// Copies the beginning of a file, and goes on some other time.
  func carryPiece(from source: Device, to device: Device) throws(Violation) {
    guard let (path, bytes) = anyFile(of: source), device.files[path] != bytes,
      path.hasPrefix("log/") || path == NotebookFile.name && device.files[path] == nil
    else { return }
    let count = random.below(bytes.count + 1)
    tell("engine: \(count) bytes of \(path) from device \(source.number) to \(device.number)")
    unfinished.append((device, path, bytes, count))
    try put(Array(bytes[..<count]), at: path, on: device)
  }

  func finishCopy() throws(Violation) {
    guard !unfinished.isEmpty else { return }
    let (device, path, bytes, count) = unfinished.removeFirst()
    tell("engine: the rest of \(path) to device \(device.number)")
    // Whoever was here first has named the notebook.
    if path == NotebookFile.name, !device.isNamePartial, device.files[path] != nil { return }
    guard device.files[path] == Array(bytes[..<count]), random.below(2) == 0 else {
      return try put(bytes, at: path, on: device)
    }
    device.disk.extend("\(Self.path)/\(path)", by: bytes[count...])
    try acceptLosses(in: device)
  }

  /// Deletes a file, or all of a session.
  func delete(on device: Device) throws(Violation) {
    guard let file = anyFile(of: device) else { return }
    see(file.bytes, at: file.path)
    var path = file.path
    if random.below(3) == 0, let slash = path.lastIndex(of: "/") {
      path = String(path[..<slash])
    }
    tell("engine: deletes \(path) on device \(device.number)")
    device.take(path)
    try acceptLosses(in: device)
  }

  func finishCopies() throws(Violation) {
    while !unfinished.isEmpty { try finishCopy() }
  }

  /// Copies all files to all devices. Of two versions it keeps both.
  func bringEverythingEverywhere() throws(Violation) {
    let paths = Set(devices.flatMap(\.files.keys))
    for path in paths.sorted() {
      var found: [[UInt8]] = []
      for case let bytes? in devices.map({ $0.files[path] }) where !found.contains(bytes) {
        found.append(bytes)
      }
      found.sort { $0.count < $1.count }
      var winner = found.last!
      // As a rule the longest is the latest.
      if random.below(4) == 0 { winner = found[random.below(found.count)] }
      for loser in found where loser != winner && !winner.starts(with: loser) {
        let name = conflictName(of: path)
        for device in devices { device.put(loser, at: name) }
      }
      for device in devices where device.files[path] != winner { device.put(winner, at: path) }
    }
    for device in devices { try acceptLosses(in: device) }
  }

  private func anyFile(of device: Device) -> (path: String, bytes: [UInt8])? {
    let files = device.completeFiles.sorted { $0.key < $1.key }
    guard !files.isEmpty else { return nil }
    let (path, bytes) = files[random.below(files.count)]
    return (path, bytes)
  }

  private func put(_ bytes: [UInt8], at path: String, on device: Device) throws(Violation) {
    if let present = device.files[path] { see(present, at: path) }
    see(bytes, at: path)
    device.put(bytes, at: path)
    try acceptLosses(in: device)
  }

  private func see(_ bytes: [UInt8], at path: String) {
    // Nobody keeps half of it to bring it back some day.
    if path == NotebookFile.name, bytes.last != 0x0a { return }
    if versions[path]?.contains(bytes) != true { versions[path, default: []].append(bytes) }
  }

  /// The name that an engine gives to the version that it doesn't take.
  private func conflictName(of path: String) -> String {
    lastConflict += 1
    let dot = path.lastIndex(of: ".")!
    let number = String(lastConflict)
    let time = String(repeating: "0", count: 6 - number.count) + number
    return "\(path[..<dot]).sync-conflict-20261121-\(time)-ABCDEFG\(path[dot...])"
  }
}
