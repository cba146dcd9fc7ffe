import Buses
import BusesLinux
import DaemonSupport
import Devices
import Service
import Tactus
import TactusGuard
import Testing
import Wire

@testable import TactusDaemon

/// A device with an output of every kind, whose loop may forget to make them safe.
private enum Plant: DeviceSystem {
  static let name = "plant"
  static let summary = "Everything that a bench has."
  static let initialState = State()
  static let emergencyStop = Order.off
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.reset
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  static var fields: [Field<State>] { Field("on", \.isOn, "Whether everything is on.") }
  static var commands: [Command<Order>] {
    Command("on", "Turns everything on.") { .on }
    Command("pour", "Pours.", Parameter<Int>("times", in: 1...9, "How often.")) { _ in .on }
    Command("light", "Turns the lamp on or off.", Parameter<Bool>("on", "Whether it is on.")) { $0 ? .on : .off }
    Command("spray", "Sprays.", Parameter<Spray>("kind", "How finely.")) { _ in .on }
    Command("both", "Does both.", Parameter<Spray>("kind", "How."), Parameter<Bool>("on", "Whether.")) { _, _ in .on }
  }
  enum Spray: String, Word { case mist, rain }

  struct Wiring: Settings {
    var motor = PWMOutputName(chip: "/sys/class/pwm/pwmchip3", channel: 1)
    var valve = GPIOLineName.bcm(12)
    var lamp = GPIOLineName("RELAY-1")!
    var bus = 4
    var line = "/dev/ttyS7"
    var taps = [Tap(), Tap(line: .bcm(14))]
    /// What a file cannot give.
    var forgotten = GPIOLineName.bcm(15)

    static var twice: Wiring {
      var wiring = Wiring()
      wiring.lamp = wiring.valve
      return wiring
    }

    static var keys: [Key<Wiring>] {
      Key("motor", \.motor, "")
      Key("valve", \.valve, "")
      Key("lamp", \.lamp, "")
      Key("bus", \.bus, in: 0...9, "")
      Key("line", \.line, "")
      Key("taps", \.taps, upTo: 4, "")
    }
    func check(_ report: (PartialKeyPath<Wiring>, String) -> Void) {
      if taps.contains(where: { $0.line == .bcm(16) }) { report(\.forgotten, "expected another tap than GPIO16") }
      for index in taps.indices where taps[index].line == .bcm(17) {
        report(\.taps[index].line, "expected another tap")
      }
    }
  }

  struct Tap: Settings {
    var line = GPIOLineName.bcm(13)
    static var keys: [Key<Tap>] { Key("line", \.line, "") }
  }

  struct Rules: Settings, BitwiseCopyable {
    /// Bits: which outputs the loop forgets.
    var forgets = 0
    static var keys: [Key<Rules>] { Key("forgets", \.forgets, in: 0...15, "") }
  }

  struct State: BitwiseCopyable, Sendable { var isOn = false }
  enum Order: BitwiseCopyable, Sendable { case on, off, reset }
  typealias Refusal = NoRefusal
  enum Notice: String, NoticeWord {
    case none, dry
    var isTrouble: Bool { self == .dry }
    var sentence: String { self == .dry ? "the tank is empty" : "all is well" }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let motor = try bench.pwm(\.motor, period: .milliseconds(1), safe: .inactive)
    let valve = try bench.output(\.valve, isActiveLow: true, safe: .inactive)
    let lamp = try bench.output(\.lamp, safe: .none(because: "a lamp hurts nobody"))
    let bus = try bench.i2c(
      \.bus, chip: I2CAddress(0x41)!,
      safe: .writes { (bus) throws(I2CError) in try bus.writeByte(0, to: I2CAddress(0x41)!, register: 0xFD) })
    bus.attach(PCA9685Simulator().chip, at: I2CAddress(0x41)!)
    _ = try bench.serial(\.line, baud: 9600, safe: .bytes([7]))
    return [
      mailbox.loop("plant", every: .hertz(10), safeStateAfter: 5) { ends in
        PlantLoop(ends: ends, motor: motor.port(), valve: valve.port(), lamp: lamp.port(), bus: bus.port())
      }
    ]
  }
}

