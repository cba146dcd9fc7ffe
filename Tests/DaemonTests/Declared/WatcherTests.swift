import MQTTMosquitto
import Service
import Synchronization
import Tactus
import Testing
import Wire

@testable import TactusDaemon

/// What the nest boxes of a garden are looked after with: it drives nothing, lives on the broker, and needs seeds.
private enum Nests: DeviceSystem, ConvertsRules, ShapesLane, Sees, Serves, Needs, OnBroker {
  typealias Order = NoOrder
  typealias Refusal = NoRefusal
  typealias Notice = NoNotice
  typealias LoopRules = NoSettings
  static let name = "nests"
  static let summary = "Nest boxes."
  static let initialState = State()
  static let lane = LaneKeys.none

  struct Wiring: Settings {
    var topic = "birds"
    var wantsSeeds = false
    static var keys: [Key<Wiring>] {
      Key("nests.radio.topic", \.topic, "Where birds are told of; empty for nowhere.")
      Key("wants_seeds", \.wantsSeeds, "Whether it asks for seeds.")
    }
  }
  struct Rules: Settings {
    var isLoud = false
    static var keys: [Key<Rules>] { Key("nests.radio.loud", \.isLoud, "Whether all is told.") }
  }
  struct State: BitwiseCopyable, Sendable { var looks = 0 }
  struct Seeds: Sendable { let grams: Int }

  struct Box: Sendable {
    let id: Int
    let name: String
    let eggs: Int
    let ringed: [String]
  }
  struct Seen: Sendable {
    var boxes = [Box(id: 7, name: "oak", eggs: 4, ringed: ["A1", "A2"]), Box(id: 9, name: "elm", eggs: 0, ringed: [])]
    var heard: [String: Int64] = ["owl": 2, "tit": 30]
    var cat: Cat?
  }
  struct Cat: Sendable { let name: String }

  static func loopRules(_ wiring: Wiring, _ rules: Rules) -> NoSettings { NoSettings() }
  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    [mailbox.loop("nests", every: .hertz(10), safeStateAfter: 0) { NestLoop(ends: $0) }]
  }
  static func seen(_ published: Published<State>, _ look: Look<Nests>) -> Seen { Seen() }
  static func version(_ look: Look<Nests>) -> UInt64 {
    look.shared(NestDesk.self)?.heard.withLock { UInt64($0.count) } ?? 0
  }
  static var seenFields: [Field<Seen>] {
    Items("boxes", \.boxes, each: "box", numbered: "id", labels: ["box": "id", "tree": "name"], when: .state) {
      Field("id", \.id, metric: .none, "Its number.")
      Field("name", \.name, "Its tree.")
      Field("eggs", \.eggs, "Eggs in it.")
      Field("ringed", \.ringed, "Birds with a ring.")
    }
    Field("heard", counts: \.heard, label: "bird", metric: "heard", when: .state, "Songs that were heard.")
    Group("cat", \.cat, when: .state, "The cat.") { Field("name", \.name, "Its name.") }.leftOutIfNil
  }

  static func desk(_ made: DeskMaterial<Nests>) -> NestDesk { NestDesk() }
  static var routes: [SystemRoute<Nests>] {
    SystemRoute.own { desk in
      [Route(.get, "/api/nests") { _ in APIResponse(Done(), logValue: "\(desk.heard.withLock { $0.count })") }]
    }
  }
  static func filters(_ wiring: Wiring) -> [String] { wiring.topic.isEmpty ? [] : [wiring.topic] }
  static func receive(_ message: MQTTMessage, _ desk: NestDesk, on broker: BrokerLine) {
    desk.heard.withLock { $0.append(message.topic) }
  }
  static func summary(_ wiring: Wiring, hasBroker: Bool) -> [String] {
    ["nests: heard \(hasBroker ? "afar" : "nowhere")"]
  }
  static func check(_ wiring: Wiring, _ rules: Rules, among others: Set<String>, _ report: Contradictions<Nests>) {
    if wiring.wantsSeeds, !others.contains("feeder") { report(\.wantsSeeds, "expected a feeder, got none") }
  }
}

private final class NestDesk: SystemDesk, Sendable {
  let heard = Mutex<[String]>([])
  func told(_ notice: Told<NoNotice>) {}
  func beat(_ newest: Published<Nests.State>) {}
  func finish(_ last: Published<Nests.State>) {}
}

