import Tactus
import TactusDaemon

/// The least that can be declared, for tests: no keys, no outputs, nothing that is refused.
enum Chime: DeviceSystem {
  static let name = "chime"
  static let summary = "A chime."
  static let initialState = State()
  static let emergencyStop = Order.hold
  static func isEmergencyStopped(_ state: State) -> Bool { false }
  static let reset = Order.hold
  static let nothingToReset: Refusal? = nil
  static let whenClientLeaves: Order? = nil

  static var fields: [Field<State>] { Field("strokes", \.strokes, kind: .counter, "Times that it was struck.") }
  static var commands: [Command<Order>] { Command("strike", "Strikes it.") { .strike } }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    [mailbox.loop("chime", every: .hertz(10), safeStateAfter: 1000) { ChimeLoop(ends: $0) }]
  }

  typealias Wiring = NoSettings
  typealias Rules = NoSettings
  typealias Refusal = NoRefusal

  struct State: BitwiseCopyable, Sendable { var strokes = 0 }
  enum Order: BitwiseCopyable, Sendable { case strike, hold }

  enum Notice: String, NoticeWord {
    case struck

    var isTrouble: Bool { false }
    var sentence: String { "the chime was struck" }
  }
}

struct ChimeLoop: ~Copyable, ControlLoop {
  private var ends: Chime.Ends
  private var state = Chime.State()

  init(ends: consuming Chime.Ends) { self.ends = ends }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      if case .strike = request.order {
        state.strokes &+= 1
        ends.report(.struck)
      }
      ends.answer(request, .accepted)
    }
    ends.finish(state, isSafe: true)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { ends.finish(state, isSafe: true) }
}
