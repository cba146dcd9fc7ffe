import Robot
import Service
import Tactus

/// What the robot's loop publishes, as metrics.
struct RobotMetrics: MetricSource {
  private let snapshot: @Sendable () -> RobotSnapshot
  private let now: @Sendable () -> TickInstant

  /// - Parameters:
  ///   - snapshot: the newest one.
  ///   - now: on the runtime's clock.
  init(_ snapshot: @escaping @Sendable () -> RobotSnapshot, now: @escaping @Sendable () -> TickInstant) {
    self.snapshot = snapshot
    self.now = now
  }

  func write(into writer: inout MetricsWriter) {
    let robot = snapshot()
    let state = robot.state.metricName
    writer.gauge(
      "tactus_robot_state", "1 for the state the robot is in, 0 for the others.",
      RobotState.metricNames.map { .init($0 == state, ["state": $0]) })
    writer.gauge(
      "tactus_robot_emergency_stopped", "Whether the robot's emergency stop is latched.",
      [.init(robot.isEmergencyStopped)])
    writer.gauge(
      "tactus_robot_wheel_speed_ratio", "What the motors are told, -1 to 1 of full speed.",
      [
        .init(robot.speeds.left.value / 100, ["wheel": "left"]),
        .init(robot.speeds.right.value / 100, ["wheel": "right"]),
      ])
    writer.gauge(
      "tactus_robot_last_command_age_seconds",
      "Time since the controlling source's last accepted command; absent while control is free.",
      robot.holder.map { [.init(max(.zero, now() - $0.lastCommand))] } ?? [])
    write(robot.counters, retries: robot.retries, into: &writer)
  }

  private func write(_ counters: RobotCounters, retries: Int64, into writer: inout MetricsWriter) {
    func counter(_ name: String, _ help: String, _ value: Int64) {
      writer.counter("tactus_robot_\(name)_total", help, [.init(value)])
    }
    counter("datagrams", "Datagrams received, whatever they were.", counters.datagrams)
    counter("malformed_datagrams", "Datagrams that were no robot datagram.", counters.malformed)
    counter(
      "direction_mismatches", "CSV datagrams whose speeds turned against their direction.",
      counters.directionMismatches)
    counter("accepted_commands", "Commands, stops, emergency stops and resets that were taken.", counters.accepted)
    writer.counter(
      "tactus_robot_ignored_commands_total", "Commands, stops, emergency stops and resets that did nothing, and why.",
      IgnoreReason.allCases.map { .init(counters.ignored($0), ["reason": "\($0.shortText)"]) })
    counter("replies", "Replies sent.", counters.replies)
    counter("dropped_replies", "Replies that a limit or a full buffer did not let out.", counters.repliesDropped)
    counter("dropped_notices", "Changes that no log shows because the ring was full.", counters.noticesDropped)
    counter("motor_writes", "Motor writes that the board took.", counters.writes)
    counter("motor_write_failures", "Motor writes that failed after their retries.", counters.writeFailures)
    counter("bus_retries", "Bus transfers that succeeded only after a retry.", retries)
  }
}

extension RobotState {
  fileprivate static let metricNames = ["stopped", "driving", "emergency_stopped", "fault", "shut_down"]

  fileprivate var metricName: String {
    switch self {
    case .stopped: "stopped"
    case .driving: "driving"
    case .emergencyStopped: "emergency_stopped"
    case .fault: "fault"
    case .shutDown: "shut_down"
    }
  }
}
