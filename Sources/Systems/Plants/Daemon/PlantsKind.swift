import ArgumentParser
import AvahiSystemd
import Buses
import Plants
import PlantsDocuments
import Service
import ServiceDocuments
import TactusDaemon
import TactusGuard
import Water

/// The plant tracker: `plants:`.
public struct PlantsKind: SystemKind {
  public init() {}

  public var name: String { "plants" }
  public var sections: [ConfigSection] {
    [
      ConfigSection(
        name: "plants",
        doc: "Plants, their soil probes and the host of the Plant-Tracker app, which run when this section is present.")
    ]
  }
  public var keys: [ConfigKey] { Configuration.Plants.table }
  public var lists: [String: Int] { ["plants.sensors": 16, "plants.watering": 64] }
  public var movedKeys: [String: String] { [:] }
  public var keeping: Keeping? { Keeping(tables: .plants, withoutIt: "no plant is watered") }

  public func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    SystemReading(system: Configuration.Plants(found))
  }

  public var numberedParts: [String] { [] }
  public var commands: [any ParsableCommand.Type] { [] }
  public var callExamples: [String] { [] }
  public var documents: SystemDocuments? { SystemDocuments(name, plants_documents()) }
  public var simulatedDevices: [any ParsableCommand.Type] { [] }

  public func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    guard PlantScenarioReader.reads(file) else { return nil }
    return try play(file, PlantScenarioReader.self, seed: seed, PlantScenarioRun.init)
  }

  public var scenarioHelp: String? {
    "one with a `plants:` part probes in soils that dry, and the messages of the Plant-Tracker app"
  }
  public func diagnoses(_ doctor: Doctor) -> [Diagnosis] { [] }
  public var guardOutputs: [String: (String) throws -> any GuardOutput] { [:] }
  public func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] { [] }
}

extension Configuration {
  /// Configuration of the plants, or `nil` if the file has no `plants` section.
  var plants: Plants? { systems[Plants.self] }
}

extension Configuration.Plants: AnyConfiguredSystem {
  var name: String { "plants" }
  var driven: String? { nil }
  var isSimulated: Bool { backend == .sim }
  var isOpenToAll: Bool { false }
  var deviceGroups: [String] { [] }
  var folders: [String] { [] }
  var files: [String] { [] }
  var looksUpNames: Bool { false }
  var secrets: [String] { [] }
  var safeWrites: [SafeStateWrite] { [] }
  var safeLines: [GPIOLine] { [] }

  /// Several probes of one converter share its address, and SPI's chip select.
  var claims: [ResourceClaim] {
    var claims: [ResourceClaim] = []
    var chips: [ResourceClaim.Resource: Chip] = [:]
    for (index, sensor) in sensors.enumerated() {
      let path = "plants.sensors[\(index)]"
      claims.append(ResourceClaim(resource: .part("the sensor name \(sensor.name.lowercased())"), key: "\(path).name"))
      let resource = resource(of: sensor)
      if sensor.channel == nil || chips[resource] != sensor.chip {
        let key = sensor.address == nil ? "plants.spi_device" : "\(path).i2c_address"
        claims.append(ResourceClaim(resource: resource, key: key))
        chips[resource] = sensor.chip
      }
      if let channel = sensor.channel {
        let converter = sensor.address.map { "the ads1115 at 0x\(String($0, radix: 16))" } ?? "the mcp3008"
        claims.append(ResourceClaim(resource: .part("input \(channel) of \(converter)"), key: "\(path).channel"))
      }
    }
    return claims
  }

  /// What a probe's chip is reached by.
  private func resource(of sensor: Sensor) -> ResourceClaim.Resource {
    switch backend {
    case .hardware: sensor.address.map { .i2c(bus: i2cBus, address: $0) } ?? .spi(path: spiDevice)
    case .sim:
      sensor.address.map { .part("the simulated chip at 0x\(String($0, radix: 16))") }
        ?? .spi(path: "of the simulated mcp3008")
    }
  }

  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError] {
    errors(file: whole.file, places: places, hasSprinkler: whole.systems.all.contains { $0.name == "sprinkler" })
  }

  func summary(in whole: Configuration) -> [String] {
    var lines = ["plants: \(summary)"]
    if let app {
      lines.append(
        whole.mqtt == nil
          ? "the Plant-Tracker app reaches nobody: there is no section mqtt"
          : "the Plant-Tracker app is answered by \(app.hostName) on \(PlantTopics.toHost) and \(PlantTopics.fromHost)")
    }
    if !links.isEmpty {
      let numbers = links.map { "\($0.plant) (zone \($0.settings.zone))" }.joined(separator: ", ")
      lines.append("plants that ask for water while they are dry: \(numbers)")
    }
    return lines
  }

  func invitation(program: String, simulated: Bool, at endpoints: [Endpoint]) -> Invitation {
    Invitation(
      title: "plants with \(summary)" + (simulated && !isSimulated ? " (simulated)" : ""),
      calls: sensors.prefix(1).map {
        .init(path: "/api/plants", body: "{\"name\": \"Basil\", \"sensors\": [\"\($0.name)\"]}")
      })
  }

  func open(_ surroundings: SystemSurroundings) throws -> any DaemonSystem {
    try DaemonPlants(
      self, store: surroundings.storeFile, water: surroundings.offers.take(WaterSupply.self),
      simulate: surroundings.simulate, clock: surroundings.clock, logger: surroundings.logger)
  }
}
