// swift-tools-version: 6.2
import PackageDescription

// A package of its own, since it and what it fuzzes are compiled with coverage: see scripts/fuzz. Without traits: no package is fetched.
let package = Package(
  name: "tactus-fuzz",
  // Named, since the identity of a path is its last folder, which is whatever the checkout is called.
  dependencies: [.package(name: "tactus", path: "../..", traits: [])],
  targets: [
    // With coverage, which SwiftPM gives only what is written in Swift: it has links to C files that are fuzzed.
    .target(name: "CFuzz", cSettings: [.unsafeFlags(["-fsanitize=fuzzer-no-link"])]),
    // Borrowed has links to files of modules that are no product, or need the daemon's packages.
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "CFuzz",
        .product(name: "Tactus", package: "tactus"),
        .product(name: "TactusDevices", package: "tactus"),
        .product(name: "TactusGuard", package: "tactus"),
        .product(name: "TactusLeg", package: "tactus"),
        .product(name: "TactusPlants", package: "tactus"),
        .product(name: "TactusPump", package: "tactus"),
        .product(name: "TactusRobot", package: "tactus"),
        .product(name: "TactusSprinkler", package: "tactus"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
