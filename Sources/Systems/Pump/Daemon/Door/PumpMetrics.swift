import Pump
import Service
import Tactus
import Wire

/// What the pump's loop publishes, as metrics.
struct PumpMetrics: MetricSource {
  private let door: PumpDoor

  init(_ door: PumpDoor) { self.door = door }

  /// One sample a state, of which one is 1.
  static func states(_ current: String) -> [MetricSample] {
    PumpOperatorState.words.map { word in
      let label = word.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
      return .init(word == current, ["state": label])
    }
  }

  func write(into writer: inout MetricsWriter) {
    let newest = door.newest
    writer.gauge(
      "tactus_pump_state", "1 for the state the pump is in, 0 for the others.",
      Self.states(newest.state.word))
    writer.gauge("tactus_pump_answering", "Whether the pump answers.", [.init(newest.contact.isAnswering)])
    writer.gauge(
      "tactus_pump_speed_ratio", "The pump's duty, 0…1; absent while it does not run.",
      newest.speed.map { [.init(Double($0.speed.duty) / 255)] } ?? [])
    let readings = [
      ("water", newest.temperatures.water), ("skin", newest.temperatures.skin), ("single", newest.temperatures.single),
    ]
    writer.gauge(
      "tactus_pump_temperature_celsius",
      "What a sensor measures; absent while unknown, or while it is open or shorted.",
      readings.compactMap { name, reading in reading.measured.map { .init($0.celsius, ["sensor": name]) } })
    writer.gauge(
      "tactus_pump_pumped_seconds", "Pumped since the last rest.", [.init(newest.spent.inSeconds)])
    func counter(_ name: String, _ help: String, _ value: Int64) {
      writer.counter("tactus_pump_\(name)_total", help, [.init(value)])
    }
    counter("connections", "Connections to the pump.", newest.connections)
    counter("lines", "Lines from the pump that were replies.", newest.lines)
    counter("malformed_lines", "Lines from the pump that were none.", newest.malformed)
    counter("dropped_lines", "Lines from the pump that were too long to be kept.", newest.dropped)
    counter("commands", "Commands sent to the pump.", newest.sent)
    counter("unsent_commands", "Commands that the line did not take.", newest.sendFailures)
    counter("failed_commands", "Commands that came to nothing.", newest.failures)
    counter("accepted_requests", "Requests that were obeyed.", newest.accepted)
    counter("ignored_requests", "Requests that did nothing.", newest.ignored)
    counter("dropped_notices", "Changes that no log shows because the ring was full.", newest.noticesDropped)
    counter("dropped_answers", "Answers that found their ring full.", newest.answersDropped)
  }
}
