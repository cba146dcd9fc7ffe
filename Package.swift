// swift-tools-version: 6.2
import PackageDescription

/// RealtimeSanitizer's runtime, for `scripts/test --sanitize`: linked into the tests when the environment names it.
let sanitizer = Context.environment["TACTUS_RTSAN_LIBRARY"].map { library in
  [LinkerSetting.unsafeFlags(["-Xlinker", "--whole-archive", library, "-Xlinker", "--no-whole-archive"])]
}

// One floor may import only the floors below it. The build rejects an import that is not declared here: see
// Plugins/DeclaredImports.
let package = Package(
  name: "tactus",
  products: [
    .library(name: "Tactus", targets: ["Tactus"]),
    .library(name: "TactusRobot", targets: ["Robot", "Devices", "Buses", "BusesLinux", "Wire"]),
    .executable(name: "tactus", targets: ["TactusProgram"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // The runtime: no Foundation, no dependency; the C shim is the kernel's and libc's calls, annotated.
    .target(name: "CTactus", linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
    .target(name: "Tactus", dependencies: ["CTactus"]),

    // Bytes ⇄ values, what drivers talk to, drivers with their simulators.
    .target(name: "Wire", dependencies: ["Tactus", "CTactus"], exclude: ["README.md"]),
    .target(name: "Buses", dependencies: ["Tactus"]),
    .target(
      name: "Devices", dependencies: ["Buses", "Wire", "Tactus", "CTactus"],
      exclude: [
        "README.md", "DifferentialDrive/README.md", "RaspbotV2/README.md", "XGORider/README.md", "YBPcbCar/README.md",
      ]),

    // Systems.
    .target(name: "Robot", dependencies: ["Devices", "Buses", "Wire", "Tactus"], exclude: ["README.md"]),

    // Leaves.
    .target(
      name: "CBusesLinux", dependencies: ["CTactus"],
      linkerSettings: [.linkedLibrary("i2c", .when(platforms: [.linux]))]),
    .target(name: "BusesLinux", dependencies: ["CBusesLinux", "Buses", "Tactus"]),

    // The program; its C shim is what the kernel offers a service: signalfd, eventfd, notify socket, spawning.
    .target(name: "CDaemon"),
    // Not named like its product: "tactus" and "Tactus" are one folder on many file systems.
    .executableTarget(
      name: "TactusProgram",
      dependencies: [
        "CDaemon", "CTactus", "BusesLinux", "Robot", "Devices", "Buses", "Wire", "Tactus",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Yams", package: "Yams"),
      ],
      plugins: ["DeclaredImports"]),
    .plugin(name: "DeclaredImports", capability: .buildTool()),

    .testTarget(name: "TactusTests", dependencies: ["Tactus", "CTactus"]),
    .testTarget(name: "WireTests", dependencies: ["Wire", "Tactus"], exclude: ["reference"]),
    .testTarget(name: "DevicesTests", dependencies: ["Devices", "Buses", "Wire", "Tactus"]),
    .testTarget(name: "BusesLinuxTests", dependencies: ["BusesLinux", "Buses", "Tactus"]),
    // Runs inside scripts/rig, against real kernel drivers.
    .executableTarget(
      name: "rig-probe", dependencies: ["BusesLinux", "Buses", "Tactus"], path: "Tests/Rig/Probe"),
    .testTarget(name: "RobotTests", dependencies: ["Robot", "Devices", "Buses", "Wire", "Tactus"]),
    .testTarget(
      name: "DaemonTests",
      dependencies: [
        "TactusProgram", "CDaemon", "BusesLinux", "Robot", "Devices", "Buses", "Wire", "Tactus",
        .product(name: "Logging", package: "swift-log"),
      ]),
    .testTarget(
      name: "SanitizerTests",
      dependencies: [
        "TactusProgram", "CDaemon", "CTactus", "BusesLinux", "Robot", "Devices", "Buses", "Wire", "Tactus",
      ],
      exclude: ["rtsan.supp"], linkerSettings: sanitizer ?? []),
  ],
  swiftLanguageModes: [.v6]
)