private struct NestLoop: ~Copyable, ControlLoop {
  var ends: Nests.Ends
  var state = Nests.State()

  init(ends: consuming Nests.Ends) { self.ends = ends }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    state.looks &+= 1
    ends.finish(state, isSafe: true)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { ends.finish(state, isSafe: true) }
}

@Suite("a system that drives nothing, lives on the broker and needs something")
struct WatcherTests {
  @Test("without orders: neither e-stop nor reset is a route, and an e-stop of the program passes it by")
  func withoutOrders() async throws {
    let desk = NestDesk()
    let door = try StandIn(Nests.self).serve(desk, sharing: desk).system
    #expect(
      door.routes.map { "\($0.method.rawValue) \($0.path)" } == ["GET /api/nests"], "and its own look stands alone")
    let caller = Caller(scope: .control, tokenID: nil, address: "", client: 1)
    try await door.emergencyStop(caller)
    door.holdEmergencyStop()
    #expect(!door.isEmergencyStopped)
    try await door.reset(caller)
    var writer = MetricsWriter()
    door.write(into: &writer)
    #expect(!writer.text.contains("dropped"))
  }

  @Test("parts with numbers of their own: topics, labels; lists and counts; a part that is not there is left out")
  func fields() throws {
    let desk = NestDesk()
    let door = try StandIn(Nests.self).serve(desk, sharing: desk).system
    let event = try #require(door.events(at: .zero, second: true).first)
    let boxes =
      #"[{"id":7,"name":"oak","eggs":4,"ringed":["A1","A2"]},{"id":9,"name":"elm","eggs":0,"ringed":[]}]"#
    #expect(String(decoding: event.body, as: UTF8.self) == #"{"boxes":\#(boxes),"heard":{"owl":2,"tit":30}}"#)
    #expect(door.events(at: .zero, second: false).isEmpty, "nothing is told ten times a second")
    #expect(door.parts.map(\.path) == ["box/7", "box/9"])
    var writer = MetricsWriter()
    door.write(into: &writer)
    #expect(
      writer.text.split(separator: "\n").filter { !$0.hasPrefix("#") } == [
        #"tactus_nests_eggs{box="7",tree="oak"} 4"#, #"tactus_nests_eggs{box="9",tree="elm"} 0"#,
        #"tactus_nests_heard_total{bird="owl"} 2"#, #"tactus_nests_heard_total{bird="tit"} 30"#,
      ])
  }

  @Test("what a desk does is another version without a tick of the loop's")
  func version() throws {
    let desk = NestDesk()
    let door = try StandIn(Nests.self).serve(desk, sharing: desk).system
    let before = door.version
    desk.heard.withLock { $0.append("owl") }
    #expect(door.version > before)
  }

  @Test("on the broker: its filters, none without a topic; a line for check")
  func onBroker() throws {
    let standIn = try StandIn(Nests.self)
    #expect(standIn.serve(NestDesk()).participant?.filters == ["birds"])
    var wiring = Nests.Wiring()
    wiring.topic = ""
    #expect(try StandIn(Nests.self, wiring).serve(NestDesk()).participant == nil)
    #expect(Nests.summaryLines(wiring, hasBroker: true) == ["nests: heard afar"])
  }

  @Test("what it needs: offered later, it is there; what no other system gives is an error at its key")
  func needs() {
    let offers = SystemSurroundings.Offers()
    let needed = Needed<Nests.Seeds>(offers)
    #expect(needed.offer == nil)
    offers.give(Nests.Seeds(grams: 5))
    #expect(needed.offer?.grams == 5)
    var wiring = Nests.Wiring()
    wiring.wantsSeeds = true
    func unmet(_ others: Set<String>) -> [String] {
      Nests.unmet(wiring, Nests.Rules(), at: Nests.onlyPlace, among: others, .none).map { $0.blamed[0].key }
    }
    #expect(unmet([]) == ["nests.wants_seeds"] && unmet(["feeder"]).isEmpty)
  }

  @Test(
    "a part of a section with keys of both kinds is one part in the table; a lane without keys is of the kernel's usual kind"
  )
  func keys() {
    #expect(
      ConfigTable.keys(of: Nests.self).map(\.path) == ["nests.radio.topic", "nests.radio.loud", "nests.wants_seeds"])
    #expect(Nests.standardLane.scheduling == .normal)
  }
}
