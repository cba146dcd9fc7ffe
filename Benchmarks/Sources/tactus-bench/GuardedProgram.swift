import Glibc
import Tactus
import TactusGuard

/// guarded LINE TIMEOUT-MS ENDING: an embedder's program with a 1 kHz lane, whose guard writes "S" on LINE. Prints "ready"; after a line of
/// input it prints the instant, in ns of CLOCK_MONOTONIC, and ends as it was told, or waits to be ended.
enum GuardedProgram {
  struct Thrown: Error {}

  private struct Controller: ~Copyable, ControlLoop, NoOutput {
    let stall: LaneStall.Served

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) { stall.serve(at: tick.started) }
  }

  static func run(_ arguments: Arguments) throws {
    let outputs = try Guard(
      [.serial(path: arguments.word(0), baud: 115_200, bytes: [UInt8(ascii: "S")])],
      timeout: .milliseconds(Int64(arguments.int(1))))
    let stall = LaneStall()
    let runtime = try Runtime {
      Lane("motion") { Loop("controller", every: .hertz(1_000)) { Controller(stall: stall.served) } }
    }
    try outputs.watch(runtime)
    try runtime.start()
    say("ready")
    _ = readLine()
    say("\(MonotonicClock.now.nanoseconds)")
    switch arguments.word(2) {
    case "return": return
    case "exit": exit(0)
    case "throw": throw Thrown()
    case "trap": fatalError("as asked")
    case "hang":
      stall.ask(for: LaneStall.longest)
      while true { pause() }
    case "wait": while true { pause() }
    default: arguments.fail()
    }
  }

  private static func say(_ text: String) {
    let line = text + "\n"
    write(1, line, line.utf8.count)
  }
}
