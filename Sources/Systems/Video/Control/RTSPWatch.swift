import Tactus

/// Decides when the RTSP port is asked whether it answers, and what follows if it does not: a server that is kept busy
/// by one client, or waits for ever, still has its port open, and only a request shows that.
///
/// The type has no clock and does no input or output: the process asks it, and acts on the results.
public struct RTSPWatch: Sendable {
  /// The time from the end of one question to the next.
  public static var period: Nanoseconds { .seconds(5) }
  /// The longest time that an answer may take.
  public static var patience: Nanoseconds { .seconds(5) }
  /// The number of unanswered questions in a row after which the process is started again.
  public static var limit: Int { 3 }

  public enum Action: Sendable, Equatable {
    case nothing
    /// The process must send the port a request (OPTIONS) on a connection of its own.
    case ask
    /// The request was not answered in time, and the port is reported as not answering.
    case silent
    /// The port is reported as answering again.
    case answersAgain
    /// The process must end, after which it is started again.
    case restart
  }

  private enum Phase: Sendable, Equatable {
    case resting(since: TickInstant)
    case asking(since: TickInstant)
  }

  private var phase: Phase
  private var failures = 0

  /// Creates a watch that begins with a pause before its first question.
  ///
  /// - Parameter now: when the port was opened.
  public init(at now: TickInstant) { phase = .resting(since: now) }

  /// Whether a request to the port awaits its answer.
  public var isAsking: Bool { if case .asking = phase { true } else { false } }

  /// Returns the action that is to be taken now.
  ///
  /// - Parameter answer: whether the present question was answered by RTSP; `nil` if nothing has come yet, or nothing is asked.
  public mutating func step(_ answer: Bool?, at now: TickInstant) -> Action {
    switch phase {
    case .resting(let since):
      guard now - since >= Self.period else { return .nothing }
      phase = .asking(since: now)
      return .ask
    case .asking(let since):
      if answer == true {
        phase = .resting(since: now)
        defer { failures = 0 }
        return failures > 0 ? .answersAgain : .nothing
      }
      guard answer == false || now - since >= Self.patience else { return .nothing }
      phase = .resting(since: now)
      failures += 1
      return failures < Self.limit ? .silent : .restart
    }
  }
}
