import ReplicatingTypes
import TestSupport

@testable import NoteStore

extension Simulation {
  /// What may happen next.
  enum Step: CaseIterable {
    case open, write, flush, synchronize, rescan, refresh, rest, keep, fold, foldSome, complete,
      end, kill
    case cutPower, moveClock, remount, backUp, restore, copyDevice, fork, forgetState, restoreState
    case carry, carryOlder, carryPiece, finishCopy, delete

    /// How often it happens, compared with the others.
    private var weight: Int {
      switch self {
      case .write: 30
      case .carry: 24
      case .open, .rescan: 12
      case .refresh: 9
      case .synchronize, .rest, .carryPiece, .finishCopy: 6
      case .flush, .keep, .fold, .foldSome, .complete, .kill: 5
      case .delete, .carryOlder: 4
      case .end, .cutPower, .backUp, .restore: 3
      case .moveClock, .remount, .forgetState, .restoreState: 2
      case .copyDevice, .fork: 1
      }
    }

    static func random(_ random: inout SplitMix64) -> Step {
      var left = random.below(allCases.reduce(0) { $0 + $1.weight })
      for step in allCases {
        left -= step.weight
        if left < 0 { return step }
      }
      preconditionFailure("weights")
    }
  }

  func take(_ step: Step) throws(Violation) {
    let device = devices[random.below(devices.count)]
    let other = devices[random.below(devices.count)]
    device.writeBackWhatIsOld()
    // Somebody sees to that soon.
    if device.isReadOnly, random.below(6) == 0 { remount(device) }
    switch step {
    case .open:
      guard device.processes.count < 3 else { return }
      try open(on: device, state: random.below(2) == 0 ? Self.state : nil)
    case .cutPower: try cutPower(of: device)
    case .moveClock: moveClock(of: device)
    case .remount: remount(device)
    case .backUp: backUp(device)
    case .restore: try restore(device)
    case .copyDevice: try copy(other, to: device)
    case .fork: try fork(device)
    case .forgetState: forgetState(of: device)
    case .restoreState: restoreState(of: device)
    case .carry: try carry(from: other, to: device)
    case .carryOlder: try carryOlder(to: device)
    case .carryPiece: try carryPiece(from: other, to: device)
    case .finishCopy: try finishCopy()
    case .delete: try delete(on: device)
    case .write, .flush, .synchronize, .rescan, .refresh, .rest, .keep, .fold, .foldSome, .complete,
      .end, .kill:
      guard !device.processes.isEmpty else { return }
      let index = random.below(device.processes.count)
      if step == .kill { return try kill(index..<(index + 1), on: device) }
      try take(step, with: device.processes[index], on: device)
    }
  }

  private func take(
    _ step: Step, with process: Process, on device: Device
  ) throws(Violation) {
    switch step {
    case .write: try write(process, on: device)
    case .flush: try flush(process, on: device)
    case .synchronize: try synchronize(process, on: device)
    case .rescan: try rescan(process, on: device)
    case .refresh: try refresh(process, on: device)
    case .rest: try rest(process, on: device)
    case .keep: try keep(process, on: device)
    case .fold: try fold(process, on: device)
    case .foldSome: try foldSome(process, on: device)
    case .complete: try complete(process, on: device)
    case .end: try end(process, on: device)
    default: preconditionFailure("\(step) is nothing that a process does")
    }
  }
}

extension Simulation.Process {
  /// What synchronizes for it in the background.
  var queue: MemorySyncQueue { store.folder.disk.queue as! MemorySyncQueue }

  /// The session that it is writing, and how many records it has written there.
  var session: (identity: Identifier, count: UInt64)? {
    store.folder.writer.open.map { ($0.session, $0.end.number) }
  }
}

extension Simulation.Device {
  /// Whether its disk takes nothing from the processes for now.
  var isReadOnly: Bool { disk.mount != .writable }

  /// The same files, but for `decent.json` where only some of it is there.
  var completeFiles: [String: [UInt8]] {
    isNamePartial ? files.filter { $0.key != NotebookFile.name } : files
  }

  /// Puts a file into the notebook's folder, or takes it away.
  func put(_ bytes: [UInt8], at path: String) {
    if let present = files[path], !bytes.starts(with: present) { takeUnawares() }
    disk.put(bytes, at: "\(Simulation.path)/\(path)")
  }

  func take(_ path: String) {
    takeUnawares()
    disk.take("\(Simulation.path)/\(path)")
  }

  private func takeUnawares() { for process in processes { process.awareness = .none } }
}
