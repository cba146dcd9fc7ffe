import Buses
import Tactus
import TactusDaemon

/// A lamp on a PWM output with a relay, for tests of what every declared system has.
enum Lamp: DeviceSystem {
  static let name = "lamp"
  static let summary = "A lamp."
  static let initialState = State()
  static let emergencyStop = Order.emergencyStop
  static func isEmergencyStopped(_ state: State) -> Bool { state.mode == .emergencyStopped }
  static let reset = Order.reset
  static let nothingToReset: Refusal? = .nothingToReset
  static let whenClientLeaves: Order? = nil

  static var fields: [Field<State>] {
    Field("state", \.mode, "What the lamp does.")
    Field("changes", \.changes, kind: .counter, "Times that it was set.")
  }

  static var commands: [Command<Order>] {
    Command("shine", "Shines.", Parameter<Int>("percent", in: 1...100, unit: .percent, "Brightness.")) {
      .shine(percent: $0)
    }
    Command("off", makesSafe: true, "Turns the lamp off.") { .off }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let lamp = try bench.pwm(\.pwm, period: .milliseconds(1), safe: .inactive)
    let relay = try bench.output(\.relay, safe: .inactive)
    return [
      mailbox.loop("lamp", every: .hertz(20), safeStateAfter: 3) {
        LampLoop(ends: $0, lamp: lamp.port(), relay: relay.port())
      }
    ]
  }

  struct Wiring: Settings {
    var pwm = PWMOutputName(chip: "/sys/class/pwm/pwmchip0", channel: 0)
    var relay = GPIOLineName.bcm(17)

    static var keys: [Key<Wiring>] {
      Key("pwm", \.pwm, "The lamp's output.")
      Key("relay", \.relay, "The relay's line.")
    }
  }

  struct Rules: Settings, BitwiseCopyable {
    var least = 1
    var most = 100

    static var keys: [Key<Rules>] {
      Key("least_percent", \.least, in: 1...100, unit: .percent, "Brightness below which it does not shine.")
      Key("most_percent", \.most, in: 1...100, unit: .percent, limit: .upper, "Brightness above which it dazzles.")
    }

    func check(_ report: (PartialKeyPath<Rules>, String) -> Void) {
      if most < least { report(\.most, "expected at least lamp.least_percent (\(least)), got \(most)") }
    }
  }

  struct State: BitwiseCopyable, Sendable {
    var mode = Mode.off
    var percent = 0
    var changes = 0
  }

  enum Mode: String, Word { case off, shining, emergencyStopped }
  enum Order: BitwiseCopyable, Sendable, Equatable {
    case shine(percent: Int)
    case off, emergencyStop, reset
  }

  enum Refusal: String, RefusalWord {
    case emergencyStopped, nothingToReset
    var sentence: String { "the lamp is not in that state" }
  }

  enum Notice: String, NoticeWord {
    case broken
    var isTrouble: Bool { true }
    var sentence: String { "an output does not take what is written" }
  }
}

struct LampLoop: ~Copyable, ControlLoop {
  private var ends: Lamp.Ends
  private var lamp: PWMOutput
  private var relay: GPIOLines
  private var state = Lamp.State()

  init(ends: consuming Lamp.Ends, lamp: consuming PWMOutput, relay: consuming GPIOLines) {
    self.ends = ends
    self.lamp = lamp
    self.relay = relay
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() { ends.answer(request, obey(request.order)) }
    write(at: tick.started)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    if case .shining = state.mode { state.mode = .off }
    state.percent = 0
    write(at: tick.started)
  }

  @_noLocks @_noAllocation
  private mutating func obey(_ order: Lamp.Order) -> Verdict<Lamp.Refusal> {
    switch order {
    case .emergencyStop: (state.mode, state.percent) = (.emergencyStopped, 0)
    case .off: if case .shining = state.mode { (state.mode, state.percent) = (.off, 0) }
    case .reset:
      guard case .emergencyStopped = state.mode else { return .refused(.nothingToReset) }
      state.mode = .off
    case .shine(let percent):
      if case .emergencyStopped = state.mode { return .refused(.emergencyStopped) }
      (state.mode, state.percent, state.changes) = (.shining, percent, state.changes &+ 1)
    }
    return .accepted
  }

  @_noLocks @_noAllocation
  private mutating func write(at now: TickInstant) {
    (lamp.now, relay.now) = (now, now)
    var isSafe = state.percent == 0
    let (least, most) = (ends.rules.least, ends.rules.most)
    let percent = isSafe ? 0 : state.percent < least ? least : state.percent > most ? most : state.percent
    do throws(PWMError) {
      try lamp.set(active: Nanoseconds(lamp.period.count * Int64(percent) / 100))
    } catch {
      isSafe = false
    }
    do throws(GPIOError) {
      try relay.set(0, state.percent > 0)
    } catch {
      isSafe = false
    }
    ends.finish(state, isSafe: isSafe)
  }
}
