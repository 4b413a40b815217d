// The rules of Sources/README.md ("What is never so") that a look at the sources can check.

import Foundation
import Testing

/// A rule about the sources of the program. It takes the texts of files by their paths, and returns what speaks against it.
struct SourceRule: Sendable, CustomTestStringConvertible {
  let name: String
  /// Sources that break the rule once each: the check of the check.
  let planted: [String: String]
  let objections: @Sendable ([String: String]) -> [String]

  var testDescription: String { name }

  static let all = [
    imports, clockEnvironmentRandomness, descriptors, threads, standardOutput, hashes,
  ]

  /// What each module may import besides nothing. Benchmarks measure all of it, and may import anything.
  private static let allowed: [String: Set<String>] = {
    let system: Set = ["Glibc", "Musl", "Darwin"]
    return [
      "Bytes": [],
      "ReplicatingTypes": ["Bytes"],
      "ReplicatingTypesFoundation": ["Foundation", "Observation", "ReplicatingTypes"],
      "ReplicatingTypesTesting": ["ReplicatingTypes"],
      "Notes": ["Bytes", "ReplicatingTypes"],
      "JSONRPC": ["Bytes"],
      "ModelContextProtocol": ["Bytes", "JSONRPC"],
      // Foundation where the standard library composes no characters (`NormalForm.swift`).
      "NoteFiles": ["Bytes", "Foundation", "JSONRPC", "Swift"],
      "NoteStore": system.union(["Bytes", "Notes", "ReplicatingTypes"]),
      "FileTree": system.union(["Bytes"]),
      "NotesServer": [
        "Bytes", "FileTree", "JSONRPC", "NoteFiles", "NoteStore", "Notes", "ReplicatingTypes",
      ],
      "decent-notes": system.union([
        "Bytes", "FileTree", "Foundation", "JSONRPC", "ModelContextProtocol", "NoteStore",
        "NotesServer", "Notes", "ReplicatingTypes",
      ]),
    ]
  }()

  static let imports = SourceRule(
    name: "modules point one way, and only the edges import the system",
    planted: [
      "Sources/Notes/A.swift": "import NoteStore", "Sources/Bytes/A.swift": "import Foundation",
      "Sources/NotesServer/A.swift": "internal import Glibc",
      "Sources/ReplicatingTypes/A.swift": "@preconcurrency public import struct Notes.Note",
      "Sources/JSONRPC/A.swift": "#if canImport(Glibc)\n  import Glibc\n#endif",
    ]
  ) { sources in
    sources.filter { module(of: $0.key) != "Benchmarks" }.flatMap { path, text in
      codeLines(text).compactMap { line -> String? in
        guard hasAny(["import "], line) else { return nil }
        let pattern = /^\s*(?:@\w+ )*(?:\w+ )?import (?:(?:struct|class|enum|func|var|let) )?(\w+)/
        guard let match = line.firstMatch(of: pattern) else { return nil }
        let isAllowed = allowed[module(of: path)]?.contains(String(match.1)) == true
        return isAllowed ? nil : "\(path) imports \(match.1)"
      }
    }
  }

  /// Lines of code that match, outside of files that may have them. Only what has one of `words` is looked at closely: that is slow.
  private static func lines(
    _ sources: [String: String], with words: [String], matching patterns: [String],
    except mayHave: (String) -> Bool
  ) -> [String] {
    let pattern = try! Regex(patterns.joined(separator: "|")).wordBoundaryKind(.simple)
    return sources.filter {
      module(of: $0.key) != "Benchmarks" && !mayHave($0.key) && hasAny(words, $0.value)
    }
    .flatMap { path, text in
      codeLines(text).enumerated()
        .filter { hasAny(words, $0.element) && $0.element.contains(pattern) }
        .map { "\(path):\($0.offset + 1): \($0.element.trimmingCharacters(in: .whitespaces))" }
    }
  }

