import Pump
import Service
import Tactus
import Wire

/// What the loop of a pump that is this machine's publishes, as metrics: those of `PumpMetrics` where there is such a thing.
struct PumpDeviceMetrics: MetricSource {
  private let door: PumpDeviceDoor

  init(_ door: PumpDeviceDoor) { self.door = door }

  func write(into writer: inout MetricsWriter) {
    let newest = door.newest
    writer.gauge(
      "tactus_pump_state", "1 for the state the pump is in, 0 for the others.",
      PumpMetrics.states(newest.state.word))
    var duty: Int64 = 0
    if case .on(let speed) = newest.state { duty = Int64(speed.duty) }
    writer.gauge(
      "tactus_pump_speed_ratio", "The pump's duty, 0…1; absent while it does not run.",
      duty > 0 ? [.init(Double(duty) / 255)] : [])
    writer.gauge(
      "tactus_pump_temperature_celsius",
      "What a sensor measures; absent while unknown, or while it is open or shorted.",
      [("water", newest.water), ("skin", newest.skin)].compactMap { name, reading in
        reading.measured.map { .init($0.celsius, ["sensor": name]) }
      })
    writer.gauge("tactus_pump_pumped_seconds", "Pumped since the last rest.", [.init(newest.spent.inSeconds)])
    writer.gauge(
      "tactus_pump_connected", "Whether somebody is connected who could operate it.", [.init(newest.isConnected)])
    func counter(_ name: String, _ help: String, _ value: Int64) {
      writer.counter("tactus_pump_\(name)_total", help, [.init(value)])
    }
    counter("lines", "Lines to the pump that were commands.", newest.commands)
    counter("malformed_lines", "Lines to the pump that were none.", newest.malformed)
    counter("replies", "Lines that the pump has sent.", newest.sent)
    counter("unsent_replies", "Lines that no link took.", newest.sendFailures)
    counter("output_failures", "Times that the motor's output did not take its duty.", newest.outputFailures)
    counter("input_failures", "Times that the inputs did not answer.", newest.inputFailures)
    counter("accepted_requests", "Requests that were obeyed.", newest.accepted)
    counter("ignored_requests", "Requests that did nothing.", newest.ignored)
    counter("dropped_notices", "Changes that no log shows because the ring was full.", newest.noticesDropped)
    counter("dropped_answers", "Answers that found their ring full.", newest.answersDropped)
  }
}
