import Buses
import DaemonSupport
import Logging
import Service
import Store
import Synchronization
import Tactus
import TestSupport
import Testing
import WallTime
import Wire

@testable import TactusDaemon

/// A bell in a tower whose clapper breaks after as many strokes as its file says.
private enum Tower: DeviceSystem, Sees, PreparesState, TakesFrames, Explains, Introduces, Reaches, Sections,
  ShowsEntities, MeasuresMore, Plays, PlaysMore, HasCard
{
  static let name = "tower"
  static let summary = "A tower."
  static let emergencyStop = Order.rest
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.rest
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil

  struct Wiring: Settings {
    var strokes = 3
    static var keys: [Key<Wiring>] { Key("strokes", \.strokes, in: 1...10, "Strokes until the clapper breaks.") }
  }
  struct Rules: Settings, BitwiseCopyable {
    var most = 5
    static var keys: [Key<Rules>] { Key("most", \.most, in: 1...10, "Strokes at a time.").kept }
  }
  struct State: BitwiseCopyable, Sendable {
    var left: Int
    var struckAt = TickInstant.zero
  }
  enum Order: BitwiseCopyable, Sendable, Equatable {
    case strike(Int)
    case rest
  }
  enum Refusal: String, RefusalWord {
    case broken, tooMany
    var code: String { self == .tooMany ? "TOO_LOUD" : "BROKEN" }
    var sentence: String { "no" }
  }
  struct Notice: DeviceNotice {
    enum Kind: String, NoticeWord {
      case struck, broke
      var isTrouble: Bool { self == .broke }
      var sentence: String { self == .broke ? "the clapper broke" : "the bell struck" }
    }
    let kind: Kind
    let left: Int
    var message: String { kind == .struck ? "\(kind.sentence), \(left) strokes are left" : kind.sentence }
    var details: [NoticeDetail] { [NoticeDetail("left", left)] }
  }
  struct Seen: Sendable {
    let left, of, most: Int
    let height: Double?
    let age: Double
  }
  struct Height: Sendable { let metres: Double }
  final class Wind: Sendable {
    let knots = Mutex(0.0)
  }

  static func initialState(_ wiring: Wiring, _ rules: Rules) -> State { State(left: wiring.strokes) }

  static func seen(_ published: Published<State>, _ look: Look<Tower>) -> Seen {
    Seen(
      left: published.state.left, of: look.wiring.strokes, most: look.rules.most,
      height: look.shared(Height.self)?.metres, age: (look.now - published.state.struckAt).inSeconds)
  }
  static var seenFields: [Field<Seen>] {
    Field("left", \.left, "Strokes that are left.")
    Field("strokes", \.of, "Of how many.")
    Field("most", \.most, "At a time.")
    Field("heightMetres", \.height, unit: .metres, "The tower's.")
    Field("ageSeconds", \.age, unit: .seconds, "Since the last stroke.")
  }
  static var commands: [Command<Order>] {
    Command("strike", "Strikes.", Parameter("times", in: 1...99, "How often.")) { .strike($0) }
  }
  static func explain(_ refusal: Refusal, _ state: State) -> String { "\(state.left) strokes are left" }

  static func receive(_ frame: [UInt8], from caller: Caller, _ door: FrameDoor<Tower>) -> Bool {
    guard frame.first == 7, frame.count == 2 else { return false }
    door.send(.strike(Int(frame[1])), makesSafe: false) { result in
      switch result {
      case .failure(let error): door.refuse(error)
      case .success((let answer, let published)):
        if case .refused(let refusal) = answer.verdict { return door.refuse(refusal, in: published.state) }
        door.reply([UInt8(clamping: published.state.left)])
      }
    }
    return true
  }

  static var driven: String? { "the bell" }
  static func summary(_ wiring: Wiring, _ rules: Rules, address: String) -> [String] {
    ["tower: \(wiring.strokes) strokes at \(address)"]
  }
  static func invitation(_ wiring: Wiring, _ rules: Rules, _ start: ProgramStart) -> Invitation {
    Invitation(title: "tower", lines: ["\(start.program) \(start.isSimulated)"])
  }
  static func reach(_ wiring: Wiring, _ rules: Rules) -> Reach {
    Reach(deviceGroups: ["audio"], looksUpNames: true)
  }
  static func timeZone(_ wiring: Wiring) -> String? { wiring.strokes == 9 ? "Europe/Rome" : nil }
  static let sections = [ConfigSection(name: "tower", doc: "A tower. It runs when this section is present.")]
  static let movedKeys = ["bell.strokes": "tower.strokes"]
  static let card = Card(html: Array("<b>ding</b>".utf8), script: Array("ownCard(\"tower\", show)".utf8))
  static let movingMembers: Set<String> = ["left"]
  static func entities(_ look: Look<Tower>, on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    [HomeAssistantEntity(.sensor, id: "tower-\(look.wiring.strokes)", name: "Tower")]
  }
  static func write(_ published: Published<State>, _ look: Look<Tower>, into writer: inout MetricsWriter) {
    writer.gauge("tactus_tower_look_seconds", "When.", [MetricSample((look.now - .zero).inSeconds, labels: [])])
  }
  static func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? { seed.map { $0 == 7 } }
  static let scenarioHelp = "one with bells"
  static var scenarioEvents: [ScenarioWord<DeclaredScenario<Tower>>] {
    [
      ScenarioWord("wind_knots", .number(0...60), with: ScenarioCompany("gusts_knots", .number(0...20), or: 0)) {
        (world, wind, gusts) in
        world.shared(Wind.self)?.knots.withLock { $0 = wind + gusts }
        world.say("wind", "\(ScenarioTimeline.number(wind)) knots")
      }
    ]
  }
  static var scenarioChecks: [ScenarioCheck<DeclaredScenario<Tower>>] {
    [
      ScenarioCheck("strongest_knots", .range) { world in world.shared(Wind.self)?.knots.withLock { $0 } },
      ScenarioCheck("struck", .boolean) { "\($0.state.struckAt != .zero)" },
    ]
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    bench.share(Height(metres: 12))
    bench.share(Wind())
    return [
      mailbox.loop("tower", every: .hertz(10), safeStateAfter: 5) { TowerLoop(ends: $0, state: mailbox.initialState) }
    ]
  }
}

