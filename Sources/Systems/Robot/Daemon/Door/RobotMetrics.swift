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
    RobotFields.document.write(RobotSeen(snapshot(), now: now()), into: &writer)
  }
}
