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
package struct PumpKind: SystemKind {
  package init() {}

  package var name: String { "pump" }
  package var sections: [ConfigSection] {
    [
      ConfigSection(
        name: "pump",
        doc: "The cooling pump: this program operates one, or is one. It runs when this section is present.")
    ]
  }
  package var keys: [ConfigKey] { Configuration.Pump.table }
  package var lists: [String: Int] { [:] }
  package var movedKeys: [String: String] { [:] }
  package var keeping: Keeping? { Keeping(tables: .pump, withoutIt: nil) }

  package func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    SystemReading(system: Configuration.Pump(found))
  }

  package var numberedParts: [String] { [] }
  package var commands: [any ParsableCommand.Type] { [OperatePumpCommand.self] }
  package var callExamples: [String] { ["pump on speedPercent=70"] }
  package var documents: SystemDocuments? { SystemDocuments(name, pump_documents()) }
  package var simulatedDevices: [any ParsableCommand.Type] { [SimPumpCommand.self] }

  package func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    guard PumpScenarioReader.reads(file) else { return nil }
    return try play(file, PumpScenarioReader.self, seed: seed, PumpScenarioRun.init)
  }

  package var scenarioHelp: String? { "one with a `pump:` part a cooling pump with its water and skin" }
  package func diagnoses(_ doctor: Doctor) -> [Diagnosis] { doctor.pump() }
  package var guardOutputs: [String: (String) throws -> any GuardOutput] { [GuardRadio.name: GuardRadio.open] }
  package func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] { [] }
}

extension Configuration {
  /// Configuration of the pump; `nil` if the file has no `pump` section.
  var pump: Pump? { systems[Pump.self] }
}

extension Configuration.Pump: AnyConfiguredSystem {
  var name: String { "pump" }
  var driven: String? { "the pump" }
  var isSimulated: Bool { backend == .sim }
  var isOpenToAll: Bool { false }
  var deviceGroups: [String] { [] }
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
      PumpStore(file), keepsDays: logDays, lastEnd: { () throws(StoreError) in try limit.lastEnd }, logger: logger)
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
