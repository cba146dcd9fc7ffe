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
    var script = task.map { PumpScript($0, patience: line.patience) }
    defer { connection.stop(turnsOff: script?.mayPump ?? false) }
    while true {
      for event in events.wait() {
        switch event {
        case .stop, .reopenLog:
          if script == nil { return }
          complain("interrupted")
          throw ExitCode.failure
        case .doorbell:
          let snapshot = connection.newest()
          for news in connection.takeNews() { printAtOnce(news + "\n") }
          guard snapshot.at != .zero, let step = script?.step(snapshot, refusal: connection.takeRefusal()) else {
            continue
          }
          if let request = step.request { connection.ask(request) }
          guard let end = step.end else { continue }
          printAtOnce(Self.line(snapshot) + "\n")
          if case .disobeyed(let reason) = end {
            complain("\(device): \(line.trouble ?? reason)")
            throw ExitCode.failure
          }
          return
        case .childEnded, .input: break
        }
      }
    }
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
