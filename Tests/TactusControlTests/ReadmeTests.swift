import Foundation
import Tactus
import TactusControl
import TestSupport
import Testing

@Suite("README.md of TactusControl", .ownThread)
struct ReadmeTests {
  @Test("its example compiles, and proves its tick")
  func example() throws {
    let blocks = try Self.readme.components(separatedBy: "```swift\n").dropFirst()
    try #require(blocks.count == 1)
    let source = try #require(blocks.first?.components(separatedBy: "```").first)
    let (status, output) = try compile(source)
    #expect(status == 0, "\(output)")
  }

  static var readme: String {
    get throws {
      try String(
        contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
          .appending(path: "../../Sources/TactusControl/README.md"), encoding: .utf8)
    }
  }

  @Test("its loop, closed over a simulated motor: at 0.25 m after 5 s, never beyond ±12 V")
  func closedLoop() throws {
    let (position, voltage) = (Latest(0.0), Latest(0.0))
    let gains = try PIDSettings(
      proportional: 200, integral: 400, derivative: 4, derivativeFilter: .milliseconds(5), minimumOutput: -12,
      maximumOutput: 12, sampleTime: .milliseconds(1))
    let lowPass = try BiquadCoefficients.lowPass(cutoff: 100, sampleTime: .milliseconds(1))
    let runtime = try Runtime {
      Lane("motion") {
        Loop("motor", every: .hertz(1000), phase: .zero) {
          Motor(position: position.writer(), voltage: voltage.reader())
        }
        Loop("axis", every: .hertz(1000), phase: .microseconds(500)) {
          Axis(pid: PID(gains), smooth: Biquad(lowPass), position: position.reader(), voltage: voltage.writer())
        }
      }
    }
    let simulation = try runtime.simulation()
    var positions = position.reader()
    var voltages = voltage.reader()
    for _ in 0..<5_000 {
      simulation.run(for: .milliseconds(1))
      #expect(voltages.read().magnitude <= 12)
    }
    #expect((positions.read() - 0.25).magnitude < 1e-4)
  }

  /// A motor on a spindle: its speed follows the voltage at 0.05 m/s a volt with a lag of 50 ms, against a friction of 1 V.
  struct Motor: ~Copyable, ControlLoop, NoOutput {
    var position: LatestWriter<Double>
    var voltage: LatestReader<Double>
    var at = 0.0
    var speed = 0.0

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      speed += 0.001 / 0.05 * (0.05 * (voltage.read() - 1) - speed)
      at += 0.001 * speed
      position.write(at)
    }
  }

  struct Axis: ~Copyable, ControlLoop {
    var pid: PID
    var smooth: Biquad
    var position: LatestReader<Double>
    var voltage: LatestWriter<Double>

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      voltage.write(pid.step(setpoint: 0.25, measurement: smooth.step(position.read())))
    }

    @_noLocks @_noAllocation
    mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
      voltage.write(0)
      pid.reset()
    }
  }
}
