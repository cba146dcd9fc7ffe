import Buses
import Service
import Synchronization
import Tactus
import Wire

@testable import TactusDaemon

/// The bells of a tower, which a desk rings: the words of a system whose desk orders its loop, and whose loop ticks once a second.
enum Chime: DeviceSystem, Serves, OrdersLoop, ShapesLane, Sees, Introduces {
  static let name = "chime"
  static let summary = "The bells of a tower."
  static let initialState = State()
  static let emergencyStop = Order.stop
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.reset
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil
  static var commands: [Command<Order>] { [] }
  static let showsPresent = true
  static let lane = LaneKeys("runtime.chime", "the lane chime", priority: 80)
  static let mailbox = MailboxShape(requestsPerTick: 32, patience: .milliseconds(800))

  struct Wiring: Settings {
    var first = 5
    var extra = GPIOLineName.bcm(20)
    static var keys: [Key<Wiring>] {
      Key("first", \.first, in: 0...60, "Its first line.")
      Key("extra", \.extra, "Another one.")
    }
  }
  struct Rules: Settings, BitwiseCopyable, Equatable {
    var loudness = 5
    var melody = 1
    static var keys: [Key<Rules>] {
      Key("loudness", \.loudness, in: 1...10, limit: .upper, "Of each bell.")
      Key("melody", \.melody, in: 1...10, "The desk's.")
    }
  }
  enum Order: BitwiseCopyable, Sendable, Equatable {
    case ring(Int)
    case stop, reset
  }
  typealias Refusal = NoRefusal
  struct Notice: DeviceNotice {
    enum Kind: String, NoticeWord {
      case rang
      var isTrouble: Bool { false }
      var sentence: String { "a bell rang" }
    }
    let bell: Int
    var kind: Kind { .rang }
  }
  struct State: BitwiseCopyable, Sendable {
    var rings = 0
    var last = 0
    var loudness = 0
    var lost = 7
    var silentUntil = TickInstant.zero
  }
  struct Seen: Sendable {
    let state: State
    let leftSeconds: Double
  }

  static func seen(_ published: Published<State>, _ look: Look<Chime>) -> Seen {
    Seen(state: published.state, leftSeconds: (published.state.silentUntil - look.now).inSeconds)
  }
  static var seenFields: [Field<Seen>] {
    Field("rings", \.state.rings, kind: .counter, "Rings so far.")
    Field("last", \.state.last, "The last bell.")
    Field("leftSeconds", \.leftSeconds, unit: .seconds, "Until it may ring.")
    Field("lost", \.state.lost, kind: .counter, when: .metrics, metric: "dropped_notices", "Lost by the loop.")
  }
  static func statusMembers(_ published: Published<State>, _ look: Look<Chime>) -> [UInt8] {
    JSONValue.object([.init(name: "rings", value: .number("\(published.state.rings)"))]).bytes
  }
  static func events(_ published: Published<State>, _ look: Look<Chime>) -> [Event] {
    [
      Event(
        .edge, type: "hand", system: name, at: look.now,
        body: JSONValue.object([.init(name: "at", value: .number("\(look.now.nanoseconds)"))]).bytes)
    ]
  }

  static let driven: String? = "the bells"
  static let callExamples: [String]? = ["tower ring"]
  static func summary(_ wiring: Wiring, _ rules: Rules, address: String) -> [String] { ["chime: bells"] }
  static func invitation(_ wiring: Wiring, _ rules: Rules, _ start: ProgramStart) -> Invitation {
    Invitation(title: "bells")
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let bells = (0..<4).map {
      (line: GPIOLine(.init(.offset(bench.wiring.first + $0, chip: "c")), isActiveLow: $0 == 1), key: "chime.first")
    }
    let lines = try bench.outputs(bells, of: \.first, safe: .inactive)
    let extra = try bench.output(\.extra, safe: .inactive)
    return [
      mailbox.loop("chime", every: .period(.seconds(1)), safeStateAfter: 5) { ends in
        ChimeLoop(ends: ends, lines: lines.port(), extra: extra.port())
      }
    ]
  }

  static func desk(_ made: DeskMaterial<Chime>) -> ChimeDesk {
    ChimeDesk(made.orders(makesSafe: { $0 == .stop }, mayBeLate: { $0 == .stop }))
  }
  static var routes: [SystemRoute<Chime>] {
    SystemRoute.own { desk in
      [Route(.post, "/api/chime/e-stop", scope: .control, action: "chime.e-stop") { _ in .json(["mine": true]) }]
    }
  }
}

/// Rings bells, 2 s apart at least for those who look, and tells of each.
struct ChimeLoop: ~Copyable, ControlLoop {
  private var ends: Chime.Ends
  private var lines: GPIOLines?
  private var extra: GPIOLines?
  private var state = Chime.State()

  init(ends: consuming Chime.Ends, lines: consuming GPIOLines? = nil, extra: consuming GPIOLines? = nil) {
    self.ends = ends
    self.lines = lines
    self.extra = extra
  }

  mutating func tick(_ tick: Tick) {
    lines?.now = tick.started
    ends.begin(tick)
    state.loudness = ends.rules.loudness
    while let request = ends.next() {
      switch request.order {
      case .ring(let bell):
        (state.rings, state.last, state.silentUntil) = (state.rings + 1, bell, tick.started + .seconds(2))
        ends.report(Chime.Notice(bell: bell))
        set(0b0010)
      case .stop, .reset: set(0)
      }
      ends.answer(request, .accepted)
    }
    // Safe, and so that what a test forgets to make safe is seen: only what is read back counts.
    ends.finish(state, isSafe: true)
  }

  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { ends.finish(state, isSafe: true) }

  private mutating func set(_ values: UInt64) { try? lines?.set(mask: 0b1111, values: values) }
}

/// Notes what it hears, on which thread, and the rules that it is given.
final class ChimeDesk: OrderingDesk, RuledDesk {
  struct Heard: Equatable {
    var bells: [Int] = []
    var calls = 0
    var rules: Chime.Rules?
  }
  let orders: LoopOrders<Chime.Order, NoRefusal>
  let heard = Mutex(Heard())
  let told = Guarded<[Int]>([])
  /// What is called once the rules are given; otherwise the desk takes them at once.
  let taking = Guarded<(@Sendable (@escaping @Sendable () -> Void) -> Void)?>(nil)

  init(_ orders: LoopOrders<Chime.Order, NoRefusal>) { self.orders = orders }

  var bells: [Int] { heard.withLock { $0.bells } }
  var rules: Chime.Rules? { heard.withLock { $0.rules } }

  func hear(_ notices: [Told<Chime.Notice>], at now: TickInstant) {
    heard.withLock {
      $0.bells += notices.map(\.notice.bell)
      $0.calls += 1
    }
  }
  func told(_ notice: Told<Chime.Notice>) { told.value += [notice.notice.bell] }
  func beat(_ newest: Published<Chime.State>) {}
  func finish(_ last: Published<Chime.State>) {}
  func apply(_ rules: Chime.Rules, done: @escaping @Sendable () -> Void) {
    heard.withLock { $0.rules = rules }
    if let taking = taking.value { taking(done) } else { done() }
  }
}
