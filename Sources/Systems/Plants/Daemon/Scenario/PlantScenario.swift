import Plants
import Service
import Tactus
import TactusDaemon
import Wire

/// The world of a scenario of plants, with probes, desk and host for the app as in `tactus run`, and a sprinkler.
struct PlantScenario: ScenarioWorld {
  /// The configuration in a scenario file: one probe and no sprinkler unless it gives others.
  struct Setup {
    var wiring = Plants.Wiring()
    var rules = Plants.Rules()
  }

  static let part: String? = "plants"
  static var standard: Setup { Setup() }
  static func duration(_ setup: Setup) -> Nanoseconds { .seconds(600) }
  static var keys: [ScenarioWord<Setup>] {
    let settings = ScenarioValue.configuration(with: "plants") { $0.settings(of: Plants.self) }
    let config = ScenarioWord<Setup>("config", settings) { $0 = Setup(wiring: $1.wiring, rules: $1.rules) }
    return [ScenarioWord("plants", .keys(of: Setup(), [config])) { $0 = $1 }]
  }
  var timeline: ScenarioTimeline
  private let simulation: PlantSimulation
  private let hostName: String
  private var isBrokerUp = true
  /// The replies to the last message.
  private var replies: [PlantMessage] = []
  private var repliesSoFar = 0

  init(_ setup: Setup, seed: UInt64, _ timeline: ScenarioTimeline) throws {
    (self.timeline, hostName) = (timeline, setup.wiring.hostName)
    simulation = try PlantSimulation(setup, seed: seed)
  }

  var now: TickInstant { simulation.now }

  func run(to instant: TickInstant) {
    for (at, news) in simulation.run(to: instant) { timeline.say(at, "plants", Self.text(news)) }
  }

  func finish() {
    simulation.stop()
    run(to: now)
    let view = simulation.desk.view
    let outcomes = view.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    timeline.print("messages: \(outcomes.isEmpty ? "none" : outcomes); replies \(view.replies)")
    timeline.printTrace(simulation.traceHash)
  }

  // MARK: events

  private enum Bus: String, CaseIterable {
    case ok
    /// A chip holds a line of the bus low.
    case stuck
  }

  static func events(_ setup: Setup) -> [ScenarioWord<Self>] {
    let sender = ScenarioCompany("sender", .text, or: "phone")
    let payload = ScenarioCompany("payload", .text, or: "")
    return [
      ScenarioWord("request", .text, with: sender, payload) {
        (world: inout Self, operation, sender, payload) in
        world.say(sender, payload.isEmpty ? operation : "\(operation) \(payload)")
        world.deliver(
          PlantMessage(sender: sender, receiver: world.hostName, payload: payload, operation: operation).encoded)
      },
      // Arbitrary bytes on the clients' topic.
      ScenarioWord("message", .text) { world, text in
        world.say("somebody", text)
        world.deliver(text)
      },
    ] + soil(setup) + [
      // Whether messages pass the broker, in both directions.
      ScenarioWord("broker", .word(["up": true, "down": false])) { world, isUp in
        world.isBrokerUp = isUp
        world.say("broker", isUp ? "up" : "down")
      },
      ScenarioWord("bus", .word) { (world, bus: Bus) in
        world.say("bus", bus.rawValue)
        world.simulation.garden.bus?.clearFaults()
        if bus == .stuck { world.simulation.garden.bus?.inject(.stuck) }
      },
      ScenarioWord("sprinkler", .word) { (world, condition: SimulatedWater.Condition) in
        world.say("sprinkler", condition.rawValue)
        world.simulation.water.condition = condition
      },
      .stall { $0.simulation.stall(by: $1) },
    ]
  }

  /// Returns the events that change the soil at a probe.
  private static func soil(_ setup: Setup) -> [ScenarioWord<Self>] {
    let probe = ScenarioCompany("probe", .word(setup.wiring.sensors.map(\.name)))
    func changes<Value>(
      _ name: String, _ value: ScenarioValue<Value>, _ text: @escaping (String, Value) -> String,
      _ change: @escaping (SimulatedSoil, Value) -> Void
    ) -> ScenarioWord<Self> {
      ScenarioWord(name, value, with: probe) { world, value, probe in
        world.say("world", text(probe, value))
        // The reader has checked that the probe exists.
        change(world.simulation.garden[PlantSensorID(probe)!]!, value)
      }
    }
    func number(_ value: Double) -> String { ScenarioTimeline.number(value) }
    return [
      changes(
        "moisture_percent", .number(0...100), { "soil at \($0): \(number($1)) %" }, { $0.set(moisturePercent: $1) }),
      changes("pour_percent", .number(0...100), { "somebody waters \($0): \(number($1)) % more" }, { $0.pour($1) }),
      changes("celsius", .number(0...85), { "soil at \($0): \(number($1)) °C" }, { $0.set(celsius: $1) }),
      changes(
        "fault", ScenarioValue<SimulatedSoil.Fault>.word,
        { "wire of \($0): \($1 == .none ? "mended" : $1.rawValue)" }, { $0.set(fault: $1) }),
    ]
  }

