import Tactus

/// The supervisor's messages to the main thread since the main thread last listened, with only the newest of the beats.
///
/// On a busy machine the work of a beat may take longer than the time between two beats. If every waiting beat were
/// then served, the main thread would never reach a signal that waits behind them, and a daemon that is asked to stop
/// would not. A missed beat can be dropped, since the next one does its work.
struct SupervisorNews {
  /// The greatest number of notices that are taken at a time; the supervisor wakes the main thread again before more of
  /// them wait.
  static let most = 64

  /// The instant of the newest beat, or `nil` if there was none.
  private(set) var beat: TickInstant?
  /// Whether a pulse was among the notices.
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
