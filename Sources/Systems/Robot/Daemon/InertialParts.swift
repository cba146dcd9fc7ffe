import Buses
import Robot
import Tactus
import TactusDaemon

/// The inertial sensors of the kernel that a bench has opened.
struct InertialParts {
  private let accelerometer: AxesPart
  private let gyroscope: AxesPart?

  /// Opens the sensors, or returns `nil` if the file names no accelerometer.
  init?(_ bench: Bench<Robot.Wiring>) throws {
    let mounting = bench.wiring.mounting ?? .upright
    let limit = Nanoseconds.milliseconds(500)
    let accelerometer = try bench.axes(
      \.accelerometer, measures: .metresPerSecondSquared, mounted: mounting, every: .hertz(50), staleAfter: limit)
    gyroscope = try bench.axes(
      \.gyroscope, measures: .radiansPerSecond, mounted: mounting, every: .hertz(50), staleAfter: limit)
    guard let accelerometer else { return nil }
    self.accelerometer = accelerometer
  }

  /// Returns the sensors for the one loop that reads them.
  func sensors() -> InertialSensors {
    InertialSensors(accelerometer: accelerometer.port(), gyroscope: gyroscope.map { $0.port() })
  }

  /// Returns the loop of the twin that sets the sensors; empty unless they are simulated.
  func twin(_ bench: Bench<Robot.Wiring>) -> [Loop] {
    guard bench.isSimulated else { return [] }
    let lean = SimulatedLean()
    bench.share(lean)
    let fallen = bench.fault("fallen", "The robot lies on its right side.")
    return bench.twin("robot.inertial", every: .hertz(50)) {
      FallingTwin(lean.twin(accelerometer: accelerometer.driver(), gyroscope: gyroscope.map { $0.driver() }), fallen)
    }
  }
}

/// The twin of the inertial sensors of a robot that somebody may knock over.
private struct FallingTwin: ~Copyable, ControlLoop, NoOutput {
  private var twin: InertialTwin
  private let fallen: FaultSwitch

  init(_ twin: consuming InertialTwin, _ fallen: FaultSwitch) {
    self.twin = twin
    self.fallen = fallen
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    twin.lean(rollDegrees: fallen.isOn() ? 90 : 0)
    twin.tick(tick)
  }
}
