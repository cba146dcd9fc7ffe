import Service
import Synchronization
import Tactus
import Wire

/// A declared system's scenario being played: its production loops in simulated time.
struct DeclaredScenarioRun<System: DeviceSystem>: ScenarioRun {
  typealias Reader = DeclaredScenarioReader<System>

  let scenario: Scenario<Reader.Setup, Reader.Action, Reader.Check>
  var timeline: ScenarioTimeline
  private let simulated: SimulatedSystem<System>
  private let answers = LastAnswer()
  private var told: [String] = []
  private var word: String?

  /// - Parameter print: takes each line of the timeline.
  init(
    _ scenario: Scenario<Reader.Setup, Reader.Action, Reader.Check>, print: @escaping (String) -> Void
  ) throws {
    self.scenario = scenario
    timeline = ScenarioTimeline(print: print)
    simulated = try SimulatedSystem(scenario.setup, seed: scenario.seed)
  }

  private var simulation: Simulation { simulated.simulation }
  private var system: HostedSystem<System> { simulated.system }
  var now: TickInstant { simulation.now }

  mutating func run(to instant: TickInstant) {
    while simulation.now < instant {
      simulation.run(until: min(instant, simulation.now + .milliseconds(50)))
      look()
    }
  }

  /// What has happened since the last look.
  private mutating func look() {
    for told in simulated.takeAnswers(at: simulation.now) {
      self.told.append(told.notice.rawValue)
      timeline.say(told.at, System.name, "\(told.notice.rawValue): \(told.notice.sentence)")
    }
    let newest = system.door.word(of: system.door.newest)
    if let newest, newest != word { say(System.name, newest) }
    word = newest
    for answer in answers.take() { say("answer", answer) }
  }

  mutating func apply(_ action: DeclaredScenario.Action) {
    switch action {
    case .call(let word, let body):
      let members: [JSONValue.Member] = if case .object(let members) = body { members } else { [] }
      say(
        "call",
        ([word] + members.map { "\($0.name)=\(String(decoding: $0.value.bytes, as: UTF8.self))" }).joined(
          separator: " "))
      call(word, body)
    case .fault(let name, let isActive):
      simulated.setFault(name, isActive)
      say("fault", isActive ? name : "\(name) is over")
    case .stall(let span):
      simulation.stall(loop: system.loopName, at: simulation.now, by: span)
      say("loop", "the next tick takes \(span) longer")
    }
  }

  private func call(_ word: String, _ body: JSONValue) {
    do throws(APIError) {
      let (order, makesSafe) = try simulated.order(word, body)
      simulated.send(order, makesSafe: makesSafe, at: simulation.now) { [answers] in answers.note($0) }
    } catch {
      answers.note(.failure(error))
    }
  }

  mutating func check(_ check: DeclaredScenario.Check, at: Nanoseconds) {
    switch check {
    case .answer(let expected): timeline.compare(at, "answer", expected, answers.last)
    case .notice(let notice):
      timeline.compare(at, "notice", notice, told.contains(notice) ? notice : "none of it")
    case .word(let field, let expected): timeline.compare(at, field, expected, text(of: field))
    case .unknown(let field): timeline.compare(at, field, "unknown", text(of: field))
    case .range(let field, let range):
      switch value(of: field) {
      case .integer(let value): timeline.measure(at, field, range, Double(value))
      case .number(let value): timeline.measure(at, field, range, value)
      default:
        timeline.fail(at, "\(field): expected \(range.lowerBound)…\(range.upperBound), got nothing: it is unknown")
      }
    }
  }

  private func value(of field: String) -> PlainValue {
    system.door.document.leaves(of: system.door.newest).first { $0.path == field }?.value ?? .nothing
  }

  private func text(of field: String) -> String {
    switch value(of: field) {
    case .nothing: "unknown"
    case .boolean(let value): "\(value)"
    case .text(let text): text
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    }
  }

  mutating func finish() {
    simulation.stop()
    look()
    if let (message, state) = system.unconfirmed { timeline.fail(simulation.now - .zero, "\(message) (\(state))") }
    timeline.printTrace(simulation.traceHash)
  }
}

/// The simulation's time, for whoever makes requests.
final class SimulatedNow: Sendable {
  private let instant = Atomic<Int64>(0)

  var now: TickInstant {
    get { TickInstant(nanoseconds: instant.load(ordering: .relaxed)) }
    set { instant.store(newValue.nanoseconds, ordering: .relaxed) }
  }
}

/// What commands were answered.
private final class LastAnswer: Sendable {
  private struct Answers {
    var last = "nothing yet"
    var fresh: [String] = []
  }
  private let answers = Mutex(Answers())

  var last: String { answers.withLock { $0.last } }

  func note<Refusal: RefusalWord>(_ result: Result<Answer<Refusal>, APIError>) {
    switch result.flatMap({ answer in Result { () throws(APIError) in try answer.accepted() } }) {
    case .success: note("accepted", "accepted")
    case .failure(let error): note(error.code, "\(error.code): \(error.message)")
    }
  }

  func note(_ result: Result<Never, APIError>) {
    if case .failure(let error) = result { note(error.code, "\(error.code): \(error.message)") }
  }

  private func note(_ word: String, _ line: String) {
    answers.withLock { answers in
      answers.last = word
      answers.fresh.append(line)
    }
  }

  func take() -> [String] {
    answers.withLock { answers in
      defer { answers.fresh = [] }
      return answers.fresh
    }
  }
}
