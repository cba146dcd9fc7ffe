import CBench

/// One row's work a subcommand, called by the harness; each prints one line of JSON.
@main
struct TactusBench {
  static func main() async throws {
    let arguments = Arguments(CommandLine.arguments.dropFirst())
    switch arguments.word(0) {
    case "release": try await Release.run(arguments.after(1))
    case "cost": try ReleaseCost.run(arguments.after(1))
    case "calls": try ReleaseCalls.run(arguments.after(1))
    case "simulate": try SimulatedTime.run(arguments.after(1))
    case "loops": try ManyLoops.run(arguments.after(1))
    case "recorded": try Recorded.run(arguments.after(1))
    case "age": try Age.run(arguments.after(1))
    case "outage": try Outage.run(arguments.after(1))
    case "ring": RingBench.run(arguments.after(1))
    case "latest": LatestBench.run(arguments.after(1))
    case "deadman": try LegDeadman.run(arguments.after(1))
    case "deadman-simulated": try LegDeadman.runSimulated(arguments.after(1))
    case "keepalive": try LegKeepalive.run(arguments.after(1))
    case "leg": try LegReceive.run(arguments.after(1))
    case "receive": try Receive.run(arguments.after(1))
    case "guarded": try GuardedProgram.run(arguments.after(1))
    case "pid": try PIDBench.run(arguments.after(1))
    default: arguments.fail()
    }
  }
}