private struct PlantLoop: ~Copyable, ControlLoop {
  var ends: Plant.Ends
  var motor: PWMOutput
  var valve: GPIOLines
  var lamp: GPIOLines
  var bus: I2CBus
  var state = Plant.State()

  init(
    ends: consuming Plant.Ends, motor: consuming PWMOutput, valve: consuming GPIOLines, lamp: consuming GPIOLines,
    bus: consuming I2CBus
  ) {
    self.ends = ends
    self.motor = motor
    self.valve = valve
    self.lamp = lamp
    self.bus = bus
  }

  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      if case .on = request.order { state.isOn = true } else { state.isOn = false }
      ends.answer(request, .accepted)
    }
    write(state.isOn, forgets: 0)
  }

  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    state.isOn = false
    write(false, forgets: ends.rules.forgets)
  }

  private mutating func write(_ isOn: Bool, forgets: Int) {
    if forgets & 1 == 0 { try? motor.set(active: isOn ? .microseconds(10) : .zero) }
    if forgets & 2 == 0 { try? valve.set(0, isOn) }
    if forgets & 4 == 0 { try? lamp.set(0, isOn) }
    if forgets & 8 == 0 { try? bus.writeByte(isOn ? 1 : 0, to: I2CAddress(0x41)!, register: 0xFD) }
    ends.finish(state, isSafe: !isOn)
  }
}

@Suite("doctor: a declared system")
struct DeclaredDoctorTests {
  @Test(
    "its PWM output: there, beyond the unit's outputs, no such unit; with its key and what to do",
    arguments: [
      ("2", "plant.motor ok: /sys/class/pwm/pwmchip3/pwm1 is there"),
      ("1", "plant.motor fail: /sys/class/pwm/pwmchip3 has 1 output, pwm0!"),
      ("4", "plant.motor ok: /sys/class/pwm/pwmchip3/pwm1 is there"),
      (nil, "plant.motor fail: no /sys/class/pwm/pwmchip3!"),
    ] as [(String?, String)])
  func pwm(outputs: String?, says: String) throws {
    var machine = Machine.at(root: "/nowhere")
    machine.read = { $0 == "/sys/class/pwm/pwmchip3/npwm" ? outputs : nil }
    let found = try Doctor(machine: machine).pwmOutputs(ConfiguredSystem<Plant>().claims)
    #expect(found.map { "\($0.name) \($0.status): \($0.found)" + ($0.fix == nil ? "" : "!") } == [says])
  }
}

/// A list of pumps, each with a line of its own.
private struct Cabinet: Settings {
  struct Pump: Settings {
    var enable = GPIOLineName.bcm(20)

    static var keys: [Key<Pump>] { Key("enable", \.enable, "Its line.") }
  }
  var pumps = [Pump(), Pump(enable: .bcm(21)), Pump(enable: .bcm(26))]

  static var keys: [Key<Cabinet>] { Key("pumps", \.pumps, upTo: 100, "The pumps.") }
}

/// What hangs on the valve in a simulation.
private struct ValveTwin: ~Copyable, ControlLoop, NoOutput {
  let valve: SimulatedGPIOLevel
  var seen: LatestWriter<Bool>

  init(valve: SimulatedGPIOLevel, seen: consuming LatestWriter<Bool>) {
    self.valve = valve
    self.seen = seen
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) { seen.write(valve.isActive()) }
}

