import ArgumentParser
import AvahiSystemd
import Buses
import Pump
import PumpDocuments
import Service
import ServiceDocuments
import Store
import TactusDaemon
import TactusGuard

/// The cooling pump, in both roles: `pump:`.
public struct PumpKind: SystemKind {
  public init() {}

  public var name: String { "pump" }
  public var sections: [ConfigSection] {
    [
      ConfigSection(
        name: "pump",
        doc: "The cooling pump: this program operates one, or is one. It runs when this section is present.")
    ]
  }
  public var keys: [ConfigKey] { Configuration.Pump.table }
  public var lists: [String: Int] { [:] }
  public var movedKeys: [String: String] { [:] }
  public var keeping: Keeping? { Keeping(tables: .pump, withoutIt: nil) }

  public func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    SystemReading(system: Configuration.Pump(found))
  }

  public var numberedParts: [String] { [] }
  public var commands: [any ParsableCommand.Type] { [OperatePumpCommand.self] }
  public var callExamples: [String] { ["pump on speedPercent=70"] }
  public var documents: SystemDocuments? { SystemDocuments(name, pump_documents()) }
  public var simulatedDevices: [any ParsableCommand.Type] { [SimPumpCommand.self] }

  public func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    guard PumpScenarioReader.reads(file) else { return nil }
    return try play(file, PumpScenarioReader.self, seed: seed, PumpScenarioRun.init)
  }

  public var scenarioHelp: String? { "one with a `pump:` part a cooling pump with its water and skin" }
  public func diagnoses(_ doctor: Doctor) -> [Diagnosis] { doctor.pump() }
  public var guardOutputs: [String: (String) throws -> any GuardOutput] { [GuardRadio.name: GuardRadio.open] }
  public func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] { [] }
}

extension Configuration {
  /// Configuration of the pump, or `nil` if the file has no `pump` section.
  var pump: Pump? { systems[Pump.self] }
}

extension Configuration.Pump: AnyConfiguredSystem {
  var name: String { "pump" }
  var driven: String? { "the pump" }
  var isSimulated: Bool { backend == .sim }
  var isOpenToAll: Bool { false }
  var deviceGroups: [String] { [] }
  var folders: [String] { [] }
  var files: [String] { [] }
  var looksUpNames: Bool { false }
  var secrets: [String] { [] }
  var safeLines: [GPIOLine] { [] }

  var claims: [ResourceClaim] {
    guard backend == .hardware else { return [] }
    switch role {
    case .operator:
      // A radio has many connections: only who advertises has it alone. What is no address is `errors`' business.
      guard case .serial(let path)? = try? PumpAddress(device ?? Self.usualDevice) else { return [] }
      return [ResourceClaim(resource: .serial(path: path), key: "pump.device")]
    case .device:
      var claims = [ResourceClaim(resource: .pwm(path: own.pwmPath), key: "pump.pwm.channel")]
      if let device { claims.append(ResourceClaim(resource: .serial(path: device), key: "pump.device")) }
      if let bluetooth = own.bluetooth {
        claims.append(ResourceClaim(resource: .radio(adapter: bluetooth.adapter), key: "pump.bluetooth"))
      }
      if let button = own.button { claims.append(.gpio(button, key: "pump.button")) }
      if own.hasConverter {
        claims.append(
          ResourceClaim(resource: .i2c(bus: own.i2cBus, address: own.i2cAddress), key: "pump.adc.i2c_address"))
      }
      return claims
    }
  }

  /// OFF twice, because a serial line does not say whether a line arrived whole; the first line end closes what the daemon
  /// may have left open. Of a pump of this machine its motor.
  var safeWrites: [SafeStateWrite] {
    guard backend == .hardware else { return [] }
    switch role {
    case .device: return [.pwm(path: own.pwmPath)]
    case .operator:
      switch address {
      case .serial(let path): return [.serial(path: path, baud: baud, bytes: Array("\nOFF\nOFF\n".utf8))]
      case .bluetooth(let place): return [.custom(name: GuardRadio.name, text: "\(place)")]
      }
    }
  }

  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError] {
    errors(file: whole.file, places: places)
  }

  func summary(in whole: Configuration) -> [String] {
    ["\(summary), off after \(runLimitMinutes) min until it has rested \(restMinutes) min"]
  }

  func invitation(program: String, simulated: Bool, at endpoints: [Endpoint]) -> Invitation {
    Invitation(
      title: summary + (simulated && !isSimulated ? " (simulated)" : ""),
      calls: [.init(path: "/api/pump/on", body: "{\"speedPercent\": 70}")])
  }

  func open(_ surroundings: SystemSurroundings) throws -> any DaemonSystem {
    let (file, logger) = (surroundings.storeFile, surroundings.logger)
    let limit = PumpLimitKeeper(PumpStore(file), logger: logger)
    let history = PumpHistory(
      PumpStore(file), keepsDays: logDays, lastEnd: { () throws(StoreError) in try limit.lastEnd },
      clock: surroundings.clock, logger: logger)
    switch role {
    case .device:
      return try DaemonPumpDevice(
        self, history: history, limit: limit, guardTimeoutSeconds: surroundings.configuration.guardTimeoutSeconds,
        simulate: surroundings.simulate, logger: logger)
    case .operator:
      return try DaemonPump(self, history: history, limit: limit, simulate: surroundings.simulate, logger: logger)
    }
  }
}
