import Plants
import Service
import Tactus
import TactusDaemon
import Wire

/// A scenario of plants being played: probes, desk and the app's host as `tactus run` has them.
struct PlantScenarioRun: ScenarioRun {
  let scenario: PlantScenario.Script
  var timeline: ScenarioTimeline
  private let simulation: PlantSimulation
  private var isBrokerUp = true
  /// To the last message.
  private var replies: [PlantMessage] = []
  private var repliesSoFar = 0

  /// - Parameter print: takes each line of the timeline.
  /// - Throws: `StoreError`: there is no place for a temporary store.
  init(_ scenario: PlantScenario.Script, print: @escaping (String) -> Void) throws {
    self.scenario = scenario
    timeline = ScenarioTimeline(print: print)
    simulation = try PlantSimulation(scenario.setup, seed: scenario.seed)
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

  mutating func apply(_ action: PlantScenario.Action) {
    switch action {
    case .request(let sender, let operation, let payload):
      say(sender, payload.isEmpty ? operation : "\(operation) \(payload)")
      let host = scenario.setup.host.hostName
      deliver(PlantMessage(sender: sender, receiver: host, payload: payload, operation: operation).encoded)
    case .message(let text):
      say("somebody", text)
      deliver(text)
    case .soil(let probe, let change): apply(change, to: probe)
    case .broker(let isUp):
      isBrokerUp = isUp
      say("broker", isUp ? "up" : "down")
    case .bus(let bus):
      say("bus", bus.rawValue)
      simulation.garden.bus?.clearFaults()
      if bus == .stuck { simulation.garden.bus?.inject(.stuck) }
    case .sprinkler(let condition):
      say("sprinkler", condition.rawValue)
      simulation.water.condition = condition
    case .stall(let span):
      simulation.stall(by: span)
      say("loop", "the next tick takes \(span) longer")
    }
    // What it has led to at once.
    run(to: now)
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

  private func apply(_ change: PlantScenario.Soil, to probe: PlantSensorID) {
    // The reader has let through only probes that there are.
    let soil = simulation.garden[probe]!
    switch change {
    case .moisture(let percent):
      say("world", "soil at \(probe): \(ScenarioTimeline.number(percent)) %")
      soil.set(moisturePercent: percent)
    case .poured(let percent):
      say("world", "somebody waters \(probe): \(ScenarioTimeline.number(percent)) % more")
      soil.pour(percent)
    case .temperature(let celsius):
      say("world", "soil at \(probe): \(ScenarioTimeline.number(celsius)) °C")
      soil.set(celsius: celsius)
    case .fault(let fault):
      say("world", "wire of \(probe): \(fault == .none ? "mended" : fault.rawValue)")
      soil.set(fault: fault)
    }
  }

  // MARK: expectations

  mutating func check(_ check: PlantScenario.Check, at: Nanoseconds) {
    switch check {
    case .plant(let name):
      timeline.compare(at, "plant", name, plant(name) == nil ? "none of that name" : name)
    case .alerts(let name, let expected):
      let found = condition(name)?.alerts.sorted().map(\.rawValue) ?? ["no such plant"]
      timeline.compare(at, "\(name): alerts", Self.list(expected.sorted()), Self.list(found.sorted()))
    case .watered(let name, let expected):
      let found = plant(name).map { "\($0.lastWatered != nil)" } ?? "no such plant"
      timeline.compare(at, "\(name): watered", "\(expected)", found)
    case .plantQuantity(let name, let quantity, let range):
      let value =
        switch quantity {
        case .moisture: condition(name)?.moisturePercent
        case .temperature: condition(name)?.celsius
        }
      if let value {
        timeline.measure(at, "\(name): \(quantity.rawValue)", range, value)
      } else {
        timeline.fail(at, "\(name): \(quantity.rawValue): nobody knows it")
      }
    case .reply(let expected):
      timeline.compare(at, "reply", expected, replies.last?.operation ?? "none")
    case .payload(let part): timeline.find(at, "payload", part, in: replies.last?.payload ?? "")
    case .quantity(let quantity, let range): timeline.measure(at, quantity.rawValue, range, value(of: quantity))
    }
  }

  private func plant(_ name: String) -> Plant? {
    simulation.desk.view.records.plants.first { $0.name.text == name }
  }

  private func condition(_ name: String) -> PlantCondition? {
    plant(name).flatMap { simulation.desk.view.conditions[$0.id] }
  }

  private func value(of quantity: PlantScenario.Quantity) -> Double {
    switch quantity {
    case .plants: Double(simulation.desk.view.records.plants.count)
    case .replies: Double(replies.count)
    case .repliesSoFar: Double(repliesSoFar)
    case .asked: Double(simulation.water.asked)
    case .failures: Double(simulation.failures)
    }
  }

  // MARK: words

  private static func list(_ words: [String]) -> String { words.isEmpty ? "none" : words.joined(separator: ", ") }

  private static func text(_ news: PlantNews) -> String {
    func percent(_ value: Double?) -> String { value.map { ", \(Int(saturating: $0.rounded())) %" } ?? "" }
    return switch news {
    case .added(let plant): "\(plant.name) added"
    case .changed(let plant): "\(plant.name) changed"
    case .removed(let id): "plant \(id) removed"
    case .calibrated(let sensor): "\(sensor) calibrated"
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
