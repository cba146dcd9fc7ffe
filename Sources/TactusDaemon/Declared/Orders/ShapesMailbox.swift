import Tactus

/// Adopted by a system whose loop needs larger mailboxes, or more patience with requests, than the standard ones.
///
/// ```swift
/// static let mailbox = MailboxShape(requestsPerTick: 512, answers: 1_024, notices: 1_024, patience: .milliseconds(800))
/// ```
public protocol ShapesMailbox: DeviceSystem {
  /// The sizes of the mailboxes between the loop and its clients.
  static var mailbox: MailboxShape { get }
}

/// The sizes of the mailboxes between a loop and its clients.
public struct MailboxShape: Sendable {
  let requestsPerTick: Int
  let answers: Int?
  let notices: Int
  let patience: Nanoseconds

  /// Creates the sizes; every system has the defaults unless it adopts `ShapesMailbox`.
  ///
  /// - Parameters:
  ///   - requestsPerTick: the number of requests that may wait, which is also the number that a tick may take; at least
  ///     32, of which 16 are reserved for stops.
  ///   - answers: the number of answers that may wait to be read; unless given four times as many as requests.
  ///   - notices: the number of notices that may wait to be read, at least 1.
  ///   - patience: the maximum age of a request that the loop accepts; less than the second for which a client waits, so
  ///     that a request which its client has given up has no effect.
  public init(
    requestsPerTick: Int = 64, answers: Int? = nil, notices: Int = 256, patience: Nanoseconds = .milliseconds(250)
  ) {
    declared(requestsPerTick >= 32 && notices >= 1, "a loop has room for requests besides stops, and for a notice")
    declared(patience >= .zero && patience < .seconds(1), "a loop's patience is less than that of a client")
    (self.requestsPerTick, self.answers, self.notices, self.patience) = (requestsPerTick, answers, notices, patience)
  }
}

extension HostedDoor {
  /// Makes the mailboxes of a loop in the sizes that the system declares.
  ///
  /// - Throws: `RuntimeError.system` if the process or the machine has no free descriptor.
  static func mailboxes(
    state: System.State, rules: System.LoopRules, takesRequests: Bool = true
  ) throws(RuntimeError) -> Loops {
    let shape = (System.self as? any ShapesMailbox.Type)?.mailbox ?? MailboxShape()
    return try Loops(
      state: state, rules: rules, requestsPerTick: shape.requestsPerTick, answers: shape.answers,
      notices: shape.notices, patience: shape.patience, takesRequests: takesRequests)
  }
}