  private mutating func deliver(_ text: String) {
    guard isBrokerUp else {
      replies = []
      return say("broker", "is down: nobody hears it")
    }
    replies = simulation.deliver(Array(text.utf8))
    repliesSoFar += replies.count
    for reply in replies { say("host", "\(reply.operation) \(reply.payload)") }
  }

  // MARK: checks

  static func checks(_ setup: Setup) -> [ScenarioCheck<Self>] {
    [
      ScenarioCheck("plant", .item()) { $0.simulation.desk.view.records.plants.map { "\($0.name)" } },
      ScenarioCheck("alerts", of: "plant", .all(among: PlantAlert.allCases.map(\.rawValue))) { world, plant in
        world.condition(plant)?.alerts.map(\.rawValue) ?? ["no such plant"]
      },
      // Whether the plant was ever seen watered.
      ScenarioCheck("watered", of: "plant", .boolean) { world, plant in
        world.plant(plant).map { "\($0.lastWatered != nil)" } ?? "no such plant"
      },
      // The operation of the last reply, or `none` if the last message had no reply.
      ScenarioCheck("reply", .text) { $0.replies.last?.operation ?? "none" },
      ScenarioCheck("payload", .part) { $0.replies.last?.payload ?? "" },
      ScenarioCheck("moisture_percent", of: "plant", .range) { $0.condition($1)?.moisturePercent },
      ScenarioCheck("celsius", of: "plant", .range) { $0.condition($1)?.celsius },
      ScenarioCheck("plants", .range) { Double($0.simulation.desk.view.records.plants.count) },
      // Replies to the last message, and to all.
      ScenarioCheck("replies", .range) { Double($0.replies.count) },
      ScenarioCheck("replies_so_far", .range) { Double($0.repliesSoFar) },
      // Requests of dry plants to the sprinkler.
      ScenarioCheck("asked", .range) { Double($0.simulation.water.asked) },
      // Failed readings of all probes.
      ScenarioCheck("failures", .range) { Double($0.simulation.failures) },
    ]
  }

  private func plant(_ name: String) -> Plant? {
    simulation.desk.view.records.plants.first { $0.name.text == name }
  }

  private func condition(_ name: String) -> PlantCondition? {
    plant(name).flatMap { simulation.desk.view.conditions[$0.id] }
  }

  private static func text(_ news: PlantNews) -> String {
    func percent(_ value: Double?) -> String { value.map { ", \(Int(saturating: $0.rounded())) %" } ?? "" }
    return switch news {
    case .added(let plant): "\(plant.name) added"
    case .changed(let plant): "\(plant.name) changed"
    case .removed(let id): "plant \(id) removed"
    case .calibrated(let sensor, _, _): "\(sensor) calibrated"
    case .raised(let plant, let alert, let moisture): "\(plant.name): \(alert)\(percent(moisture))"
    case .cleared(let plant, let alert, let moisture): "\(plant.name): no longer \(alert)\(percent(moisture))"
    case .watered(let plant, let isByHand): "\(plant.name) watered, \(isByHand ? "somebody says" : "its moisture rose")"
    case .asked(let plant, let request): "\(plant.name) asks zone \(request.zone) for \(request.seconds) s of water"
    case .refused(let plant, let request, let reason): "\(plant.name): zone \(request.zone) refuses: \(reason)"
    case .waits(let plant, let zone): "\(plant.name) asks zone \(zone) for nothing before somebody confirms it"
    case .confirmed(let plant): "\(plant.name) may be watered, somebody says"
    case .uselessCalibration(let sensor, _): "\(sensor): its calibration is not used"
    case .fileCalibration(let sensor): "\(sensor): calibrated as the file says"
    case .store(let failure): "the store \(failure.map { "refuses: \($0)" } ?? "takes changes again")"
    case .clientError(let operation, let payload): "a client reports \(operation) \(payload)"
    }
  }
}