private struct TowerLoop: ~Copyable, ControlLoop {
  var ends: Tower.Ends
  var state: Tower.State

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      guard case .strike(let times) = request.order else {
        ends.answer(request, .accepted)
        continue
      }
      guard times <= ends.rules.most else {
        ends.answer(request, .refused(.tooMany))
        continue
      }
      guard state.left >= times else {
        ends.answer(request, .refused(.broken))
        continue
      }
      state.left &-= times
      state.struckAt = tick.started
      ends.report(Tower.Notice(kind: state.left == 0 ? .broke : .struck, left: state.left))
      ends.answer(request, .accepted)
    }
    ends.finish(state, isSafe: true)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { ends.finish(state, isSafe: true) }
}

@Suite("words that only some systems adopt")
struct OwnWordsTests {
  private static func hosted(_ wiring: Tower.Wiring = .init()) throws -> HostedSystem<Tower> {
    try HostedSystem(ConfiguredSystem<Tower>(wiring), simulate: true, bell: nil, clock: .tick, now: { .zero })
  }

  /// What frames were answered.
  private final class Outcomes: Sendable {
    let all = Mutex<[String]>([])

    func take(_ outcome: FrameOutcome) {
      let text =
        switch outcome {
        case .reply(let bytes): "\(bytes)"
        case .refused(let error): "\(error.code): \(error.message)"
        }
      all.withLock { $0.append(text) }
    }
  }

