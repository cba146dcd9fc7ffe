import ArgumentParser
import AvahiSystemd
import Buses
import ServiceDocuments
import SprinklerDocuments
import TactusDaemon
import TactusGuard

/// The sprinkler controller: `sprinkler:`.
public struct SprinklerKind: SystemKind {
  public init() {}

  public var name: String { "sprinkler" }
  public var sections: [ConfigSection] {
    [
      ConfigSection(
        name: "sprinkler",
        doc:
          "The sprinkler controller, which runs when this section is present. What zones are called and do is kept "
          + "in its store, where the API changes it; what is changed here is taken at the next start.")
    ]
  }
  public var keys: [ConfigKey] { Configuration.Sprinkler.table }
  public var lists: [String: Int] { ["sprinkler.groups": 15, "sprinkler.zones": 64] }
  public var movedKeys: [String: String] {
    ["sprinkler.state_dir": "store.folder", "sprinkler.snapshots": "store.snapshots"]
  }
  public var keeping: Keeping? { Keeping(tables: .sprinkler, withoutIt: "no zone opens") }

  public func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    SystemReading(system: Configuration.Sprinkler(found))
  }

  public var numberedParts: [String] { ["zone"] }
  public var commands: [any ParsableCommand.Type] { [] }
  public var callExamples: [String] { ["zone/1 on minutes=1"] }
  public var documents: SystemDocuments? { SystemDocuments(name, sprinkler_documents()) }
  public var simulatedDevices: [any ParsableCommand.Type] { [] }

  public func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    guard SprinklerScenarioReader.reads(file) else { return nil }
    var scenario = try SprinklerScenarioReader.read(file)
    if let seed { scenario.seed = seed }
    var run = SprinklerScenarioRun(scenario) { print($0) }
    return run.play()
  }

  public var scenarioHelp: String? { "one with a `sprinkler:` part plays days of watering and prints their calendar" }
  public func diagnoses(_ doctor: Doctor) -> [Diagnosis] { [] }
  public var guardOutputs: [String: (String) throws -> any GuardOutput] { [:] }

  /// What the original's Avahi file said, but for the path, which is the requirement's.
  public func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] {
    [
      AnnouncedService(
        name: "Sprinkler on \(host)", type: "_sprinkler._tcp", port: port,
        text: ["path=/api/status", "tls=\(hasTLS ? 1 : 0)", "version=\(DaemonProgram.current.version)"])
    ]
  }
}

extension Configuration {
  /// Configuration of the sprinkler, or `nil` if the file has no `sprinkler` section.
  var sprinkler: Sprinkler? { systems[Sprinkler.self] }
}

extension Configuration.Sprinkler: AnyConfiguredSystem {
  var name: String { "sprinkler" }
  var driven: String? { "the valves" }
  var isSimulated: Bool { backend == .sim }
  /// Valves are behind the service's tokens.
  var isOpenToAll: Bool { false }
  var deviceGroups: [String] { [] }
  var folders: [String] { [] }
  var files: [String] { [] }
  var looksUpNames: Bool { weather != nil }
  var secrets: [String] { [] }
  var safeWrites: [SafeStateWrite] { [] }
  var safeLines: [GPIOLine] { isSimulated ? [] : lines }

  /// Pins that cannot be, or that two zones have, are `errors`' business.
  var claims: [ResourceClaim] {
    guard backend == .gpio else { return [] }
    let ofZones = Set(pins).sorted().map { (pin: $0, key: pinKey($0)) }
    let others = [
      master.map { (pin: $0.pin, key: "sprinkler.master.pin") }, flowPin.map { (pin: $0, key: "sprinkler.flow.pin") },
    ].compactMap(\.self).filter { !pins.contains($0.pin) }
    return (ofZones + others).filter { chip != nil ? $0.pin >= 0 : (0...53).contains($0.pin) }
      .map { .gpio(self.name($0.pin), key: $0.key) }
  }

  /// The key that asks for a zone's pin.
  private func pinKey(_ pin: Int) -> String {
    if givesPins { return "sprinkler.pins" }
    return zip(zones, zonePinKeys).first { $0.0.gpioPin == pin }?.1 ?? "sprinkler"
  }

  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError] {
    errors(file: whole.file, places: places)
  }

  private var wiring: String {
    let zones = "\(zones.count) zone\(zones.count == 1 ? "" : "s")"
    let level = relayBoard == .activeLow ? ", active low" : ""
    return switch backend {
    case .gpio: "\(zones) on \(chip ?? "the GPIO lines \(self.name(pins[0]))…")" + level
    case .sim: "\(zones), simulated"
    }
  }

  func summary(in whole: Configuration) -> [String] { ["sprinkler: \(wiring)"] }

  func invitation(program: String, simulated: Bool, at endpoints: [Endpoint]) -> Invitation {
    Invitation(
      title: "sprinkler with \(wiring)" + (simulated && !isSimulated ? " (simulated)" : ""),
      calls: [.init(path: "/api/zone/1/on", body: "{\"minutes\": 1}")])
  }

  func open(_ surroundings: SystemSurroundings) throws -> any DaemonSystem {
    let system = try DaemonSprinkler(
      self, store: surroundings.storeFile, simulate: surroundings.simulate, madeSafe: surroundings.madeSafe,
      clock: surroundings.clock, logger: surroundings.logger)
    surroundings.offers.give(system.door.water)
    return system
  }
}
