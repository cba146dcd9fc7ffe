// swift-tools-version: 6.2
import PackageDescription

// A package of its own, since everything in it is compiled with ThreadSanitizer: see scripts/sanitizers. Without traits: no package is fetched.
let package = Package(
  name: "tactus-threads",
  // Named, since the identity of a path is its last folder, which is whatever the checkout is called.
  dependencies: [.package(name: "tactus", path: "../..", traits: [])],
  targets: [
    .target(name: "TestSupport", path: "Support"),
    .testTarget(name: "TactusTests", dependencies: ["TestSupport", .product(name: "Tactus", package: "tactus")]),
    .testTarget(
      name: "TactusGuardTests",
      dependencies: [
        "TestSupport", .product(name: "TactusGuard", package: "tactus"),
        .product(name: "TactusPorts", package: "tactus"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
