import Tactus

/// The decisions about a child: when to start and kill its process, what its bytes mean, and what to report. This type
/// uses neither a process nor a clock; `Child` has both.
public struct ChildSupervision<Talk: ChildTalk> {
  private(set) var machine: SupervisionMachine
  private var talk = Talk()
  /// The reason of the last reported end, or `nil` if no end has been reported.
  private var cause: String?

  /// Creates a supervision with no process running; the first process is started immediately.
  ///
  /// - Parameter silence: the maximum time between two messages, more than 0, or `nil` if the process need not send
  ///   any.
  public init(at now: TickInstant, silence: Nanoseconds? = SupervisionMachine.silenceLimit) {
    machine = SupervisionMachine(at: now, silence: silence)
  }

  /// Whether the supervision has stopped: no process is started any more and none is awaited.
  public var isStopped: Bool { machine.state == .stopped }

  /// The instant at which `time` is due, or `nil` if only the end of the process is awaited.
  public var nextDeadline: TickInstant? { machine.nextDeadline }

  /// Handles an event.
  ///
  /// - Returns: the action to take with the process.
  public mutating func step(_ event: SupervisionMachine.Event, at now: TickInstant) -> SupervisionMachine.Action {
    let action = machine.step(event, at: now)
    // A new process has sent no bytes yet.
    if action == .spawn { talk = Talk() }
    return action
  }

  /// Handles bytes from the process.
  ///
  /// - Parameter take: called with each complete message.
  /// - Returns: the event that follows from invalid bytes, or `nil` if the bytes are valid.
  public mutating func hear(
    _ bytes: [UInt8], at now: TickInstant, _ take: (Talk.Word) -> Void
  ) -> SupervisionMachine.Event? {
    _ = machine.step(.heard, at: now)
    talk.append(bytes)
    do {
      while let word = try talk.next() { take(word) }
      return nil
    } catch {
      return .nonsense("\(error)")
    }
  }

  /// Handles the end of a process, or a failed start.
  ///
  /// - Returns: the reason to report, or `nil` if the process was replaced or the process before ended for the same
  ///   reason.
  public mutating func ended(_ cause: String, at now: TickInstant) -> String? {
    let isReplaced = if case .replacing = machine.state { true } else { false }
    _ = machine.step(.ended(cause), at: now)
    guard case .waiting(_, let reason) = machine.state, !isReplaced, reason != self.cause else { return nil }
    self.cause = reason
    return reason ?? cause
  }

  /// Returns the report on the child.
  ///
  /// - Parameter process: the number of the process, or `nil` if none runs.
  public func report(process: Int32?) -> ChildReport {
    var report = ChildReport()
    (report.process, report.starts, report.ends, report.cause) = (process, machine.starts, machine.ends, cause)
    switch machine.state {
    case .waiting(let until, let cause):
      report.nextStart = until
      report.cause = cause ?? report.cause
    case .killing(_, let cause):
      // A killed process that hangs in a driver ends only when the driver returns, and does nothing until then.
      (report.process, report.cause) = (nil, cause)
    case .replacing(_, isLate: true):
      (report.process, report.cause) = (
        nil, "it was killed, since another is to run with other settings, and has not ended"
      )
    case .stopping, .stopped: (report.process, report.cause) = (nil, "the daemon stops")
    case .running, .replacing: break
    }
    return report
  }
}

/// The state of a child as seen by the thread that supervises it.
public struct ChildReport: Sendable, Hashable {
  /// The number of the running process, or `nil` if none runs or it is being killed.
  public var process: Int32?
  /// The number of processes that were started.
  public var starts: Int64 = 0
  /// The number of processes that have ended.
  public var ends: Int64 = 0
  /// The reason why no process runs, or how the last one ended; `nil` if none has ended.
  public var cause: String?
  /// The instant of the next start, or `nil` if a process runs or its end is awaited.
  public var nextStart: TickInstant?

  /// Creates the report of a child that was never started.
  public init() {}
}
