import Tactus
import TactusDaemon

/// A programme in the form that the loop uses.
struct Programme: BitwiseCopyable, Sendable {
  static let most = 12
  private var steps = [12 of Kettle.Step](repeating: Kettle.Step())
  let count: Int

  init(_ list: [Kettle.Step]) {
    count = min(list.count, Self.most)
    for index in 0..<count { steps[index] = list[index] }
  }

  /// The step at an index, or `nil` behind the last one.
  @_noLocks @_noAllocation
  func step(_ index: Int) -> Kettle.Step? { index >= 0 && index < count ? steps[index] : nil }
}

extension Kettle {
  /// The orders that the loop takes.
  enum Order: BitwiseCopyable, Sendable { case start, stop, emergencyStop, reset }

  /// The reasons for which the loop refuses an order.
  enum Refusal: String, RefusalWord {
    case atWork, faulty, notFull, nothingToReset
    var sentence: String {
      switch self {
      case .atWork: "the kettle is at work already"
      case .faulty: "the kettle has a fault or is emergency-stopped; reset it first"
      case .notFull: "the kettle is not full; fill it first"
      case .nothingToReset: "the kettle has no fault and is not emergency-stopped"
      }
    }
  }

  enum Notice: String, NoticeWord {
    case started, finished, stopped, dry, blind
    var isTrouble: Bool { self == .dry || self == .blind }
    var sentence: String {
      switch self {
      case .started: "the programme has begun"
      case .finished: "the programme is done"
      case .stopped: "the programme was stopped"
      case .dry: "the kettle has run dry and is off; fill it, then reset"
      case .blind: "the thermometer shows nothing and the kettle is off; look at its wires, then reset"
      }
    }
  }

  /// The kettle's rules: to which temperature it heats, how long, and when it must stop. The machine drives nothing itself.
  ///
  ///     idle ──start──▶ heating ⇄ holding ──last step──▶ idle
  ///     heating, holding ──not full──▶ dry ──reset──▶ idle       ──2 s without a temperature──▶ blind ──reset──▶ idle
  ///     heating, holding ──hang or restart of the program──▶ interrupted ──start──▶ heating
  struct Machine: BitwiseCopyable, Sendable {
    enum Mode: String, Word { case idle, heating, holding, interrupted, dry, blind, emergencyStopped }

    private(set) var mode = Mode.idle
    /// The number of steps that are done, 0 or more.
    private(set) var step = 0
    /// The time for which the step's temperature has been held, in seconds.
    private(set) var held = 0.0
    private var seenAt = TickInstant.zero

    /// - Parameter number: the number of the step that was interrupted, or `nil` if the kettle was not at work.
    init(resuming number: Int? = nil, held: Double = 0) {
      guard let number, (1...Programme.most).contains(number), held >= 0 else { return }
      (mode, step, self.held) = (.interrupted, number - 1, held)
    }

    var isAtWork: Bool { mode == .heating || mode == .holding }
    var number: Int? { isAtWork || mode == .interrupted ? step + 1 : nil }

    @_noLocks @_noAllocation
    mutating func obey(_ order: Order, isFull: Bool, at now: TickInstant) -> (Verdict<Refusal>, Notice?) {
      switch (order, mode) {
      case (.emergencyStop, _): return (.accepted, end(.emergencyStopped, isAtWork ? .stopped : nil).1)
      case (.stop, .heating), (.stop, .holding), (.stop, .interrupted):
        return (.accepted, end(.idle, .stopped).1)
      case (.stop, _): return (.accepted, nil)
      case (.reset, .dry), (.reset, .blind), (.reset, .emergencyStopped): return (.accepted, end(.idle).1)
      case (.reset, _): return (.refused(.nothingToReset), nil)
      case (.start, .idle), (.start, .interrupted):
        guard isFull else { return (.refused(.notFull), nil) }
        (mode, seenAt) = (.heating, now)
        return (.accepted, .started)
      case (.start, .heating), (.start, .holding): return (.refused(.atWork), nil)
      case (.start, _): return (.refused(.faulty), nil)
      }
    }

    /// Interrupts the programme for another reason than an order; it goes on only at a new start.
    @_noLocks @_noAllocation
    mutating func interrupt() { if isAtWork { mode = .interrupted } }

    /// Returns the temperature to heat to until the next tick, or `nil` if heater and agitator are to be off.
    @_noLocks @_noAllocation
    mutating func step(
      celsius: Double?, isFull: Bool, _ programme: Programme, seconds: Double, at now: TickInstant
    ) -> (target: Double?, Notice?) {
      guard mode == .heating || mode == .holding else { return (nil, nil) }
      guard isFull else { return end(.dry, .dry) }
      guard let celsius else { return (now - seenAt).count > 2_000_000_000 ? end(.blind, .blind) : (nil, nil) }
      seenAt = now
      guard let present = programme.step(step) else { return end(.idle, .finished) }
      if celsius >= present.celsius - 0.5 { mode = .holding }
      if case .holding = mode { held += seconds }
      guard held >= present.minutes * 60 else { return (present.celsius, nil) }
      (mode, step, held) = (.heating, step + 1, 0)
      guard let next = programme.step(step) else { return end(.idle, .finished) }
      return (next.celsius, nil)
    }

    @_noLocks @_noAllocation
    private mutating func end(_ mode: Mode, _ notice: Notice? = nil) -> (target: Double?, Notice?) {
      (self.mode, step, held) = (mode, 0, 0)
      return (nil, notice)
    }
  }
}
