import Tactus
import TactusDaemon

extension Doser {
  /// The orders that the loop takes.
  enum Order: Equatable, BitwiseCopyable, Sendable {
    case dose(millilitres: Double, isScheduled: Bool)
    case stop, emergencyStop, reset
  }

  /// The reasons for which the loop refuses an order.
  enum Refusal: String, RefusalWord {
    case atWork, faulty, empty, overLimit, nothingToReset
    var sentence: String {
      switch self {
      case .atWork: "the pump is dosing already; stop it first, or wait"
      case .faulty: "the pump has a fault or is emergency-stopped; reset it first"
      case .empty: "the canister is empty; fill it first"
      case .overLimit: "the dose would exceed what may be dosed in a day"
      case .nothingToReset: "the pump has no fault and is not emergency-stopped"
      }
    }
  }

  /// The events that the loop reports, with the amount that was dosed.
  struct Notice: DeviceNotice {
    enum Kind: String, NoticeWord {
      case began, done, stopped, empty, blocked
      var isTrouble: Bool { self == .empty || self == .blocked }
      var sentence: String {
        switch self {
        case .began: "a dose has begun"
        case .done: "a dose is complete"
        case .stopped: "a dose was stopped before its end"
        case .empty: "the canister is empty and the pump stands; fill it, then reset"
        case .blocked: "the pump turns and nothing flows; look at the hose, then reset"
        }
      }
    }
    let kind: Kind
    let millilitres: Double
    var message: String { "\(kind.sentence) (\((millilitres * 10).rounded() / 10) ml)" }
    var details: [NoticeDetail] { [NoticeDetail("millilitres", millilitres)] }
  }

  /// The pump's rules: how much it may dose, when it turns, and when it must stop. The machine drives nothing itself.
  ///
  ///     idle ──dose──▶ counting ──on the disk──▶ dosing ──enough──▶ idle
  ///     counting, dosing ──stop, hang of the program──▶ idle
  ///     counting, dosing ──float switch──▶ empty ──reset──▶ idle       dosing ──no flow──▶ blocked ──reset──▶ idle
  struct Machine: BitwiseCopyable, Sendable {
    enum Mode: String, Word { case idle, counting, dosing, empty, blocked, emergencyStopped }

    private(set) var mode = Mode.idle
    /// The millilitres that the newest dose should have, and those that it has moved.
    private(set) var asked = 0.0
    private(set) var dosed = 0.0
    private(set) var isScheduled = false
    /// The millilitres of the day, including the whole of the present dose, so that a crash does not give them anew.
    private(set) var today: Double
    /// The day of that sum, in days since 1970, or `nil` if no day was ever known.
    private(set) var day: Int?
    private var countedAt = TickInstant.zero
    /// The millilitres that were moved and the pulses that were counted since the flow was last judged.
    private var moved = 0.0
    private var seen = 0.0

    init(today: Double? = nil, day: Int? = nil) {
      self.today = max(0, today ?? 0)
      self.day = day
    }

    var isAtWork: Bool { mode == .counting || mode == .dosing }

    /// Begins the sum of a new day. A dose that goes on counts for the day on which it began, and an unknown day is the one that it was.
    @_noLocks @_noAllocation
    mutating func note(day now: Int?) {
      if let now, now != day, !isAtWork { (day, today) = (now, 0) }
    }

    @_noLocks @_noAllocation
    mutating func obey(
      _ order: Order, isEmpty: Bool, most: Double, at tick: TickInstant
    ) -> (Verdict<Refusal>, Notice?) {
      switch order {
      case .emergencyStop:
        let notice = isAtWork ? end(.stopped) : nil
        mode = .emergencyStopped
        return (.accepted, notice)
      case .stop: return (.accepted, isAtWork ? end(.stopped) : nil)
      case .reset:
        guard mode == .empty || mode == .blocked || mode == .emergencyStopped else {
          return (.refused(.nothingToReset), nil)
        }
        mode = .idle
        return (.accepted, nil)
      case .dose(let millilitres, let isScheduled):
        guard mode == .idle else { return (.refused(isAtWork ? .atWork : .faulty), nil) }
        guard !isEmpty else { return (.refused(.empty), nil) }
        guard today + millilitres <= most else { return (.refused(.overLimit), nil) }
        (mode, asked, dosed, self.isScheduled) = (.counting, millilitres, 0, isScheduled)
        (today, countedAt, moved, seen) = (today + millilitres, tick, 0, 0)
        return (.accepted, nil)
      }
    }

    /// Returns whether the pump is to turn until the next tick.
    ///
    /// - Parameters:
    ///   - millilitres: the millilitres that the pump has moved since the last tick.
    ///   - pulses: the number of pulses of the flow sensor since the last tick, `perMillilitre` of which make a millilitre.
    ///   - stored: the instant up to which the count of the day is on the disk.
    @_noLocks @_noAllocation
    mutating func step(
      moved millilitres: Double, pulses: Int, perMillilitre: Double, isEmpty: Bool, storedUpTo stored: TickInstant
    ) -> (turns: Bool, Notice?) {
      guard isAtWork else { return (false, nil) }
      dosed += millilitres
      if isEmpty { return (false, end(.empty, .empty)) }
      if mode == .counting {
        guard stored >= countedAt else { return (false, nil) }
        mode = .dosing
        return (true, Notice(kind: .began, millilitres: asked))
      }
      if dosed >= asked { return (false, end(.done)) }
      // Of ten pulses that should have come, five may be late or lost.
      moved += millilitres
      seen += Double(pulses)
      if moved * perMillilitre >= 10 {
        if seen < 5 { return (false, end(.blocked, .blocked)) }
        (moved, seen) = (0, 0)
      }
      return (true, nil)
    }

    /// Ends the dose, if one is being given, for another reason than an order.
    @_noLocks @_noAllocation
    mutating func interrupt() -> Notice? { isAtWork ? end(.stopped) : nil }

    /// Ends the dose. What was counted for the day and not dosed no longer counts.
    @_noLocks @_noAllocation
    private mutating func end(_ kind: Notice.Kind, _ mode: Mode = .idle) -> Notice {
      today = max(0, today - max(0, asked - dosed))
      self.mode = mode
      return Notice(kind: kind, millilitres: dosed)
    }
  }
}