@Suite("bench: what a declared system opens")
struct BenchTests {
  @Test("the plan: claims with their keys, writes of every output, lines, and the reason of one that needs none")
  func plan() throws {
    let plan = try ConfiguredSystem<Plant>().plan
    #expect(
      plan.claims == [
        ResourceClaim(resource: .pwm(path: "/sys/class/pwm/pwmchip3/pwm1"), key: "plant.motor"),
        .gpio(.bcm(12), key: "plant.valve"), .gpio(GPIOLineName("RELAY-1")!, key: "plant.lamp"),
        ResourceClaim(resource: .i2c(bus: 4, address: 0x41), key: "plant.bus"),
        ResourceClaim(resource: .serial(path: "/dev/ttyS7"), key: "plant.line"),
      ])
    #expect(
      plan.safeWrites == [
        .pwm(path: "/sys/class/pwm/pwmchip3/pwm1"),
        .i2cByte(path: "/dev/i2c-4", address: 0x41, register: 0xFD, byte: 0),
        .serial(path: "/dev/ttyS7", baud: 9600, bytes: [7]),
      ])
    #expect(plan.safeLines == [GPIOLine(.bcm(12), isActiveLow: true)])
    #expect(plan.harmless == ["RELAY-1 (a lamp hurts nobody)"] && plan.drives)
  }

  @Test("one line for two outputs: an error that names both keys, not a line that another program has")
  func oneLineTwice() throws {
    let plan = try ConfiguredSystem<Plant>(Plant.Wiring.twice).plan
    let errors = plan.claims.errors(file: "plant.yaml", places: ConfigPlaces(marks: [:]))
    #expect(errors.map(\.key) == ["plant.lamp"])
    #expect(
      errors.first?.message.hasPrefix("expected one owner of GPIO line GPIO12, got two: plant.valve") == true,
      "\(errors)")
  }

  @Test(
    "Home Assistant: a button without parameters, a number, a switch and a select for one parameter, nothing for more")
  func homeAssistant() throws {
    let configured = try ConfiguredSystem<Plant>()
    let system = try HostedSystem(configured, simulate: true, bell: nil, clock: .tick, now: { .zero })
    let topics = try #require(DeviceTopics(device: "hut"))
    let entities = system.door.entities(on: topics, takesCommands: true).filter { $0.commandTopic != nil }
    #expect(entities.map(\.component) == [.button, .number, .switch, .select])
    let lamp = try #require(entities.first { $0.component == .switch })
    #expect(lamp.others["payload_on"] == #"{"command":"light","on":true}"#)
    #expect(lamp.stateTopic == topics.state("plant") && lamp.valueTemplate == "{{ 'ON' if value_json.on else 'OFF' }}")
    let choice = try #require(entities.last)
    #expect(choice.options == ["mist", "rain"] && choice.stateTopic == nil)
    #expect(choice.others["command_template"] == #"{"command":"spray","kind":"{{ value }}"}"#)
    #expect(choice.document(of: topics).contains(#","options":["mist","rain"],"#))
  }

  @Test("outputs of a list's items: claimed and made safe under the item's place in the file")
  func items() throws {
    let parts = BenchParts(.planning, of: Plant.self)
    let bench = Bench(Plant.Wiring(), parts)
    for index in bench.wiring.taps.indices { _ = try bench.output(\.taps[index].line, safe: .inactive) }
    #expect(parts.claims.map(\.key) == ["plant.taps[0].line", "plant.taps[1].line"])
    #expect(parts.safeLines.map(\.name) == [.bcm(13), .bcm(14)])
  }

  @Test("a property that no key sets, an item that the list lacks: an error with what to write, and no trap")
  func unkeyed() throws {
    let bench = Bench(Plant.Wiring(), BenchParts(.planning, of: Plant.self))
    let lines: [KeyPath<Plant.Wiring, GPIOLineName>] = [\.forgotten, \.taps[2].line]
    for line in lines {
      let error = try #require(throws: BenchError.self) { _ = try bench.output(line, safe: .inactive) }
      #expect(
        "\(error)".hasPrefix("plant: no key sets ") && "\(error)".contains("bench.wiring.lamps.indices"), "\(error)")
    }
  }

  @Test("a contradiction that blames an item, or what no key sets: it is told with a place, and is no trap")
  func blamed() {
    var wiring = Plant.Wiring()
    wiring.taps[1].line = .bcm(17)
    let item = wiring.contradictions
    #expect(item.map(\.key) == ["taps[1].line"] && item.map(\.message) == ["expected another tap"])
    wiring.taps[1].line = .bcm(16)
    let unkeyed = wiring.contradictions
    #expect(unkeyed.map(\.key) == ["motor"] && unkeyed[0].message.hasPrefix("expected another tap than GPIO16 (of "))
  }

  @Test("a simulated serial line without a twin: it takes whatever is sent, and its stop is confirmed")
  func unread() throws {
    let parts = BenchParts(.simulated, of: Plant.self, clock: .tick)
    let line = try Bench(Plant.Wiring(), parts).serial(\.line, baud: 9600, safe: .bytes([7]))
    var port = line.port()
    let bytes = [UInt8](repeating: 1, count: 64)
    for _ in 0..<100 { try bytes.withUnsafeBytes { try port.write($0) } }
    #expect(parts.makeSafe(at: .zero))
  }

  @Test("a twin's device for a real line: it is not attached, which is no trap")
  func real() throws {
    let terminal = try LinuxPTY()
    var wiring = Plant.Wiring()
    wiring.line = terminal.path
    let line = try Bench(wiring, BenchParts(.real, of: Plant.self)).serial(\.line, baud: 9600, safe: .bytes([7]))
    line.attach(XGORiderSimulator().device)
    #expect(line.write([7, 8], at: .zero))
  }

  @Test("hardware that is not there: the error names the key")
  func missing() throws {
    var wiring = Plant.Wiring()
    wiring.line = "/dev/nowhere-7"
    let bench = Bench(wiring, BenchParts(.real, of: Plant.self))
    let error = try #require(throws: BenchError.self) { try bench.serial(\.line, baud: 9600, safe: .bytes([7])) }
    #expect("\(error)".hasPrefix("plant.line: ") && "\(error)".contains("/dev/nowhere-7"), "\(error)")
  }

  @Test("a line of each item of a list: one bank with a claim for each, set and read together, and safe together")
  func bank() throws {
    let parts = BenchParts(.simulated, of: Plant.self, clock: .tick)
    let part = try Bench(Cabinet(), parts).outputs(\.pumps, each: \.enable, isActiveLow: true, safe: .inactive)
    #expect(
      parts.claims == [
        .gpio(.bcm(20), key: "plant.pumps[0].enable"), .gpio(.bcm(21), key: "plant.pumps[1].enable"),
        .gpio(.bcm(26), key: "plant.pumps[2].enable"),
      ])
    #expect(parts.safeLines == [20, 21, 26].map { GPIOLine(.bcm($0), isActiveLow: true) })
    var port = part.port()
    try port.set(mask: 0b101, values: 0b100)
    let levels = try port.read()
    #expect(levels == 0b100 && part.levels.map { $0.isActive() } == [false, false, true])
    #expect(parts.unsafeOutputs == ["GPIO20, GPIO21, GPIO26"])
    try port.turnAllOff()
    #expect(parts.unsafeOutputs.isEmpty)
  }

  @Test("a list without an item, or with more than a bank has lines, is no bank", arguments: [0, 65])
  func noBank(count: Int) throws {
    let cabinet = Cabinet(pumps: Array(repeating: Cabinet.Pump(), count: count))
    let bench = Bench(cabinet, BenchParts(.planning, of: Plant.self))
    let error = try #require(throws: BenchError.self) {
      try bench.outputs(\.pumps, each: \.enable, safe: .inactive)
    }
    #expect("\(error)" == "plant.pumps: expected a list of 1…64 items with a line each, got \(count)")
  }

  @Test("its notices are described, with which of them are trouble")
  func notices() throws {
    let system = try HostedSystem(ConfiguredSystem<Plant>(), simulate: true, bell: nil, clock: .tick, now: { .zero })
    var members: [JSONValue.Member] = []
    let declaration = try #require(system.declaration)
    if case .object(let found) = declaration() { members = found }
    let notices = members.first { $0.name == "notices" }?.value
    #expect(
      notices
        == .list([
          .object(["name": .text("none"), "meaning": .text("all is well"), "trouble": .boolean(false)]),
          .object(["name": .text("dry"), "meaning": .text("the tank is empty"), "trouble": .boolean(true)]),
        ]))
  }

  @Test(
    "the budget of a lane: less than the period of its loop, which is released ten times a second",
    arguments: [
      ("deadline", 99_999, nil),
      ("deadline", 100_000, "expected less than the period of 100000 µs, got 100000"),
      ("fifo", 100_000, nil), ("normal", 100_000, nil),
    ] as [(String, Int, String?)])
  func budget(scheduling: String, budget: Int, message: String?) throws {
    let given = GivenValues(values: [
      "runtime.plant.scheduling": .text(scheduling), "runtime.plant.budget_us": .integer(budget),
    ])
    let found = try ConfiguredSystem<Plant>(lane: Plant.laneKeys.values(given))
      .errors(in: read("# nothing"), at: ConfigPlaces(marks: [:]))
    #expect(found.map(\.message) == [message].compactMap(\.self))
    #expect(found.allSatisfy { $0.key == "runtime.plant.budget_us" })
  }

  @Test(
    "after the stop an output that the loop forgot is named; one that hurts nobody is not",
    arguments: [
      (0, nil), (1, "/sys/class/pwm/pwmchip3/pwm1"), (2, "GPIO12"), (4, nil), (8, "chip 0x41 on /dev/i2c-4"),
    ] as [(Int, String?)])
  func forgotten(forgets: Int, output: String?) throws {
    let clock = Clock()
    let configured = try ConfiguredSystem<Plant>(.init(), .init(forgets: forgets))
    let system = try HostedSystem(configured, simulate: true, bell: nil, clock: .tick, now: { clock.now })
    let lane = system.lane
    let simulation = try Runtime { lane }.simulation()
    simulation.run(for: .milliseconds(150))
    // Before the stop everything is off, and nobody has told so: it has to be.
    #expect(system.parts.unsafeOutputs.isEmpty)
    let (order, makesSafe) = try system.door.order("on", .object([] as [JSONValue.Member]))
    system.door.requests.send(order, makesSafe: makesSafe, client: 1) { _ in }
    simulation.run(for: .milliseconds(200))
    #expect(system.door.newest.isOn && system.parts.unsafeOutputs.count == 3)
    simulation.stop()
    #expect(system.parts.unsafeOutputs == [output].compactMap(\.self))
    if let output {
      #expect(system.unconfirmed?.message.contains(output) == true)
    } else {
      #expect(system.unconfirmed == nil)
    }
  }

  @Test("a twin reads an output line in its ticks, which the compiler proves")
  func twin() throws {
    let bench = Bench(Plant.Wiring(), BenchParts(.simulated, of: Plant.self, clock: .tick))
    let valve = try bench.output(\.valve, isActiveLow: true, safe: .inactive)
    let seen = Latest(true)
    let loops = bench.twin("plant.simulated", every: .hertz(100)) {
      ValveTwin(valve: valve.level, seen: seen.writer())
    }
    let lane = Lane("plant") { loops }
    let simulation = try Runtime { lane }.simulation()
    var port = valve.port()
    var reader = seen.reader()
    for isOpen in [false, true, false] {
      try port.set(0, isOpen)
      simulation.run(for: .milliseconds(50))
      #expect(reader.read() == isOpen)
    }
    simulation.stop()
  }

  /// A simulation's requests are made at its beginning.
  private final class Clock: Sendable { let now = TickInstant.zero }
}
