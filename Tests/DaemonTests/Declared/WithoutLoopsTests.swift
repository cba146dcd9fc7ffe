import Foundation
import Logging
import Synchronization
import Tactus
import TestSupport
import Testing
import Wire

@testable import Service
@testable import TactusDaemon

/// A weather station: a shell that says how it blows.
private enum Station: WithoutLoops, Sees {
  static let name = "station"
  static let summary = "A weather station."
  static let initialState = State()
  static var seenFields: [Field<Seen>] {
    Field("state", \.state, "What it does.")
    Field("gusts", \.gusts, kind: .counter, "Gusts so far.")
    Field("place", \.place, "Where it stands.")
  }

  struct Wiring: Settings {
    var port: UInt16 = 9_100
    static var keys: [Key<Wiring>] { Key("network.station_port", \.port, in: 0...65535, "Port of the reader.") }
  }
  /// Nothing that a loop could have.
  struct Rules: Settings {
    var place = "roof"
    static var keys: [Key<Rules>] { Key("place", \.place, "Where it stands.") }
  }
  typealias Order = NoOrder
  typealias Refusal = NoRefusal
  typealias LoopRules = NoSettings
  struct State: BitwiseCopyable, Sendable {
    var state = Mode.silent
    var gusts = 0
  }
  struct Seen: Sendable {
    let state: Mode
    let gusts: Int
    let place: String
  }
  enum Mode: String, Word { case silent, blowing }
  enum Notice: String, NoticeWord {
    case gust
    var isTrouble: Bool { true }
    var sentence: String { "a gust" }
  }

  static func plan(_ bench: Bench<Wiring>) { bench.listens(tcp: \.port) }
  static func seen(_ published: Published<State>, _ look: Look<Station>) -> Seen {
    Seen(state: published.state.state, gusts: published.state.gusts, place: look.shared(StationDesk.self)?.place ?? "")
  }

  static func desk(_ made: DeskMaterial<Station>) throws -> StationDesk {
    let desk = StationDesk(made.rules().place)
    let (publish, note) = (made.publish, made.note)
    let script = "read -r place <&3; echo \"gust at $place\" >&3; while read -r line <&3; do :; done"
    let child = try made.child(
      ChildProgram("/bin/sh", ["-c", script], called: "the reader"), speaking: ChildLines.self,
      settings: made.rules().place,
      heard: { line in
        publish(State(state: .blowing, gusts: desk.heard(line)))
        note(.gust)
      }, changed: { desk.changed($0) })
    desk.child.value = child
    made.share(desk)
    return desk
  }
  static var routes: [SystemRoute<Station>] {
    SystemRoute.get("last", answers: Last.self, "What was said last.") { desk, _ in
      Last(line: desk.lines.value.last ?? "")
    }
  }
  struct Last: Answers {
    let line: String
    static var fields: [Field<Last>] { Field("line", \.line, "As it was said.") }
  }
}

private final class StationDesk: LoneDesk {
  let lines = Guarded<[String]>([])
  let reports = Guarded<[ChildReport]>([])
  let child = Guarded<Child<ChildLines>?>(nil)
  let told = Guarded(0)
  private let standing: Guarded<String>
  var place: String { standing.value }

  init(_ place: String) { standing = Guarded(place) }

  func heard(_ line: String) -> Int {
    lines.value += [line]
    return lines.value.count
  }
  func changed(_ report: ChildReport) { reports.value += [report] }

  func told(_ notice: Told<Station.Notice>) { told.value += 1 }
  func beat(_ newest: Published<Station.State>) {}
  func finish(_ last: Published<Station.State>) {}
  func apply(_ rules: Station.Rules, done: @escaping @Sendable () -> Void) {
    standing.value = rules.place
    child.value?.replace(rules.place, told: done)
  }
}

@Suite("a declared system without loops", .ownThread, .serialized)
struct WithoutLoopsTests {
  private static func hosted() throws -> HostedWithoutLoops<Station> {
    let configuration = try Configuration.read(YAMLFile(text: "motors: { }", name: "c.yaml"), environment: [:])
    let log = ProgramLog(format: .json, level: .critical, console: false, secrets: [])
    let bell = try Doorbell()
    let surroundings = SystemSurroundings(
      configuration: configuration, store: nil, simulate: false, bell: bell.button, clock: WatchedWallClock(),
      zone: .utc, logger: log.logger("test"), log: log, madeSafe: nil, endedWithoutStop: false, portOwners: PortOwners()
    )
    let system = try ConfiguredSystem<Station>().open(surroundings)
    return try #require(system as? HostedWithoutLoops<Station>)
  }

  private static func waits(_ condition: () -> Bool) -> Bool {
    let until = MonotonicClock.now + .seconds(60)
    while !condition() {
      guard MonotonicClock.now < until else { return false }
      Thread.sleep(forTimeInterval: 0.02)
    }
    return true
  }

  @Test("the plan: its port is claimed, nothing is driven, and the file has no lane of it")
  func planned() throws {
    let configured = try ConfiguredSystem<Station>()
    #expect(configured.claims == [ResourceClaim(resource: .tcp(port: 9_100), key: "network.station_port")])
    #expect(configured.driven == nil && configured.safeWrites.isEmpty && configured.rate == nil)
    #expect(ConfigTable.keys(of: Station.self).map(\.path) == ["network.station_port", "station.place"])
    #expect(DeclaredKind(Station.self).scenarioHelp == nil)
  }

