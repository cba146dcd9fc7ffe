import Service
import Synchronization
import Tactus
import Wire
import Yams

/// The world of a scenario of a declared system: its production loops with their twins in simulated time. A file has the
/// system's name as a key: `fan:` or `fan: { config: box.yaml }`.
public struct DeclaredScenario<System: DeviceSystem>: ScenarioWorld {
  /// The system as its file configures it.
  public struct Setup {
    fileprivate var system: ConfiguredSystem<System>
  }

  public var timeline: ScenarioTimeline
  private let simulated: SimulatedSystem<System>
  private let answers = LastAnswer()
  private var told: [String] = []
  private var word: String?
  private var counters: (skipped: Int64, safeStates: Int64) = (0, 0)

  public static var part: String? { System.name }
  public static var standard: Setup {
    do {
      return Setup(system: try ConfiguredSystem<System>(GivenValues(values: [:])))
    } catch {
      misdeclared("\(System.name) cannot be planned with its defaults: \(error)")
    }
  }
  public static var keys: [ScenarioWord<Setup>] {
    let system = ScenarioValue.configuration(with: System.name) { $0.systems[ConfiguredSystem<System>.self] }
    let config = ScenarioWord<Setup>("config", system) { $0.system = $1 }
    return [ScenarioWord(System.name, .keys(of: standard, [config])) { $0 = $1 }]
  }
  public static func duration(_ setup: Setup) -> Nanoseconds { .seconds(60) }

  public init(_ setup: Setup, seed: UInt64, _ timeline: ScenarioTimeline) throws {
    self.timeline = timeline
    simulated = try SimulatedSystem(setup.system, seed: seed)
  }

  private var simulation: Simulation { simulated.simulation }
  private var system: HostedSystem<System> { simulated.system }
  public var now: TickInstant { simulation.now }

  /// The state that the loop has last published.
  public var state: System.State { system.door.published.state }

  /// Returns the value of this type that the bench shares, such as a twin, or `nil` if the bench shares none.
  public func shared<Value: Sendable>(_: Value.Type = Value.self) -> Value? { simulated.bench.shared.first() }

  public mutating func run(to instant: TickInstant) {
    while simulation.now < instant {
      simulation.run(until: min(instant, simulation.now + .milliseconds(50)))
      recordEvents()
    }
  }

  /// Adds the events since the last call to the timeline.
  private mutating func recordEvents() {
    if let newest = simulated.counters {
      let missed = newest.skipped - counters.skipped
      if newest.safeStates > counters.safeStates {
        say("loop", "\(missed) releases missed: it is put into its safe state")
      } else if missed > 0 {
        say("loop", "\(missed) releases missed")
      }
      counters = (newest.skipped, newest.safeStates)
    }
    for told in simulated.takeAnswers(at: simulation.now) {
      self.told.append(told.notice.kind.rawValue)
      timeline.say(told.at, System.name, "\(told.notice.kind.rawValue): \(told.notice.message)")
    }
    let newest = system.door.word
    if let newest, newest != word { say(System.name, newest) }
    word = newest
    for answer in answers.take() { say("answer", answer) }
  }

  public mutating func finish() {
    simulation.stop()
    recordEvents()
    if let (message, state) = system.unconfirmed { timeline.fail(simulation.now - .zero, "\(message) (\(state))") }
    timeline.printTrace(simulation.traceHash)
  }

  // MARK: events

  public static func events(_ setup: Setup) -> [ScenarioWord<Self>] {
    let calls = System.commands.flatMap { $0.scenarioNames(in: setup.system.wiring) } + ["e-stop", "reset"]
    let body = ScenarioCompany("with", ScenarioValue { _, node, _ in JSONValue(node) }, or: .object([]))
    return [
      ScenarioWord("call", .word(calls), with: body) { $0.call($1, $2) },
      ScenarioWord("fault", .word(setup.system.plan.faults)) { world, fault in
        world.simulated.setFault(fault, true)
        world.say("fault", fault)
      },
      ScenarioWord("clear", .word(setup.system.plan.faults)) { world, fault in
        world.simulated.setFault(fault, false)
        world.say("fault", "\(fault) is over")
      },
      ScenarioWord("days_pass", .integer(1...3_650)) { world, days in
        world.simulated.setCalendar(at: world.now) { $0.skipped += days }
        world.say("clock", "\(days) \(days == 1 ? "day has" : "days have") passed")
      },
      ScenarioWord("clock", .word(["confirmed", "unconfirmed"])) { world, word in
        world.simulated.setCalendar(at: world.now) { $0.isConfirmed = word == "confirmed" }
        world.say("clock", word)
      },
      .stall { $0.simulation.stall(loop: $0.system.loopName, at: $0.now, by: $1) },
    ] + ((System.self as? any PlaysMore.Type)?.events(in: Self.self) ?? [])
  }

