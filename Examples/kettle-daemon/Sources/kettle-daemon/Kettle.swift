import Buses
import Tactus
import TactusDaemon

/// A brewing kettle that follows a programme of temperatures: heater on a PWM output, agitator on a line, level switch, Pt100 on a MAX31865.
enum Kettle: DeviceSystem, Several, Keeps, Resumes, Serves, HasCard {
  static let name = "kettle"
  static let list = "kettles"
  static let most = 4
  static let summary = "A brewing kettle that follows a programme of temperatures."
  static let initialState = State()
  static let emergencyStop = Order.emergencyStop
  static func isEmergencyStopped(_ state: State) -> Bool { state.machine.mode == .emergencyStopped }
  static let reset = Order.reset
  static let nothingToReset: Refusal? = .nothingToReset
  /// A mash goes on when a browser is closed.
  static let whenClientLeaves: Order? = nil
  static let card = Card(
    html: PackageResources.card_html, script: PackageResources.card_js, style: PackageResources.card_css)

  static var fields: [Field<State>] {
    Field("state", \.machine.mode, "What the kettle does.")
    Field("step", \.machine.number, "Number of the step of the programme, from 1; null while there is none.").kept
    Field("targetCelsius", \.target, unit: .celsius, "Temperature of that step; null while nothing is heated.")
    Field("temperatureCelsius", \.celsius, unit: .celsius, "Temperature of the mash; null while unknown.")
    Field("powerPercent", \.power, unit: .percent, "Share of the heater's full power.")
    Field("full", \.isFull, "Whether the level switch is covered.")
    Field("failures", \.failures, kind: .counter, "Writes that failed.")
    Field("heldSeconds", \.machine.held, unit: .seconds, "How long that step's temperature has been held.").kept
  }

  static var commands: [Command<Order>] {
    Command("start", "Begins the programme, or goes on with the one that a restart has interrupted.") { .start }
    Command("stop", makesSafe: true, "Ends the programme; heater and agitator are off.") { .stop }
  }

  /// A kettle that was at work waits for somebody who starts it again: nothing heats by itself after a power cut.
  static func resume(_ state: inout State, _ kept: Kept) {
    state.machine = Machine(resuming: kept.value("step"), held: kept.value("heldSeconds") ?? 0)
  }

  static var tables: [Table<Wiring>] {
    Table("kettle_runs", Run.self, since: 1, number: \.number, time: \.start, keepDays: \.logDays, most: 10_000)
      .leftOpen(\Run.end, is: "interrupted")
  }

  static func desk(_ made: DeskMaterial<Kettle>) -> KettleDesk { KettleDesk(made) }

  static var routes: [SystemRoute<Kettle>] {
    SystemRoute.get("recipe", answers: Recipe.self, "The programme.") { desk, _ in desk.recipe() }
    SystemRoute.history("runs", of: Run.self, "The runs so far.")
    SystemRoute.history("runs.csv", of: Run.self, "The runs so far as CSV.")
    SystemRoute.put("runs/{number}/note", body: Note.self, answers: Run.self, "What the brewer says of a run.") {
      desk, note, _ in try desk.note(note)
    }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let heater = try bench.pwm(\.heater, period: .milliseconds(1_000), safe: .inactive)
    let agitator = try bench.output(\.agitator, safe: .inactive)
    let level = try bench.edges(\.level, edges: .both, pull: .up)
    let thermometer = try bench.spi(\.thermometer, mode: 1, safe: .none(because: "the converter is only read"))
    let dry = bench.fault("dry", "The kettle runs dry.")
    let broken = bench.fault("broken", "The thermometer's wire is off.")
    let programme = Programme(bench.wiring.steps)
    let loop = mailbox.loop("kettle", every: .hertz(10), safeStateAfter: 10) { ends in
      KettleLoop(
        ends: ends, heater: heater.port(), agitator: agitator.port(), level: level.port(), spi: thermometer.port(),
        programme: programme, state: mailbox.initialState)
    }
    return [loop]
      + bench.twin("kettle.simulated", every: .hertz(20)) {
        KettleTwin(heater: heater, level: level, thermometer: thermometer, isDry: dry, isBroken: broken)
      }
  }
}

extension Kettle {
  /// The lines and devices of the kettle, and its programme.
  struct Wiring: Settings {
    var heater = PWMOutputName(chip: "/sys/class/pwm/pwmchip0", channel: 0)
    var agitator = GPIOLineName.bcm(17)
    var level = GPIOLineName.bcm(27)
    var thermometer = "/dev/spidev0.0"
    var logDays = 365
    var steps = [Step(celsius: 52, minutes: 10), Step(celsius: 66, minutes: 60), Step(celsius: 78, minutes: 5)]

    static var keys: [Key<Wiring>] {
      Key("heater", \.heater, "The PWM output of the heater's relay.")
      Key("agitator", \.agitator, "The line of the agitator.")
      Key("level", \.level, "The line of the level switch, which is low while the kettle is full.")
      Key("thermometer", \.thermometer, "The MAX31865 with a Pt100: a chip select of SPI.")
      Key("log_days", \.logDays, in: 1...3_650, "Days for which runs are kept.")
      Key("steps", \.steps, upTo: Programme.most, "The programme: its steps, one after the other.")
    }
  }

  /// A step of a programme.
  struct Step: Settings, BitwiseCopyable {
    var celsius = 20.0
    var minutes = 10.0

    static var keys: [Key<Step>] {
      Key("celsius", \.celsius, in: 20...100, unit: .celsius, "Temperature to reach.")
      Key("minutes", \.minutes, in: 0...1_440, unit: .minutes, "How long it is held.")
    }
  }

  /// The limits and gains of the heating.
  struct Rules: Settings, BitwiseCopyable {
    var gain = 20.0
    var integral = 0.02
    var most = 100.0

    static var keys: [Key<Rules>] {
      Key("gain", \.gain, in: 0.1...100, unit: Unit("%/°C"), "Power for each degree below the target.")
      Key(
        "integral", \.integral, in: 0...10, unit: Unit("%/°C/s"), "Power for each degree and second below the target.")
      Key("most_percent", \.most, in: 5...100, unit: .percent, limit: .upper, "Power at most.").kept
    }
  }

  /// The state that the loop publishes in every tick.
  struct State: BitwiseCopyable, Sendable {
    var machine = Machine()
    var target: Double?
    var celsius: Double?
    var power = 0.0
    var isFull = false
    var failures = 0
  }
}
