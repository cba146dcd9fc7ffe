import Buses
import BusesLinux
@_spi(FromOutside) import Conversions
import Pump
import Service
import Tactus
import TactusDaemon
import TactusGuard

// The loop of each role.

extension Pump {
  // MARK: operator

  static func operatorLoops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let wiring = bench.wiring
    if !bench.isSimulated { guardPump(bench) }
    guard !bench.isPlanning else {
      let nowhere = SimulatedSerialPort()
      bench.keep(nowhere)
      return [operatorLoop(mailbox, []) { PumpLink(serial: nowhere.port()) }]
    }
    guard !bench.isSimulated else {
      let pump = try SimulatedPumpOnTerminal(.standard, PumpWorld.Parameters())
      let line = try LinuxSerialPort(path: pump.terminal.path, baudRate: wiring.baud)
      let impaired = ImpairedSerialPort(line.port(), clock: .monotonic)
      bench.keep(pump, line, impaired)
      let twin = SimulatedPump(pump.world)
      bench.simulates(
        [SimulatedBus("pump-serial", .wire(impaired)), SimulatedBus("pump", .twin(twin))], routes: twin.routes)
      bench.share(PumpLinkReports { [PumpLinkReport(.simulated)] })
      mailbox.lastWords { _ in pump.newest.state == .shutDown(.confirmed) }
      return [
        operatorLoop(mailbox, [.descriptor(line.descriptor)]) { PumpLink(serial: impaired.port()) },
        pump.loop("pump.simulated"),
      ]
    }
    let logger = bench.logger
    // Not exclusive: the guard has it open, too.
    let line = try bench.opening(\.device) {
      try PumpLine(wiring.address, baud: wiring.baud, exclusive: false) { news in
        logger.log(
          level: news.isTrouble ? .notice : .debug, "the way to the pump", metadata: ["link": .string(news.text)])
      }
    }
    bench.tend(line)
    let report = line.report
    bench.share(PumpLinkReports { [report()] })
    mailbox.eachSecond { newest, logger in
      line.mend(isDown: newest.state.operated.map { !$0.contact.isUp } ?? false, logger)
    }
    // The loop had no time to wait for the pump's word.
    mailbox.lastWords { last in
      try PumpFarewell(line: line, isUp: last.state.operated?.contact.isUp ?? false).say()
    }
    return [operatorLoop(mailbox, [line.input]) { line.link() }]
  }

  /// Makes the guard send OFF twice, because a serial line does not confirm that a line arrived whole; the leading line end terminates a line that
  /// the daemon may have left unfinished.
  private static func guardPump(_ bench: Bench<Wiring>) {
    // What is no address `check` reports.
    switch try? PumpAddress(bench.wiring.device ?? Wiring.usualDevice) {
    case .serial(let path)?:
      bench.claim(.serial(path: path), key: "pump.device")
      bench.guardWrites(.serial(path: path, baud: bench.wiring.baud, bytes: Array("\nOFF\nOFF\n".utf8)))
    // A radio has many connections: only who advertises has it alone.
    case .bluetooth(let place)?: bench.guardWrites(.custom(name: GuardRadio.name, text: "\(place)"))
    case nil: break
    }
  }

  private static func operatorLoop(
    _ mailbox: Inbox, _ inputs: [LoopInput], _ link: @escaping () -> PumpLink
  ) -> Loop {
    mailbox.loop(
      "pump", every: PumpOperatorLoop.rate, safeStateAfter: 10, inputs: inputs,
      // A line that is gone polls readable until it is opened anew.
      minimumInterval: .milliseconds(10)
    ) { PumpOperatorLoop($0, governor: mailbox.initialState.governor, link: link()) }
  }

  // MARK: the pump itself

  static func deviceLoops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let parts = try PumpDeviceHardware(bench)
    let links = try PumpDeviceLinks(bench)
    bench.tend(links)
    bench.share(PumpLinkReports(links.reports))
    mailbox.eachSecond { newest, logger in
      links.mend(isDown: newest.state.own.map { !$0.isFirstConnected } ?? false, logger)
    }
    if let world = parts.world {
      let twin = SimulatedPump(world)
      bench.simulates([SimulatedBus("pump", .twin(twin))] + links.buses, routes: twin.routes)
    }
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    // The inputs are read in turns, and each reading may be used for a second.
    let temperatureAge = DataAge("temperature", fromOutside: .unknown)
    return [
      mailbox.loop(
        "pump", every: PumpDeviceLoop.rate,
        safeStateAfter: safeStateAfter(guardTimeoutSeconds: bench.guardTimeoutSeconds),
        inputs: links.loopInputs + parts.loopInputs,
        // A line that is gone polls readable until it is opened anew.
        minimumInterval: .milliseconds(5), ages: [commandAge, temperatureAge]
      ) { ends in
        PumpDeviceLoop(
          ends, governor: mailbox.initialState.governor, link: links.serial(), second: links.bluetooth(),
          motor: parts.motor(), inputs: parts.inputs(), commandAge: commandAge.meter(),
          temperatureAge: temperatureAge.meter())
      }
    ]
  }

  /// Returns the number of consecutive missed releases that is a fault: 10, which is half a second, or fewer with a faster guard. The fault precedes
  /// the guard's turning off the motor, so that the loop does not take a stopped motor for a running one.
  static func safeStateAfter(guardTimeoutSeconds: Double) -> Int {
    let releases = Int(saturating: guardTimeoutSeconds * 1e9) / Int(PumpDeviceLoop.rate.period.count)
    return min(10, max(2, releases - 2))
  }
}
