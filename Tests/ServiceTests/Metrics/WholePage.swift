import Robot
import Tactus
import Wire

@testable import Service

/// All families of all sources, each with a value: a robot that drives, a leg with a pulse, a runtime with a lane that runs.
enum WholePage {
  static func text() throws -> String {
    let robot = try RobotSimulation()
    robot.operators[0].set(.wheels(WheelSpeeds(left: Percent(50), right: Percent(25))))
    robot.run(for: .milliseconds(500))
    let (snapshot, now) = (robot.robot, robot.now + .milliseconds(20))
    let leg = try LegDoorBench(isWired: true)
    leg.run(until: 400)
    for frame in [LegBytes.arm, LegBytes.set(1500)] {
      leg.udp(frame)
      leg.run(for: 5)
    }
    let runtime = try Runtime { Lane("motion") { Loop("balance", every: .hertz(100)) { Still() } } }
    try runtime.start()
    defer { runtime.stop() }
    let sources: [any MetricSource] = [
      RuntimeMetrics(runtime, version: "1.2.3"), RobotMetrics({ snapshot }, now: { now }),
      LegMetrics(leg.door), SprinklerMetrics(try SprinklerDoorBench().door), ProcessMetrics(),
      ServiceMetrics(ServiceCounters()),
    ]
    var writer = MetricsWriter()
    for source in sources { source.write(into: &writer) }
    return writer.text
  }
}
