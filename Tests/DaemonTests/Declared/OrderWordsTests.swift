import Buses
import Logging
import Service
import Synchronization
import Tactus
import TestSupport
import Testing
import Wire

@testable import TactusDaemon

/// A winch on a serial line, whose state says that it is emergency-stopped, beside a gauge on a chip whose address the file has.
private enum Winch: DeviceSystem {
  static let name = "winch"
  static let summary = "A winch."
  static let initialState = State()
  static let emergencyStop = Order.emergencyStop
  static let reset = Order.reset
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  typealias Rules = NoSettings
  typealias Refusal = NoRefusal

  struct Wiring: Settings {
    var line = "/dev/ttyWinch"
    var bus = 1
    var gauge: UInt8 = 0x48
    static var keys: [Key<Wiring>] {
      Key("line", \.line, "The winch.")
      Key("i2c_bus", \.bus, in: 0...255, "The gauge's bus.")
      Key("gauge_address", \.gauge, in: 0x08...0x77, "The gauge.")
    }
  }
  struct State: BitwiseCopyable, Sendable {
    var speed = 0.0
    var isStopped = false
    var staleSpeed: Double?
  }
  enum Order: BitwiseCopyable, Sendable, Equatable {
    case turn(Double, stamp: Double?)
    case emergencyStop, reset
    var isRest: Bool { if case .turn(0, _) = self { true } else { false } }
  }
  enum Notice: String, NoticeWord {
    case never
    var isTrouble: Bool { false }
    var sentence: String { "" }
  }

  static var fields: [Field<State>] { Field("speedPercent", \.speed, unit: .percent, "Its speed.") }
  static var commands: [Command<Order>] {
    Command(
      "turn", makesSafeIf: \Order.isRest, "Turns.", Parameter("speed", in: -100.0...100, example: 30, "Its speed."),
      Parameter<Double?>(optional: "stamp", "The client's clock.")
    ) { .turn($0, stamp: $1) }
    Command("tag", "Tags.", Parameter<String>("by", "Who."), Parameter<String>("note", default: "", "Why.")) { _, _ in
      .reset
    }
  }
  static func isEmergencyStopped(_ state: State) -> Bool { state.isStopped }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let line = try bench.serial(
      \.line, baud: 115_200,
      safe: .twice { (port) throws(SerialError) in
        try port.write(1)
        try port.write(2)
      },
      simulated: "the-winch")
    let address = I2CAddress(bench.wiring.gauge)!
    let gauge = try bench.i2c(
      \.bus, chip: address, at: \.gauge, safe: .none(because: "it is only read"), simulated: "gauges")
    if bench.isSimulated {
      bench.simulates(routes: [Route(.get, "/api/sim/winch") { _ in .json(["ok": true]) }])
    }
    mailbox.eachSecond { newest, logger in logger.info("turns at \(newest.state.speed)") }
    return [
      mailbox.loop("winch", every: .hertz(20), safeStateAfter: 3) {
        WinchLoop(ends: $0, line: line.port(), gauge: gauge.port())
      }
    ]
  }
}

private struct WinchLoop: ~Copyable, ControlLoop {
  var ends: Winch.Ends
  var line: SerialPort
  var gauge: I2CBus
  var state = Winch.State()

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.nextOfAnyAge() {
      let isStale = ends.isStale(request)
      switch request.order {
      case .turn(let speed, _): if isStale { state.staleSpeed = speed } else { state.speed = speed }
      case .emergencyStop: state.isStopped = true
      case .reset: state.isStopped = false
      }
      ends.answer(request, isStale ? .stale : .accepted)
    }
    ends.finish(state, isSafe: state.speed == 0)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    state.speed = 0
    ends.beginSafeState(tick)
    ends.finish(state, isSafe: true)
  }
}

@Suite("declared: words of the bench, of orders, of a latched stop", .ownThread)
struct OrderWordsTests {
  @Test("a line's safe bytes are the driver's stop, twice; a chip's address has a key of its own")
  func plan() throws {
    let plan = try ConfiguredSystem<Winch>().plan
    #expect(plan.safeWrites.map(\.description) == ["serial:115200:01020102:/dev/ttyWinch"])
    #expect(plan.claims.map(\.key) == ["winch.line", "winch.gauge_address"])
  }

  @Test("simulated: names that were given, in the order of opening; a route of its own")
  func simulation() throws {
    let simulated = try SimulatedSystem<Winch>(ConfiguredSystem<Winch>(), seed: 1)
    let surroundings = try #require(simulated.system.simulation)
    #expect(surroundings.buses.map(\.name) == ["the-winch", "gauges"])
    #expect(surroundings.routes.map(\.path) == ["/api/sim/winch"])
  }

