import DaemonSupport
import Foundation
import Service
import Tactus
import TestSupport
import Testing

@testable import TactusDaemon

/// A device without keys and without outputs, which tells a notice for every stroke.
private enum Gong: DeviceSystem {
  static let name = "gong"
  static let summary = "A gong."
  static let initialState = State()
  static let emergencyStop = Order.hold
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.hold
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  static var fields: [Field<State>] { Field("strokes", \.strokes, kind: .counter, "Times that it was struck.") }
  static var commands: [Command<Order>] {
    Command("strike", "Strikes it.", Parameter("times", in: 1...1000, "How often.")) { .strike(times: $0) }
  }

  typealias Wiring = NoSettings
  typealias Rules = NoSettings
  typealias Refusal = NoRefusal
  struct State: BitwiseCopyable, Sendable { var strokes = 0 }
  enum Order: BitwiseCopyable, Sendable, Equatable {
    case strike(times: Int)
    case hold
  }
  enum Notice: String, NoticeWord {
    case struck
    var isTrouble: Bool { false }
    var sentence: String { "the gong was struck" }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    [mailbox.loop("gong", every: .hertz(10), safeStateAfter: 5) { GongLoop(ends: $0) }]
  }
}

private struct GongLoop: ~Copyable, ControlLoop {
  var ends: Gong.Ends
  var state = Gong.State()

  init(ends: consuming Gong.Ends) { self.ends = ends }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      if case .strike(let times) = request.order { strike(times) }
      ends.answer(request, .accepted)
    }
    ends.finish(state, isSafe: true)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { ends.finish(state, isSafe: true) }

  @_noLocks @_noAllocation
  private mutating func strike(_ times: Int) {
    for _ in 0..<times {
      state.strokes &+= 1
      ends.report(.struck)
    }
  }
}

@Suite("a declared system without keys")
struct KeylessSystemTests {
  /// What a simulation's requests are dated by: its beginning.
  private static func hosted() throws -> HostedSystem<Gong> {
    try HostedSystem(ConfiguredSystem<Gong>(), simulate: true, bell: nil, clock: .tick, now: { .zero })
  }

  private static func metrics(_ system: HostedSystem<Gong>) -> String {
    var writer = MetricsWriter()
    system.metrics.write(into: &writer)
    return writer.text
  }

  @Test("it claims nothing and writes nothing; in a simulation it opens, obeys and stops")
  func opens() throws {
    let configured = try ConfiguredSystem<Gong>()
    #expect(configured.plan == SystemPlan() && configured.place == "A gong.")
    let system = try Self.hosted()
    let lane = system.lane
    let simulation = try Runtime { lane }.simulation()
    let (order, makesSafe) = try system.door.order("strike", .object([.init(name: "times", value: .integer(3))]))
    system.door.requests.send(order, makesSafe: makesSafe, client: 1) { _ in }
    simulation.run(for: .milliseconds(150))
    #expect(system.door.newest.strokes == 3 && system.takeNotices().count == 3)
    simulation.stop()
    #expect(system.unconfirmed == nil)
  }

  @Test("notices that nobody takes in time are counted, and the count is a metric")
  func dropped() throws {
    let system = try Self.hosted()
    let lane = system.lane
    let simulation = try Runtime { lane }.simulation()
    simulation.run(for: .milliseconds(50))
    let before = Self.metrics(system)
    #expect(
      before.contains("tactus_gong_dropped_notices_total 0\n")
        && before.contains("tactus_gong_dropped_answers_total 0\n"), "\(before)")
    let (order, makesSafe) = try system.door.order("strike", .object([.init(name: "times", value: .integer(300))]))
    system.door.requests.send(order, makesSafe: makesSafe, client: 1) { _ in }
    simulation.run(for: .milliseconds(200))
    let told = system.takeNotices().count
    #expect(told == 256 && system.door.published.noticesDropped == 44 && system.door.published.answersDropped == 0)
    #expect(Self.metrics(system).contains("tactus_gong_dropped_notices_total 44\n"))
    simulation.stop()
  }
}

/// The same as a program: `chime` of `declared-probe`.
@Suite("a declared system without keys in a daemon", .serialized, .ownThread)
struct KeylessProcessTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func check(_ text: String) throws -> (status: Int32?, said: String) {
    let file = try folder.write(text, to: "keyless.yaml")
    let process = try TactusProcess(executable: DeclaredProcessTests.program, ["check", file])
    let status = process.finish()
    return (status, process.said)
  }

  @Test("its section may be empty, in either notation", arguments: ["chime:\n", "chime: {}\n", "chime: null\n"])
  func empty(text: String) throws {
    let checked = try check(text)
    #expect(checked.status == 0 && checked.said.contains("chime"), "\(checked.said)")
  }

  @Test("a key in its section is an error that says that there are none")
  func unknown() throws {
    let checked = try check("chime: { loud: 1 }\n")
    #expect(checked.status == 78)
    #expect(
      checked.said.contains("keyless.yaml:1:10: chime.loud: expected no key, because chime has none, got loud"),
      "\(checked.said)")
  }

  @Test("it runs on simulated hardware, obeys and ends without a complaint")
  func runs() throws {
    let config = try folder.write(
      "network: { http_port: 0 }\nservice: { auth: none, bonjour: false }\nruntime: { lock_memory: false }\nchime:\n",
      to: "config.yaml")
    let daemon = try TactusProcess(
      executable: DeclaredProcessTests.program, ["run", "--simulate", "--config", config],
      environment: ["HOME": folder.path("home")])
    let line = try #require(daemon.line(with: "serving http"), "\(daemon.said)")
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    let port = String(try #require((object?["listen"] as? String)?.split(separator: ":").last))
    try #require(daemon.waitFor("Ctrl-C stops"), "\(daemon.said)")
    for (words, answer) in [(["chime", "strike"], "accepted"), (["chime"], "\"strokes\":1")] {
      let call = try TactusProcess(
        executable: DeclaredProcessTests.program, ["call", "--port", port, "--json"] + words)
      #expect(call.finish() == 0 && call.said.contains(answer), "\(call.said)")
    }
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
  }
}
