import ArgumentParser
@_spi(FromOutside) import Conversions
import Foundation
import Glibc
import Leg
import Tactus
import TactusDaemon
import Wire

/// The command `tactus leg HOST`.
struct OperateLegCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "leg",
    abstract: "Operates a servo leg from this terminal, or for a script.",
    discussion: """
      LEG is a name or address (UDP); ble:NAME or ble:AA:BB:CC:DD:EE:FF, either with @hci1 for another adapter than the first; \
      serial:/dev/ttyACM0[@baud] (a microcontroller); or ws://HOST[:8000][/ws] and wss://… (a daemon's door, with a token \
      from --token-file or TACTUS_TOKEN).
      Without options: \(LegScreen.help). Whatever ends it disarms a leg that is armed; a fault stays until somebody disarms it.
      With options it does what they say and ends; exit status 1 when the leg does not obey.
      """)

  @Argument(help: ArgumentHelp("Where the leg is.", valueName: "leg"))
  var address: String

  @Option(help: "The UDP port of leg 0.")
  var port: UInt16 = 5010

  @Option(help: "Which leg, 0…31; by UDP each listens one port further.")
  var index = 0

  @Flag(help: "Disarm the leg, which also leaves a fault.")
  var disarm = false

  @Flag(help: "Arm the leg; after --disarm, if that is given.")
  var arm = false

  @Option(help: ArgumentHelp("The pulse in µs, 500…2500.", valueName: "pulse"))
  var set: UInt16?

  @Option(
    help: ArgumentHelp("From one pulse to another and back, each way in a time: 1000:2000:1s.", valueName: "sweep"))
  var sweep: PulseSweep?

  @Option(name: .customLong("for"), help: ArgumentHelp("How long: 2s, 500ms, 1m.", valueName: "time"))
  var duration: TimeSpan?

  @Option(help: ArgumentHelp("A file that holds a token of scope control, for ws and wss.", valueName: "file"))
  var tokenFile: String?

  @Option(
    help: ArgumentHelp(
      "For wss with a self-signed certificate: its SHA-256 fingerprint, as the daemon shows it.", valueName: "hex"))
  var fingerprint: String?

  func validate() throws {
    if let set, !PulseSweep.range.contains(set) {
      throw ValidationError("Expected a pulse of 500…2500 µs, got \(set).")
    }
    if set != nil, sweep != nil { throw ValidationError("Give one of --set and --sweep.") }
    let moves = arm || set != nil || sweep != nil
    if moves != (duration != nil) { throw ValidationError("Give --arm, --set or --sweep together with --for.") }
    guard (0...31).contains(index) else { throw ValidationError("Expected a leg 0…31, got \(index).") }
    do { _ = try place() } catch { throw ValidationError("\(error)") }
  }

  private func place() throws(LegAddress.Failure) -> LegAddress {
    try LegAddress(address, port: port, index: index)
  }

  private var task: LegScript.Task? {
    guard disarm || duration != nil else { return nil }
    let motion = sweep?.motion ?? set.map { .hold(.microseconds($0)) }
    return LegScript.Task(disarms: disarm, arms: arm, motion: motion, duration: duration?.nanoseconds)
  }

  func run() throws {
    // Signals are blocked before the terminal is changed, because a signal must not leave it raw.
    let events = try ServiceEvents()
    let task = task
    if task == nil, isatty(0) == 0 || isatty(1) == 0 {
      complain("expected a terminal; for a script give --arm, --set or --sweep with --for, or --disarm")
      throw ExitCode(64)
    }
    let credentials = LegCredentials(token: try CommandToken.read(file: tokenFile), fingerprint: fingerprint)
    let link = try LegLink.open(place(), name: address, credentials: credentials)
    let connection = try LegConnection(link, bell: events.doorbell.button, refresh: .hertz(task == nil ? 20 : 50))
    try connection.start()
    defer { connection.stop() }
    if let task {
      var script = ScriptedLeg(connection, task)
      try script.operate(events: events)
    } else if let terminal = RawTerminal(0) {
      var leg = InteractiveLeg(connection, terminal: terminal)
      try leg.run(events: events)
    }
  }
}

/// A sweep as written on the command line: `1000:2000:1s`.
struct PulseSweep: ExpressibleByArgument, Equatable {
  /// The pulses that a leg accepts, in µs.
  static let range: ClosedRange<UInt16> = 500...2500

  let motion: LegScript.Motion

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, let from = UInt16(parts[0]), let to = UInt16(parts[1]),
      let time = TimeSpan(argument: String(parts[2])), Self.range.contains(from), Self.range.contains(to)
    else { return nil }
    motion = .sweep(from: .microseconds(from), to: .microseconds(to), over: time.nanoseconds)
  }
}
