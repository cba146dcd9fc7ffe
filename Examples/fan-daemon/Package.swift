// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "fan-daemon",
  dependencies: [.package(name: "tactus", path: "../..", traits: ["MQTT"])],
  targets: [
    .target(
      name: "Fan",
      dependencies: [
        .product(name: "Tactus", package: "tactus"), .product(name: "TactusDaemon", package: "tactus"),
      ],
      plugins: [.plugin(name: "ProvedTicks", package: "tactus")]),
    .executableTarget(
      name: "fan-daemon", dependencies: ["Fan", .product(name: "TactusDaemon", package: "tactus")]),
    // For its developers: random histories in simulated time. The daemon has nothing of it.
    .executableTarget(
      name: "fan-swarm", dependencies: ["Fan", .product(name: "TactusSwarm", package: "tactus")]),
  ],
  swiftLanguageModes: [.v6]
)
