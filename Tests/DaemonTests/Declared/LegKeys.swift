import Buses
import Service
import Tactus
import TactusDaemon

/// The keys of the legs as a declaration says them: two sections, one of them a list whose items have keys of both kinds, a part of a section, keys in
/// sections of the program, and rules that the loop takes in another form.
enum LegKeys: DeviceSystem, Sections, ShapesLane, ConvertsRules, ChecksTogether {
  static let name = "leg"
  static let summary = "Servo legs."
  static let sections = [
    ConfigSection(name: "leg", doc: "The chip of the servo legs. The legs run when this section or `legs` is present."),
    ConfigSection(name: "legs", doc: "One item for each leg."),
  ]
  static let lane = LaneKeys(
    "runtime.leg", "the legs' lane", priority: 80,
    safeStateAfter: (3, "every leg is in fault, without a pulse, until disarmed"))
  static let initialState = State()
  static let emergencyStop = Order.stop
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.stop
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  typealias Refusal = NoRefusal

  static var fields: [Field<State>] {
    Field("deadmanMs", \.deadman, unit: .milliseconds, "What the loop uses.")
    Field("slewUsPerSecond", \.slew, "That of the last leg; null if it has none.")
  }
  static var commands: [Command<Order>] {
    Command("stop", makesSafe: true, "Ends every pulse.") { .stop }
    Command("move", "Moves.") { .move }
  }

  struct State: BitwiseCopyable, Sendable {
    var deadman = 0
    var slew: Int?
  }
  enum Order: BitwiseCopyable, Sendable { case stop, move }
  enum Notice: String, NoticeWord {
    case none
    var isTrouble: Bool { false }
    var sentence: String { "nothing" }
  }

  /// A list is nothing that a tick may have.
  struct LoopRules: BitwiseCopyable, Sendable {
    var deadman: Int
    var slew: Int?
  }

  static func loopRules(_ wiring: Wiring, _ rules: Rules) -> LoopRules {
    LoopRules(deadman: rules.deadmanMilliseconds, slew: rules.legs.last?.slewMicrosecondsPerSecond)
  }

  static func check(_ wiring: Wiring, _ rules: Rules, _ report: Contradictions<LegKeys>) {
    if rules.deadmanMilliseconds * wiring.rateHertz < 5_000 {
      report(
        \.deadmanMilliseconds,
        "expected at least five periods of \(report.setting(\.rateHertz, wiring.rateHertz)), got \(rules.deadmanMilliseconds)"
      )
    }
    for (index, leg) in rules.legs.enumerated() where leg.releaseAfterSeconds != nil && wiring.frequencyHertz > 300 {
      report(\.legs, index, \.releaseAfterSeconds, "expected nothing with leg.frequency_hz above 300")
    }
    if let warning = rules.warningMillivolts, let fault = rules.faultMillivolts, warning < fault {
      report(
        \.warningMillivolts, "expected at least \(report.setting(\.faultMillivolts, fault)), got \(warning)",
        or: \.faultMillivolts, "expected at most \(report.setting(\.warningMillivolts, warning)), got \(fault)")
    }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    _ = try bench.i2c(\.i2cBus, chip: I2CAddress(0x40)!, safe: .none(because: "nothing is driven"))
    return [
      mailbox.loop("leg", every: .hertz(Double(bench.wiring.rateHertz)), safeStateAfter: bench.safeStateAfter) {
        LegKeysLoop(ends: $0)
      }
    ]
  }
}

private struct LegKeysLoop: ~Copyable, ControlLoop {
  var ends: LegKeys.Ends
  var isSafe = true

  init(ends: consuming LegKeys.Ends) { self.ends = ends }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      if case .move = request.order { isSafe = false } else { isSafe = true }
      ends.answer(request, .accepted)
    }
    ends.finish(LegKeys.State(deadman: ends.rules.deadman, slew: ends.rules.slew), isSafe: isSafe)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { isSafe = true }
}

// MARK: keys

extension LegKeys {
  enum Backend: String, Word { case pca9685, sim }
  enum BatterySensor: String, Word { case none, ads1115 }

  struct Wiring: Settings {
    var port: UInt16 = 5010
    var backend = Backend.pca9685
    var i2cBus = 1
    var i2cAddress: UInt8?
    var oscillatorHertz = 25_000_000
    var frequencyHertz = 50
    var outputEnable: GPIOLineName?
    var batterySensor = BatterySensor.none
    var rateHertz = 50
    var legs = [Leg()]

