// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that building Tactus never builds its benchmarks. Run by scripts/bench.
let package = Package(
  name: "tactus-bench",
  // Named, since the identity of a path is its last folder, which is whatever the checkout is called.
  dependencies: [.package(name: "tactus", path: "..", traits: [])],
  targets: [
    .target(name: "CBench"),
    .executableTarget(
      name: "tactus-bench",
      dependencies: [
        "CBench",
        .product(name: "Tactus", package: "tactus"),
        .product(name: "TactusGuard", package: "tactus"),
        .product(name: "TactusLeg", package: "tactus"),
        .product(name: "TactusRobot", package: "tactus"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