  private func call(_ word: String, _ body: JSONValue) {
    let members: [JSONValue.Member] = if case .object(let members) = body { members } else { [] }
    let given = members.map { "\($0.name)=\(String(decoding: $0.value.bytes, as: UTF8.self))" }
    say("call", ([word] + given).joined(separator: " "))
    do throws(APIError) {
      let (order, makesSafe) = try simulated.order(word, body)
      simulated.send(order, makesSafe: makesSafe, at: now) { [answers] in answers.note($0) }
    } catch {
      answers.note(.failure(error))
    }
  }

  // MARK: checks

  /// Returns the checks: one for each value of the state, and those of the notices so far, of the answer to the last
  /// command (`accepted` or the code of the refusal), and of how often the loop was put into its safe state for missed
  /// releases.
  public static func checks(_ setup: Setup) -> [ScenarioCheck<Self>] {
    // Later states have the same number of list items as the one before the first tick.
    let published = Published(at: .zero, isSafe: false, state: System.initialState)
    let leaves = SeenDocument<System>().leaves(of: published, .standard(at: .zero))
    let ofState = leaves.map { leaf in
      ScenarioCheck<Self>(leaf.path, .value(leaf.form.plain.kind)) { world in
        world.system.door.leaves().first { $0.path == leaf.path }?.value
      }
    }
    let others: [ScenarioCheck<Self>] = [
      ScenarioCheck("notice", .item(among: System.Notice.Kind.allCases.map(\.rawValue))) { $0.told },
      ScenarioCheck("answer", .text) { $0.answers.last },
      ScenarioCheck("safe_states", .range) { Double($0.counters.safeStates) },
    ]
    return ofState + others + ((System.self as? any PlaysMore.Type)?.checks(in: Self.self) ?? [])
  }
}

extension ScenarioExpectation<ConfigValue?> {
  /// Returns the expectation of a field of this kind. An empty value in the file expects that the value is unknown.
  fileprivate static func value(_ kind: ConfigKind) -> Self {
    let known: Self =
      switch kind {
      case .integer, .number: ScenarioExpectation<Double?>.range.of { $0?.number }
      case .choice(let words): ScenarioExpectation<String>.word(words).of(\.shown)
      case .boolean: ScenarioExpectation<String>.boolean.of(\.shown)
      default: ScenarioExpectation<String>.text.of(\.shown)
      }
    return Self { reader, node, path in
      guard node.isNothing else { return try known.read(&reader, node, path) }
      return { $0.compare($1, $2, "unknown", $3.shown) }
    }
  }
}

extension JSONValue {
  /// Creates a JSON value from a YAML node. The type follows from the text of the node, because no schema is known.
  fileprivate init(_ node: Node) {
    switch node {
    case .mapping(let mapping):
      self = .object(mapping.map { Member(name: $0.key.scalar?.string ?? "", value: JSONValue($0.value)) })
    case .sequence(let items): self = .list(items.map { JSONValue($0) })
    case .scalar(let scalar):
      if node.isNothing {
        self = .null
      } else if scalar.style != .plain && scalar.style != .any {
        self = .text(scalar.string)
      } else if scalar.string == "true" || scalar.string == "false" {
        self = .boolean(scalar.string == "true")
      } else if let number = ScalarReader.number(scalar.string) {
        self = .decimal(number)
      } else {
        self = .text(scalar.string)
      }
    case .alias: self = .null
    }
  }
}

/// The time of the simulation, which may be read and set on any thread.
final class SimulatedNow: Sendable {
  private let instant = Atomic<Int64>(0)

  var now: TickInstant {
    get { TickInstant(nanoseconds: instant.load(ordering: .relaxed)) }
    set { instant.store(newValue.nanoseconds, ordering: .relaxed) }
  }
}

/// The calendar of a simulation, which begins at midnight, with a clock that is confirmed.
struct SimulatedCalendar {
  /// 1 January 2026, in days since 1970.
  static let firstDay = 20_454

  /// The days that an event has skipped.
  var skipped = 0
  var isConfirmed = true

  /// Returns the day, or `nil` while the clock is not confirmed.
  func day(at now: TickInstant) -> Int? {
    isConfirmed ? Self.firstDay + skipped + Int(clamping: now.nanoseconds / 86_400_000_000_000) : nil
  }
}
