import ArgumentParser
import AvahiSystemd
import Buses
import LegDocuments
import ServiceDocuments
import TactusDaemon
import TactusGuard

/// The servo legs: `leg:`, `legs:`.
public struct LegKind: SystemKind {
  public init() {}

  public var name: String { "leg" }
  public var sections: [ConfigSection] {
    [
      ConfigSection(
        name: "leg",
        doc:
          "What all servo legs share. They run when this section or legs is present; this one alone: one leg on channel 0."
      ),
      ConfigSection(
        name: "legs",
        doc: "The legs, 1…16, each on a channel of its own. Their order is that of their UDP ports and of the API."),
    ]
  }
  public var keys: [ConfigKey] { Configuration.Legs.table }
  public var lists: [String: Int] { ["legs": 16] }
  public var movedKeys: [String: String] { [:] }
  public var keeping: Keeping? { nil }

  public func reading(of found: ConfigReader.Result, file: String) -> SystemReading {
    SystemReading(system: Configuration.Legs(found))
  }

  public var numberedParts: [String] { [] }
  public var commands: [any ParsableCommand.Type] { [OperateLegCommand.self] }
  public var callExamples: [String] { ["leg/0 arm"] }
  public var documents: SystemDocuments? { SystemDocuments(name, leg_documents()) }
  public var simulatedDevices: [any ParsableCommand.Type] { [] }
  public func play(_ file: YAMLFile, seed: UInt64?) -> Bool? { nil }
  public var scenarioHelp: String? { nil }
  public func diagnoses(_ doctor: Doctor) -> [Diagnosis] { doctor.configuration == nil ? doctor.servoChips() : [] }
  public var guardOutputs: [String: (String) throws -> any GuardOutput] { [:] }
  public func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] { [] }
}

extension Configuration {
  /// Configuration of the legs, or `nil` if the file has neither a `leg` nor a `legs` section.
  var legs: Legs? { systems[Legs.self] }
}

extension Configuration.Legs: AnyConfiguredSystem {
  var name: String { "leg" }
  var driven: String? { "the legs" }
  var isSimulated: Bool { backend == .sim }
  var isOpenToAll: Bool { true }
  var deviceGroups: [String] { [] }
  var folders: [String] { [] }
  var files: [String] { [] }
  var looksUpNames: Bool { false }
  var secrets: [String] { [] }

  var claims: [ResourceClaim] {
    var claims: [ResourceClaim] = []
    if backend == .pca9685 {
      claims.append(ResourceClaim(resource: .i2c(bus: i2cBus, address: i2cAddress), key: "leg.i2c_address"))
      if let battery {
        claims.append(
          ResourceClaim(resource: .i2c(bus: i2cBus, address: battery.i2cAddress), key: "leg.battery.i2c_address"))
      }
      if let outputEnable { claims.append(.gpio(outputEnable, key: "leg.output_enable")) }
    }
    if let bluetooth {
      claims.append(ResourceClaim(resource: .radio(adapter: bluetooth.adapter), key: "leg.bluetooth"))
    }
    if let serial { claims.append(ResourceClaim(resource: .serial(path: serial.path), key: "leg.serial")) }
    for (index, leg) in legs.enumerated() {
      if port > 0, Int(port) + index <= 65535 {
        claims.append(ResourceClaim(resource: .udp(port: port + UInt16(clamping: index)), key: "network.leg_udp_port"))
      }
      claims.append(ResourceClaim(resource: .part("servo channel \(leg.channel)"), key: "legs[\(index)].channel"))
      claims.append(ResourceClaim(resource: .part("the name \(leg.name)"), key: "legs[\(index)].name"))
    }
    return claims
  }

  /// Every channel of the chip off by one byte. Not the sleep that an orderly end has besides: it could cut a pulse.
  var safeWrites: [SafeStateWrite] {
    guard !isSimulated else { return [] }
    let chip = chip
    return SafeStatePlan.i2c("/dev/i2c-\(i2cBus)") { (bus) throws(I2CError) in try chip.turnAllOff(on: &bus) }
  }

  var safeLines: [GPIOLine] {
    isSimulated ? [] : outputEnable.map { [GPIOLine($0, isActiveLow: true)] } ?? []
  }

  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError] {
    errors(file: whole.file, places: places)
  }

  private var wiring: String {
    switch backend {
    case .pca9685:
      "pca9685 at 0x\(String(i2cAddress, radix: 16)) on /dev/i2c-\(i2cBus)"
        + (outputEnable.map { ", output enable on \($0)" } ?? "")
    case .sim: "simulated chip"
    }
  }

  func summary(in whole: Configuration) -> [String] {
    let what = legs.count == 1 ? "leg" : "\(legs.count) legs"
    let ports = port == 0 || legs.count == 1 ? "\(port)" : "\(port)…\(Int(port) + legs.count - 1)"
    let first = "\(what): \(wiring), frames on UDP \(whole.bindAddress):\(ports), \(rateHertz) Hz"
    return [first] + (linkSummary.map { ["leg 0 besides: \($0)"] } ?? [])
  }

  /// The other links of leg 0, or `nil` if it has only its UDP port.
  private var linkSummary: String? {
    var links: [String] = []
    if let bluetooth {
      links.append("Bluetooth (\(bluetooth.adapter ?? "the first adapter")), whoever is near may connect")
    }
    if let serial { links.append("\(serial.path) at \(serial.baudRate) bit/s") }
    return links.isEmpty ? nil : links.joined(separator: "; ")
  }

  func invitation(program: String, simulated: Bool, at endpoints: [Endpoint]) -> Invitation {
    let what = isSimulated ? "simulated servos" : wiring + (simulated ? " (simulated)" : "")
    guard let first = endpoints.first else { return Invitation(title: what) }
    let target = ReachableEndpoint(first)
    // Well within the time after which its pulse ends.
    let pause = min(50, deadmanMilliseconds / 4)
    return Invitation(
      title: "\(what), leg frames on UDP \(endpoints.map { "\($0)" }.joined(separator: ", "))",
      lines: [
        "Arm the leg from Python, hold 1500 µs for a second, and disarm it:",
        "  python3 -c 'import socket, time; s=socket.socket(socket.\(target.family), socket.SOCK_DGRAM); "
          + "[(s.sendto(bytes.fromhex(f), (\"\(target.host)\", \(first.port))), time.sleep(\(Double(pause) / 1000))) for f in "
          + "[\"01020000\", \"01010000\"] + [\"01030200dc05\"] * \(1000 / pause) + [\"01020000\"]]'",
      ], calls: [.init(path: "/api/leg/0/arm")])
  }

  func open(_ surroundings: SystemSurroundings) throws -> any DaemonSystem {
    try DaemonLegs(
      self, address: surroundings.configuration.bindAddress, simulate: surroundings.simulate,
      logger: surroundings.logger)
  }
}
