import Tactus
import TactusDaemon

extension Fan {
  /// The orders that the loop takes.
  enum Order: BitwiseCopyable, Sendable, Equatable {
    case set(celsius: Double)
    case off, emergencyStop, reset
  }

  /// The reasons for which the loop refuses an order.
  enum Refusal: String, RefusalWord {
    case stalled, emergencyStopped, nothingToReset

    var sentence: String {
      switch self {
      case .stalled: "the fan is stalled; free it, then reset"
      case .emergencyStopped: "the fan is emergency-stopped; reset it first"
      case .nothingToReset: "the fan is neither stalled nor emergency-stopped"
      }
    }
  }

  enum Notice: String, NoticeWord {
    case stalled

    var isTrouble: Bool { true }
    var sentence: String { "the fan is powered and does not turn; free it, then reset" }
  }

  /// The fan's rules: which duty it has, and when it must stop. The machine drives nothing itself.
  ///
  ///     off ──set──▶ running ──2 s without a pulse──▶ stalled ──reset──▶ off
  ///     any ──e-stop──▶ emergencyStopped ──reset──▶ off
  struct Machine: BitwiseCopyable, Sendable {
    enum Mode: String, Word { case off, running, stalled, emergencyStopped }

    private(set) var mode = Mode.off
    /// The temperature to hold in °C, or `nil` if none was ever set.
    private(set) var target: Double?
    /// The instant at which the rotor last turned, or at which the fan was switched on.
    private var turnedAt = TickInstant.zero

    var targetIfRunning: Double? { mode == .running ? target : nil }

    @_noLocks @_noAllocation
    mutating func obey(_ order: Order, at now: TickInstant) -> Verdict<Refusal> {
      switch (order, mode) {
      case (.emergencyStop, _): mode = .emergencyStopped
      case (.off, .running): mode = .off
      case (.off, _): break
      case (.reset, .stalled), (.reset, .emergencyStopped): mode = .off
      case (.reset, _): return .refused(.nothingToReset)
      case (.set, .stalled): return .refused(.stalled)
      case (.set, .emergencyStopped): return .refused(.emergencyStopped)
      case (.set(let celsius), .off), (.set(let celsius), .running):
        if case .off = mode { turnedAt = now }
        (mode, target) = (.running, celsius)
      }
      return .accepted
    }

    /// Returns the duty in percent until the next tick, which is the greatest allowed one while the temperature is unknown.
    @_noLocks @_noAllocation
    mutating func step(celsius: Double?, rpm: Double, _ rules: Rules, at now: TickInstant) -> (Double, Notice?) {
      guard case .running = mode else { return (0, nil) }
      if rpm > 0 { turnedAt = now }
      guard (now - turnedAt).count <= 2_000_000_000 else {
        mode = .stalled
        return (0, .stalled)
      }
      guard let celsius, let target else { return (rules.most, nil) }
      let wanted = (celsius - target) * rules.gain
      return (wanted < rules.least ? rules.least : wanted > rules.most ? rules.most : wanted, nil)
    }
  }
}
