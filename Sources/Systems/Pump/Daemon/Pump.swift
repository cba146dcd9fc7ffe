import ArgumentParser
import Buses
import BusesLinux
@_spi(FromOutside) import Conversions
import Logging
import Pump
import PumpDocuments
import Service
import ServiceDocuments
import Store
import Tactus
import TactusDaemon
import TactusGuard
import Wire

/// The cooling pump, in one of two roles: this program operates a pump, or this program is the pump.
///
/// The role is a configuration key. Orders, refusals, notices, state and rules are shared by both roles; `loops` makes the loop of the role.
public enum Pump: DeviceSystem, ShapesLane, ConvertsRules, PreparesState, KeepsOwn, Serves, HasDocuments {
  public typealias LoopRules = PumpRules
  public typealias Order = PumpOrder
  public typealias Refusal = PumpIgnoreReason
  public typealias Notice = PumpNotice
  public typealias State = PumpState

  public static let name = "pump"
  public static let summary = "The cooling pump: this program operates one, or is one."
  /// The loop has no lane settings: limits that must be kept in time are kept by the pump or by the guard.
  public static let lane = LaneKeys.none
  public static let emergencyStop = PumpOrder.emergencyStop
  public static func isEmergencyStopped(_ state: PumpState) -> Bool {
    switch state {
    case .operated(let snapshot): if case .emergencyStopped = snapshot.state { true } else { false }
    case .own(let snapshot): if case .emergencyStopped = snapshot.state { true } else { false }
    }
  }
  public static let reset = PumpOrder.reset
  public static let nothingToReset: PumpIgnoreReason? = .nothingToReset
  /// No order: the pump keeps running when a client leaves, and its run limit stops it.
  public static let whenClientLeaves: PumpOrder? = nil
  public static var keeping: Keeping { Keeping(tables: .pump, withoutIt: nil) }
  public static var documents: SystemDocuments { SystemDocuments(name, pump_documents()) }
  public static let stateSchema = "PumpReport"

  @DeclarationBuilder<Command<PumpOrder>> public static var commands: [Command<PumpOrder>] {
    Command("on", body: OnBody.self, "Turns the pump on.") { .run($0.speed, lasting: $0.time) }
    Command("speed", body: SpeedBody.self, "Sets the speed of a pump that is on.") { .setSpeed($0.speed ?? .standard) }
    Command("off", makesSafe: true, "Turns the pump off.") { .turnOff }
  }

  public static func initialState(_ wiring: Wiring, _ rules: Rules) -> PumpState {
    switch wiring.role {
    case .operator: .operated(PumpSnapshot(rules.operating.governor()))
    case .device: .own(PumpDeviceSnapshot(rules.own(wiring).governor()))
    }
  }

  /// Restores the used part of the run limit, so that the limit holds across restarts.
  public static func resume(_ state: inout PumpState, _ store: StoreFile, _ logger: Logger) {
    let keeper = PumpLimitKeeper(PumpStore(store), logger: logger)
    switch state {
    case .operated(let snapshot): state = .operated(PumpSnapshot(keeper.resume(snapshot.governor)))
    case .own(let snapshot): state = .own(PumpDeviceSnapshot(keeper.resume(snapshot.governor)))
    }
  }

  public static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    switch bench.wiring.role {
    case .operator: try operatorLoops(bench, mailbox)
    case .device: try deviceLoops(bench, mailbox)
    }
  }

  public static func desk(_ made: DeskMaterial<Pump>) -> PumpDesk { PumpDesk(made) }

  @DeclarationBuilder<SystemRoute<Pump>> public static var routes: [SystemRoute<Pump>] {
    SystemRoute.own { $0.history.routes + $0.readings.routes }
  }
}

/// The optional capabilities of the pump's system.
extension Pump: MayBeSimulated, HasCommands, Plays, Reaches {
  public static func isSimulated(_ wiring: Wiring) -> Bool { wiring.backend == .sim }
  public static var terminal: [any ParsableCommand.Type] { [OperatePumpCommand.self] }
  public static var simulatedDevices: [any ParsableCommand.Type] { [SimPumpCommand.self] }
  public static func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    try file.play(in: PumpScenario.self, seed: seed)
  }
  public static let scenarioHelp = "one with a `pump:` part a cooling pump with its water and skin"
  public static var guardOutputs: [String: (String) throws -> any GuardOutput] { [GuardRadio.name: GuardRadio.open] }
  public static func reach(_ wiring: Wiring, _ rules: Rules) -> Reach { Reach() }
}

// MARK: bodies

