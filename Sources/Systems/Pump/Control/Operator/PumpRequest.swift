import Tactus

/// What a client inside the daemon asks of the operator side.
///
/// Every request that the loop takes is answered with a `PumpAnswer` of the same number, in the order of the requests.
public struct PumpRequest: Sendable, Hashable, BitwiseCopyable {
  public enum Order: Sendable, Hashable, BitwiseCopyable {
    /// With a speed to be set once it runs, or `nil` for the pump's own.
    case turnOn(PumpSpeed?)
    case turnOff
    case setSpeed(PumpSpeed)
    case readTemperatures
    /// A person looks at the state now.
    case watched
    case emergencyStop
    /// Leave an emergency stop or a fault.
    case reset
    /// Turn it off, and nothing else any more: the daemon is going down.
    case quit
    /// Nothing but an answer.
    case query
  }
  /// The client's side's own, for the answer.
  public var number: UInt64
  /// When the request was made, by `MonotonicClock` or the simulation's clock.
  public var issued: TickInstant
  public var order: Order

  public init(number: UInt64, issued: TickInstant, _ order: Order) {
    self.number = number
    self.issued = issued
    self.order = order
  }

  /// How long what does not make safe may wait for the loop.
  public static var patience: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(500) }
  }

  /// What the machine must hear of it at `now`, or `nil` if there is nothing.
  @_noLocks @_noAllocation
  func event(at now: TickInstant) -> PumpOperatorEvent? {
    let isStale = Mechanism.staleness.acts && (now - issued).count > Self.patience.count
    switch order {
    case .turnOn(let speed): return isStale ? .stale : .turnOn(speed)
    case .turnOff: return .turnOff
    case .setSpeed(let speed): return isStale ? .stale : .setSpeed(speed)
    case .readTemperatures: return .readTemperatures
    case .watched: return .watched
    case .emergencyStop: return .emergencyStop
    case .reset: return isStale ? .stale : .reset
    case .quit: return .quit
    case .query: return nil
    }
  }
}

/// What became of a request: the loop has taken it, and what follows from it at once has been sent.
public struct PumpAnswer: Sendable, Hashable, BitwiseCopyable {
  /// The request's.
  public let number: UInt64
  public let verdict: PumpVerdict
  /// The tick that took it.
  public let at: TickInstant

  @_noLocks @_noAllocation
  init(number: UInt64, _ verdict: PumpVerdict, at: TickInstant) {
    self.number = number
    self.verdict = verdict
    self.at = at
  }
}