  static let clockEnvironmentRandomness = SourceRule(
    name: "only main reads the clock, the environment and random bits",
    planted: [
      "Sources/NoteStore/A.swift": "let now = ContinuousClock().now",
      "Sources/NoteStore/B.swift": "var started: ContinuousClock.Instant = .now",
      "Sources/NoteStore/C.swift": "clock_gettime(CLOCK_REALTIME, &time)",
      "Sources/NotesServer/A.swift": "let home = getenv(\"HOME\")",
      "Sources/NotesServer/B.swift": "let bits = UInt64.random(in: .min ... .max)",
      "Sources/NotesServer/C.swift": "var generator = SystemRandomNumberGenerator()",
      "Sources/decent-notes/A.swift": "for entry in environ {}",
      "Sources/decent-notes/B.swift": "let file = open(\"/dev/urandom\", O_RDONLY)",
      "Sources/decent-notes/C.swift": "list.shuffle()",
      "Sources/decent-notes/D.swift": "let time = ProcessInfo.processInfo.environment",
    ]
  ) { sources in
    lines(
      sources,
      with: [
        "Clock", "now", "time", "getenv", "environ", "ProcessInfo", "rand", "Rand", "entropy",
        "Date", "Dispatch", "shuffle", "clock(",
      ],
      matching: [
        #"\b(Continuous|Suspending|UTC)Clock(\(\)|\.now)"#, #"= \.now\b"#, #"\bInstant\.now\b"#,
        #"\b(clock_gettime|gettimeofday|mach_absolute_time|clock)\("#, #"\btime\((nil|&)"#,
        #"\b(Date|DispatchTime)(\(\)|\.now)"#, #"\b(secure_)?getenv\("#, #"\benviron\b"#,
        #"\bProcessInfo\b"#, #"\bSystemRandomNumberGenerator\b"#,
        #"\b(arc4random\w*|getrandom|getentropy|random|rand)\((?!using )"#, #"/dev/u?random"#,
        #"\.random\((in: [^,)]*)?\)"#, #"\.(randomElement|shuffled|shuffle)\(\)"#,
      ]
    ) { exempt.contains($0) }
  }

  /// `SystemFiles` reads the clock by which files are dated; `ChildProcess` hands the environment on; an `Author` of an app has a random identity.
  private static let exempt: Set = [
    "Sources/ReplicatingTypesFoundation/Document.swift",
    "Sources/decent-notes/main.swift", "Sources/decent-notes/ChildProcess.swift",
    "Sources/NoteStore/System/SystemFiles.swift",
  ]

  /// It can't call the system anyway: the rule about imports sees to that.
  static let descriptors = SourceRule(
    name: "the server has no file descriptor but numbers that it is told",
    planted: ["Sources/NotesServer/A.swift": "let file: FileDescriptor"]
  ) { sources in
    lines(
      sources.filter { module(of: $0.key) == "NotesServer" }, with: ["FileDescriptor"],
      matching: [#"\bFileDescriptor\b"#]
    ) { _ in false }
  }

  static let threads = SourceRule(
    name: "threads are started by SyncThread and SystemFiles alone",
    planted: [
      "Sources/decent-notes/A.swift": "Task { run() }",
      "Sources/Notes/A.swift": "pthread_create(&t)",
    ]
  ) { sources in
    lines(
      sources,
      with: ["pthread", "Thread", "Dispatch", "Task", "async"],
      matching: [
        #"\bpthread_create\b"#, #"\bThread[.({ ]"#, #"\bDispatchQueue\b"#,
        #"\bTask(\.detached)? ?[{(]"#, #"\basync\b"#,
      ]
    ) { $0.hasSuffix("/SyncThread.swift") || $0.hasSuffix("/SystemFiles.swift") }
  }

  static let standardOutput = SourceRule(
    name: "modules below the executable print nothing",
    planted: [
      "Sources/NotesServer/A.swift": "print(\"here\")", "Sources/Notes/A.swift": "  dump(note)",
    ]
  ) { sources in
    lines(
      sources, with: ["print(", "Print(", "dump(", "puts("],
      matching: [#"(?:^|[^.\w])(print|debugPrint|dump|fputs|puts)\("#]
    ) {
      module(of: $0) == "decent-notes"
    }
  }

  static let hashes = SourceRule(
    name: "hashes, checksums and Base64 are in Bytes",
    planted: [
      "Sources/Notes/A.swift": "public struct SHA256 {", "Sources/JSONRPC/A.swift": "enum Base64 {",
      "Sources/NoteStore/A.swift": "func crc32c(_ bytes: [UInt8]) -> UInt32 {",
      "Sources/ReplicatingTypes/A.swift": "let polynomial: UInt32 = 0x82f6_3b78",
    ]
  ) { sources in
    lines(
      sources,
      with: ["SHA", "sha", "CRC", "crc", "ase64", "MD5", "FNV", "XXH", "0x", "ABCDEF"],
      matching: [
        #"(?i)\b(struct|enum|class|func|extension) \w*(SHA\d|CRC\d|Base64|MD5|FNV|XXH)\w*"#,
        #"(?i)0x(82f6_?3b78|1edc_?6f41|edb8_?8320|6a09_?e667|428a_?2f98|cbf2_?9ce4)"#,
        #"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"#,
      ]
    ) { module(of: $0) == "Bytes" }
  }
}
