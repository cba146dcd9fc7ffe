import Buses
import Service
import Tactus

@testable import TactusDaemon

/// Doses into a tank, so much a day, by its clients and once a day by itself: routes that order the loop, and a desk that does. The example
/// of docs/own-daemon.md.
enum Doser: DeviceSystem, Resumes, Serves {
  static let name = "doser"
  static let summary = "Doses into a tank."
  static let initialState = State()
  static let emergencyStop = Order.emergencyStop
  static func isEmergencyStopped(_ state: State) -> Bool { state.mode == .emergencyStopped }
  static let reset = Order.reset
  static let nothingToReset: Refusal? = .nothingToReset
  static let whenClientLeaves: Order? = nil

  static var fields: [Field<State>] {
    Field("state", \.mode, "What it does.")
    Field("leftMl", \.left, "Millilitres to go.")
    Field("dosedMl", \.dosed, "Millilitres of the day, with those to go.").keptAtOnce
    Field("day", \.day, "Number of that day; null before the first.").keptAtOnce
  }

  static var commands: [Command<Order>] {
    Command("dose", "Doses.", Parameter<Int>("ml", in: 1...100, "Millilitres.")) { .dose($0) }
    Command("off", makesSafe: true, "Ends the dose.") { .off }
  }

  static func resume(_ state: inout State, _ kept: Kept) {
    state.dosed = kept.value("dosedMl") ?? 0
    state.day = kept.value("day")
  }

  static func desk(_ made: DeskMaterial<Doser>) -> DoserDesk { DoserDesk(made) }

  static var routes: [SystemRoute<Doser>] {
    SystemRoute.post("pour", body: Amount.self, answers: Poured.self, "Doses, and says what is left of the day.") {
      line, amount, _ in
      try await line.order(.dose(amount.ml))
      return Poured(leftMl: mostOfDay - line.newest.state.dosed)
    }
    SystemRoute.post("portions/{name}", body: Named.self, answers: Done.self, "Doses a portion that has a name.") {
      line, named, _ in
      let answer = try await line.ask { desk in .dose(try desk.book(named.name)) }
      if case .refused = answer.verdict { _ = try await line.disk(patience: .zero) { $0.strike(named.name) } }
      try line.accepted(answer)
      return Done()
    }
    SystemRoute.delete("dose", makesSafe: true, query: NoSettings.self, answers: Ended.self, "Ends the dose.") {
      line, _, _ in
      try await line.order(.off, makesSafe: true)
      let noted: Void? = try await line.disk(patience: .milliseconds(20)) { $0.note("ended") }
      return Ended(isNoted: noted != nil)
    }
    SystemRoute.put("portions/{name}", body: Portion.self, answers: Done.self, "Gives a portion a name.") {
      desk, portion, _ in
      desk.portions[portion.name] = portion.ml
      return Done()
    }
    SystemRoute.post("nothing", body: NoSettings.self, answers: Done.self, "Does nothing.") { _, _, _ in Done() }
  }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let valve = try bench.output(\.valve, safe: .inactive)
    return [
      mailbox.loop("doser", every: .hertz(10), safeStateAfter: 5) { ends in
        DoserLoop(ends: ends, valve: valve.port(), state: mailbox.initialState)
      }
    ]
  }

  struct Wiring: Settings {
    var valve = GPIOLineName.bcm(5)
    static var keys: [Key<Wiring>] { Key("valve", \.valve, "Its valve.") }
  }
  typealias Rules = NoSettings
  typealias LoopRules = NoSettings

  static let mostOfDay = 50

  enum Order: BitwiseCopyable, Sendable, Equatable {
    case dose(Int)
    case off, emergencyStop, reset
  }
  enum Refusal: String, RefusalWord {
    case overLimit, emergencyStopped, nothingToReset
    var sentence: String {
      switch self {
      case .overLimit: "that is more than is left of the day"
      case .emergencyStopped: "the doser is emergency-stopped; reset it first"
      case .nothingToReset: "the doser is not emergency-stopped"
      }
    }
  }
  enum Notice: String, NoticeWord {
    case began
    var isTrouble: Bool { false }
    var sentence: String { "a dose began" }
  }
  enum Mode: String, Word { case idle, dosing, emergencyStopped }
  struct State: BitwiseCopyable, Sendable {
    var mode = Mode.idle
    var left = 0
    var dosed = 0
    var day: Int?
  }

  struct Amount: Settings {
    var ml = 0
    static var keys: [Key<Amount>] { Key("ml", \.ml, in: 1...100, "Millilitres.") }
  }
  struct Named: Settings {
    var name = ""
    static var keys: [Key<Named>] { Key("name", \.name, "Its name.") }
  }
  struct Portion: Settings {
    var name = ""
    var ml = 0
    static var keys: [Key<Portion>] {
      Key("name", \.name, "Its name.")
      Key("ml", \.ml, in: 1...100, "Millilitres.")
    }
  }
  struct Poured: Answers {
    let leftMl: Int
    static var fields: [Field<Poured>] { Field("leftMl", \.leftMl, "Millilitres that are left of the day.") }
  }
  struct Ended: Answers {
    let isNoted: Bool
    static var fields: [Field<Ended>] { Field("isNoted", \.isNoted, "Whether the desk has noted it.") }
  }
}

