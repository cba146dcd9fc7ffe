import DaemonSupport
import Service
import Synchronization
import Tactus
import Testing
import Wire

@testable import LegDaemon
@testable import TactusDaemon

/// Keys as the systems of `tactus` have them: their whole paths, lists of mappings, several sections.
@Suite("keys of a declaration: paths, lists, sections")
struct KeysTests {
  private typealias Configured = ConfiguredSystem<LegKeys>

  private func reading(_ text: String) throws -> (found: ConfigReader.Result, system: Configured?, errors: [String]) {
    let (found, errors) = ConfigReader.examine(try YAMLFile(text: text, name: "c.yaml"), environment: [:])
    let reading = DeclaredKind(LegKeys.self).reading(of: found, file: "c.yaml")
    return (found, reading.systems.first as? Configured, (errors + reading.errors).map(\.description))
  }

  @Test("each key is the one that the legs have in the reference, word for word; so are the lane's and the list")
  func sameTable() throws {
    let legs = Dictionary(uniqueKeysWithValues: DeclaredKind(Legs.self).keys.map { ($0.path, $0) })
    let declared = DeclaredKind(LegKeys.self)
    for key in declared.keys {
      let same = try #require(legs[key.path], "\(key.path)")
      #expect(
        key.kind == same.kind && key.standard == same.standard && key.doc == same.doc
          && key.mayChange == same.mayChange, "\(key.path)")
    }
    #expect(declared.keys.count == 23 && declared.lists == ["legs": 16])
    #expect(declared.sections.map(\.name) == ["leg", "legs"])
  }

  @Test(
    "a list gives each item its keys of both kinds; unless it is given there is the item that the property begins with")
  func lists() throws {
    let both = try #require(
      try reading("legs: [{ name: knee, channel: 4, slew_us_per_s: 500 }, {}, { release_after_s: 2.5 }]\n").system)
    #expect(both.wiring.legs.map(\.name) == ["knee", nil, nil] && both.wiring.legs[0].channel == 4)
    #expect(both.rules.legs.map(\.slewMicrosecondsPerSecond) == [500, nil, nil])
    #expect(both.rules.legs[2].releaseAfterSeconds == 2.5)
    let alone = try #require(try reading("leg: { i2c_bus: 3 }\nnetwork: { leg_udp_port: 7 }\n").system)
    #expect(alone.wiring.legs == [LegKeys.Leg()] && alone.wiring.i2cBus == 3 && alone.wiring.port == 7)
    #expect(try reading("network: { leg_udp_port: 7 }\n").system == nil)
  }

  @Test("what contradicts itself is reported at its place: in an item, of both groups, of an item by another group")
  func contradictions() throws {
    #expect(
      try reading("legs:\n  - {}\n  - { min_us: 2000, max_us: 1500 }\n").errors == [
        "c.yaml:3:29: legs[1].max_us: expected at least min_us (2000), got 1500"
      ])
    #expect(
      try reading("leg: { deadman_ms: 50 }\n").errors == [
        "c.yaml:1:20: leg.deadman_ms: expected at least five periods of runtime.leg.rate_hz (50 unless given), got 50"
      ])
    #expect(
      try reading("leg: { frequency_hz: 333 }\nlegs: [{}, { release_after_s: 1 }]\n").errors == [
        "c.yaml:2:31: legs[1].release_after_s: expected nothing with leg.frequency_hz above 300"
      ])
    #expect(
      try reading("leg: { battery: { warn_mv: 100, fault_mv: 200 } }\n").errors == [
        "c.yaml:1:28: leg.battery.warn_mv: expected at least leg.battery.fault_mv (200), got 100"
      ])
  }

  @Test("of two keys that contradict each other the one is blamed that the file gives")
  func blamed() throws {
    let places = ConfigPlaces(marks: try reading("leg: { battery: { fault_mv: 200 } }\n").found.places)
    let report = Contradictions<LegKeys>(LegKeys.onlyPlace, places)
    report(\.warningMillivolts, "one", or: \.faultMillivolts, "other")
    #expect(report.found[0].blamed.map(\.key) == ["leg.battery.warn_mv", "leg.battery.fault_mv"])
    #expect("\(places.error("c.yaml", report.found[0]))" == "c.yaml:1:29: leg.battery.fault_mv: other")
    #expect("\(ConfigPlaces.none.error("c.yaml", report.found[0]))" == "c.yaml: leg.battery.warn_mv: one")
  }

  @Test("its claims and the budget of its lane are blamed on the keys as the file has them")
  func places() throws {
    let text = "leg: { i2c_bus: 3 }\nruntime: { leg: { scheduling: deadline, budget_us: 20000, rate_hz: 100 } }\n"
    let reading = try reading(text)
    let system = try #require(reading.system)
    #expect(system.claims.map(\.key) == ["leg.i2c_bus"])
    let places = ConfigPlaces(marks: reading.found.places)
    let errors = system.errors(in: try read("# nothing"), at: places).map(\.description)
    #expect(
      errors == [
        "c.yaml:2:52: runtime.leg.budget_us: expected less than the period of 10000 µs, got 20000"
      ])
  }

  private struct Bottle: Settings {
    var what = ""
    var millilitres = 0
    var note: String?

    static var keys: [Key<Bottle>] {
      Key("what", \.what, "What is in it.")
      Key("ml", \.millilitres, in: 1...50, unit: Unit("ml"), "How much.")
      Key("note", \.note, "More.")
    }
  }
  private struct Shelf: Settings {
    var place = "wall"
    var bottles = [Bottle(what: "acid", millilitres: 5), Bottle(millilitres: 7), Bottle()]

    static var keys: [Key<Shelf>] {
      Key("place", \.place, "Where.")
      Key("bottles", \.bottles, upTo: 4, "The bottles.")
    }
  }

  @Test("a key whose property begins with what it does not accept has no default and must be given, in an item too")
  func missing() {
    #expect(
      Shelf().missingKeys { "shelf.\($0.name)" }.map { "\($0.key): \($0.message)" } == [
        "shelf.bottles[1].what: expected text, got nothing: it has no default",
        "shelf.bottles[2].what: expected text, got nothing: it has no default",
        "shelf.bottles[2].ml: expected an integer 1…50, got nothing: it has no default",
      ])
    let keys = Bottle.keys.map { ConfigKey($0, "shelf.bottles[].\($0.name)") }
    #expect(keys.map(\.isRequired) == [true, true, false] && keys.allSatisfy { $0.standard == nil })
    #expect(keys.map(\.doc) == ["What is in it. It must be given.", "How much. In ml. It must be given.", "More."])
    // None of the systems of tactus has one: their lists, too, have a default.
    #expect(ConfigTable.keys.allSatisfy { !$0.isRequired })
  }

  // MARK: rules in another form

  private final class Clock: Sendable {
    private let instant = Atomic<Int64>(0)
    var now: TickInstant {
      get { TickInstant(nanoseconds: instant.load(ordering: .relaxed)) }
      set { instant.store(newValue.nanoseconds, ordering: .relaxed) }
    }
  }

  @Test(
    "a reload of rules in another form: what is tighter holds at once, what is wider, in an item too, from the safe state on"
  )
  func rules() throws {
    let clock = Clock()
    let configured = try #require(
      try reading("leg: { deadman_ms: 200 }\nlegs: [{ slew_us_per_s: 500 }]\n").system)
    let system = try HostedSystem(configured, simulate: true, bell: nil, clock: .tick, now: { clock.now })
    let lane = system.lane
    let simulation = try Runtime { lane }.simulation()
    func run() {
      simulation.run(for: .milliseconds(100))
      clock.now = simulation.now
    }
    func order(_ word: String) throws {
      let (order, makesSafe) = try system.door.order(word, .object([] as [JSONValue.Member]))
      system.door.requests.send(order, makesSafe: makesSafe, client: 1) { _ in }
      run()
    }
    try order("move")
    #expect(system.door.newest.deadman == 200 && system.door.newest.slew == 500)

    let new = try #require(try reading("leg: { deadman_ms: 150 }\nlegs: [{}]\n").system)
    let change = try #require(HostedSystem<LegKeys>.change(system.wanted, to: new.rules))
    #expect(change.keys.map(\.key) == ["leg.deadman_ms", "legs[0].slew_us_per_s"])
    change.propose()
    run()
    #expect(change.isPrepared)
    change.commit()
    #expect(system.wanted.inEffect.deadmanMilliseconds == 200)
    run()
    #expect(change.progress == .takenInPart)
    #expect(system.door.newest.deadman == 150 && system.door.newest.slew == 500)
    #expect(system.wanted.inEffect.deadmanMilliseconds == 150)
    #expect(system.wanted.inEffect.legs[0].slewMicrosecondsPerSecond == 500)
    #expect(system.wanted.rules.legs[0].slewMicrosecondsPerSecond == nil)
    try order("stop")
    run()
    #expect(change.progress == .taken && system.door.newest.slew == nil)
    #expect(system.wanted.inEffect.legs[0].slewMicrosecondsPerSecond == nil)
    #expect(HostedSystem<LegKeys>.change(system.wanted, to: new.rules) == nil)
    simulation.stop()
  }

  private struct Limits: Settings, BitwiseCopyable, Equatable {
    var ramp = 50.0
    var isCareful = true
    var most: Int? = 10

    static var keys: [Key<Limits>] {
      Key("ramp", \.ramp, in: 0...100, limit: .upperOrZero, "")
      Key("careful", \.isCareful, limit: .lower, "")
      Key("most", \.most, in: 0...100, limit: .upper, "")
    }
  }

  @Test(
    "which change is wider: no limit at all, 0 where it stands for none, the yes or no that allows more",
    arguments: [
      (Limits(ramp: 0), true), (Limits(ramp: 60), true), (Limits(ramp: 40), false), (Limits(isCareful: false), true),
      (Limits(most: nil), true), (Limits(most: 11), true), (Limits(most: 9), false), (Limits(), false),
    ] as [(Limits, Bool)])
  private func wider(new: Limits, waits: Bool) {
    #expect((new.change(from: Limits()).whenSafe != nil) == waits)
    // The way back.
    #expect((Limits().change(from: new).whenSafe != nil) == (!waits && new != Limits()))
  }
}
