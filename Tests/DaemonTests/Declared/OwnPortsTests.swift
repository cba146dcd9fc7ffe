import ArgumentParser
import Buses
import Logging
import Service
import Tactus
import Testing
import Wire

@testable import TactusDaemon

/// A lamp that is told by a line of its own to go out, and obeys when it has been looked at.
private enum Lamp: DeviceSystem, Sees, HasCommands {
  static let name = "lamp"
  static let summary = "A lamp."
  static let initialState = State()
  static let emergencyStop = Order.off
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.off
  static let nothingToReset: NoRefusal? = nil
  static let whenClientLeaves: Order? = nil
  typealias Refusal = NoRefusal

  struct Wiring: Settings {
    var chip = "/sys/class/pwm/pwmchip0"
    var channel = 1
    static var keys: [Key<Wiring>] {
      Key("chip", \.chip, "Its PWM unit.")
      Key("channel", \.channel, in: 0...3, "The unit's output.")
    }
  }
  enum Mood: String, Word { case calm, bright }
  struct Rules: Settings, BitwiseCopyable {
    var mood = Mood.calm
    static var keys: [Key<Rules>] { Key("mood", \.mood, widest: .bright, "What it may be.") }
  }
  struct State: BitwiseCopyable, Sendable {
    var percent = 0
    var looks = 0
  }
  enum Order: BitwiseCopyable, Sendable, Equatable {
    case shine(Int)
    case off
    case watched
  }
  enum Notice: String, NoticeWord {
    case lit
    var isTrouble: Bool { false }
    var sentence: String { "it is lit" }
  }
  struct ShineBody: Settings {
    var percent: Int?
    var duty: Int?
    static var keys: [Key<ShineBody>] {
      Key("light_percent", \.percent, in: 0...100, "How bright.")
      Key("duty", \.duty, in: 0...255, "The same as a duty.")
    }
    func check(_ report: (PartialKeyPath<ShineBody>, String) -> Void) {
      if percent == nil, duty == nil { report(\.percent, "expected lightPercent or duty, got nothing") }
      if percent != nil, duty != nil { report(\.duty, "expected one of lightPercent and duty, got both") }
    }
  }

  typealias Seen = State
  static func seen(_ published: Published<State>, _ look: Look<Lamp>) -> State { published.state }
  static var seenFields: [Field<State>] { Field("percent", \.percent, "How bright.") }
  static var commands: [Command<Order>] {
    Command("shine", body: ShineBody.self, "Shines.") { .shine($0.percent ?? ($0.duty ?? 0) * 100 / 255) }
  }
  static func whenWatched(_ wiring: Wiring) -> Order? { .watched }
  static var terminal: [any ParsableCommand.Type] { [] }
  static var simulatedDevices: [any ParsableCommand.Type] { [LampCommand.self] }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let wiring = bench.wiring
    _ = try bench.pwm(
      PWMOutputName(chip: wiring.chip, channel: wiring.channel), of: \.channel, period: .milliseconds(1),
      safe: .inactive)
    bench.guardWrites(.serial(path: "/dev/lamp", baud: 9_600, bytes: [0]))
    let link = LampLink()
    bench.tend(link)
    bench.share(link.events)
    mailbox.lastWords { $0.state.looks > 0 }
    return [mailbox.loop("lamp", every: .hertz(10), safeStateAfter: 5) { LampLoop(ends: $0) }]
  }
}

private struct LampCommand: ParsableCommand {}

private final class LampLink: OwnLink {
  final class Events: @unchecked Sendable {  // safe: of one thread
    var all: [String] = []
  }

  let events = Events()
  func start() { events.all.append("start") }
  func stop() { events.all.append("stop") }
}

private struct LampLoop: ~Copyable, ControlLoop {
  var ends: Lamp.Ends
  var state = Lamp.State()

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      switch request.order {
      case .shine(let percent): state.percent = percent
      case .off: state.percent = 0
      case .watched: state.looks &+= 1
      }
      ends.answer(request, .accepted)
    }
    ends.finish(state, isSafe: false)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { ends.finish(state, isSafe: false) }
}

@Suite("what a system opens itself")
struct OwnPortsTests {
  private static func hosted() throws -> HostedSystem<Lamp> {
    try HostedSystem(ConfiguredSystem<Lamp>(), simulate: true, bell: nil, clock: .tick, now: { .zero })
  }

  @Test("planned: its output is claimed by the key that it is of, and the guard has both writes")
  func plan() throws {
    let configured = try ConfiguredSystem<Lamp>()
    #expect(configured.claims.map(\.key) == ["lamp.channel"])
    #expect(
      configured.safeWrites == [
        .pwm(path: "/sys/class/pwm/pwmchip0/pwm1"), .serial(path: "/dev/lamp", baud: 9_600, bytes: [0]),
      ])
    #expect(configured.driven == "the lamp")
    #expect(DeclaredKind(Lamp.self).simulatedDevices.count == 1)
  }

  @Test("a body of keys that belong together: one of them; none or both is 422 with its field")
  func body() throws {
    let door = try Self.hosted().door
    func order(_ members: [JSONValue.Member]) throws(APIError) -> Lamp.Order {
      try door.order("shine", .object(members)).order
    }
    let percent = JSONValue.Member(name: "lightPercent", value: .number("40"))
    let duty = JSONValue.Member(name: "duty", value: .number("255.0"))
    if case .shine(40) = try order([percent]), case .shine(100) = try order([duty]) {} else { Issue.record("not so") }
    for (members, field) in [([], "lightPercent"), ([percent, duty], "duty")] {
      let error = #expect(throws: APIError.self) { try order(members) }
      #expect(error?.field == field && error?.status.code == 422)
    }
    #expect(DeclaredKind(Lamp.self).callExamples == ["lamp", "lamp shine lightPercent=50"])
  }

  @Test("the widest word waits for the safe state, another one holds at once")
  func widest() {
    let (calm, bright) = (Lamp.Rules(), Lamp.Rules(mood: .bright))
    let wider = bright.change(from: calm)
    #expect(wider.now.mood == .calm && wider.whenSafe?.mood == .bright)
    let tighter = calm.change(from: bright)
    #expect(tighter.now.mood == .calm && tighter.whenSafe == nil)
  }

  @Test(
    "last words, behind the loops, and a link of its own: what is safe by them is confirmed", arguments: [false, true])
  func lastWords(isWatched: Bool) throws {
    let system = try Self.hosted()
    let events = try #require(system.parts.shared.first() as LampLink.Events?)
    system.started()
    let lane = system.lane
    let simulation = try Runtime { lane }.simulation()
    if isWatched { system.door.requests.send(.watched, makesSafe: false, client: 0) { _ in } }
    simulation.run(for: .milliseconds(250))
    simulation.stop()
    system.finish(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    #expect(events.all == ["start", "stop"])
    #expect((system.unconfirmed == nil) == isWatched)
  }
}
