import Buses
import Foundation
import Logging
import Service
import Synchronization
import Tactus
import Testing
import Wire

@testable import TactusDaemon

/// Hooks that are raised one by one, and a keypad on a serial line.
private enum Rack: DeviceSystem, Sees, AnswersInFull, TakesFrames {
  static let name = "rack"
  static let summary = "A rack."
  static let emergencyStop = Order.lower
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.lower
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = .lower
  typealias Refusal = NoRefusal
  typealias Rules = NoSettings
  typealias LoopRules = NoSettings
  static let initialState = State()

  struct Hook: Settings {
    var slot = 0
    static var keys: [Key<Hook>] { Key("slot", \.slot, in: 0...9, "Where it is.") }
  }
  struct Wiring: Settings {
    var hooks = [Hook(slot: 1), Hook(slot: 2)]
    var keypad: String? = "/dev/keypad"
    var lamp: GPIOLineName?
    var probe: KernelSensorName?
    static var keys: [Key<Wiring>] {
      Key("hooks", \.hooks, upTo: 4, "The hooks.")
      Key("keypad", \.keypad, "A line.")
      Key("lamp", \.lamp, "The line of its lamp; none unless given.")
      Key("probe", \.probe, "Its thermometer; none unless given.")
    }
  }
  struct State: BitwiseCopyable, Sendable { var raised: [4 of Bool] = .init(repeating: false) }
  enum Order: BitwiseCopyable, Sendable, Equatable {
    case raise(Int)
    case lower
  }
  enum Notice: String, NoticeWord {
    case none
    var isTrouble: Bool { false }
    var sentence: String { "nothing" }
  }
  struct SeenHook: Sendable { let slot: Int, isRaised: Bool }
  struct Seen: Sendable { let hooks: [SeenHook] }
  final class Gone: Sendable { let clients = Mutex<[UInt32]>([]) }
  /// What of it is wired.
  struct Wired: Sendable, Equatable { let hasLamp, hasProbe: Bool }
  /// How the program before this one ended.
  struct EarlierEnd: Sendable, Equatable {
    let isWithoutStop: Bool
    let madeSafe: MadeSafe?
  }

  static func seen(_ published: Published<State>, _ look: Look<Rack>) -> Seen {
    Seen(
      hooks: look.wiring.hooks.enumerated().map { SeenHook(slot: $1.slot, isRaised: published.state.raised[$0]) })
  }
  static var seenFields: [Field<Seen>] {
    Items("hooks", \.hooks, each: "hook") {
      Field("slot", \.slot, "Where it is.")
      Field("isRaised", \.isRaised, "Whether it is up.")
    }
  }
  static var answerFields: [Field<Seen>] {
    Items("hooks", \.hooks, each: "hook") { Field("isRaised", \.isRaised, "Whether it is up.") }
  }
  static var commands: [Command<Order>] {
    ItemCommand("raise", on: \Wiring.hooks, each: "hook", "Raises it.") { .raise($0) }
    Command("lower", makesSafe: true, "Lowers all.") { .lower }
  }

  static func receive(_ frame: [UInt8], from caller: Caller, _ door: FrameDoor<Rack>) -> Bool { false }
  static func frames(_ published: Published<State>, _ look: Look<Rack>) -> [ClientFrame] {
    [ClientFrame(to: 7, type: "rack", [published.state.raised[0] ? 1 : 0])]
  }
  static func forget(_ client: UInt32, _ look: Look<Rack>) {
    look.shared(Gone.self)?.clients.withLock { $0.append(client) }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let keypad = try bench.wiring.keypad.map { try bench.line(\.keypad, device: $0, baud: 9600, staysReal: true) }
    let lamp = try bench.output(\.lamp, safe: .none(because: "a lamp hurts nobody"))
    let probe = try bench.sensor(\.probe, measures: .celsius, every: .hertz(1), staleAfter: .seconds(3))
    bench.share(Wired(hasLamp: lamp != nil, hasProbe: probe != nil))
    bench.share(EarlierEnd(isWithoutStop: bench.endedWithoutStop, madeSafe: bench.madeSafe))
    for (index, hook) in bench.wiring.hooks.enumerated() {
      bench.claim("slot \(hook.slot)", of: \.hooks, index, \.slot)
    }
    let gone = Gone()
    bench.share(gone)
    if let keypad { bench.share(keypad.report()) }
    bench.afterLoops("the rack stays up") { gone.clients.withLock { $0.append(0) } }
    return [mailbox.loop("rack", every: .hertz(10), safeStateAfter: 5) { RackLoop(ends: $0) }]
  }
}

