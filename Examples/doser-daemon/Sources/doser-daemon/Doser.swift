import Buses
import Tactus
import TactusControl
import TactusDaemon

/// A peristaltic dosing pump: stepper on three lines, flow sensor on a line that counts edges, float switch in the canister. It doses in
/// millilitres, by hand or by a schedule, and no more in a day than its limit.
enum Doser: DeviceSystem, Several, Keeps, Resumes, Serves, ChecksTogether {
  static let name = "doser"
  static let list = "dosers"
  static let most = 4
  static let summary = "A peristaltic pump that doses in millilitres, by hand or by a schedule."
  static let initialState = State()
  static let emergencyStop = Order.emergencyStop
  static func isEmergencyStopped(_ state: State) -> Bool { state.machine.mode == .emergencyStopped }
  static let reset = Order.reset
  static let nothingToReset: Refusal? = .nothingToReset
  /// A dose ends by itself.
  static let whenClientLeaves: Order? = nil

  static var fields: [Field<State>] {
    Field("state", \.machine.mode, "What the pump does.")
    Field("askedMillilitres", \.machine.asked, unit: millilitres, "The newest dose.")
    Field("dosedMillilitres", \.machine.dosed, unit: millilitres, "What of it is dosed.")
    Field("todayMillilitres", \.machine.today, unit: millilitres, "Dosed today, all of the present dose included.")
      .keptAtOnce
    Field("day", \.machine.day, "The day of that sum, in days since 1970; null until a clock was sure.").keptAtOnce
    Field("empty", \.isEmpty, "Whether the float switch shows an empty canister.")
    Field("failures", \.failures, kind: .counter, "Reads and writes of lines that failed.")
  }

  static var commands: [Command<Order>] {
    Command("dose", "Doses an amount.", Parameter("millilitres", in: 0.1...1_000, unit: millilitres, "How much.")) {
      .dose(millilitres: $0, isScheduled: false)
    }
    Command("stop", makesSafe: true, "Ends the dose.") { .stop }
  }

  static func resume(_ state: inout State, _ kept: Kept) {
    state.machine = Machine(today: kept.value("todayMillilitres"), day: kept.value("day"))
  }

  static var tables: [Table<Wiring>] {
    Table("doser_doses", Dose.self, since: 1, number: \.number, time: \.start, keepDays: \.logDays, most: 100_000)
      .leftOpen(\Dose.end, is: "interrupted")
  }

  static func check(_ wiring: Wiring, _ rules: Rules, _ report: Contradictions<Doser>) {
    let most = DoserLoop.most * 60 / wiring.stepsPerMillilitre
    if rules.rate > most {
      report(\.rate, "expected at most \(most): \(DoserLoop.most) steps a second, got \(rules.rate)")
    }
  }

  static func desk(_ made: DeskMaterial<Doser>) -> DoserDesk { DoserDesk(made) }

  static var routes: [SystemRoute<Doser>] {
    SystemRoute.get("plan", answers: Plan.self, "The schedule.") { desk, _ in desk.plan() }
    SystemRoute.history("doses", of: Dose.self, "The doses so far.")
    SystemRoute.history("doses.csv", of: Dose.self, "The doses so far as CSV.")
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let wiring = bench.wiring
    let step = try bench.output(\.step, safe: .inactive)
    let direction = try bench.output(
      \.direction, safe: .none(because: "a stepper that is not enabled has no direction"))
    let enable = try bench.output(\.enable, safe: .inactive)
    let flow = try bench.edges(\.flow, edges: .rising)
    let float = try bench.edges(\.float, edges: .both, pull: .up)
    let kinked = bench.fault("kinked", "The hose is kinked: the pump turns and nothing flows.")
    let empty = bench.fault("empty", "The canister is empty.")
    let ramp = try StepRamp(rateLimit: DoserLoop.most, accelerationLimit: 100)
    let loop = mailbox.loop("doser", every: .hertz(200), safeStateAfter: 100) { ends in
      DoserLoop(
        ends: ends, step: step.port(), direction: direction.port(), enable: enable.port(), flow: flow.port(),
        float: float.port(), ramp: ramp, stepsPerMillilitre: wiring.stepsPerMillilitre,
        pulsesPerMillilitre: wiring.pulsesPerMillilitre, isReversed: wiring.isReversed, state: mailbox.initialState)
    }
    return [loop]
      + bench.twin("doser.simulated", every: .hertz(1_000)) {
        DoserTwin(
          step: step, enable: enable, flow: flow, float: float, isKinked: kinked, isEmpty: empty,
          pulses: wiring.pulsesPerMillilitre / wiring.stepsPerMillilitre)
      }
  }
}

extension Doser {
  static let millilitres = Unit("ml")

  /// The lines and devices of the pump, and the schedule of its doses.
  struct Wiring: Settings {
    var step = GPIOLineName.bcm(17)
    var direction = GPIOLineName.bcm(27)
    var enable = GPIOLineName.bcm(22)
    var flow = GPIOLineName.bcm(23)
    var float = GPIOLineName.bcm(24)
    var isReversed = false
    var stepsPerMillilitre = 40.0
    var pulsesPerMillilitre = 10.0
    var logDays = 365
    var schedule: [Scheduled] = []

    static var keys: [Key<Wiring>] {
      Key("step", \.step, "The line of the stepper's driver that takes a step at each rising edge.")
      Key("direction", \.direction, "The line of its direction.")
      Key("enable", \.enable, "The line that powers it while it is high.")
      Key("flow", \.flow, "The line of the flow sensor, which rises once a pulse.")
      Key("float", \.float, "The line of the float switch, which is low while the canister is empty.")
      Key("reversed", \.isReversed, "Whether the direction's line is high while it doses.")
      Key(
        "steps_per_ml", \.stepsPerMillilitre, in: 1...10_000, "Steps for a millilitre: count into a measuring cylinder."
      )
      Key("pulses_per_ml", \.pulsesPerMillilitre, in: 0.1...1_000, "Pulses of the sensor for a millilitre.")
      Key("log_days", \.logDays, in: 1...3_650, "Days for which doses are kept.")
      Key("schedule", \.schedule, upTo: 24, "When it doses by itself, each day by the machine's clock.")
    }
  }

  /// A dose that the schedule gives on each day.
  struct Scheduled: Settings, BitwiseCopyable {
    var hour = 8
    var minute = 0
    var amount = 0.0

    static var keys: [Key<Scheduled>] {
      Key("hour", \.hour, in: 0...23, unit: .hours, "The hour.")
      Key("minute", \.minute, in: 0...59, unit: .minutes, "The minute.")
      Key("ml", \.amount, in: 0.1...1_000, unit: millilitres, "How much.")
    }
  }

  /// The pump's speed and its limits.
  struct Rules: Settings, BitwiseCopyable {
    var rate = 60.0
    var mostADay = 100.0

    static var keys: [Key<Rules>] {
      Key("ml_per_minute", \.rate, in: 0.1...1_000, unit: Unit("ml/min"), "How fast it doses.")
      Key(
        "most_ml_a_day", \.mostADay, in: 0...100_000, unit: millilitres, limit: .upper, "How much of it a day may have."
      )
      .kept
    }
  }

  /// The state that the loop publishes in every tick.
  struct State: BitwiseCopyable, Sendable {
    var machine = Machine()
    var isEmpty = false
    var failures = 0
  }
}