  @Test(
    "its child runs with the program: what it says is published, told once, and the desk's; it ends with the program")
  func runs() async throws {
    let system = try Self.hosted()
    #expect(!((system as Any) is any LoopSystem))
    let door = system.door
    let version = door.version
    system.started()
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    var events: [Event] = []
    #expect(
      Self.waits {
        events += system.takeNotices(logger)
        return !events.isEmpty
      })
    #expect(events.map(\.type) == ["station.notice"])
    #expect(door.version > version && door.published.state.gusts == 1)
    #expect(String(decoding: door.state, as: UTF8.self) == #"{"state":"blowing","gusts":1,"place":"roof"}"#)
    #expect(Self.waits { system.desk.desk.told.value == 1 })
    let process = try #require(system.desk.desk.reports.value.last?.process)

    let change = try #require(HostedWithoutLoops.change(system.wanted, system.desk, to: rules("mast"), of: system.at))
    #expect(change.isPrepared && change.progress == .waiting)
    change.commit()
    #expect(Self.waits { change.progress == .taken })
    #expect(system.wanted.inEffect.place == "mast")
    #expect(Self.waits { system.desk.desk.lines.value.last == "gust at mast" })
    #expect(HostedWithoutLoops.change(system.wanted, system.desk, to: rules("mast"), of: system.at) == nil)

    system.finish(logger)
    #expect(system.desk.desk.reports.value.last?.process == nil && kill(process, 0) == -1)
    #expect(system.finishKeeping() == .known)
  }

  private func rules(_ place: String) -> Station.Rules {
    var rules = Station.Rules()
    rules.place = place
    return rules
  }

  @Test("outside: its look, its desk's routes and its settings; no e-stop, no reset, and nothing waits for a loop")
  func outside() async throws {
    let system = try Self.hosted()
    let door = system.door
    #expect(door.routes.map(\.path) == ["/api/station", "/api/station/last"])
    let caller = Caller(scope: .control, tokenID: nil, address: "", client: 0)
    door.holdEmergencyStop()
    try await door.emergencyStop(caller)
    try await door.reset(caller)
    door.clientLeft(caller)
    #expect(!door.isEmergencyStopped)
    #expect(door.events(at: MonotonicClock.now, second: false).isEmpty)
    #expect(door.events(at: MonotonicClock.now, second: true).map(\.type) == ["station"])
    var writer = MetricsWriter()
    system.metrics.write(into: &writer)
    #expect(writer.text.contains("tactus_station_gusts_total 0") && !writer.text.contains("dropped"))
    let declaration = try #require(system.declaration)
    let declared = declaration()
    #expect(declared["stops"] == .boolean(false))
    let api = String(decoding: try #require(system.api).paths.bytes, as: UTF8.self)
    #expect(api.contains("/api/station/settings") && !api.contains("e-stop") && !api.contains("reset\""))
  }
}

/// A system that this build is without.
private enum Absent: WithoutLoops, Sections {
  static let name = "absent"
  static let summary = "Is not there."
  static let sections = [ConfigSection(name: "eye", doc: "An eye."), ConfigSection(name: "absent", doc: "Its own.")]
  static let howToBuild: String? = "swift build --traits Absent"
  static let toleratedSections = ["eye"]
  static let initialState = State()
  static var fields: [Field<State>] { [] }
  typealias Wiring = NoSettings
  struct Rules: Settings {
    var colour = "blue"
    static var keys: [Key<Rules>] { Key("eye.colour", \.colour, "Its colour.") }
  }
  typealias Order = NoOrder
  typealias Refusal = NoRefusal
  typealias Notice = NoNotice
  typealias LoopRules = NoSettings
  struct State: BitwiseCopyable, Sendable {}
  final class Desk: LoneDesk {
    func told(_ notice: Told<NoNotice>) {}
    func beat(_ newest: Published<State>) {}
    func finish(_ last: Published<State>) {}
    func apply(_ rules: Rules, done: @escaping @Sendable () -> Void) { done() }
  }
  static func desk(_ made: DeskMaterial<Absent>) -> Desk { Desk() }
  static var routes: [SystemRoute<Absent>] { [] }
}

@Suite("a system that a build is without")
struct LeftOutTests {
  @Test("a section that others have, too: its keys are not used; its own: an error that says how to build it")
  func reading() {
    var found = ConfigReader.Result()
    (found.sections, found.values) = (["eye"], ["eye.colour": .text("green")])
    let tolerated = DeclaredKind(Absent.self).reading(of: found, file: "c.yaml")
    #expect(tolerated.systems.isEmpty && tolerated.errors.isEmpty && tolerated.unused == ["eye.colour"])
    found.sections.insert("absent")
    let asked = DeclaredKind(Absent.self).reading(of: found, file: "c.yaml")
    #expect(asked.systems.isEmpty && asked.errors.map(\.key) == ["absent"])
    #expect(asked.errors[0].message.contains("`swift build --traits Absent` makes one with it"))
  }
}
