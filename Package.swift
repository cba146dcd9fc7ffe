// swift-tools-version: 6.2
import PackageDescription

// One floor may import only the floors below it. The build rejects an import that is not declared here: see
// Plugins/DeclaredImports.

/// On every product of another package: who depends on this one with `traits: []` fetches no other, and gets the runtime.
let daemon = TargetDependencyCondition.when(traits: ["Daemon"])

/// Plugins that our own targets use are for who builds this package: SwiftPM would build and run them for whoever depends on
/// it, used or not. `ProvedTicks` is a product: built for all of them, and run for those who switch it on.
func plugins(_ names: [Target.PluginUsage]) -> [Target.PluginUsage] {
  Context.packageDirectory.contains("/checkouts/") ? [] : names
}

/// Tests of a debug build do without one safety mechanism after the other (Sources/Tactus/Safety/Mechanism.swift). Who depends on this package has none
/// of it, in no build.
let hasSwitches = !Context.packageDirectory.contains("/checkouts/")
let swiftSwitches: [SwiftSetting] =
  hasSwitches ? [.define("MECHANISM_SWITCHES", .when(configuration: .debug))] : []
let cSwitches: [CSetting] = hasSwitches ? [.define("MECHANISM_SWITCHES", .when(configuration: .debug))] : []

/// Whose folders are in Sources/Systems.
let systems: [String] = ["Robot", "Leg", "Sprinkler", "Plants", "Pump", "Video"]
let listOfSystems: [Target.Dependency] = systems.map { (name: String) in .target(name: name + "Daemon") }

/// What the daemon has of a system: configuration, door, store, commands, scenarios. Without access to what is `package`: of the floors below
/// it has what a system of another package has. Piece by piece: Swift 6.2 gives up on one expression.
func daemon(of system: String, leaves: [Target.Dependency] = [], products: [Target.Dependency] = []) -> Target {
  var dependencies: [Target.Dependency] = [
    .target(name: system), .target(name: system + "Documents"), "TactusDaemon", "Service", "ServiceDocuments",
    "AvahiSystemd", "TactusGuard", "BusesLinux", "Devices", "Buses", "Wire", "TactusControl", "Tactus",
  ]
  dependencies.append(.product(name: "ArgumentParser", package: "swift-argument-parser", condition: daemon))
  dependencies.append(.product(name: "Logging", package: "swift-log", condition: daemon))
  dependencies.append(.product(name: "Yams", package: "Yams", condition: daemon))
  dependencies += leaves
  dependencies += products
  let settings: [SwiftSetting] = [
    .define("Bluetooth", .when(traits: ["Bluetooth"])), .define("Video", .when(traits: ["Video"])),
  ]
  return .target(
    name: system + "Daemon", dependencies: dependencies, path: "Sources/Systems/" + system + "/Daemon",
    packageAccess: false, swiftSettings: settings)
}

/// Its part in the swarm: random clients and faults, and what must hold of its outputs. It has of `TactusSwarm` what a part of another package has.
func swarm(of system: String, leaves: [Target.Dependency] = []) -> Target {
  let dependencies: [Target.Dependency] = [
    .target(name: system), .target(name: system + "Daemon"), "TactusSwarm", "TactusDaemon", "Devices", "Buses", "Wire",
    "Tactus",
  ]
  return .target(
    name: system + "Swarm", dependencies: dependencies + leaves, path: "Sources/Systems/" + system + "/Swarm",
    packageAccess: false)
}

