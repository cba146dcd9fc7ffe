import Tactus

/// The commands on their way to the pump: one in flight, of each kind the newest waiting.
///
/// An OFF is not among them: it follows from the machine's state.
struct PumpChannel: Sendable, Hashable, BitwiseCopyable {
  struct InFlight: Sendable, Hashable, BitwiseCopyable {
    var command: PumpCommand
    var sentAt: TickInstant
    /// 1 for the first.
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
  /// Attempts of the next ON or SPEED: more than 0 when it is a repetition.
  var attempts = 0
  /// Answers in a row that did not come.
  var silences = 0
  /// Whether an OFF has been sent whose `PUMP:OFF` has not come: until then nothing else the pump says confirms an off, for it
  /// may have been said before the OFF arrived.
  var owesOff = false
  /// ONs sent whose answer has not come. A `PUMP:ON` that comes after a newer OFF may answer one of them.
  var startsUnanswered = 0

  @_noLocks @_noAllocation
  init() {}

  /// The newest speed that is to be set and is not confirmed, or `nil` if there is none.
  var wantedSpeed: PumpSpeed? {
    @_noLocks @_noAllocation get {
      if let speed { return speed }
      if case .speed(let speed) = inFlight?.command { return speed }
      return nil
    }
  }

  /// Nothing of it has a meaning on another connection.
  @_noLocks @_noAllocation
  mutating func clear() { self = PumpChannel() }

  /// What only makes sense while the pump runs.
  @_noLocks @_noAllocation
  mutating func forgetDriving() {
    speed = nil
    attempts = 0
  }
}
