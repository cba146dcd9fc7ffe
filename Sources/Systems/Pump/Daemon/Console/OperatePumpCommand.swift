import ArgumentParser
import Pump
import Tactus
import TactusDaemon
import Wire

/// The command `tactus pump DEVICE`, which operates a pump from the console.
struct OperatePumpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pump",
    abstract: "Operates a cooling pump on a serial line or by Bluetooth, or shows what it does.",
    discussion: """
      Without options it shows what happens until it is interrupted, and leaves the pump as it is. Exit status 1 when the \
      pump does not answer or does not obey.
      """)

  @Argument(
    help: ArgumentHelp(
      "A serial line: /dev/ttyUSB0, /dev/rfcomm0, or what tactus sim pump --pty prints. Or a serial module such as the "
        + "HM-10 by its name or address: ble:HMSoft, ble:AA:BB:CC:DD:EE:FF, ble:HMSoft@hci1.")
  )
  var device: String

  @Option(help: "Bits a second of a serial line.")
  var baud = 9_600

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp("Pump for so long, then stop: 30s, 5m, at most 30m.", valueName: "time"))
  var duration: TimeSpan?

  @Option(help: ArgumentHelp("At this speed, 0…255, with --for.", valueName: "speed"))
  var speed: UInt8?

  @Flag(help: "Turn it off.")
  var off = false

  @Flag(help: "Leave a fault.")
  var reset = false

  @Flag(help: "Say what it does.")
  var status = false

  func validate() throws {
    if [duration != nil, off, reset, status].filter(\.self).count > 1 {
      throw ValidationError("Give one of --for, --off, --reset and --status.")
    }
    if speed != nil, duration == nil { throw ValidationError("Give --speed together with --for.") }
    if let duration, duration.nanoseconds > .seconds(1_800) {
      throw ValidationError("Expected at most 30m: a pump has to rest.")
    }
  }

  private var task: PumpScript.Task? {
    if let duration { return .pump(speed.map(PumpSpeed.init(duty:)), for: duration.nanoseconds) }
    if off { return .off }
    if reset { return .reset }
    return status ? .status : nil
  }

  func run() throws {
    let events = try ServiceEvents()
    let line: PumpLine
    do {
      line = try PumpLine(try PumpAddress(device), baud: baud)
    } catch {
      complain("\(error)")
      throw ExitCode.failure
    }
    let connection = try PumpConnection(line, bell: events.doorbell.button)
    try connection.start()
    var operation = PumpOperation(
      connection: connection, device: device, script: task.map { PumpScript($0, patience: line.patience) })
    defer { connection.stop(turnsOff: operation.script?.mayPump ?? false) }
    try operation.operate(events: events)
  }

  /// Returns a summary of the snapshot, for example `on, 70 %, water 12.0 °C, skin 34.0 °C`.
  static func line(_ snapshot: PumpSnapshot) -> String {
    var parts = ["\(snapshot.state)"]
    if let speed = snapshot.speed { parts.append("\(speed.speed.percent) %") }
    for (name, reading) in [
      ("water", snapshot.temperatures.water), ("skin", snapshot.temperatures.skin),
      ("temperature", snapshot.temperatures.single),
    ] {
      if let temperature = reading.measured { parts.append("\(name) \(temperature)") }
      if let trouble = reading.trouble { parts.append("\(name) – (\(trouble))") }
    }
    return parts.joined(separator: ", ")
  }
}

/// Shows what happens to a pump, and runs a script if there is one.
private struct PumpOperation: OperatorCommand {
  let connection: PumpConnection
  let device: String
  var script: PumpScript?

  mutating func interrupt() -> Int32? {
    if script == nil { return 0 }
    complain("interrupted")
    return 1
  }

  mutating func refresh() -> Int32? {
    let snapshot = connection.newest()
    for news in connection.takeNews() { printAtOnce(news + "\n") }
    guard snapshot.at != .zero, let step = script?.step(snapshot, refusal: connection.takeRefusal()) else { return nil }
    if let request = step.request { connection.ask(request) }
    guard let end = step.end else { return nil }
    printAtOnce(OperatePumpCommand.line(snapshot) + "\n")
    guard case .disobeyed(let reason) = end else { return 0 }
    complain("\(device): \(connection.line.trouble ?? reason)")
    return 1
  }
}
