// swift-tools-version: 6.3
import PackageDescription

// A package of somebody else, who depends on the library product: no flags, no `@testable`.
let package = Package(
  name: "Sample",
  dependencies: [.package(name: "DecentNotes", path: "../..")],
  targets: [
    .executableTarget(
      name: "todo",
      dependencies: [.product(name: "ReplicatingTypes", package: "DecentNotes")])
  ]
)
