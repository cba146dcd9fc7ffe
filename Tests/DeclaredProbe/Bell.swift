import Tactus
import TactusDaemon

/// Several of a kind, each with a list whose items have a command, for tests of clients.
enum Bell: DeviceSystem, Several {
  static let name = "bell"
  static let list = "bells"
  static let most = 4
  static let summary = "A bell with hammers."
  static let initialState = State()
  static let emergencyStop = Order.hush
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.hush
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil

  static var fields: [Field<State>] {
    Field("strokes", \.strokes, kind: .counter, "Times that it was struck.")
    Field("hammer", \.hammer, "The hammer that struck last.")
  }
  static var commands: [Command<Order>] {
    ItemCommand("strike", on: \Wiring.hammers, each: "hammer", "Strikes it with this hammer.") { .strike($0) }
    Command("hush", makesSafe: true, "Hushes it.") { .hush }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    [mailbox.loop("bell", every: .hertz(10), safeStateAfter: 1000) { BellLoop(ends: $0) }]
  }

  struct Hammer: Settings {
    var grams = 100
    static var keys: [Key<Hammer>] { Key("grams", \.grams, in: 1...1000, "Its weight.") }
  }

  struct Wiring: Settings {
    var hammers = [Hammer(), Hammer()]
    static var keys: [Key<Wiring>] { Key("hammers", \.hammers, upTo: 4, "The hammers.") }
  }

  typealias Rules = NoSettings
  typealias Refusal = NoRefusal

  struct State: BitwiseCopyable, Sendable {
    var strokes = 0
    var hammer = 0
  }

  enum Order: BitwiseCopyable, Sendable, Equatable {
    case strike(Int)
    case hush
  }

  enum Notice: String, NoticeWord {
    case struck

    var isTrouble: Bool { false }
    var sentence: String { "the bell was struck" }
  }
}

struct BellLoop: ~Copyable, ControlLoop {
  private var ends: Bell.Ends
  private var state = Bell.State()

  init(ends: consuming Bell.Ends) { self.ends = ends }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      if case .strike(let hammer) = request.order {
        state.strokes &+= 1
        state.hammer = hammer
        ends.report(.struck)
      }
      ends.answer(request, .accepted)
    }
    ends.finish(state, isSafe: true)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { ends.finish(state, isSafe: true) }
}