/// One millilitre in each tick, counted before the valve opens.
struct DoserLoop: ~Copyable, ControlLoop {
  private var ends: Doser.Ends
  private var valve: GPIOLines?
  private var state: Doser.State
  private var countedAt = TickInstant.zero

  init(ends: consuming Doser.Ends, valve: consuming GPIOLines?, state: Doser.State) {
    self.state = state
    self.ends = ends
    self.valve = valve
  }

  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    // What is to go is of the new day, too.
    if let day = ends.day, day != state.day { (state.day, state.dosed) = (day, state.left) }
    while let request = ends.next() { ends.answer(request, obey(request.order, at: tick.started)) }
    let isOpen = state.left > 0 && ends.storedUpTo >= countedAt
    if isOpen { state.left -= 1 }
    if state.left == 0, state.mode == .dosing { state.mode = .idle }
    set(isOpen, at: tick.started)
  }

  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    end(.idle)
    set(false, at: tick.started)
  }

  private mutating func obey(_ order: Doser.Order, at now: TickInstant) -> Verdict<Doser.Refusal> {
    switch order {
    case .dose(let ml):
      if state.mode == .emergencyStopped { return .refused(.emergencyStopped) }
      guard state.dosed + ml <= Doser.mostOfDay else { return .refused(.overLimit) }
      (state.mode, state.left, state.dosed, countedAt) = (.dosing, state.left + ml, state.dosed + ml, now)
      ends.report(.began)
    case .off: if state.mode == .dosing { end(.idle) }
    case .emergencyStop: end(.emergencyStopped)
    case .reset:
      guard state.mode == .emergencyStopped else { return .refused(.nothingToReset) }
      state.mode = .idle
    }
    return .accepted
  }

  private mutating func end(_ mode: Doser.Mode) {
    if state.mode != .emergencyStopped { state.mode = mode }
    (state.dosed, state.left) = (state.dosed - state.left, 0)
  }

  private mutating func set(_ isOpen: Bool, at now: TickInstant) {
    valve?.now = now
    try? valve?.set(0, isOpen)
    ends.finish(state, isSafe: !isOpen)
  }
}

/// Knows portions by their names, and doses one of them once a day.
final class DoserDesk: SystemDesk {
  private let made: DeskMaterial<Doser>
  var portions: [String: Int] = [:]
  /// The portion of each day, or `nil` if there is none.
  var daily: String?
  /// The day on which it was dosed last.
  private var dosedOn: Int?
  private(set) var notes: [String] = []

  init(_ made: DeskMaterial<Doser>) { self.made = made }

  func told(_ notice: Told<Doser.Notice>) { note(notice.notice.rawValue) }

  func beat(_ newest: Published<Doser.State>) {
    guard let name = daily, let ml = portions[name], let day = made.day, day != dosedOn else { return }
    dosedOn = day
    made.order(.dose(ml)) { [self] outcome in
      switch outcome {
      case .success(let answer): note("\(name): \(answer.verdict)")
      case .failure(let error): note("\(name): \(error.code)")
      }
    }
  }

  func finish(_ last: Published<Doser.State>) {}

  func book(_ name: String) throws -> Int {
    guard let ml = portions[name] else { throw APIError.notFound("there is no portion \(name)") }
    note("booked \(name)")
    return ml
  }

  func strike(_ name: String) { note("struck \(name)") }
  func note(_ text: String) { notes.append(text) }
}
