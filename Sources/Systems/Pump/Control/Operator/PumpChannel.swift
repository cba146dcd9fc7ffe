import Tactus

/// The commands to be sent to the pump: at most one is awaiting its reply, and of each kind the newest is waiting.
///
/// An OFF is not kept here, because it follows from the machine's state.
struct PumpChannel: Sendable, Hashable, BitwiseCopyable {
  struct InFlight: Sendable, Hashable, BitwiseCopyable {
    var command: PumpCommand
    var sentAt: TickInstant
    /// The number of the attempt, 1 for the first.
    var attempt: Int

    @_noLocks @_noAllocation
    init(_ command: PumpCommand, sentAt: TickInstant, attempt: Int) {
      self.command = command
      self.sentAt = sentAt
      self.attempt = attempt
    }

    var isOff: Bool {
      @_noLocks @_noAllocation get {
        if case .off = command { return true }
        return false
      }
    }
  }

  var inFlight: InFlight?
  var speed: PumpSpeed?
  var wantsStatus = false
  var wantsTemperatures = false
  /// The number of attempts made for the next ON or SPEED; more than 0 for a repetition.
  var attempts = 0
  /// The number of consecutive replies that failed to arrive.
  var silences = 0
  /// Whether an OFF has been sent whose `PUMP:OFF` has not arrived. Until then no other line confirms that the pump is off, because it may have been
  /// sent before the OFF arrived.
  var owesOff = false
  /// The number of ONs sent whose replies have not arrived. A `PUMP:ON` received after a newer OFF may answer one of them.
  var startsUnanswered = 0

  @_noLocks @_noAllocation
  init() {}

  /// The newest requested speed that is not confirmed yet, or `nil` if every requested speed is confirmed.
  var wantedSpeed: PumpSpeed? {
    @_noLocks @_noAllocation get {
      if let speed { return speed }
      if case .speed(let speed) = inFlight?.command { return speed }
      return nil
    }
  }

  /// Forgets all commands, as none is valid on another connection.
  @_noLocks @_noAllocation
  mutating func clear() { self = PumpChannel() }

  /// Forgets the commands that are valid only while the pump runs.
  @_noLocks @_noAllocation
  mutating func forgetDriving() {
    speed = nil
    attempts = 0
  }
}
