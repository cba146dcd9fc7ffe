import Buses
@_spi(FromOutside) import Conversions
import Service
import TactusDaemon

// The texts about the legs of `check` and of the start of the program, and the checks of `doctor`.

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
    // The pause is well within the deadman's timeout.
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

extension Doctor {
  /// Checks, without a configuration, whether a servo chip answers at its default address. Returns nothing if no bus could be tried.
  func servoChips() -> [Diagnosis] {
    let adapters = machine.list("/dev").filter { $0.hasPrefix("i2c-") && Int($0.dropFirst(4)) != nil }
    let answers = adapters.compactMap { name in machine.i2cAnswers("/dev/" + name, 0x40).map { (name, $0) } }
    guard !answers.isEmpty else { return [] }
    let found = answers.filter(\.1).map { "/dev/\($0.0)" }
    return [
      Diagnosis(
        name: "servo chip", status: .ok,
        found: found.isEmpty
          ? "nothing answers at 0x40, where a PCA9685 is" : "0x40 answers on \(found.joined(separator: ", "))",
        why: "legs hang on a PCA9685", fix: nil)
    ]
  }
}

/// The row of the dashboard.
extension Legs: HasPanels {
  static let rowTitle = "Legs"
  @DeclarationBuilder<Panel> static var panels: [Panel] {
    Panel.states("State of each leg", "Each state of a leg is a row; it is drawn while the leg is in it.", height: 5) {
      Series("state", "leg {{leg}} {{state}}")
    }
    Panel("Pulse", "What each servo gets; no line while it gets none.") {
      Series("pulse_seconds", "leg {{leg}}")
    }
    Panel(
      "Age of the last command, legs",
      "Of the command that fed each leg last; no line while disarmed. The pulse ends when it reaches the deadman, 200 ms unless configured.",
      from: 0
    ) {
      Series("last_command_age_seconds", "leg {{leg}}")
    }
    Panel(
      "Commands of legs",
      "Frames and requests that a leg took, ignored, did not understand, and pulses beyond its limits.", unit: "reqps",
      from: 0
    ) {
      Series("accepted_commands_total", "leg {{leg}} accepted")
      Series("ignored_commands_total", "leg {{leg}} ignored", .ifAny)
      Series("malformed_datagrams_total", "leg {{leg}} malformed", .ifAny)
      Series("clamped_pulses_total", "leg {{leg}} clamped", .ifAny)
    }
    Panel(
      "Servo chip", "Transfers of pulses and of off; failures of the chip, its output-enable line and its bus.",
      unit: "ops", from: 0
    ) {
      Series("chip_writes_total", "writes")
      Series("chip_failures_total", "failures", .ifAny)
      Series("output_enable_failures_total", "output-enable failures", .ifAny)
      Series("bus_retries_total", "bus retries", .ifAny)
    }
    Panel(
      "Outputs", "Whether the chip is configured and answers, and whether its output-enable line lets pulses out.",
      unit: "bool_yes_no", from: 0, width: 8
    ) {
      Series("chip_ready", "chip ready")
      Series("outputs_enabled", "outputs enabled")
    }
    Panel("Battery", "No line without a sensor that answers.", from: 0, width: 8) {
      Series("battery_volts")
    }
    Panel(
      "Links of legs",
      "Frames of each way to a leg: UDP, Bluetooth, serial, WebSocket. A line at 0 “not usable”: what the link needs is missing.",
      unit: "reqps", from: 0, width: 8
    ) {
      Series("link_received_frames_total", "leg {{leg}} {{link}} in", .ifAny)
      Series("link_sent_frames_total", "leg {{leg}} {{link}} out", .ifAny)
      Series("link_lost_frames_total", "leg {{leg}} {{link}} lost", .ifAny)
      Series("link_send_failures_total", "leg {{leg}} {{link}} not sent", .ifAny)
      Series("link_usable", "leg {{leg}} {{link}} not usable", .ifZero)
    }
  }
}
