// What the compiler has noted down of each source file: the names that it declares and those that it uses.
//
// `swift build` writes this index beside a debug build. It is read by the toolchain's own library, libIndexStore, which is loaded
// when it is needed: nothing is linked to it.

import Foundation
import TestSupport

/// Declarations and references of one source file, as USRs: names that are unique in the program.
struct FileNames: Sendable {
  /// The module that the file is compiled into.
  var module: String
  var declared: [String: String] = [:]
  var used: [String: String] = [:]
  /// Lines of declarations that do what a protocol says.
  var witnesses: Set<Int> = []
}

/// An index that a compiler has written.
struct IndexStore {
  private let library: Library
  private let store: OpaquePointer
  private let path: String

  /// Opens the index in a folder; fails if it can't be read.
  init(_ path: String) throws {
    library = try Library()
    self.path = path
    guard let store = library.createStore(path, nil) else { throw Failure("no index in \(path)") }
    self.store = store
  }

  /// The index of the build that the running tests are part of; nil if it has none, as a release build.
  static var ofThisBuild: String? {
    let path = URL(fileURLWithPath: Server.program).deletingLastPathComponent()
      .appendingPathComponent("index/store").path
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }

  /// The names of the files in `Sources`, by that index. Read once: it takes a second.
  static let names = Result<[String: FileNames], any Error> {
    guard let path = ofThisBuild else { throw Failure("this build has no index of its sources") }
    return try IndexStore(path).names(below: projectFolder.path)
      .filter { $0.key.hasPrefix("Sources/") }
  }

  /// The names of all files below a folder that are there, by their paths in it.
  ///
  /// An index keeps what earlier builds have left: of a file that is gone nothing is read, and of several units of one file only the
  /// newest, with the records that it names.
  func names(below folder: String) throws -> [String: FileNames] {
    var newest: [String: (time: timespec, module: String, records: [String])] = [:]
    for unit in units() {
      guard let reader = library.createUnitReader(store, unit, nil) else { continue }
      defer { library.disposeUnitReader(reader) }
      let main = library.mainFile(reader).text
      guard main.hasPrefix(folder + "/"), access(main, F_OK) == 0 else { continue }
      let records = records(of: main, reader)
      guard !records.isEmpty else { continue }
      let time = try modificationTime(unit)
      if let known = newest[main], !(known.time < time) { continue }
      newest[main] = (time, library.moduleName(reader).text, records)
    }
    var names: [String: FileNames] = [:]
    for (main, unit) in newest {
      var file = FileNames(module: unit.module)
      for record in unit.records { read(record, into: &file) }
      names[String(main.dropFirst(folder.count + 1))] = file
    }
    return names
  }

  private func units() -> [String] {
    var names: [String] = []
    withUnsafeMutablePointer(to: &names) { names in
      _ = library.applyToUnits(store, 1, names) { context, name in
        context!.assumingMemoryBound(to: [String].self).pointee.append(name.text)
        return true
      }
    }
    return names
  }

  private func modificationTime(_ unit: String) throws -> timespec {
    var status = stat()
    guard stat("\(path)/v5/units/\(unit)", &status) == 0 else { throw Failure("no unit \(unit)") }
    #if canImport(Darwin)
      return status.st_mtimespec
    #else
      return status.st_mtim
    #endif
  }

  /// The records of the file itself among those that a unit depends on.
  private func records(of main: String, _ reader: OpaquePointer) -> [String] {
    final class Found {
      let (library, main): (Library, String)
      var records: [String] = []
      init(_ library: Library, _ main: String) { (self.library, self.main) = (library, main) }
    }
    let found = Found(library, main)
    _ = library.applyToDependencies(reader, Unmanaged.passUnretained(found).toOpaque()) {
      let found = Unmanaged<Found>.fromOpaque($0!).takeUnretainedValue()
      // 2 is a record; 1 a unit, 3 a file.
      if found.library.dependencyKind($1!) == 2,
        found.library.dependencyPath($1!).text == found.main
      {
        found.records.append(found.library.dependencyName($1!).text)
      }
      return true
    }
    return found.records
  }

