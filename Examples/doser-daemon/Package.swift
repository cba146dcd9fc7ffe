// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "doser-daemon",
  dependencies: [.package(name: "tactus", path: "../..", traits: ["MQTT"])],
  targets: [
    .executableTarget(
      name: "doser-daemon",
      dependencies: [
        .product(name: "Tactus", package: "tactus"), .product(name: "TactusDaemon", package: "tactus"),
      ],
      plugins: [.plugin(name: "ProvedTicks", package: "tactus")])
  ],
  swiftLanguageModes: [.v6]
)