  @Test("a number that need not be there: nil, or finite; whether the order makes safe is its own")
  func orders() throws {
    let winch = try SimulatedSystem<Winch>(ConfiguredSystem<Winch>(), seed: 1)
    func order(_ text: String) throws -> (order: Winch.Order, makesSafe: Bool) {
      try winch.order("turn", try #require(JSONValue(json: Array(text.utf8))))
    }
    guard case .turn(30, nil) = try order(#"{"speed":30}"#).order,
      case .turn(30, nil) = try order(#"{"speed":30,"stamp":null}"#).order,
      case .turn(30, 1.5) = try order(#"{"speed":30,"stamp":1.5}"#).order
    else {
      Issue.record("another order")
      return
    }
    #expect(try !order(#"{"speed":30}"#).makesSafe && order(#"{"speed":0}"#).makesSafe)
    for text in [#"{"speed":30,"stamp":1e999}"#, #"{"speed":30,"stamp":"now"}"#, #"{"stamp":1}"#] {
      #expect(throws: APIError.self, "\(text)") { try order(text) }
    }
    let examples = ["winch", "winch turn speed=30", #"winch tag by="…" note="""#]
    #expect(DeclaredKind(Winch.self).callExamples == examples)
  }

  @Test("a text without a default must be given, and an empty one is none; one whose default is empty may be empty")
  func texts() throws {
    let winch = try SimulatedSystem<Winch>(ConfiguredSystem<Winch>(), seed: 1)
    func tag(_ text: String) throws { _ = try winch.order("tag", try #require(JSONValue(json: Array(text.utf8)))) }
    try tag(#"{"by":"Ann"}"#)
    try tag(#"{"by":"Ann","note":""}"#)
    for text in [#"{"note":"wet"}"#, #"{"by":""}"#, #"{"by":null}"#] {
      let error = try #require(throws: APIError.self, "\(text)") { try tag(text) }
      #expect(error.message.hasPrefix("by: expected text"), "\(error.message)")
    }
  }

  @Test("the log of a command: every parameter with its value in effect, given or not; none of one without a value")
  func logged() throws {
    let command = Command<Double>(
      "fire", "Fires.", Parameter<Double>("celsius", in: 0...1_000, default: 600, "Temperature."),
      Parameter<Reason>("ramp", default: .overLimit, "How."), Parameter<Double?>(optional: "stamp", "When.")
    ) { celsius, _, _ in celsius }
    func logged(_ body: String) throws -> String? {
      let caller = Caller(scope: .control, tokenID: nil, address: "", client: 1)
      return try command.read(APIRequest(caller: caller, body: Array(body.utf8)), 0).logValue
    }
    #expect(try logged("{}") == #"celsius=600 ramp="overLimit""#)
    #expect(try logged(#"{"celsius":20,"ramp":null,"stamp":1.5}"#) == #"celsius=20 ramp="overLimit" stamp=1.5"#)
    #expect(try Command<Int>("off", "Turns off.") { 1 }.read(.empty, 0).logValue == nil)
  }

  private enum Reason: String, RefusalWord {
    case overLimit
    var sentence: String { "enough for today" }
  }

  @Test("a refusal's code: one form, whether a command is refused, a route by the same word, or a route by its own")
  func codes() throws {
    let refused = APIError(.conflict, "OVER_LIMIT", "enough for today")
    #expect(Reason.overLimit.code == "OVER_LIMIT" && APIError.refused(Reason.overLimit) == refused)
    let answers = [Verdict<Reason>.refused(.overLimit), .accepted].map { Answer(number: 1, verdict: $0, at: .zero) }
    #expect(throws: refused) { try answers[0].accepted() }
    #expect(try answers[1].accepted().verdict == .accepted)
    for code in ["overLimit", "over-limit", "OVER_LIMIT", "Over_Limit"] {
      #expect(APIError.conflict(code, "enough for today") == refused, "\(code)")
    }
  }

  @Test("the loop sees what has become stale, but a rest never is; the stop is latched by the state")
  func stale() throws {
    let winch = try SimulatedSystem<Winch>(ConfiguredSystem<Winch>(), seed: 1)
    func send(_ order: Winch.Order) {
      winch.send(order, makesSafe: order.isRest, at: winch.simulation.now) { _ in }
    }
    winch.simulation.run(for: .milliseconds(10))
    winch.simulation.stall(loop: "winch", at: winch.simulation.now, by: .milliseconds(600))
    winch.simulation.run(for: .milliseconds(60))
    send(.turn(40, stamp: nil))
    winch.simulation.run(for: .milliseconds(700))
    #expect(winch.system.door.newest.staleSpeed == 40 && winch.system.door.newest.speed == 0)
    #expect(!winch.system.door.isEmergencyStopped)
    send(.emergencyStop)
    winch.simulation.run(for: .milliseconds(60))
    #expect(winch.system.door.isEmergencyStopped)
    send(.reset)
    winch.simulation.run(for: .milliseconds(60))
    #expect(winch.system.door.isEmergencyStopped, "nobody has taken the loop's answers")
    winch.takeAnswers(at: winch.simulation.now)
    #expect(!winch.system.door.isEmergencyStopped)
  }
}
