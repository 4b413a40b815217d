// swift-tools-version: 6.3
import PackageDescription

/// Settings of every target: warnings are errors, and an import is internal unless it says otherwise.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Settings of the modules in which tests spend most of their time: optimized in debug builds, too, with all checks and assertions. Generic
/// code that is not takes ten times as long. To step through them in a debugger set `DECENT_NOTES_UNOPTIMIZED=1`.
///
/// A package that depends on this one may not get such flags, and builds without them.
let optimized =
  Context.packageDirectory.contains("/checkouts/")
    || Context.environment["DECENT_NOTES_UNOPTIMIZED"] != nil
  ? strict
  : strict + [
    .unsafeFlags(
      [
        "-O", "-whole-module-optimization", "-disable-batch-mode", "-num-threads", "2",
        "-assert-config", "Debug",
      ], .when(configuration: .debug))
  ]

let package = Package(
  name: "DecentNotes",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "ReplicatingTypes", targets: ["ReplicatingTypes"]),
    .library(name: "ReplicatingTypesFoundation", targets: ["ReplicatingTypesFoundation"]),
    .library(name: "ReplicatingTypesTesting", targets: ["ReplicatingTypesTesting"]),
    .executable(name: "decent-notes", targets: ["decent-notes"]),
  ],
  targets: [
    // Hashes, checksums, Base64, and bytes looked at eight at a time.
    .target(name: "Bytes", swiftSettings: optimized),
    // Pure: no clock, no randomness, no files, no JSON.
    .target(
      name: "ReplicatingTypes", dependencies: ["Bytes"],
      exclude: ["FromTheArticles.md", "README.md", "YourOwnType.md"],
      swiftSettings: optimized),
    .target(name: "Notes", dependencies: ["Bytes", "ReplicatingTypes"], swiftSettings: optimized),

    // For apps: values of Foundation and of JSON in replicating types, and a document for views.
    .target(
      name: "ReplicatingTypesFoundation", dependencies: ["ReplicatingTypes"], swiftSettings: strict),
    // For tests of one's own replicating types.
    .target(
      name: "ReplicatingTypesTesting", dependencies: ["ReplicatingTypes"], swiftSettings: strict),

    // The two edges: bytes on disk, bytes on the wire.
    .target(
      name: "NoteStore", dependencies: ["Bytes", "Notes", "ReplicatingTypes"],
      swiftSettings: strict),
    .target(name: "JSONRPC", dependencies: ["Bytes"], swiftSettings: optimized),

    // The files of a user that notes come from and go to.
    .target(name: "FileTree", dependencies: ["Bytes"], swiftSettings: strict),

    // What a note looks like as a file. Pure.
    .target(
      name: "NoteFiles", dependencies: ["Bytes", "JSONRPC"], swiftSettings: optimized),

    // Another protocol, by which agents use a notebook. Pure.
    .target(
      name: "ModelContextProtocol", dependencies: ["Bytes", "JSONRPC"], swiftSettings: strict),

    // The protocol, and the process around it.
    .target(
      name: "NotesServer",
      dependencies: [
        "Bytes", "FileTree", "JSONRPC", "NoteFiles", "NoteStore", "Notes", "ReplicatingTypes",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "decent-notes",
      dependencies: [
        "Bytes", "FileTree", "JSONRPC", "ModelContextProtocol", "NoteStore", "NotesServer", "Notes",
        "ReplicatingTypes",
      ],
      swiftSettings: strict),

    .executableTarget(
      name: "Benchmarks", dependencies: ["Bytes", "JSONRPC", "Notes", "ReplicatingTypes"],
      exclude: ["README.md"], swiftSettings: strict),

    // What several test targets use. No product has it.
    .target(
      name: "TestSupport", dependencies: ["JSONRPC", "ReplicatingTypes"], path: "Tests/TestSupport",
      swiftSettings: strict),

    .testTarget(
      name: "ReplicatingTypesTests",
      dependencies: [
        "Bytes", "ReplicatingTypes", "ReplicatingTypesFoundation", "ReplicatingTypesTesting",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "NotesTests", dependencies: ["Bytes", "Notes", "ReplicatingTypes", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "NoteStoreTests",
      dependencies: ["Bytes", "NoteStore", "Notes", "ReplicatingTypes", "TestSupport"],
      exclude: ["Golden"], swiftSettings: strict),
    .testTarget(
      name: "BytesTests", dependencies: ["Bytes", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "JSONRPCTests", dependencies: ["JSONRPC", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "ModelContextProtocolTests",
      dependencies: ["JSONRPC", "ModelContextProtocol", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "FileTreeTests", dependencies: ["FileTree", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "NoteFilesTests", dependencies: ["NoteFiles", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "NotesServerTests",
      dependencies: [
        "Bytes", "FileTree", "JSONRPC", "NoteFiles", "NoteStore", "Notes", "NotesServer",
        "ReplicatingTypes",
        "TestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "EndToEndTests", dependencies: ["decent-notes", "JSONRPC", "TestSupport"],
      exclude: ["Agents/official_client.py"],
      swiftSettings: strict),
    .testTarget(
      name: "EditorTests", dependencies: ["decent-notes", "JSONRPC", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "ProjectTests", dependencies: ["decent-notes", "TestSupport"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// A target of libFuzzer, which brings a main function of its own: only where it is asked for (Tests/README.md).
if Context.environment["DECENT_NOTES_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzzing",
      dependencies: [
        "Bytes", "JSONRPC", "NoteFiles", "NoteStore", "Notes", "NotesServer", "ReplicatingTypes",
      ],
      path: "Tests/Fuzzing", swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
}
