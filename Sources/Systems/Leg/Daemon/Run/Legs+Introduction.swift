import Buses
@_spi(FromOutside) import Conversions
import Service
import TactusDaemon

// What `check` and the start of the program say of the legs, and what `doctor` looks at.

extension Legs {
  static var driven: String? { "the legs" }

  static func summary(_ wiring: Wiring, _ rules: Rules, address: String) -> [String] {
    let count = wiring.legs.count
    let what = count == 1 ? "leg" : "\(count) legs"
    let ports = wiring.port == 0 || count == 1 ? "\(wiring.port)" : "\(wiring.port)…\(Int(wiring.port) + count - 1)"
    let first = "\(what): \(wiring.hardware), frames on UDP \(address):\(ports), \(wiring.rateHertz) Hz"
    return [first] + (wiring.linkSummary.map { ["leg 0 besides: \($0)"] } ?? [])
  }

  static func invitation(_ wiring: Wiring, _ rules: Rules, _ start: ProgramStart) -> Invitation {
    let what =
      isSimulated(wiring) ? "simulated servos" : wiring.hardware + (start.isSimulated ? " (simulated)" : "")
    guard let first = start.endpoints.first else { return Invitation(title: what) }
    let target = ReachableEndpoint(first)
    // Well within the time after which its pulse ends.
    let pause = min(50, rules.deadmanMilliseconds / 4)
    return Invitation(
      title: "\(what), leg frames on UDP \(start.endpoints.map { "\($0)" }.joined(separator: ", "))",
      lines: [
        "Arm the leg from Python, hold 1500 µs for a second, and disarm it:",
        "  python3 -c 'import socket, time; s=socket.socket(socket.\(target.family), socket.SOCK_DGRAM); "
          + "[(s.sendto(bytes.fromhex(f), (\"\(target.host)\", \(first.port))), time.sleep(\(Double(pause) / 1000))) for f in "
          + "[\"01020000\", \"01010000\"] + [\"01030200dc05\"] * \(1000 / pause) + [\"01020000\"]]'",
      ], calls: [.init(path: "/api/leg/0/arm")])
  }

  static func diagnoses(_ doctor: Doctor) -> [Diagnosis] { doctor.configuration == nil ? doctor.servoChips() : [] }
}

extension Legs.Wiring {
  fileprivate var hardware: String {
    switch backend {
    case .pca9685:
      "pca9685 at \(addresses) on /dev/i2c-\(i2cBus)" + enableWords
    case .sim: chipCount == 1 ? "simulated chip" : "\(chipCount) simulated chips"
    }
  }

  private var addresses: String {
    (0..<chipCount).map { "0x\(hex(i2cAddress(ofChip: $0)))" }.joined(separator: ", ")
  }

  private var enableWords: String {
    let lines = enableLines.lines.map { "\($0.line.name)" }
    return lines.isEmpty ? "" : ", output enable on \(lines.joined(separator: ", "))"
  }

  /// The further links of leg 0 in words, or `nil` if it has only its UDP port.
  fileprivate var linkSummary: String? {
    var links: [String] = []
    if hasBluetooth {
      links.append("Bluetooth (\(bluetoothAdapter ?? "the first adapter")), whoever is near may connect")
    }
    if let serialPath { links.append("\(serialPath) at \(serialBaudRate) bit/s") }
    return links.isEmpty ? nil : links.joined(separator: "; ")
  }
}