  private func read(_ record: String, into file: inout FileNames) {
    final class Reading {
      let library: Library
      var file: FileNames
      init(_ library: Library, _ file: FileNames) { (self.library, self.file) = (library, file) }
    }
    guard let reader = library.createRecordReader(store, record, nil) else { return }
    defer { library.disposeRecordReader(reader) }
    let reading = Reading(library, file)
    _ = library.applyToOccurrences(reader, Unmanaged.passUnretained(reading).toOpaque()) {
      let reading = Unmanaged<Reading>.fromOpaque($0!).takeUnretainedValue()
      let (library, roles) = (reading.library, reading.library.roles($1!))
      let symbol = library.symbol($1!)!
      let (unique, name) = (library.unique(symbol).text, library.name(symbol).text)
      // 2 is a definition, 4 a reference, 256 one that the compiler has made up.
      if roles & 2 != 0 {
        reading.file.declared[unique] = name
        // 1 << 11 says that it overrides: here, a requirement of a protocol.
        if roles & 1 << 11 != 0 { reading.file.witnesses.insert(library.line(of: $1!)) }
      } else if roles & 4 != 0, roles & 256 == 0 {
        reading.file.used[unique] = name
      }
      return true
    }
    file = reading.file
  }
}

extension timespec {
  fileprivate static func < (a: timespec, b: timespec) -> Bool {
    (a.tv_sec, a.tv_nsec) < (b.tv_sec, b.tv_nsec)
  }
}

/// A string of the library: a pointer and a length, as `indexstore_string_ref_t` has them. It need not end in a zero.
private typealias IndexedText = iovec

extension IndexedText {
  fileprivate var text: String {
    String(decoding: UnsafeRawBufferPointer(start: iov_base, count: iov_len), as: UTF8.self)
  }
}

/// The functions of libIndexStore that are used here (`indexstore/indexstore.h`).
private final class Library: Sendable {
  typealias Context = UnsafeMutableRawPointer
  typealias Object = OpaquePointer
  typealias Visit = @convention(c) (Context?, Object?) -> Bool
  typealias Visiting = @convention(c) (Object, Context, Visit) -> Bool
  typealias Reading = @convention(c) (Object, UnsafePointer<CChar>, Context?) -> Object?
  typealias Text = @convention(c) (Object) -> IndexedText

  let createStore: @convention(c) (UnsafePointer<CChar>, Context?) -> Object?
  let applyToUnits:
    @convention(c) (
      Object, UInt32, Context, @convention(c) (Context?, IndexedText) -> Bool
    ) -> Bool
  let createUnitReader: Reading
  let disposeUnitReader: @convention(c) (Object) -> Void
  let moduleName: Text
  let mainFile: Text
  let applyToDependencies: Visiting
  let dependencyKind: @convention(c) (Object) -> Int32
  let dependencyName: Text
  let dependencyPath: Text
  let createRecordReader: Reading
  let disposeRecordReader: @convention(c) (Object) -> Void
  let applyToOccurrences: Visiting
  let symbol: @convention(c) (Object) -> Object?
  let roles: @convention(c) (Object) -> UInt64
  let unique: Text
  let name: Text
  private let place:
    @convention(c) (Object, UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<UInt32>) -> Void

  func line(of occurrence: Object) -> Int {
    var (line, column): (UInt32, UInt32) = (0, 0)
    place(occurrence, &line, &column)
    return Int(line)
  }

  /// Loads the library that stands beside the compiler on the path.
  init() throws {
    guard let swift = tool("swift"), let real = realpath(swift, nil) else {
      throw Failure("swift is not on the path")
    }
    defer { free(real) }
    let file = URL(fileURLWithPath: String(cString: real)).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("lib/libIndexStore").path
    guard let handle = dlopen(file + ".so", RTLD_NOW) ?? dlopen(file + ".dylib", RTLD_NOW) else {
      throw Failure("\(file) can't be loaded")
    }
    func function<Function>(_ name: String) throws -> Function {
      guard let address = dlsym(handle, "indexstore_\(name)") else {
        throw Failure("\(file) has no \(name)")
      }
      return unsafeBitCast(address, to: Function.self)
    }
    createStore = try function("store_create")
    applyToUnits = try function("store_units_apply_f")
    createUnitReader = try function("unit_reader_create")
    disposeUnitReader = try function("unit_reader_dispose")
    moduleName = try function("unit_reader_get_module_name")
    mainFile = try function("unit_reader_get_main_file")
    applyToDependencies = try function("unit_reader_dependencies_apply_f")
    dependencyKind = try function("unit_dependency_get_kind")
    dependencyName = try function("unit_dependency_get_name")
    dependencyPath = try function("unit_dependency_get_filepath")
    createRecordReader = try function("record_reader_create")
    disposeRecordReader = try function("record_reader_dispose")
    applyToOccurrences = try function("record_reader_occurrences_apply_f")
    symbol = try function("occurrence_get_symbol")
    roles = try function("occurrence_get_roles")
    unique = try function("symbol_get_usr")
    name = try function("symbol_get_name")
    place = try function("occurrence_get_line_col")
  }
}
