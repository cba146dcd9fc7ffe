import CBench
import Tactus

/// simulate empty|robot TICKS: ticks in simulated time for each second of real time.
enum SimulatedTime {
  static func run(_ arguments: Arguments) throws {
    let ticks = Int64(arguments.int(1))
    switch arguments.word(0) {
    case "empty":
      let runtime = try Runtime {
        Lane("bench") { Loop("empty", every: .hertz(1000)) { Counting() } }
      }
      let simulation = try runtime.simulation()
      report { simulation.run(for: .milliseconds(ticks)) }
    case "robot": try SimulatedRobotBench.run(ticks: ticks)
    default: arguments.fail()
    }
  }

  static func report(_ work: () -> Int64) {
    let start = bench_now()
    let ticks = work()
    print("{\"ticks\": \(ticks), \"ticks_per_second\": \(Double(ticks) / Double(bench_now() - start) * 1e9)}")
  }
}

/// The least a tick can do.
struct Counting: ControlLoop, NoOutput {
  var ticks: UInt64 = 0

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) { ticks &+= 1 }
}

/// loops COUNT RELEASES: real time for each release with COUNT loops on one lane, in simulated time.
enum ManyLoops {
  static func run(_ arguments: Arguments) throws {
    let count = arguments.int(0)
    let rounds = max(1, arguments.int(1) / count)
    let period = Nanoseconds.milliseconds(1)
    let runtime = try Runtime {
      Lane("bench") {
        for index in 0..<count {
          Loop("loop \(index)", every: .period(period), phase: period * Int64(index) / Int64(count)) { Counting() }
        }
      }
    }
    let simulation = try runtime.simulation()
    simulation.run(for: period * 2)
    let start = bench_now()
    let ticks = simulation.run(for: period * Int64(rounds))
    print("{\"ticks\": \(ticks), \"release_ns\": \(Double(bench_now() - start) / Double(ticks))}")
  }
}
