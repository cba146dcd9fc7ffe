import Buses
import Tactus
import TactusDaemon

/// A heater on a serial line, for tests: one byte in every tick, the power in percent. What a stranger's daemon declares, in small.
enum Oven: DeviceSystem {
  static let name = "oven"
  static let summary = "A heater on a serial line."
  static let initialState = State()
  static let emergencyStop = Order.emergencyStop
  static func isEmergencyStopped(_ state: State) -> Bool { state.mode == .emergencyStopped }
  static let reset = Order.reset
  static let nothingToReset: Refusal? = .nothingToReset
  static let whenClientLeaves: Order? = .off

  /// What is written to the line when nobody drives it.
  static let cold: [UInt8] = [0, 0]

  static var fields: [Field<State>] {
    Field("state", \.mode, "What the heater does.")
    Field("powerPercent", \.power, unit: .percent, "What it is told.")
    Field("doorIsOpen", \.doorIsOpen, "Whether the door is open.")
    Field("changes", \.changes, kind: .counter, "Times that the power was set.")
  }

  static var commands: [Command<Order>] {
    Command(
      "heat", "Heats.", Parameter<Int>("powerPercent", in: 1...100, unit: .percent, "Power."),
      Parameter<Zone>("zone", default: .left, "Which plate.")
    ) { .heat(percent: $0, zone: $1) }
    Command("off", makesSafe: true, "Turns the heater off.") { .off }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let line = try bench.serial(\.device, baud: 115_200, safe: .bytes(cold))
    let door = bench.fault("open-door", "The door is open.")
    let loop = mailbox.loop("oven", every: .hertz(50), safeStateAfter: 1000) { ends in
      OvenLoop(ends: ends, line: line.port(), door: door)
    }
    return [loop]
  }

  struct Wiring: Settings {
    /// Empty: which line it is must be given.
    var device = ""
    var spare: Double?

    static var keys: [Key<Wiring>] {
      Key("device", \.device, "The serial line.")
      Key("spare_ohms", \.spare, in: 0...1000, unit: Unit("Ω"), "Of the second heater; none unless given.")
    }
  }

  struct Rules: Settings, BitwiseCopyable {
    var most = 80
    var least = 1
    var isQuiet = false

    static var keys: [Key<Rules>] {
      Key("most_percent", \.most, in: 1...100, unit: .percent, limit: .upper, "Power that it never exceeds.")
      Key("least_percent", \.least, in: 1...100, unit: .percent, "Power below which it does not heat.")
      Key("quiet", \.isQuiet, "Whether it tells nothing.")
    }

    func check(_ report: (PartialKeyPath<Rules>, String) -> Void) {
      if most < least { report(\.most, "expected at least oven.least_percent (\(least)), got \(most)") }
    }
  }

  struct State: BitwiseCopyable, Sendable {
    var mode = Mode.off
    var wanted = 0
    var power = 0
    var doorIsOpen = false
    var changes = 0
  }

  enum Mode: String, Word { case off, heating, emergencyStopped }
  enum Zone: String, Word { case left, right }

  enum Order: BitwiseCopyable, Sendable, Equatable {
    case heat(percent: Int, zone: Zone)
    case off, emergencyStop, reset
  }

  enum Refusal: String, RefusalWord {
    case emergencyStopped, nothingToReset

    var sentence: String {
      switch self {
      case .emergencyStopped: "the oven is emergency-stopped; reset it first"
      case .nothingToReset: "the oven is not emergency-stopped"
      }
    }
  }

  struct Notice: DeviceNotice {
    enum Kind: String, NoticeWord {
      case hot

      var isTrouble: Bool { false }
      var sentence: String { "the oven heats with half of its power or more" }
    }
    let kind: Kind
    let percent: Int
    var message: String { "\(kind.sentence): \(percent) %" }
    var details: [NoticeDetail] { [NoticeDetail("powerPercent", percent)] }
  }
}

struct OvenLoop: ~Copyable, ControlLoop {
  private var ends: Oven.Ends
  private var line: SerialPort
  private let door: FaultSwitch
  private var state = Oven.State()

  init(ends: consuming Oven.Ends, line: consuming SerialPort, door: FaultSwitch) {
    self.ends = ends
    self.line = line
    self.door = door
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() { ends.answer(request, obey(request.order)) }
    state.doorIsOpen = door.isOn()
    write(at: tick.started)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    (state.mode, state.wanted) = (.off, 0)
    write(at: tick.started)
  }

  @_noLocks @_noAllocation
  private mutating func obey(_ order: Oven.Order) -> Verdict<Oven.Refusal> {
    switch order {
    case .emergencyStop: (state.mode, state.wanted) = (.emergencyStopped, 0)
    case .off:
      if case .heating = state.mode { (state.mode, state.wanted) = (.off, 0) }
    case .reset:
      guard case .emergencyStopped = state.mode else { return .refused(.nothingToReset) }
      state.mode = .off
    case .heat(let percent, _):
      if case .emergencyStopped = state.mode { return .refused(.emergencyStopped) }
      if percent >= 50, !ends.rules.isQuiet { ends.report(Oven.Notice(kind: .hot, percent: percent)) }
      (state.mode, state.wanted, state.changes) = (.heating, percent, state.changes &+ 1)
    }
    return .accepted
  }

  @_noLocks @_noAllocation
  private mutating func write(at now: TickInstant) {
    let most = ends.rules.most
    state.power = state.wanted > most ? most : state.wanted
    line.now = now
    do throws(SerialError) {
      try line.write(UInt8(truncatingIfNeeded: state.power))
      ends.finish(state, isSafe: state.power == 0)
    } catch {
      ends.finish(state, isSafe: false)
    }
  }
}
