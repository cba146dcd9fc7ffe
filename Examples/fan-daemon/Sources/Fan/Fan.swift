import Buses
import Devices
import Tactus
import TactusDaemon

/// A fan that holds a temperature: motor on a PWM output, tachometer on a line, thermistor on an ADS1115.
enum Fan: DeviceSystem {
  static let name = "fan"
  static let summary = "A fan that holds a temperature."
  static let initialState = State()
  static let emergencyStop = Order.emergencyStop
  static func isEmergencyStopped(_ state: State) -> Bool { state.machine.mode == .emergencyStopped }
  static let reset = Order.reset
  static let nothingToReset: Refusal? = .nothingToReset
  /// A box stays warm when a browser is closed.
  static let whenClientLeaves: Order? = nil

  static var fields: [Field<State>] {
    Field("state", \.machine.mode, "What the fan does.")
    Field(
      "targetCelsius", \.machine.targetIfRunning, unit: .celsius, "Temperature that it holds; null while it holds none."
    )
    Field("temperatureCelsius", \.celsius, unit: .celsius, "Temperature of the thermistor; null while unknown.")
    Field("speedRpm", \.rpm, unit: .rpm, "Speed of the fan.")
    Field("dutyPercent", \.duty, unit: .percent, "Share of full power.")
    Field("failures", \.failures, kind: .counter, "Transfers and writes that failed.")
  }

  static var commands: [Command<Order>] {
    Command(
      "set", "Holds a temperature.", Parameter("targetCelsius", in: 20...80, unit: .celsius, "Temperature to hold.")
    ) {
      .set(celsius: $0)
    }
    Command("off", makesSafe: true, "Turns the fan off.") { .off }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let period = Nanoseconds(1_000_000_000 / Int64(bench.wiring.hertz))
    let motor = try bench.pwm(\.pwm, period: period, safe: .inactive)
    let tachometer = try bench.edges(\.tachometer, edges: .falling)
    let bus = try bench.i2c(\.bus, chip: ADS1115.standardAddress, safe: .none(because: "the converter is only read"))
    let stall = bench.fault("stall", "The rotor is held.")
    let loop = mailbox.loop("fan", every: .hertz(20), safeStateAfter: 5) { ends in
      FanLoop(
        ends: ends, motor: motor.port(), tachometer: Tachometer(tachometer.port()), thermistor: Thermistor(channel: 0),
        bus: bus.port())
    }
    let twin = bench.twin("fan.simulated", every: .hertz(200)) {
      FanTwin(motor: motor, tachometer: tachometer, bus: bus, isHeld: stall)
    }
    return [loop] + twin
  }
}

// MARK: keys and state

extension Fan {
  /// The lines and devices of the fan.
  struct Wiring: Settings {
    var pwm = PWMOutputName(chip: "/sys/class/pwm/pwmchip0", channel: 0)
    var hertz = 25_000
    var tachometer = GPIOLineName.bcm(17)
    var bus = 1

    static var keys: [Key<Wiring>] {
      Key("pwm", \.pwm, "The PWM output of the motor.")
      Key("pwm_hz", \.hertz, in: 10...50_000, unit: .hertz, "Periods a second of that output.")
      Key("tachometer", \.tachometer, "The line of the tachometer, two pulses a turn.")
      Key("i2c_bus", \.bus, in: 0...255, "Number N of /dev/i2c-N with the thermistor's ADS1115.")
    }
  }

  /// The gains and limits of the control.
  struct Rules: Settings, BitwiseCopyable {
    var gain = 10.0
    var least = 20.0
    var most = 100.0

    static var keys: [Key<Rules>] {
      Key("gain", \.gain, in: 0.1...100, unit: Unit("%/°C"), "Duty for each degree above the target.")
      Key("least_percent", \.least, in: 10...100, unit: .percent, "Duty below which the motor does not start.")
      Key("most_percent", \.most, in: 10...100, unit: .percent, limit: .upper, "Duty above which it is too loud.")
    }

    func check(_ report: (PartialKeyPath<Rules>, String) -> Void) {
      if most < least { report(\.most, "expected at least fan.least_percent (\(least)), got \(most)") }
    }
  }

  /// The state that the loop publishes in every tick.
  struct State: BitwiseCopyable, Sendable {
    var machine = Machine()
    var duty = 0.0
    var rpm = 0.0
    var celsius: Double?
    var failures = 0
  }
}
