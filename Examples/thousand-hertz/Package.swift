// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "thousand-hertz",
  dependencies: [.package(name: "tactus", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "ThousandHertz", dependencies: [.product(name: "Tactus", package: "tactus")],
      plugins: [.plugin(name: "ProvedTicks", package: "tactus")])
  ],
  swiftLanguageModes: [.v6]
)
