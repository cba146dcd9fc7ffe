// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "kettle-daemon",
  dependencies: [.package(name: "tactus", path: "../..", traits: ["MQTT"])],
  targets: [
    .executableTarget(
      name: "kettle-daemon",
      dependencies: [
        .product(name: "Tactus", package: "tactus"), .product(name: "TactusDaemon", package: "tactus"),
      ],
      resources: [.embedInCode("Card/card.html"), .embedInCode("Card/card.js"), .embedInCode("Card/card.css")],
      plugins: [.plugin(name: "ProvedTicks", package: "tactus")])
  ],
  swiftLanguageModes: [.v6]
)
