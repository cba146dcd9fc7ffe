// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "client-terminal",
  // Without traits: none of the daemon's packages is fetched.
  dependencies: [.package(name: "tactus", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "client-terminal", dependencies: [.product(name: "TactusClient", package: "tactus")])
  ],
  swiftLanguageModes: [.v6]
)
