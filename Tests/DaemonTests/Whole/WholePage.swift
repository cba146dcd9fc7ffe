import Robot
import Sprinkler
import Tactus
import Video
import WallTime
import Wire

@testable import LegDaemon
@testable import PlantsDaemon
@testable import PumpDaemon
@testable import RobotDaemon
@testable import Service
@testable import SprinklerDaemon
@testable import TactusDaemon
@testable import VideoDaemon

/// All families of all sources, each with a value: a robot that drives, a leg with a pulse, a zone that is open in a rain delay, a plant, a
/// picture with a detector, a runtime with a lane that runs.
enum WholePage {
  static func text() throws -> String {
    try withSources { sources in
      var writer = MetricsWriter()
      for source in sources { source.write(into: &writer) }
      return writer.text
    }
  }

  /// A pump's own metrics are not there beside those of who operates it: they have the same names.
  static func withSources<Result>(_ body: ([any MetricSource]) throws -> Result) throws -> Result {
    let robot = try RobotSimulation()
    robot.operators[0].set(.wheels(WheelSpeeds(left: Percent(50), right: Percent(25))))
    robot.run(for: .milliseconds(500))
    let now = robot.now + .milliseconds(20)
    let robotDoor = HostedDoor<Robot>(
      try .init(state: robot.robot, rules: .standard), at: Robot.onlyPlace, beside: nil, now: { now })
    let leg = try LegDoorBench(isWired: true)
    leg.run(until: 400)
    for frame in [LegBytes.arm, LegBytes.set(1500)] {
      leg.udp(frame)
      leg.run(for: 5)
    }
    let age = DataAge("command", fromOutside: .releasesLoop)
    let runtime = try Runtime {
      Lane("motion") {
        Loop("balance", every: .hertz(100), executionTime: .microseconds(20), ages: [age]) { Still() }
      }
    }
    try runtime.start()
    defer { runtime.stop() }
    let (plants, pump) = (try plants(), try PumpDoorBench())
    // By its button, so that it has a speed.
    pump.world.press(true)
    pump.run(for: 200)
    pump.world.press(false)
    pump.run(for: 6_000)
    return try body([
      RuntimeMetrics(runtime, version: "1.2.3"), robotDoor, leg.door, try garden().door,
      plants.door, pump.door, try video(), StoreMetrics(plants.file), ProcessMetrics(),
      ServiceMetrics(ServiceCounters()),
      GuardMetrics(GuardHealth(.watching)),
    ])
  }

  private static func video() throws -> HostedDoor<Video> {
    let desk = VideoDesk(VideoDescription(), order: { _ in }, fileName: { "" })
    var statistics = VideoStatistics()
    (statistics.frames, statistics.firstFrame, statistics.encodeMean) = (30, 250_000_000, 2_000_000)
    desk.receive(.statistics(statistics))
    var detection = VideoDetection(.running)
    detection.duration = 40_000_000
    desk.receive(.detection(detection))
    return try HostedDoor(desk)
  }

  private static func plants() throws -> PlantDoorBench {
    let bench = try PlantDoorBench()
    _ = bench.app("REQ_addNewPlant", #"Basil--["0x36"]"#)
    bench.run(seconds: 20, moisture: 40)
    return bench
  }

  private static func garden() throws -> SprinklerDoorBench {
    let (zone, start) = (ZoneID(1)!, SprinklerDoorBench.start)
    return try SprinklerDoorBench(hasEverything: true) { records in
      records.rainDelay = RainDelay(until: start + 3600, reason: .manual)
      records.programs = [
        Program(
          id: 1, name: "Mornings", days: .weekdays(0b111_1111), starts: [.clock(minute: 600)],
          steps: [.init(zone: zone, seconds: 60)])
      ]
      records.nextProgram = 2
      var waiting = PendingRun(
        run: 1, zone: zone, program: nil, isScheduled: false, askedSeconds: 600, soakSeconds: 0, ignoresRain: true,
        queued: start)
      // It opens again after a power cut only, which another boot tells.
      waiting.boot = BootID("the boot before")
      records.pending = [waiting]
      (records.nextRun, records.seen) = (2, start)
    }
  }
}

/// Does nothing.
private struct Still: ControlLoop, NoOutput {
  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {}
}
