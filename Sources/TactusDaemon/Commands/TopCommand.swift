import ArgumentParser
import Foundation
import Glibc
import Service
import Tactus

/// The command `tactus top`.
struct TopCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "top",
      abstract: "Shows the live loops of a daemon, here or elsewhere.",
      usage: DaemonOptions.usage("top [<host>] [--interval <time>] [--once] [<options>]"),
      discussion: """
        HZ, LATE… (from the instant a release was due to the start of its tick, or to the instant at which it was given up) \
        and EXEC… (the tick itself) are of the last interval, SKIPS, OVERRUN, MISSES and GAPMAX (the longest time between \
        two ticks) of the time from the daemon's start. "on 3.2s" in place of JITTER is how long a tick past its \
        deadline has run. JITTER is LATE99 of the last 30 intervals: ▁ is \
        below 3 µs, each higher bar about three times more, █ is 3 ms and above.
        AGE OF DATA is how old the data was that a loop acted on, at the end of the tick, since the daemon's start: of a \
        command from its datagram's arrival, or its request, until the actuator had it. BOUND is what the \
        planner says that no age exceeds while every tick and the kernel are in time; it rests on the longest ticks so far.
        Only looks: q quits.
        \(DaemonOptions.tokens)
        """)
  }

  @Argument(
    help:
      "The daemon's name, address or URL: NAME.local, 192.168.1.7:8000, https://NAME.local:8000. Unless given: this machine's daemon."
  )
  var host: String?

  @OptionGroup var daemon: DaemonOptions

  @Option(help: ArgumentHelp("Between two looks, 100ms…60s.", valueName: "time"))
  var interval = TimeSpan(argument: "1s")!

  @Flag(help: "Print what is known since the daemon's start, once, without colour; for scripts.")
  var once = false

  func validate() throws {
    try daemon.address(of: host)
    guard (.milliseconds(100)...Nanoseconds.seconds(60)).contains(interval.nanoseconds) else {
      throw ValidationError("Expected an interval of 100ms…60s.")
    }
  }

  func run() throws {
    // Signals are handled before the terminal is changed, since one must not leave it raw.
    let events = try ServiceEvents()
    if !once, isatty(0) == 0 || isatty(1) == 0 {
      complain("expected a terminal; for a script give --once")
      throw ExitCode(64)
    }
    let (client, token) = try daemon.client(of: host)
    let address = client.address
    defer { client.stop() }
    let poller = TopPoller(client, hasToken: token != nil, bell: events.doorbell.button)
    if once {
      try printOnce(poller, events: events, host: "\(address)")
    } else if let terminal = RawTerminal(0) {
      var top = InteractiveTop(poller, host: "\(address)")
      if let refusal = try top.run(every: interval.nanoseconds, events: events, terminal: terminal) {
        complain(refusal)
        throw ExitCode.failure
      }
    }
  }

  private func printOnce(_ poller: TopPoller, events: borrowing ServiceEvents, host: String) throws {
    poller.ask()
    while true {
      for event in events.wait() {
        if case .stop = event { throw ExitCode.failure }
      }
      switch poller.takeAnswer() {
      case .sample(let sample):
        var model = TopModel()
        model.add(sample)
        print(
          TopScreen.text(TopScreen.lines(model, host: host, width: isatty(1) == 1 ? TerminalSize.current.width : 120)))
        return
      case .unreachable(let reason):
        complain("\(host): \(reason)")
        throw ExitCode.failure
      case .refused(let reason):
        complain(reason)
        throw ExitCode.failure
      case nil: break
      }
    }
  }
}