    static var keys: [Key<Wiring>] {
      Key(
        "network.leg_udp_port", \.port, in: 0...65535,
        "UDP port of the first leg's frames; the second leg's is one higher, and so on. 0 takes any free ones.")
      Key("backend", \.backend, "The servos' chip: pca9685 (I2C), or sim (no hardware).")
      Key("i2c_bus", \.i2cBus, in: 0...255, "Number N of /dev/i2c-N.")
      Key("i2c_address", \.i2cAddress, in: 0x40...0x77, "The chip's I2C address. Unless given: 0x40.")
      Key(
        "oscillator_hz", \.oscillatorHertz, in: 20_000_000...50_000_000,
        "What the chip's oscillator really does, in hertz: 25 MHz by the datasheet, 23…27 MHz in real ones. Measure a pulse "
          + "to calibrate it.")
      Key(
        "frequency_hz", \.frequencyHertz, in: 24...333, "Pulses per second; servos want 50 unless they are digital.")
      Key(
        "output_enable", \.outputEnable,
        "The line that is wired to the chip's output-enable pin, which is active low: GPIO22, 22 (the same), another line's "
          + "name, or CHIP:22. It ends every pulse without the bus. Of several chips: the line that all of them share. Unless "
          + "given: the pin is tied low.")
      Key(
        "leg.battery.sensor", \.batterySensor,
        "What measures the battery: none, or ads1115, a converter on the chip's bus, its input behind a divider.")
      Key(
        "runtime.leg.rate_hz", \.rateHertz, in: 50...200,
        "Ticks per second of the legs' loop, in hertz. Commands and deadmen do not wait for a tick.")
      Key("legs", \.legs, upTo: 16, "What of a leg holds from the start to the end.")
    }
  }

  struct Leg: Settings, Equatable {
    var name: String?
    var channel: Int?
    var minMicroseconds: UInt16 = 500
    var maxMicroseconds: UInt16 = 2500

    static var keys: [Key<Leg>] {
      Key("name", \.name, "What logs and the API call it. Unless given: leg 0, leg 1 and so on.")
      Key(
        "channel", \.channel, in: 0...127,
        "The chip's output, 0…15; of several chips 16 is the second one's first, 32 the third one's. Unless given: its place in "
          + "this list, from 0.")
      Key(
        "min_us", \.minMicroseconds, in: 500...2500,
        "Shortest pulse in microseconds: a shorter one is made this long and reported. Recommended: 1000.")
      Key("max_us", \.maxMicroseconds, in: 500...2500, "Longest pulse in microseconds. Recommended: 2000.")
    }

    func check(_ report: (PartialKeyPath<Leg>, String) -> Void) {
      if maxMicroseconds < minMicroseconds {
        report(\.maxMicroseconds, "expected at least min_us (\(minMicroseconds)), got \(maxMicroseconds)")
      }
    }
  }

  struct Rules: Settings {
    var deadmanMilliseconds = 200
    var warningMillivolts: Int?
    var faultMillivolts: Int?
    var legs = [LegRules()]

    static var keys: [Key<Rules>] {
      Key(
        "deadman_ms", \.deadmanMilliseconds, in: 50...10_000, limit: .upper,
        "Milliseconds without a command after which a leg's pulse ends. LegCtrl says 200.")
      Key(
        "leg.battery.warn_mv", \.warningMillivolts, in: 0...65_535,
        "Millivolts below which telemetry warns. Unless given: that of fault_mv. Suggested for two lithium cells: 6800."
      )
      Key(
        "leg.battery.fault_mv", \.faultMillivolts, in: 0...65_535, limit: .lower,
        "Millivolts below which an armed leg is in fault and none can be armed. Unless given: never. Suggested for two lithium "
          + "cells: 6400.")
      Key("legs", \.legs, upTo: 16, "What of a leg a reload may change.")
    }
  }

  struct LegRules: Settings, Equatable {
    var slewMicrosecondsPerSecond: Int?
    var releaseAfterSeconds: Double?

    static var keys: [Key<LegRules>] {
      Key(
        "slew_us_per_s", \.slewMicrosecondsPerSecond, in: 1...1_000_000, limit: .upper,
        "How fast the pulse may change, in microseconds per second. Unless given: at once.")
      Key(
        "release_after_s", \.releaseAfterSeconds, in: 0.1...3600,
        "Seconds of standing still after which the servo gets no pulse until it is sent elsewhere. Unless given: it is held."
      )
    }
  }
}
