// swift-tools-version: 6.3
import PackageDescription

// A package of somebody else, who depends on the library products: no flags, no `@testable`.
let package = Package(
  name: "Sample",
  platforms: [.macOS(.v26)],
  dependencies: [.package(name: "DecentNotes", path: "../..")],
  targets: [
    // The app of the articles.
    .executableTarget(
      name: "notes",
      dependencies: [
        .product(name: "ReplicatingTypes", package: "DecentNotes"),
        .product(name: "ReplicatingTypesFoundation", package: "DecentNotes"),
      ]),
    // A replicating type that is not made of others, and its tests.
    .target(
      name: "Counter",
      dependencies: [.product(name: "ReplicatingTypes", package: "DecentNotes")]),
    .testTarget(
      name: "CounterTests",
      dependencies: [
        "Counter", .product(name: "ReplicatingTypesTesting", package: "DecentNotes"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
