/// The states of files that a mirror has written over others, and whether another program has read them there.
///
/// Two programs may save texts between which nothing tells: one that had the file open before a line came into it, and one that has read that line
/// and deleted it. Only states are known that were written while reads were reported; of those a program that has not read one is sure not
/// to have written on it. That one was read says less: indexers and engines of synchronisation read each state, and editors read the file to
/// make a backup, or to ask whether they are to write over it.
struct WrittenStates {
  private struct State {
    var hash: UInt64
    var isRead = false
  }

  /// Of each file in the order in which they were written.
  private var byPath: [FilePath: [State]] = [:]
  /// The files that another program has closed, or written, since. What is read there is that program's text.
  private var overwritten: [FilePath: Overwriting] = [:]

  private enum Overwriting { case possible, certain }

  /// Notes that a state was written, which no program has read yet.
  mutating func insert(_ hash: UInt64, at path: FilePath) {
    byPath[path] = (byPath[path] ?? []).suffix(FileRecords.mostStates - 1) + [State(hash: hash)]
    overwritten[path] = nil
  }

  /// Notes that another program has written a file, or may have.
  mutating func overwrite(_ path: FilePath, certain isCertain: Bool) {
    guard byPath[path] != nil else { return }
    overwritten[path] = isCertain || overwritten[path] == .certain ? .certain : .possible
  }

  /// Notes that a file has the state that was written there last; true if another program is sure to have written this, so that it knows it.
  mutating func restore(_ path: FilePath) -> Bool {
    overwritten.removeValue(forKey: path) == .certain
  }

  /// Notes that a program has read a state of a file.
  ///
  /// - Parameter count: the number of states that were written there since.
  mutating func read(_ path: FilePath, before count: Int) {
    guard let all = byPath[path], all.count > count, count > 0 || overwritten[path] == nil
    else { return }
    byPath[path]![all.count - 1 - count].isRead = true
  }

  /// Notes that a program has read a state of a file.
  mutating func read(_ path: FilePath, hash: UInt64) {
    guard let index = byPath[path]?.lastIndex(where: { $0.hash == hash }) else { return }
    byPath[path]![index].isRead = true
  }

  mutating func remove(_ path: FilePath) {
    byPath[path] = nil
    overwritten[path] = nil
  }

  /// Nothing is certain any more: reads may not have been reported.
  mutating func removeAll() { (byPath, overwritten) = ([:], [:]) }

  mutating func move(_ path: FilePath, to new: FilePath) {
    byPath[new] = byPath.removeValue(forKey: path)
    overwritten[path] = nil
  }

  /// True for each of some states of a file that a program has read; nil where that is not known. They are in the order in which they were there.
  private func areRead(_ states: [FileState], at path: FilePath) -> [Bool?] {
    var rest = (byPath[path] ?? [])[...]
    var result = [Bool?](repeating: nil, count: states.count)
    for index in states.indices.reversed() {
      guard let found = rest.lastIndex(where: { $0.hash == states[index].hash }) else { continue }
      result[index] = rest[found].isRead
      rest = rest[..<found]
    }
    return result
  }

  /// True if a program has read one of some states of a file.
  func isRead(_ index: Int, of states: [FileState], at path: FilePath) -> Bool {
    areRead(states, at: path)[index] == true
  }

  /// The indices of the states on which a program may have written a file.
  ///
  /// - Parameter hash: of what the program has written. A program that changes nothing of what it has read does not write it: these bytes, if they
  ///   are those of an older state, are of one that has read the last one, if that was read, and has taken back what came with it.
  func possibleBases(of hash: UInt64, among states: [FileState], at path: FilePath) -> [Int] {
    let areRead = areRead(states, at: path)
    // The first was written by a program, or made by the mirror.
    let possible = states.indices.filter { $0 == 0 || areRead[$0] != false }
    if let last = possible.last, areRead[last] == true,
      states[..<last].contains(where: { $0.hash == hash })
    {
      return [last]
    }
    return possible
  }
}
