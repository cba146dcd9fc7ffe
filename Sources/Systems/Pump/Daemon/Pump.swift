import ArgumentParser
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
public enum Pump: DeviceSystem, ShapesLane, ConvertsRules, PreparesState, ResumesOwn, Serves, HasDocuments {
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
    Command("on", body: OnBody.self, "Turns the pump on.") { .run($0.speed) }
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
    SystemRoute.own { $0.history.routes }
  }
}

/// The optional capabilities of the pump's system.
extension Pump: MayBeSimulated, HasCommands, OffersSimulatedDevice, Plays, GuardsOutputs, Reaches {
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
  /// The body of `on`: the speed to set once the pump runs, or nothing for the pump's initial speed.
  struct OnBody: Settings {
    var percent: Int?
    var duty: Int?

    static var keys: [Key<OnBody>] {
      Key("speed_percent", \.percent, in: 0...100, unit: .percent, "Its speed; without one its own.")
      Key("speed_duty", \.duty, in: 0...255, "The same as a duty, as the pump takes it.")
    }

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
