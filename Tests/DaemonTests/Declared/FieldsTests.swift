import Service
import Tactus
import Testing
import Wire

@testable import TactusDaemon

/// A crane whose state has an object, one that is not always there, and a list; and names that somebody depends on.
private enum Crane: DeviceSystem {
  static let name = "crane"
  static let summary = "A crane."
  static let initialState = State()
  static let emergencyStop = Order.stop
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.stop
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  typealias Wiring = NoSettings
  typealias Rules = NoSettings
  typealias Refusal = NoRefusal

  static var fields: [Field<State>] {
    Field("state", \.mode, "What it does.")
    Field("leftPercent", \.left, unit: .percent, metric: .named("speed_ratio", label: "side", value: "left"), "Left.")
    Field(
      "rightPercent", \.right, unit: .percent, metric: .named("speed_ratio", label: "side", value: "right"), "Right.")
    Field("retries", \.retries, kind: .counter, when: .state, metric: "bus_retries", entity: .none, "Retries.")
    Field("uptimeSeconds", \.uptime, unit: .seconds, when: .metrics, "Time since the start.")
    Field("phase", \.mode, when: .metrics, metric: .named("doing", label: "what"), "The same.")
    Group("chip", \.chip, "Its chip.") {
      Field("isReady", \.isReady, entity: .named(id: "chip-ready", title: "Chip"), "Whether it answers.")
      Field("writes", \.writes, kind: .counter, "Writes.")
    }
    Group("load", \.load, "What hangs on it; null if nothing does.") {
      Field("massGrams", \.mass, unit: Unit("g"), "Mass.")
      Field("name", \.name, metric: .none, "What it is.")
    }
    Items("hooks", \.hooks, each: "hook", from: 1, "Its hooks.") {
      Field("heightMetres", \.height, unit: .metres, "Height.")
      Field("mode", \.mode, "What the hook does.")
    }
  }
  static var commands: [Command<Order>] { Command("stop", makesSafe: true, "Stops.") { .stop } }

  enum Mode: String, Word { case rests, lifts }
  struct Chip: BitwiseCopyable, Sendable {
    var isReady = true
    var writes = 7
  }
  struct Load: BitwiseCopyable, Sendable {
    var mass = 2.5
    var name: String { "a box" }
  }
  struct Hook: BitwiseCopyable, Sendable {
    var height: Double
    var mode = Mode.lifts
  }
  struct State: BitwiseCopyable, Sendable {
    var mode = Mode.lifts
    var left = 50.0
    var right = -25.0
    var retries = 3
    var uptime = 1.5
    var chip = Chip()
    var load: Load?
    private var low = Hook(height: 1)
    private var high = Hook(height: 4, mode: .rests)
    var hooks: [Hook] { [low, high] }

    init(load: Load? = nil) { self.load = load }
  }
  enum Order: BitwiseCopyable, Sendable { case stop }
  enum Notice: String, NoticeWord {
    case none
    var isTrouble: Bool { false }
    var sentence: String { "nothing" }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    [mailbox.loop("crane", every: .hertz(10), safeStateAfter: 5) { CraneLoop(ends: $0) }]
  }
}

private struct CraneLoop: ~Copyable, ControlLoop {
  var ends: Crane.Ends

  init(ends: consuming Crane.Ends) { self.ends = ends }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() { ends.answer(request, .accepted) }
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {}
}

@Suite("fields of a state: objects, lists, and the names that somebody depends on")
struct FieldsTests {
  private static func hosted() throws -> HostedSystem<Crane> {
    try HostedSystem(ConfiguredSystem<Crane>(), simulate: true, bell: nil, clock: .tick, now: { .zero })
  }

  private static let shapes = Crane.fields.map(\.shape)
  private static func values(_ state: Crane.State) -> [FieldValue] { Crane.fields.map { $0.read(state) } }
  private static func text(_ json: JSONValue) -> String { String(decoding: json.bytes, as: UTF8.self) }

  @Test(
    "a group is an object, null when its part is not there; a list has an object for each; a metric alone is in no document"
  )
  func documents() throws {
    let hooks = #"[{"heightMetres":1,"mode":"lifts"},{"heightMetres":4,"mode":"rests"}]"#
    let chip = #"{"isReady":true,"writes":7}"#
    let speeds = #""state":"lifts","leftPercent":50,"rightPercent":-25"#
    let state = String(decoding: try Self.hosted().door.state, as: UTF8.self)
    #expect(state == #"{\#(speeds),"retries":3,"chip":\#(chip),"load":null,"hooks":\#(hooks)}"#)
    let telemetry = Self.shapes.members(Self.values(Crane.State(load: .init())), isTelemetry: true)
    let load = #"{"massGrams":2.5,"name":"a box"}"#
    #expect(Self.text(.object(telemetry)) == #"{\#(speeds),"chip":\#(chip),"load":\#(load),"hooks":\#(hooks)}"#)
  }

  @Test("telemetry has what is in the state alone left out; the event of a second has it")
  func events() throws {
    let door = try Self.hosted().door
    let bodies = [false, true].map { second in door.events(at: .zero, second: second).map { Self.body($0) } }
    #expect(!bodies[0][0].contains("retries") && bodies[1][0].contains("\"retries\":3"))
  }

  private static func body(_ event: Event) -> String { String(decoding: event.body, as: UTF8.self) }

