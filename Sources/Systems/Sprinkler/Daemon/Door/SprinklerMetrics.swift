import Service
import Sprinkler
import Tactus
import TactusDaemon
import WallTime

/// What the valves' loop and the schedules' desk publish, as metrics.
struct SprinklerMetrics: MetricSource {
  private let door: SprinklerDoor

  init(_ door: SprinklerDoor) { self.door = door }

  func write(into writer: inout MetricsWriter) {
    let (now, newest, view) = (door.desk.now, door.desk.newest, door.desk.view)
    writer.gauge(
      "tactus_sprinkler_state", "1 for the state the valves are in, 0 for the others.",
      IrrigationState.words.map { .init($0 == newest.state.word, ["state": Self.label($0)]) })
    let zones = view.records.zones.map { (label: "\($0.id)", status: newest[$0.id]) }
    writer.gauge(
      "tactus_sprinkler_zone_open", "Whether a zone's valve is open.",
      zones.map { .init($0.status.isOn, ["zone": $0.label]) })
    writer.gauge(
      "tactus_sprinkler_zone_remaining_seconds", "Until a zone's valve closes; absent while it is closed.",
      zones.compactMap { label, status in status.remaining(at: now).map { .init($0, ["zone": label]) } })
    writer.gauge(
      "tactus_sprinkler_zone_today_seconds", "What a zone has run on this local day.",
      zones.map { .init($0.status.ranToday, ["zone": $0.label]) })
    writer.gauge("tactus_sprinkler_queue", "Runs that wait for their turn.", [.init(newest.queueCount)])
    writer.gauge("tactus_sprinkler_schedules", "Schedules, disabled ones too.", [.init(view.records.programs.count)])
    writer.gauge(
      "tactus_sprinkler_rain_delay_seconds", "Until the rain delay ends; absent while there is none.",
      door.rainDelay(view).map { [.init(max(0, $0.until - door.desk.wallNow))] } ?? [])
    writer.gauge(
      "tactus_sprinkler_next_start_seconds", "Until the next start of a schedule; absent while there is none.",
      view.next.map { [.init(max(0, $0.at - door.desk.wallNow))] } ?? [])
    writer.gauge(
      "tactus_sprinkler_store_writable", "Whether the store took the last change.", [.init(view.storeFailure == nil)])
    writer.gauge(
      "tactus_sprinkler_master_open", "Whether the master valve is open; absent where there is none.",
      newest.isMasterOpen.map { [.init($0)] } ?? [])
    write(newest, into: &writer)
  }

  private func write(_ newest: SprinklerSnapshot, into writer: inout MetricsWriter) {
    if let flow = newest.flow {
      writer.gauge("tactus_sprinkler_flow_litres_per_minute", "By the flow sensor.", [.init(flow.litresPerMinute)])
      writer.gauge(
        "tactus_sprinkler_flow_alarm", "Whether the flow is not what it should be.", [.init(flow.alarm != nil)])
      writer.counter("tactus_sprinkler_flow_pulses_total", "Pulses of the flow sensor.", [.init(flow.pulses)])
    }
    func counter(_ name: String, _ help: String, _ value: Int64) {
      writer.counter("tactus_sprinkler_\(name)_total", help, [.init(value)])
    }
    counter("accepted_orders", "Orders that the valves' loop took.", newest.accepted)
    counter("refused_orders", "Orders that it refused.", newest.refused)
    counter("ended_runs", "Runs that have ended, however they did.", newest.ended)
    counter("completed_runs", "Runs that lasted as long as asked.", newest.completed)
    counter("line_writes", "Settings of the lines that succeeded.", newest.writes)
    counter("line_failures", "Settings of the lines that failed.", newest.lineFailures)
    counter("line_differences", "Read-backs that were not as told.", newest.differences)
    counter("dropped_notices", "Changes that no log shows because the ring was full.", newest.noticesDropped)
    counter("dropped_answers", "Answers that found their ring full.", newest.answersDropped)
  }

  /// `emergency_stopped`
  private static func label(_ word: String) -> String {
    word.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
  }
}
