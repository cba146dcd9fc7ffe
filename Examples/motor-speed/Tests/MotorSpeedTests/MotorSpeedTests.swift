import Buses
import MotorSpeed
import Tactus
import Testing

/// The loop, its board and somebody who asks for a speed, in simulated time.
final class Bench {
  let line = SimulatedSerialPort(logCapacity: 65_536)
  let board = SimulatedMotorBoard()
  let simulation: Simulation
  let runtime: Runtime
  private var commands: RingWriter<SpeedCommand>
  private var report: LatestReader<SpeedReport>

  init() throws {
    let (ring, latest) = (Ring<SpeedCommand>(capacity: 16), Latest(SpeedReport()))
    let controller = try SpeedController()
    line.attach(board.device)
    runtime = try Runtime { [line] in
      Lane("motion") {
        Loop("speed", every: .hertz(1000), phase: .zero, safeStateAfter: 3) {
          SpeedLoop(controller, line: line.port(), commands: ring.reader(), published: latest.writer())
        }
      }
    }
    simulation = try runtime.simulation()
    commands = ring.writer()
    report = latest.reader()
  }

  func ask(_ command: SpeedCommand) {
    let isTaken = commands.push(command)
    #expect(isTaken)
  }

  var now: SpeedReport { report.read() }

  /// Runs for so long, asking every 50 ms for a speed. Returns what the loop said after each millisecond.
  @discardableResult
  func turn(_ speed: Double, milliseconds: Int) -> [SpeedReport] {
    (0..<milliseconds).map { millisecond in
      if millisecond % 50 == 0 { ask(.turn(speed)) }
      simulation.run(for: .milliseconds(1))
      return now
    }
  }
}

@Suite("Motor speed")
struct MotorSpeedTests {
  @Test("a step to 150 rad/s: there within 5 % after 0.4 s, at most 8 % beyond, then within 3 rad/s in the mean")
  func step() throws {
    let speeds = try Bench().turn(150, milliseconds: 2_000).map(\.speed)
    #expect(speeds[400...].allSatisfy { (142.5...157.5).contains($0) })
    #expect(speeds.max()! < 162)
    #expect((speeds[1_000...].reduce(0, +) / 1_000 - 150).magnitude < 3)
  }

  @Test("silence: 200 ms after the last command, to the nanosecond, the board is told 0 V")
  func silence() throws {
    let bench = try Bench()
    bench.turn(150, milliseconds: 1_020)
    bench.simulation.run(for: .seconds(1))
    // The last command was taken in the tick at 1,001 ms.
    let cut = bench.line.transactions().first {
      $0.direction == .sent && $0.kept == [0] && $0.at.nanoseconds > 500_000_000
    }
    #expect(cut?.at == TickInstant(nanoseconds: 1_201_000_000))
    #expect(bench.now.state == .stopped && bench.now.speed.magnitude < 2)
  }

  @Test("stop: the safe state is the last thing that the board hears")
  func stop() throws {
    let bench = try Bench()
    bench.turn(150, milliseconds: 500)
    #expect(bench.board.voltage > 3)
    bench.simulation.stop()
    #expect(bench.board.voltage == 0)
  }

  @Test("the shaft is held: a fault within 0.7 s, no voltage whatever is asked for, until a reset")
  func stall() throws {
    let bench = try Bench()
    bench.turn(150, milliseconds: 500)
    bench.board.block(true)
    bench.turn(150, milliseconds: 700)
    #expect(bench.now.state == .fault(.stalled) && bench.board.voltage == 0)
    bench.board.block(false)
    #expect(bench.turn(150, milliseconds: 500).allSatisfy { $0.voltage == 0 })
    bench.ask(.reset)
    bench.turn(150, milliseconds: 500)
    #expect(bench.now.state == .turning && (142.5...157.5).contains(bench.now.speed))
  }

  @Test(
    "the line is unplugged: a fault at once; plugged in again, a reset leads out",
    arguments: [SimulatedSerialPort.Fault.gone, .full])
  func unplugged(fault: SimulatedSerialPort.Fault) throws {
    let bench = try Bench()
    bench.turn(150, milliseconds: 500)
    bench.line.inject(fault)
    bench.turn(150, milliseconds: 1)
    #expect(bench.now.state == .fault(.lineLost))
    bench.line.clearFaults()
    bench.turn(150, milliseconds: 100)
    #expect(bench.now.state == .fault(.lineLost) && bench.board.voltage == 0)
    bench.ask(.reset)
    bench.turn(150, milliseconds: 500)
    #expect(bench.now.state == .turning)
  }

  @Test("the kernel wakes the lane late, 2 ms each 100 ms: the speed stays within 5 %, and the lateness is told")
  func jitter() throws {
    let bench = try Bench()
    bench.turn(150, milliseconds: 1_000)
    for hole in 0..<10 {
      let at = bench.simulation.now + .milliseconds(Int64(hole) * 100 + 10)
      bench.simulation.oversleep(lane: "motion", at: at, by: .milliseconds(2))
    }
    #expect(bench.turn(150, milliseconds: 1_000).allSatisfy { (142.5...157.5).contains($0.speed) })
    let loop = try #require(bench.runtime.statistics["speed"])
    #expect(loop.counters.oversleeps == 10 && loop.latency.maximum == .milliseconds(2))
    #expect(bench.now.state == .turning)
  }

  @Test("the lane is late by 5 ms: the loop goes to its safe state")
  func late() throws {
    let bench = try Bench()
    bench.turn(150, milliseconds: 500)
    bench.simulation.oversleep(lane: "motion", at: bench.simulation.now, by: .milliseconds(5))
    bench.turn(150, milliseconds: 10)
    #expect(bench.now.state == .fault(.late) && bench.board.voltage == 0)
  }
}
