import Tactus

/// What a client inside the daemon asks of one leg or of all.
///
/// Every request that the loop takes is answered with a `LegAnswer` of the same number, in the order of the requests.
public struct LegRequest: Sendable, Hashable, BitwiseCopyable {
  public enum Target: Sendable, Hashable, BitwiseCopyable {
    /// 0…15, in the order of the configuration.
    case leg(Int)
    /// Every leg in the same tick. An arm arms all of them or, when one refuses, none.
    case all
  }
  public enum Order: Sendable, Hashable, BitwiseCopyable {
    /// As a frame.
    case command(LegCommand)
    /// A frame that was none, from a link that the loop does not read itself.
    case invalidFrame
    /// A link that knows connections has one, or has lost it.
    case linked
    case unlinked
    case emergencyStop
    /// Leave an emergency stop or a fault.
    case reset
    /// It is `nil` if the sensor is silent.
    case battery(Millivolts?)
    /// Nothing but an answer.
    case query
  }
  /// The client's side's own, for the answer.
  public var number: UInt64
  /// When the request was made, by `MonotonicClock` or the simulation's clock.
  public var issued: TickInstant
  public var target: Target
  public var order: Order

  public init(number: UInt64, issued: TickInstant, _ order: Order, to target: Target) {
    self.number = number
    self.issued = issued
    self.target = target
    self.order = order
  }

  /// How long an arm, a pulse, a ping, a new link or a reset may wait for the loop; what makes safe is obeyed whenever it comes.
  public static var patience: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(150) }
  }

  /// What the machine must hear of it at `now`, or `nil` if there is nothing.
  @_noLocks @_noAllocation
  func event(at now: TickInstant) -> LegEvent? {
    let isStale = Mechanism.staleness.acts && (now - issued).count > Self.patience.count
    switch order {
    case .command(.disarm): return .command(.disarm)
    case .command(let command): return isStale ? .stale : .command(command)
    case .invalidFrame: return .invalidFrame
    case .linked: return isStale ? .stale : .linked
    case .unlinked: return .unlinked
    case .emergencyStop: return .emergencyStop
    case .reset: return isStale ? .stale : .reset
    case .battery(let voltage): return .battery(voltage)
    case .query: return nil
    }
  }

  var isArm: Bool {
    @_noLocks @_noAllocation get {
      if case .command(.arm) = order { return true }
      return false
    }
  }
}

/// What became of a `LegRequest`: the loop has taken it, and the chip has been told what follows from it.
public struct LegAnswer: Sendable, Hashable, BitwiseCopyable {
  /// The request's.
  public let number: UInt64
  /// Of several legs the first that ignored it.
  public let verdict: LegVerdict
  /// The leg that the verdict is of.
  public let leg: Int
  /// The tick that took it.
  public let at: TickInstant

  @_noLocks @_noAllocation
  init(number: UInt64, _ verdict: LegVerdict, leg: Int, at: TickInstant) {
    self.number = number
    self.verdict = verdict
    self.leg = leg
    self.at = at
  }
}