private struct RackLoop: ~Copyable, ControlLoop {
  var ends: Rack.Ends
  var state = Rack.State()

  init(ends: consuming Rack.Ends) { self.ends = ends }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      if case .raise(let hook) = request.order { state.raised[hook] = true } else { state = Rack.State() }
      ends.answer(request, .accepted)
    }
    ends.finish(state, isSafe: true)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { ends.finish(state, isSafe: true) }
}

@Suite("items of a list, links, frames of its own")
struct ItemsTests {
  private static func hosted(_ wiring: Rack.Wiring = .init()) throws -> HostedSystem<Rack> {
    try HostedSystem(ConfiguredSystem<Rack>(wiring), simulate: true, bell: nil, clock: .tick, now: { .zero })
  }

  @Test("a command for an item: its path, its order; an item that there is not is 404; the answer has the item alone")
  func commands() async throws {
    let system = try Self.hosted()
    #expect(system.door.routes.map(\.path).contains("/api/rack/{index}/raise"))
    let order = try system.door.order("1/raise", .object([] as [JSONValue.Member]))
    #expect({ if case .raise(1) = order.order { true } else { false } }())
    #expect(throws: APIError.self) { try system.door.order("2/raise", .object([] as [JSONValue.Member])) }
    #expect(throws: APIError.self) { try system.door.order("raise", .object([] as [JSONValue.Member])) }
    let document = try #require(SeenDocument<Rack>.ofAnswers)
    let published = system.door.published
    let look = system.door.look(published.at)
    func answer(_ item: (each: String, index: Int)?) -> String {
      String(decoding: JSONValue.object(document.members(published, look, of: item)).bytes, as: UTF8.self)
    }
    #expect(answer((each: "hook", index: 1)) == #"{"hook":{"isRaised":false}}"#)
    #expect(answer(nil) == #"{"hooks":[{"isRaised":false},{"isRaised":false}]}"#)
    #expect(DeclaredKind(Rack.self).callExamples == ["rack", "rack/0 raise", "rack lower"])
  }

  @Test(
    "frames for clients at each beat; a client that is gone is forgotten; what is left to do after the loops is done")
  func frames() throws {
    let system = try Self.hosted()
    let frames = system.door.events(at: .zero, second: false).filter {
      if case .frame(client: 7) = $0.kind { true } else { false }
    }
    #expect(frames.map(\.body) == [[0]])
    system.door.clientLeft(Caller(scope: .control, tokenID: nil, address: "", client: 7))
    system.finish(Logger(label: "test"))
    let gone = try #require(system.door.look(.zero).shared(Rack.Gone.self))
    #expect(gone.clients.withLock { $0 } == [7, 0])
  }

  @Test("claims: the line by its key, each item's part by its own; two items that want one are an error of the file")
  func claims() throws {
    let claims = try ConfiguredSystem<Rack>().claims
    #expect(claims.map { "\($0.resource)" } == ["the serial line /dev/keypad", "slot 1", "slot 2"])
    #expect(claims.map(\.key) == ["rack.keypad", "rack.hooks[0].slot", "rack.hooks[1].slot"])
    let report = try Self.hosted().door.look(.zero).shared(LinkReport.self)
    #expect(report == LinkReport(.open))
  }

  @Test(
    "a line and a sensor that the file does not give are not there; given, they are; no end of a program is known"
  )
  func optional() throws {
    let none = try Self.hosted().door.look(.zero).shared(Rack.Wired.self)
    #expect(none == Rack.Wired(hasLamp: false, hasProbe: false))
    let end = try Self.hosted().door.look(.zero).shared(Rack.EarlierEnd.self)
    #expect(end == Rack.EarlierEnd(isWithoutStop: false, madeSafe: nil))
    let wiring = Rack.Wiring(lamp: .bcm(4), probe: KernelSensorName("w1:28-0316a2795bff"))
    #expect(try ConfiguredSystem<Rack>(wiring).claims.map(\.key).contains("rack.lamp"))
    let both = try Self.hosted(wiring).door.look(.zero).shared(Rack.Wired.self)
    #expect(both == Rack.Wired(hasLamp: true, hasProbe: true))
  }
}