/// Its tests, in the folders `Control`, `Wire`, `Door`, before the service, `Daemon`, with configurations, commands, its store, scenarios and
/// processes, and `Swarm`, with random histories.
func tests(
  of system: String, on leaves: [Target.Dependency] = [], products: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
  var dependencies: [Target.Dependency] = [
    "TactusProgram", .target(name: system + "Daemon"), .target(name: system + "Swarm"), "TestSupport", "ServiceSupport",
    "DaemonSupport", "TactusSwarm", "TactusDaemon", "Service", .target(name: system), "Tactus",
  ]
  dependencies += leaves
  dependencies += products
  let settings: [SwiftSetting] = [
    .define("Bluetooth", .when(traits: ["Bluetooth"])), .define("MQTT", .when(traits: ["MQTT"])),
    .define("Video", .when(traits: ["Video"])),
  ]
  return .testTarget(name: system + "Tests", dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

/// What the door needs. A constant of its own: the compiler has a limit for the length of one expression.
let serviceDependencies: [Target.Dependency] = [
  "ServiceDocuments",
  "CCrypto", "CCompression", "Store", "Devices", "Buses", "Wire", "WallTime", "Peers", "Tactus",
  .product(name: "HTTPTypes", package: "swift-http-types", condition: daemon),
  .product(name: "Logging", package: "swift-log", condition: daemon),
  .product(name: "NIOCore", package: "swift-nio", condition: daemon),
  .product(name: "NIOHTTP1", package: "swift-nio", condition: daemon),
  .product(name: "NIOPosix", package: "swift-nio", condition: daemon),
  .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TLS"])),
  .product(name: "NIOWebSocket", package: "swift-nio", condition: daemon),
]

/// Its card on the page and its part of the API's description, built into the program.
func documents(of system: String, scripts: [String] = ["german.js"]) -> Target {
  .target(
    name: system + "Documents", dependencies: ["CServiceDocuments"], path: "Sources/Systems/" + system + "/Documents",
    exclude: ["card.html", "card.js", "card.css", "openapi.json"] + scripts)
}

/// Its formats, machines, loops and simulation, without a daemon and without access to what is `package`: folders `Wire` and `Control`.
func control(of system: String, on floors: [Target.Dependency], exclude: [String] = []) -> Target {
  let folder = "Sources/Systems/" + system
  let formats = ["Sprinkler"].contains(system) ? [] : ["Wire"]
  return .target(
    name: system, dependencies: floors, path: folder,
    exclude: ["README.md", "Daemon", "Documents", "Swarm"] + exclude, sources: ["Control"] + formats,
    packageAccess: false)
}

let package = Package(
  name: "tactus",
  // What the client needs of Apple's systems: Observation.
  platforms: [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)],
  products: [
    .library(name: "Tactus", targets: ["Tactus", "TactusControl"]),
    .plugin(name: "ProvedTicks", targets: ["ProvedTicks"]),
    .library(name: "TactusPorts", targets: ["Buses", "BusesLinux"]),
    .library(name: "TactusGuard", targets: ["TactusGuard"]),
    .library(name: "TactusDevices", targets: ["Devices", "Buses", "BusesLinux", "Wire", "Conversions"]),
    .library(name: "TactusRobot", targets: ["Robot", "Devices", "Buses", "BusesLinux", "Wire"]),
    .library(name: "TactusLeg", targets: ["Leg", "Devices", "Buses", "BusesLinux", "Wire"]),
    .library(name: "TactusSprinkler", targets: ["Sprinkler", "WallTime", "Buses", "BusesLinux", "Wire"]),
    .library(name: "TactusPump", targets: ["Pump", "Devices", "Buses", "BusesLinux", "Wire"]),
    .library(name: "TactusPlants", targets: ["Plants", "Devices", "Buses", "BusesLinux", "Wire"]),
    .library(
      name: "TactusDaemon",
      targets: [
        "TactusDaemon", "Service", "ServiceDocuments", "CServiceDocuments", "Store", "WallTime",
        "AvahiSystemd", "BluetoothBlueZ", "MQTTMosquitto", "TactusGuard", "Confinement", "CDaemon", "BusesLinux",
        "Devices", "Buses", "Wire",
      ]),
    .library(name: "TactusSwarm", targets: ["TactusSwarm"]),
    .library(name: "TactusClient", targets: ["TactusClient"]),
    .executable(name: "tactus", targets: ["TactusProgram"]),
    .executable(name: "tactus-swarm", targets: ["TactusSwarmProgram"]),
    .executable(name: "tactus-video", targets: ["VideoProgram"]),
    .executable(name: "tactus-cameras", targets: ["CamerasLibcamera"]),
    .executable(name: "tactus-detect", targets: ["DetectorOpenCV"]),
  ],
  traits: [
    .default(enabledTraits: ["Bonjour", "Bluetooth", "MQTT", "Video", "Detection"]),
    .trait(name: "Daemon", description: "tactus, and the packages it is made of. Every other trait brings it."),
    .trait(
      name: "Bluetooth", description: "Bluetooth LE links, by BlueZ over libsystemd's D-Bus.", enabledTraits: ["Daemon"]
    ),
    .trait(
      name: "Bonjour",
      description: "Announces the service on the local network through Avahi, over libsystemd's D-Bus.",
      enabledTraits: ["Daemon"]),
    .trait(
      name: "MQTT", description: "Plants and state on an MQTT broker, by libmosquitto.", enabledTraits: ["Daemon"]),
    .trait(
      name: "Video", description: "Cameras: RTSP and the console's picture, by GStreamer in a process of its own.",
      enabledTraits: ["Daemon"]),
    .trait(
      name: "Detection", description: "What is in the picture: a detector, by OpenCV in a process of its own.",
      enabledTraits: ["Daemon"]),
    .trait(
      name: "TLS", description: "HTTPS, by swift-nio-ssl, which doubles the build time. On in packages.",
      enabledTraits: ["Daemon"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  ],
  targets: [
    // The runtime: no Foundation, no dependency; the C shim is the kernel's and libc's calls, annotated.
    .target(
      name: "CTactus", cSettings: cSwitches, linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
    .target(name: "Tactus", dependencies: ["CTactus"], exclude: ["README.md"], swiftSettings: swiftSwitches),
    // Control mathematics for ticks.
    .target(name: "TactusControl", dependencies: ["Tactus", "CTactus"], exclude: ["README.md"]),

    // Refuses a tick that is not proved, for whoever switches it on.
    .plugin(name: "ProvedTicks", capability: .buildTool(), dependencies: ["ProvedTicksTool"]),
    .executableTarget(name: "ProvedTicksTool"),

    // Where numbers come from outside: hides conversions that trap.
    .target(name: "Conversions"),

    // Bytes ⇄ values, what drivers talk to, drivers with their simulators.
    .target(name: "Wire", dependencies: ["CTactus"], exclude: ["README.md"]),
    .target(name: "Buses", dependencies: ["Tactus"], exclude: ["README.md"]),
    .target(
      name: "Devices", dependencies: ["Buses", "Wire", "TactusControl", "Tactus"],
      exclude: [
        "README.md", "ADS1115/README.md", "DifferentialDrive/README.md", "LineExpanders/README.md",
        "MAX31865/README.md", "MCP3008/README.md", "PCA9685/README.md",
        "RaspbotV2/README.md", "Seesaw/README.md", "Tachometer/README.md", "Thermistor/README.md", "XGORider/README.md",
        "YBPcbCar/README.md",
      ]),

    // Instants and dates of the wall clock, as plain values. Nothing here reads a clock.
    .target(name: "WallTime"),

    // Who is at the other end, as far as limits are concerned: networks, and how often each may be wrong. And this end's addresses.
    .target(name: "Peers", dependencies: ["Tactus"]),

    // What survives the process: SQLite.
    .target(
      name: "Store",
      dependencies: [
        "WallTime", .product(name: "GRDB", package: "GRDB.swift", condition: daemon),
        .product(name: "GRDBSQLite", package: "GRDB.swift", condition: daemon),
      ],
      exclude: ["README.md"]),

    // Leaves.
    .target(
      name: "CBusesLinux", dependencies: ["CTactus"],
      linkerSettings: [.linkedLibrary("i2c", .when(platforms: [.linux]))]),
    .target(name: "BusesLinux", dependencies: ["CBusesLinux", "Buses", "Tactus"]),

    // Safe outputs that outlive the process. Its C shim starts the guard: sockets, spawning, and what a process does that is one.
    .target(name: "CTactusGuard", dependencies: ["CTactus"]),
    .target(
      name: "TactusGuard", dependencies: ["CTactusGuard", "BusesLinux", "Buses", "Tactus", "CTactus"],
      exclude: ["README.md"]),

    // libsystemd's D-Bus, which a module map is all that Swift needs for, and the leaves that speak it.
    .target(
      name: "CSystemBus", cSettings: [.define("SYSTEM_BUS", .when(traits: ["Bonjour", "Bluetooth"]))],
      linkerSettings: [.linkedLibrary("systemd", .when(traits: ["Bonjour", "Bluetooth"]))]),
    .target(
      name: "SystemBus", dependencies: ["CSystemBus"],
      swiftSettings: [
        .define("Bonjour", .when(traits: ["Bonjour"])), .define("Bluetooth", .when(traits: ["Bluetooth"])),
      ]),
    .target(
      name: "AvahiSystemd", dependencies: ["SystemBus", "Tactus"],
      swiftSettings: [.define("Bonjour", .when(traits: ["Bonjour"]))]),
    .target(
      name: "BluetoothBlueZ", dependencies: ["SystemBus", "Buses", "Tactus"], exclude: ["README.md"],
      swiftSettings: [.define("Bluetooth", .when(traits: ["Bluetooth"]))]),

    // libmosquitto, and Debian's broker as a child.
    .target(
      name: "CMosquitto", dependencies: ["CProcess"], cSettings: [.define("MQTT", .when(traits: ["MQTT"]))],
      linkerSettings: [.linkedLibrary("mosquitto", .when(traits: ["MQTT"]))]),
    .target(
      name: "MQTTMosquitto", dependencies: ["CMosquitto", "Tactus"], exclude: ["README.md"],
      swiftSettings: [.define("MQTT", .when(traits: ["MQTT"]))]),

    // The door: HTTP, WebSocket, metrics. Reads snapshots and sends requests; knows no bus.
    .target(
      name: "Service", dependencies: serviceDependencies, exclude: ["README.md"],
      swiftSettings: [.define("TLS", .when(traits: ["TLS"]))]),
    // The page, the API's description and the dashboard without the systems' parts, built into the program.
    .target(name: "CServiceDocuments"),
    .target(
      name: "ServiceDocuments", dependencies: ["CServiceDocuments"],
      exclude: ["openapi.json", "grafana-dashboard.json", "Console"]),
    // libcrypto: hashes, message authentication, random bytes, certificates.
    .target(name: "CCrypto", linkerSettings: [.linkedLibrary("crypto")]),
    // zlib, for the page's files and long answers.
    .target(name: "CCompression", linkerSettings: [.linkedLibrary("z")]),

    // What a program does to its own process: standard streams, confinement. For programs only: it runs before everything else.
    .target(name: "CProcess", cSettings: cSwitches),
    .target(name: "Confinement", dependencies: ["CProcess"]),

    // A daemon's library; its C shim is what the kernel offers a service: signalfd, eventfd, notify socket, spawning.
    .target(name: "CDaemon", dependencies: ["CProcess"]),
    .target(
      name: "TactusDaemon",
      dependencies: [
        "Service", "ServiceDocuments", "AvahiSystemd", "BluetoothBlueZ", "MQTTMosquitto", "CDaemon", "CProcess",
        "Confinement", "CTactus", "TactusGuard", "BusesLinux", "Store", "Devices", "Buses", "Wire", "WallTime",
        "Peers", "Tactus",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: daemon),
        .product(name: "Logging", package: "swift-log", condition: daemon),
        .product(name: "Yams", package: "Yams", condition: daemon),
      ], exclude: ["README.md", "Declared/README.md"],
      swiftSettings: [
        .define("Bonjour", .when(traits: ["Bonjour"])), .define("Bluetooth", .when(traits: ["Bluetooth"])),
        .define("MQTT", .when(traits: ["MQTT"])),
      ]),

    // Systems, a folder each. Its control knows no daemon: machines, loops, simulation. The rest of it is the daemon's.
    control(of: "Robot", on: ["Devices", "Buses", "Wire", "TactusControl", "Tactus"], exclude: ["Wire/README.md"]),
    documents(of: "Robot", scripts: ["fittings.js", "german.js", "sight.js"]),
    daemon(of: "Robot"),
    control(of: "Leg", on: ["Devices", "Buses", "Wire", "Tactus"], exclude: ["Wire/README.md"]),
    documents(of: "Leg"),
    daemon(of: "Leg", leaves: ["BluetoothBlueZ"]),
    control(of: "Sprinkler", on: ["Buses", "Wire", "Tactus", "WallTime"], exclude: ["Control/Schedule/README.md"]),
    documents(of: "Sprinkler", scripts: ["german.js", "schedules.js", "water.js"]),
    daemon(
      of: "Sprinkler", leaves: ["Water", "MQTTMosquitto", "Store", "WallTime"],
      products: [
        .product(name: "GRDB", package: "GRDB.swift", condition: daemon),
        .product(name: "NIOCore", package: "swift-nio", condition: daemon),
      ]),
    control(of: "Pump", on: ["Devices", "Buses", "Wire", "TactusControl", "Tactus"]),
    documents(of: "Pump"),
    daemon(
      of: "Pump", leaves: ["BluetoothBlueZ", "Store", "WallTime"],
      products: [.product(name: "GRDB", package: "GRDB.swift", condition: daemon)]),
    control(of: "Plants", on: ["Devices", "Buses", "Wire", "Tactus"]),
    documents(of: "Plants", scripts: ["german.js", "history.js"]),
    daemon(
      of: "Plants", leaves: ["BluetoothBlueZ", "Pictures", "Water", "MQTTMosquitto", "Store", "WallTime"],
      products: [.product(name: "GRDB", package: "GRDB.swift", condition: daemon)]),
    // Video's rules and what its processes say to each other, without a camera.
    control(
      of: "Video", on: ["Tactus"], exclude: ["CGStreamer", "Cameras", "Detector", "Process", "Program"]),
    documents(of: "Video"),
    daemon(
      of: "Video", leaves: ["Confinement", "Pictures"],
      products: [.product(name: "HTTPTypes", package: "swift-http-types", condition: daemon)]),
    // GStreamer and its RTSP server: their headers' folders are pkg-config's to know.
    .systemLibrary(
      name: "CGStreamer", path: "Sources/Systems/Video/CGStreamer", pkgConfig: "gstreamer-rtsp-server-1.0",
      providers: [
        .apt([
          "libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev", "libgstreamer-plugins-bad1.0-dev",
          "libgstrtspserver-1.0-dev",
        ])
      ]),
    .target(
      name: "VideoGStreamer",
      dependencies: [
        .target(name: "CGStreamer", condition: .when(traits: ["Video"])), "CDaemon", "CProcess", "Confinement", "Peers",
        "Video", "Tactus",
      ],
      path: "Sources/Systems/Video/Process", exclude: ["README.md"],
      swiftSettings: [.define("Video", .when(traits: ["Video"]))],
      linkerSettings: ["gstapp-1.0", "gstrtsp-1.0", "gstsdp-1.0", "gstwebrtc-1.0", "gio-2.0"].map {
        .linkedLibrary($0, .when(traits: ["Video"]))
      }),
    // The video process, a program of its own: no codec shares a process with a control loop.
    .executableTarget(
      name: "VideoProgram", dependencies: ["VideoGStreamer", "CDaemon"], path: "Sources/Systems/Video/Program",
      swiftSettings: [.define("Video", .when(traits: ["Video"]))]),
    // Lists libcamera's cameras, by a program of its own. Its headers' folder, like OpenCV's, is that of the system that is built for.
    .executableTarget(
      name: "CamerasLibcamera", dependencies: ["CProcess"], path: "Sources/Systems/Video/Cameras",
      cxxSettings: [
        .define("VIDEO", to: "1", .when(traits: ["Video"])),
        .unsafeFlags(["-iwithsysroot/usr/include/libcamera"], .when(traits: ["Video"])),
      ],
      linkerSettings: [
        .linkedLibrary("camera", .when(traits: ["Video"])),
        .linkedLibrary("camera-base", .when(traits: ["Video"])),
      ]),

    // A detector, a program of its own, too: OpenCV's headers have one folder on every machine and no pkg-config file of their own.
    .executableTarget(
      name: "DetectorOpenCV", dependencies: ["CProcess"], path: "Sources/Systems/Video/Detector",
      cxxSettings: [
        .define("DETECTION", to: "1", .when(traits: ["Detection"])),
        .unsafeFlags(["-iwithsysroot/usr/include/opencv4"], .when(traits: ["Detection"])),
      ],
      linkerSettings: [
        .linkedLibrary("opencv_dnn", .when(traits: ["Detection"])),
        .linkedLibrary("opencv_core", .when(traits: ["Detection"])),
      ]),
    // What plants ask a camera and a sprinkler for: none knows the others.
    .target(name: "Pictures", path: "Sources/Systems/Pictures", packageAccess: false),
    .target(name: "Water", path: "Sources/Systems/Water", packageAccess: false),

    // The program: the list of systems. Not named like its product: "tactus" and "Tactus" are one folder on many file systems.
    .executableTarget(
      name: "TactusProgram", dependencies: listOfSystems + ["TactusDaemon"], packageAccess: false,
      plugins: plugins(["DeclaredImports"])),
    .plugin(name: "DeclaredImports", capability: .buildTool()),

    // The swarm: random histories in simulated time, for developers. No target of the daemon depends on it.
    .target(
      name: "TactusSwarm",
      dependencies: [
        "TactusDaemon", "MQTTMosquitto", "TactusGuard", "Service", "Wire", "Tactus",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: daemon),
        .product(name: "Logging", package: "swift-log", condition: daemon),
      ], exclude: ["README.md"]),
    swarm(of: "Robot"),
    swarm(of: "Leg"),
    swarm(of: "Sprinkler", leaves: ["Service", "Store", "WallTime"]),
    swarm(of: "Plants", leaves: ["MQTTMosquitto", "Service", "Store", "Water"]),
    swarm(
      of: "Pump",
      leaves: ["Store", .product(name: "Logging", package: "swift-log", condition: daemon)]),
    swarm(of: "Video", leaves: ["Service"]),
    .executableTarget(
      name: "TactusSwarmProgram",
      dependencies: systems.map { (name: String) in .target(name: name + "Swarm") } + ["TactusSwarm"],
      packageAccess: false),

    // For apps: a daemon's models, by HTTP and WebSocket. It knows the daemon by what that says of itself, and imports nothing of it.
    .target(name: "TactusClient", exclude: ["README.md"], packageAccess: false),
    .testTarget(name: "TactusClientTests", dependencies: ["TactusClient"]),
    // An app without a screen, which Tests/Service runs against a daemon.
    .executableTarget(
      name: "client-probe", dependencies: ["TactusClient"], path: "Tests/ClientProbe", packageAccess: false),

    // What the tests of several modules share.
    .target(name: "TestSupport", path: "Tests/Support"),
    .testTarget(name: "TactusTests", dependencies: ["TestSupport", "Conversions", "Tactus", "CTactus"]),
    .testTarget(name: "ProvedTicksTests", dependencies: ["TestSupport", "ProvedTicksTool"]),
    .testTarget(name: "TactusControlTests", dependencies: ["TestSupport", "TactusControl", "Tactus"]),
    .testTarget(name: "WallTimeTests", dependencies: ["TestSupport", "WallTime", "Tactus"]),
    // What the tests of the door share with those of the systems behind it.
    .target(
      name: "ServiceSupport",
      dependencies: [
        "TestSupport", "Service", "Tactus",
        .product(name: "HTTPTypes", package: "swift-http-types", condition: daemon),
        .product(name: "Logging", package: "swift-log", condition: daemon),
      ], path: "Tests/ServiceSupport"),
    // What the tests of formats draw and damage.
    .target(name: "WireSupport", dependencies: ["Tactus"], path: "Tests/WireSupport"),
    .testTarget(name: "WireTests", dependencies: ["TestSupport", "WireSupport", "Wire", "Tactus"]),
    .testTarget(
      name: "DevicesTests", dependencies: ["TestSupport", "WireSupport", "Devices", "Buses", "Wire", "Tactus"]),
    .testTarget(name: "BusesLinuxTests", dependencies: ["TestSupport", "BusesLinux", "Buses", "Tactus"]),
    .testTarget(
      name: "TactusGuardTests", dependencies: ["TestSupport", "TactusGuard", "CTactusGuard", "BusesLinux", "Tactus"]),
    // What TactusGuardTests kills: an embedder's program.
    .executableTarget(name: "guard-probe", dependencies: ["TactusGuard", "Tactus"], path: "Tests/GuardProbe"),
    // A daemon of one declared system, through the public API alone.
    .executableTarget(
      name: "declared-probe", dependencies: ["TactusDaemon", "Buses", "Tactus"], path: "Tests/DeclaredProbe",
      packageAccess: false),
    // Runs inside scripts/rig, against real kernel drivers.
    .executableTarget(
      name: "rig-probe", dependencies: ["CProcess", "BusesLinux", "Buses", "Tactus", "CTactus"],
      path: "Tests/Rig/Probe"),
    // The service and a 1 kHz lane in one process, for the row "service" of scripts/bench.
    .executableTarget(
      name: "service-bench",
      dependencies: [
        "CProcess", "Service", "CTactus", "Tactus", .product(name: "Logging", package: "swift-log", condition: daemon),
      ],
      path: "Benchmarks/Service"),
    // The plants' parser alone, for the row "plants" of scripts/bench.
    .executableTarget(name: "plants-bench", dependencies: ["CProcess", "Plants", "Tactus"], path: "Benchmarks/Plants"),
    // A bluetoothd of the tests' own, on a bus of their own.
    .target(
      name: "BlueZSupport", dependencies: ["SystemBus", "Tactus"], path: "Tests/BlueZSupport",
      swiftSettings: [.define("Bluetooth", .when(traits: ["Bluetooth"]))]),
    .testTarget(
      name: "BluetoothBlueZTests",
      dependencies: ["TestSupport", "BlueZSupport", "BluetoothBlueZ", "SystemBus", "Buses", "Tactus"],
      swiftSettings: [.define("Bluetooth", .when(traits: ["Bluetooth"]))]),
    // Both ends of a link on two virtual radios, for `scripts/rig --bluetooth`.
    .executableTarget(
      name: "bluetooth-probe", dependencies: ["CProcess", "BluetoothBlueZ", "Buses", "Tactus"],
      path: "Tests/Rig/BluetoothProbe",
      swiftSettings: [.define("Bluetooth", .when(traits: ["Bluetooth"]))]),
    tests(
      of: "Robot",
      on: ["WireSupport", "BusesLinux", "Devices", "Buses", "Wire"],
      products: [.product(name: "NIOCore", package: "swift-nio", condition: daemon)],
      exclude: ["Wire/reference"]),
    tests(
      of: "Leg",
      on: ["WireSupport", "BlueZSupport", "BusesLinux", "Devices", "Buses", "Wire"],
      products: [.product(name: "NIOCore", package: "swift-nio", condition: daemon)],
      exclude: ["peers"]),
    tests(
      of: "Sprinkler",
      on: ["StoreSupport", "Store", "Water", "Devices", "Buses", "Wire", "WallTime"],
      products: [
        .product(name: "GRDB", package: "GRDB.swift", condition: daemon),
        .product(name: "Logging", package: "swift-log", condition: daemon),
        .product(name: "NIOCore", package: "swift-nio", condition: daemon),
      ],
      exclude: ["Daemon/sprinkler-year.txt", "Control/Machine/IrrigationTable.txt"]),
    tests(
      of: "Pump",
      on: [
        "BlueZSupport", "StoreSupport", "SprinklerDaemon", "TactusGuard", "BusesLinux", "Store", "Devices", "Buses",
        "Wire", "WallTime",
      ],
      products: [
        .product(name: "GRDB", package: "GRDB.swift", condition: daemon),
        .product(name: "Logging", package: "swift-log", condition: daemon),
      ],
      exclude: [
        "Control/Device/PumpDeviceTable.txt", "Control/Operator/PumpOperatorTable.txt",
        "Control/Simulation/PumpSession.txt",
      ]),
    tests(
      of: "Plants",
      on: [
        "WireSupport", "MQTTSupport", "StoreSupport", "SprinklerDaemon", "PumpDaemon", "MQTTMosquitto", "Store",
        "Water", "Devices", "Buses", "Wire",
      ],
      products: [.product(name: "GRDB", package: "GRDB.swift", condition: daemon)],
      exclude: ["Control/Host/peers"]),
    // A broker of the tests' own.
    .target(
      name: "MQTTSupport", dependencies: ["TestSupport", "MQTTMosquitto"], path: "Tests/MQTTSupport",
      swiftSettings: [.define("MQTT", .when(traits: ["MQTT"]))]),
    .testTarget(
      name: "MQTTMosquittoTests",
      dependencies: ["TestSupport", "MQTTSupport", "MQTTMosquitto", "Tactus"],
      swiftSettings: [.define("MQTT", .when(traits: ["MQTT"]))]),
    tests(
      of: "Video",
      products: [
        .product(name: "HTTPTypes", package: "swift-http-types", condition: daemon),
        .product(name: "Logging", package: "swift-log", condition: daemon),
      ]),
    // Runs tactus-video.
    .testTarget(
      name: "VideoGStreamerTests",
      dependencies: [
        .target(name: "CGStreamer", condition: .when(traits: ["Video"])), "TestSupport", "CDaemon", "Video", "Tactus",
      ],
      swiftSettings: [.define("Video", .when(traits: ["Video"]))]),
    // A folder with a store in it, and what is killed while it writes there.
    .target(
      name: "StoreSupport",
      dependencies: [
        "SprinklerDaemon", "PlantsDaemon", "PumpDaemon", "Store", "WallTime",
        .product(name: "GRDB", package: "GRDB.swift", condition: daemon),
      ], path: "Tests/StoreSupport"),
    .testTarget(
      name: "StoreTests",
      dependencies: [
        "TestSupport", "StoreSupport", "SprinklerDaemon", "PlantsDaemon", "PumpDaemon", "Store", "Plants", "Sprinkler",
        "WallTime", "Tactus",
        .product(name: "GRDB", package: "GRDB.swift", condition: daemon),
      ],
      exclude: ["fixtures"]),
    // What tests of stores kill while it writes.
    .executableTarget(
      name: "store-probe",
      dependencies: [
        "CProcess", "SprinklerDaemon", "PlantsDaemon", "PumpDaemon", "Store", "Plants", "Sprinkler", "WallTime",
      ],
      path: "Tests/StoreProbe"),
    .testTarget(
      name: "ServiceTests",
      dependencies: [
        "TestSupport", "ServiceSupport", "Service", "ServiceDocuments", "WallTime", "Peers", "CCrypto", "Devices",
        "Buses", "Wire", "Tactus",
        .product(name: "HTTPTypes", package: "swift-http-types", condition: daemon),
        .product(name: "Logging", package: "swift-log", condition: daemon),
        .product(name: "NIOCore", package: "swift-nio", condition: daemon),
        .product(name: "NIOEmbedded", package: "swift-nio", condition: daemon),
        .product(name: "NIOHTTP1", package: "swift-nio", condition: daemon),
        .product(name: "NIOPosix", package: "swift-nio", condition: daemon),
        .product(name: "NIOWebSocket", package: "swift-nio", condition: daemon),
      ]),
    // Makes the tests' process a daemon's before they begin.
    .target(name: "AdoptSupport", path: "Tests/AdoptSupport"),
    // What tests share that read a configuration or run the program. It has a link to the program's list of systems.
    .target(
      name: "DaemonSupport", dependencies: listOfSystems + ["AdoptSupport", "TestSupport", "TactusDaemon"],
      path: "Tests/DaemonSupport"),
    .testTarget(
      name: "DaemonTests",
      dependencies: [
        "TactusProgram", "RobotDaemon", "LegDaemon", "SprinklerDaemon", "PlantsDaemon", "PumpDaemon", "VideoDaemon",
        "TestSupport", "ServiceSupport", "DaemonSupport", "BlueZSupport", "MQTTSupport", "TactusDaemon",
        "AvahiSystemd", "Service", "MQTTMosquitto", "CDaemon", "Confinement", "TactusGuard", "CTactusGuard",
        "BusesLinux", "Sprinkler", "Store", "Video", "Leg", "Plants", "Pump", "Robot", "Water", "Devices", "Buses",
        "Wire", "WallTime", "SystemBus", "Tactus",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: daemon),
        .product(name: "GRDB", package: "GRDB.swift", condition: daemon),
        .product(name: "Logging", package: "swift-log", condition: daemon),
        .product(name: "NIOCore", package: "swift-nio", condition: daemon),
        .product(name: "Yams", package: "Yams", condition: daemon),
      ],
      swiftSettings: [
        .define("Bluetooth", .when(traits: ["Bluetooth"])), .define("MQTT", .when(traits: ["MQTT"])),
        .define("Video", .when(traits: ["Video"])),
      ]),
    .testTarget(
      name: "TactusSwarmTests",
      dependencies: [
        "TestSupport", "TactusSwarm", "RobotDaemon", "LegDaemon", "SprinklerDaemon", "PlantsDaemon", "PumpDaemon",
        "RobotSwarm", "LegSwarm", "SprinklerSwarm", "PlantsSwarm", "PumpSwarm", "VideoSwarm", "TactusDaemon", "Robot",
        "Leg", "Sprinkler", "Pump", "MQTTMosquitto", "Buses", "Tactus",
      ]),
    .testTarget(
      name: "SanitizerTests",
      dependencies: [
        "TactusDaemon", "CDaemon", "CTactus", "TactusGuard", "BusesLinux", "Plants", "Pump", "Sprinkler", "Leg",
        "Robot", "Devices",
        "Buses", "Wire", "Tactus",
      ],
      exclude: ["rtsan.supp"]),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)

/// Where numbers come from outside, Sources/Conversions hides conversions that trap, in each file that imports them. HouseTests says which targets
/// these are.
let decoders =
  [
    "Wire", "WallTime", "Service", "TactusDaemon", "TactusSwarm", "Store", "Devices", "BusesLinux", "TactusGuard",
    "MQTTMosquitto",
    "SystemBus", "AvahiSystemd", "BluetoothBlueZ", "VideoGStreamer",
  ] + systems + systems.map { (name: String) in name + "Daemon" }
for target in package.targets where decoders.contains(target.name) {
  target.dependencies.append("Conversions")
  target.swiftSettings = (target.swiftSettings ?? []) + [.treatWarning("DeprecatedDeclaration", as: .error)]
}
