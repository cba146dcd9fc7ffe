import Tactus

/// The supervisor's messages to the main thread since the main thread last listened, with only the newest of the beats.
///
/// A machine that is busy with other things may take longer for the work of a beat than the time between two beats. Each beat that waited would then be
/// followed by another one, for ever, and the main thread would see no signal: a daemon that is asked to stop would not. A beat that was missed is
/// worth nothing, since the next one does its work.
struct SupervisorNews {
  /// The most notices that are taken at a time; the supervisor rings again before more of them wait.
  static let most = 64

  /// The instant of the newest beat, or `nil` if there was none.
  private(set) var beat: TickInstant?
  /// Whether there was a pulse.
  private(set) var hasPulse = false
  /// All other notices, in their order.
  private(set) var others: [SupervisorNotice] = []

  /// Takes the notices that wait now, and ends even if more arrive meanwhile.
  ///
  /// - Parameter pop: returns the next notice, or `nil` if none waits.
  init(from pop: () -> SupervisorNotice?) {
    for _ in 0..<Self.most {
      switch pop() {
      case .beat(let instant): beat = instant
      case .pulse: hasPulse = true
      case let other?: others.append(other)
      case nil: return
      }
    }
  }
}
