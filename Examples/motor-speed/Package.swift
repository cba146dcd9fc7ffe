// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "motor-speed",
  dependencies: [.package(name: "tactus", path: "../..", traits: [])],
  targets: [
    .target(
      name: "MotorSpeed",
      dependencies: [
        .product(name: "Tactus", package: "tactus"), .product(name: "TactusPorts", package: "tactus"),
      ],
      plugins: [.plugin(name: "ProvedTicks", package: "tactus")]),
    .executableTarget(
      name: "motor-speed", dependencies: ["MotorSpeed", .product(name: "TactusGuard", package: "tactus")]),
    .testTarget(name: "MotorSpeedTests", dependencies: ["MotorSpeed"]),
  ],
  swiftLanguageModes: [.v6]
)