  @Test(
    "the state before the first tick is the file's, and what is seen has the file, the rules, the age and what the bench shares"
  )
  func seen() throws {
    let system = try Self.hosted(Tower.Wiring(strokes: 4))
    #expect(system.card?.kind == "tower")
    let first = String(decoding: system.door.state, as: UTF8.self)
    #expect(first == #"{"left":4,"strokes":4,"most":5,"heightMetres":12,"ageSeconds":0}"#)
    let lane = system.lane
    let simulation = try Runtime { lane }.simulation()
    simulation.run(for: .milliseconds(250))
    let later = system.door.leaves(at: .zero + .seconds(3)).first { $0.name == "ageSeconds" }
    // Nothing has struck: its age counts from the simulation's start.
    #expect(later?.value == .number(3))
    simulation.stop()
    var writer = MetricsWriter()
    system.metrics.write(into: &writer)
    #expect(
      writer.text.contains("tactus_tower_height_meters 12\n") && writer.text.contains("tactus_tower_look_seconds 0\n"))
  }

  @Test(
    "a frame is an order: its answer, a refusal with the code and the sentence of its own, and no frame of this system")
  func frames() throws {
    let system = try Self.hosted()
    let lane = system.lane
    let simulation = try Runtime { lane }.simulation()
    let outcomes = Outcomes()
    let caller = Caller(scope: .control, tokenID: nil, address: "", client: 1)
    #expect(!system.door.receive(frame: [8, 1], from: caller) { outcomes.take($0) })
    for strokes: UInt8 in [2, 9, 2] {
      #expect(system.door.receive(frame: [7, strokes], from: caller) { outcomes.take($0) })
      simulation.run(for: .milliseconds(80))
      system.takeAnswers(at: simulation.now) {}
    }
    #expect(outcomes.all.withLock { $0 } == ["[1]", "TOO_LOUD: 1 strokes are left", "BROKEN: 1 strokes are left"])
    simulation.stop()
  }

  @Test(
    "a notice with more to say: its message and its details are in the event, and its kinds are what the page and scenarios know"
  )
  func notices() throws {
    let system = try Self.hosted()
    let told = Told(at: .zero + .seconds(1), notice: Tower.Notice(kind: .broke, left: 0))
    let event = try #require(system.door.edge(told))
    #expect(
      String(decoding: event.body, as: UTF8.self)
        == #"{"notice":"broke","trouble":true,"message":"the clapper broke","left":0}"#)
    let struck = Told(at: .zero + .seconds(1), notice: Tower.Notice(kind: .struck, left: 2))
    let body = String(decoding: try #require(system.door.edge(struck)).body, as: UTF8.self)
    #expect(
      body == #"{"notice":"struck","trouble":false,"message":"the bell struck, 2 strokes are left","left":2}"#)
    let line = Tower.inFull(struck, system.door.look(struck.at))
    #expect(line.message == "the bell struck, 2 strokes are left" && line.metadata["left"] == "2")
    let declaration = try #require(system.declaration)
    let described = String(decoding: declaration().bytes, as: UTF8.self)
    #expect(described.contains(#"{"name":"struck","meaning":"the bell struck","trouble":false}"#))
  }

  @Test(
    "what it says of itself, what it needs of the machine, its entities, its keys' earlier names, its own scenarios")
  func words() throws {
    let (configured, kind) = (try ConfiguredSystem<Tower>(), DeclaredKind(Tower.self))
    #expect(configured.driven == "the bell" && configured.secrets.isEmpty && configured.files.isEmpty)
    #expect(configured.deviceGroups == ["audio"] && configured.folders.isEmpty && configured.looksUpNames)
    #expect(kind.movedKeys == ["bell.strokes": "tower.strokes"] && kind.scenarioHelp == "one with bells")
    let file = try YAMLFile(text: "robot:\n", name: "a.yaml")
    #expect(try kind.play(file, seed: 7) == true && kind.play(file, seed: nil) == nil)
    let system = try Self.hosted()
    let entities = try system.door.entities(on: #require(DeviceTopics(device: "t")), takesCommands: true)
    let timed = try Self.hosted(Tower.Wiring(strokes: 9))
    #expect(system.timeZone == nil && timed.timeZone == "Europe/Rome")
    #expect(entities.map(\.id) == ["tower-3"] && system.door.movingMembers == ["left"])
  }

  @Test("events and checks of its own in a scenario: beside the made ones, with company, and with errors in words")
  func playsMore() throws {
    func scenario(_ text: String) throws -> Scenario<DeclaredScenario<Tower>> {
      try Scenario(YAMLFile(text: "tower:\nduration_s: 4\n" + text, name: "s.yaml"))
    }
    let played = try scenario(
      """
      events:
        - { at_s: 1, wind_knots: 12, gusts_knots: 3 }
        - { at_s: 2, call: strike, with: { times: 1 } }
      expect:
        - { at_s: 1, strongest_knots: 15, struck: false, heightMetres: 12 }
        - { at_s: 3, strongest_knots: [0, 9], struck: true, notice: struck, answer: accepted }
      """)
    var lines: [String] = []
    #expect(try !played.play { lines.append($0) })
    #expect(lines.contains("     1.000 s  wind        12 knots"))
    #expect(lines.contains { $0.hasSuffix("tower       struck: the bell struck, 2 strokes are left") }, "\(lines)")
    #expect(
      lines.filter { $0.contains("FAILED") } == ["     3.000 s  FAILED      strongest_knots: expected 0…9, got 15"])
    let errors = try #require(throws: ConfigErrors.self) {
      _ = try scenario(
        """
        events:
          - { at_s: 1, wind_knots: 70 }
          - { at_s: 1, call: rest, gusts_knots: 3 }
          - { at_s: 1, wind_knots: 7, with: {} }
          - { at_s: 1, wind_knots: 7, gusts_knots: much }
        expect: [{ at_s: 1, struck: hard }]
        """)
    }
    #expect(
      errors.errors.map(\.description) == [
        "s.yaml:4:28: events[0].wind_knots: expected a number 0…60, got 70",
        "s.yaml:5:22: events[1].call: expected one of strike, e-stop, reset (reset?), got rest",
        "s.yaml:5:41: events[1].gusts_knots: expected none beside call",
        "s.yaml:6:37: events[2].with: expected none beside wind_knots",
        "s.yaml:7:44: events[3].gusts_knots: expected a number 0…20, got much",
        "s.yaml:8:29: expect[0].struck: expected true or false, got hard",
      ])
  }

  @Test(
    "a kept key: what a client has set outlives a restart, until the file says something else or the value is no more allowed"
  )
  func kept() throws {
    let folder = try TemporaryFolder()
    let tables = try #require(Tower.declaredKeeping).tables
    let (file, _) = try StoreFile.open(
      folder.path("store.sqlite"), systems: [tables], at: WallInstant(secondsSince1970: 1_790_000_000))
    let (logger, thread) = (Logger(label: "test"), DeskThread("tower"))
    func rules(_ inFile: Int, least: Int = 1) throws -> Int {
      try #require(
        KeptProgress<Tower>(file, of: "tower", rules: .init(most: inFile), isWhole: { $0.most >= least }, logger)
      ).rules.most
    }
    let kept = try #require(KeptProgress<Tower>(file, of: "tower", rules: .init(most: 5), logger))
    #expect(kept.rules.most == 5)
    let set = KeptRules<Tower>.values(.init(most: 2), file: .init(most: 5))
    kept.beat(Published(at: .zero, isSafe: true, state: kept.state), set, at: .zero + .seconds(1), on: thread)
    thread.finish {}
    #expect(try rules(5) == 2, "set by a client")
    let back = KeptRules<Tower>.values(.init(most: 5), file: .init(most: 5))
    kept.beat(Published(at: .zero, isSafe: true, state: kept.state), back, at: .zero + .milliseconds(1900), on: thread)
    thread.finish {}
    #expect(try rules(5) == 2, "a second has not passed")
    kept.beat(Published(at: .zero, isSafe: true, state: kept.state), back, at: .zero + .seconds(2), on: thread)
    thread.finish {}
    #expect(try rules(5) == 5, "set back, not ten seconds later")
    kept.beat(Published(at: .zero, isSafe: true, state: kept.state), set, at: .zero + .seconds(3), on: thread)
    thread.finish {}
    #expect(try rules(6) == 6, "the file says something else")
    #expect(try rules(5, least: 3) == 5, "it contradicts another value")
    try KeptValues(of: "tower", instance: "tower", in: file).write(["settings.set": .text(#"{"most":99}"#)])
    #expect(try rules(5) == 5, "a value that the key does not take any more")
    kept.finish(kept.state, KeptRules<Tower>.values(.init(most: 5), file: .init(most: 5)))
    #expect(try rules(5) == 5, "set back")
  }

  @Test(
    "a reload that another system refuses: the file's rules are not taken for a client's; one that is taken, they are the new ones"
  )
  func refusedReload() throws {
    let system = try Self.hosted()
    let (old, new) = (Tower.Rules(most: 5), Tower.Rules(most: 9))
    let refused = try #require(HostedSystem<Tower>.change(system.wanted, to: new, inFile: new))
    refused.propose()
    refused.withdraw()
    func kept() -> [String: StoredValue] { KeptRules<Tower>.values(system.wanted.rules, file: system.wanted.inFile) }
    let nothing: [String: StoredValue] = ["settings.set": .text("{}"), "settings.file": .text("{}")]
    #expect(system.wanted.inFile.most == old.most && kept() == nothing)
    let taken = try #require(HostedSystem<Tower>.change(system.wanted, to: new, inFile: new))
    taken.propose()
    taken.commit()
    #expect(system.wanted.inFile.most == new.most && kept() == nothing)
  }
}