  @Test(
    "metrics: a group's name stands before, an item is a label, fields share a family, names are those that were given")
  func metrics() throws {
    var writer = MetricsWriter()
    try Self.hosted().metrics.write(into: &writer)
    let lines = writer.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0) }
    #expect(
      lines == [
        "tactus_crane_state{state=\"rests\"} 0", "tactus_crane_state{state=\"lifts\"} 1",
        "tactus_crane_speed_ratio{side=\"left\"} 0.5", "tactus_crane_speed_ratio{side=\"right\"} -0.25",
        "tactus_crane_bus_retries_total 3", "tactus_crane_uptime_seconds 1.5",
        "tactus_crane_doing{what=\"rests\"} 0", "tactus_crane_doing{what=\"lifts\"} 1",
        "tactus_crane_chip_is_ready 1", "tactus_crane_chip_writes_total 7",
        "tactus_crane_height_meters{hook=\"1\"} 1", "tactus_crane_height_meters{hook=\"2\"} 4",
        "tactus_crane_mode{hook=\"1\",mode=\"rests\"} 0", "tactus_crane_mode{hook=\"1\",mode=\"lifts\"} 1",
        "tactus_crane_mode{hook=\"2\",mode=\"rests\"} 1", "tactus_crane_mode{hook=\"2\",mode=\"lifts\"} 0",
        "tactus_crane_dropped_notices_total 0", "tactus_crane_dropped_answers_total 0",
      ])
  }

  @Test("on the broker each item has a state of its own, and Home Assistant a sensor for each field of each")
  func broker() throws {
    let door = try Self.hosted().door
    #expect(door.parts.map(\.path) == ["hook/1", "hook/2"])
    #expect(String(decoding: door.parts[1].state, as: UTF8.self) == #"{"heightMetres":4,"mode":"rests"}"#)
    #expect(DeclaredKind(Crane.self).numberedParts == ["hook"])
    #expect(FieldItem(list: "legs", each: "leg", number: "0", labels: []).topic(of: "leg") == "0")
    let topics = try #require(DeviceTopics(device: "yard"))
    let entities = door.entities(on: topics, takesCommands: false)
    #expect(
      entities.map(\.id) == [
        "crane-state", "crane-leftPercent", "crane-rightPercent", "chip-ready", "crane-chip-writes",
        "crane-load-massGrams",
        "crane-load-name", "crane-hook-1-heightMetres", "crane-hook-1-mode", "crane-hook-2-heightMetres",
        "crane-hook-2-mode",
      ])
    let (ready, height) = (entities[3], entities[9])
    #expect(ready.name == "Chip" && ready.valueTemplate == "{{ 'ON' if value_json.chip.isReady else 'OFF' }}")
    #expect(height.name == "Crane hook 2 height" && height.stateTopic == topics.state("crane", "hook/2"))
    #expect(height.valueTemplate == "{{ value_json.heightMetres }}" && height.deviceClass == "distance")
    #expect(entities[5].unit == "g" && entities[5].deviceClass == nil)
    #expect(
      door.movingMembers == [
        "leftPercent", "rightPercent", "retries", "uptimeSeconds", "writes", "massGrams", "heightMetres",
      ])
  }

  @Test("its schema: objects in objects; what the state always has is required, telemetry or not")
  func schema() throws {
    let schema = Self.shapes.schema
    let required = schema["required"]?.items.compactMap(\.string)
    #expect(required == ["state", "leftPercent", "rightPercent", "retries", "chip", "load", "hooks"])
    let properties = try #require(schema["properties"])
    #expect(properties["load"]?["type"] == .list([.text("object"), .text("null")]))
    #expect(properties["load"]?["description"] == .text("What hangs on it; null if nothing does."))
    #expect(properties["hooks"]?["items"]?["properties"]?["heightMetres"]?["x-unit"] == .text("m"))
    #expect(properties["load"]?["properties"]?["massGrams"]?["x-unit"] == .text("g"))
    #expect(properties["uptimeSeconds"] == nil && properties["retries"] != nil)
  }

  @Test("the page and scenarios name a value by where the document has it")
  func paths() throws {
    let paths = [
      "chip.isReady", "chip.writes", "load.massGrams", "load.name", "hooks[0].heightMetres", "hooks[1].mode",
    ]
    let declaration = try #require(Self.hosted().declaration)
    let described = String(decoding: declaration().bytes, as: UTF8.self)
    let checks = DeclaredScenario<Crane>.checks(DeclaredScenario<Crane>.standard).map(\.name)
    for path in paths {
      #expect(checks.contains(path))
      #expect(described.contains("{\"name\":\"\(path)\","), "\(path)")
    }
    #expect(!described.contains("uptimeSeconds"))
  }

  @Test("a row of the dashboard: a panel for each metric, told apart by what its samples are told apart by")
  func dashboard() throws {
    let program = DaemonProgram(name: "yard", version: "1.0.0", summary: "A yard.", systems: [Crane.self])
    let text = Dashboard(program).text
    #expect(text.components(of: "tactus_crane_speed_ratio{") == 1)
    #expect(text.contains("{{instance}} {{side}}") && text.contains("{{instance}} {{hook}} {{mode}}"))
    #expect(text.contains("\"Chip Writes\""))
  }
}

extension String {
  /// How often it contains a text.
  fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