extension Pump {
  /// The body of `on`: the speed to set once the pump runs, or nothing for the pump's initial speed, and the minutes after which it turns off.
  struct OnBody: Settings {
    var percent: Int?
    var duty: Int?
    var minutes: Double?

    static var keys: [Key<OnBody>] {
      Key("speed_percent", \.percent, in: 0...100, unit: .percent, "Its speed; without one its own.")
      Key("speed_duty", \.duty, in: 0...255, "The same as a duty, as the pump takes it.")
      Key(
        "minutes", \.minutes, in: 0.1...1440, unit: .minutes,
        "Minutes from now after which it turns off; without them at its run limit, or when a run that goes on was to end."
      )
    }

    var time: Nanoseconds? { minutes.map { .seconds($0 * 60) } }

    var speed: PumpSpeed? {
      percent.map { PumpSpeed(percent: UInt8(clamping: $0)) } ?? duty.map { PumpSpeed(duty: UInt8(clamping: $0)) }
    }

    func check(_ report: (PartialKeyPath<OnBody>, String) -> Void) {
      if percent != nil, duty != nil { report(\.duty, "expected one of speedPercent and speedDuty, got both") }
    }
  }

  /// The body of `speed`: a duty or a percentage.
  struct SpeedBody: Settings {
    var body = OnBody()

    static var keys: [Key<SpeedBody>] {
      Key("speed_percent", \.body.percent, in: 0...100, unit: .percent, "Its speed.")
      Key("speed_duty", \.body.duty, in: 0...255, "The same as a duty, as the pump takes it.")
    }

    var speed: PumpSpeed? { body.speed }

    func check(_ report: (PartialKeyPath<SpeedBody>, String) -> Void) {
      if speed == nil { report(\.body.percent, "expected speedPercent or speedDuty, got nothing") }
      if body.percent != nil, body.duty != nil {
        report(\.body.duty, "expected one of speedPercent and speedDuty, got both")
      }
    }
  }
}

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
    // The line is not opened exclusively, because the guard has it open, too.
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
    // The loop could not wait for the pump's confirmation when it ended.
    mailbox.lastWords { last in
      try PumpFarewell(line: line, isUp: last.state.operated?.contact.isUp ?? false).say()
    }
    return [operatorLoop(mailbox, [line.input]) { line.link() }]
  }

  /// Makes the guard send OFF twice, because a serial line does not confirm that a line arrived whole; the leading line end terminates a line that
  /// the daemon may have left unfinished.
  private static func guardPump(_ bench: Bench<Wiring>) {
    // An invalid address is reported by `check`.
    switch try? PumpAddress(bench.wiring.device ?? Wiring.usualDevice) {
    case .serial(let path)?:
      bench.claim(.serial(path: path), key: "pump.device")
      bench.guardWrites(.serial(path: path, baud: bench.wiring.baud, bytes: Array("\nOFF\nOFF\n".utf8)))
    // An operator does not claim the radio, which carries many connections; only a device, which advertises, does.
    case .bluetooth(let place)?: bench.guardWrites(.custom(name: GuardRadio.name, text: "\(place)"))
    case nil: break
    }
  }

  private static func operatorLoop(
    _ mailbox: Inbox, _ inputs: [LoopInput], _ link: @escaping () -> PumpLink
  ) -> Loop {
    mailbox.loop(
      "pump", every: PumpOperatorLoop.rate, safeStateAfter: 10, inputs: inputs,
      // A serial line whose device has disappeared polls as readable until it is reopened.
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
    // The inputs are read one after the other, and a reading is used for up to a second, so its age is not known.
    let temperatureAge = DataAge("temperature", fromOutside: .unknown)
    return [
      mailbox.loop(
        "pump", every: PumpDeviceLoop.rate,
        safeStateAfter: safeStateAfter(guardTimeoutSeconds: bench.guardTimeoutSeconds),
        inputs: links.loopInputs + parts.loopInputs,
        // A serial line whose device has disappeared polls as readable until it is reopened.
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

/// The row of the dashboard.
extension Pump: HasPanels {
  @DeclarationBuilder<Panel> public static var panels: [Panel] {
    Panel.states("State of the pump", "Each state is a row; it is drawn while the pump is in it.") {
      Series("state")
    }
    Panel("Temperature of the pump", "As the device measures them.") {
      Series("temperature_celsius")
    }
    Panel("Speed of the pump") {
      Series("speed_ratio")
    }
    Panel("Pumped since the last rest", from: 0) {
      Series("pumped_seconds")
    }
    Panel("Commands of the pump", unit: "short", from: 0) {
      Series("commands_total", "sent")
      Series("failed_commands_total", "came to nothing")
      Series("answering", "answers")
    }
  }
}
