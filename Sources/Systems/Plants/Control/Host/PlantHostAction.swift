/// The consequences of one message.
public struct PlantHostAction: Sendable, Hashable {
  /// The replies to publish, in this order.
  public var replies: [PlantMessage] = []
  /// The changes to store, all or nothing, before the replies are published.
  public var changes: [PlantChange] = []
  public var outcome: PlantHostOutcome

  init(_ outcome: PlantHostOutcome) { self.outcome = outcome }
}

/// The outcome of handling a message.
public enum PlantHostOutcome: Sendable, Hashable {
  case answered(PlantRequestTag)
  /// The message was answered with this error.
  case refused(PlantErrorTag, String)
  /// The message is one of the host's, received from a topic on which the host publishes.
  case own
  /// The message is for another receiver.
  case notForUs
  /// The message is an error report of a client: logged but never answered, or two peers would answer each other for ever.
  case peerError(operation: String, payload: String)
  /// The bytes are not a valid message, and no client can be answered: the sender is missing, or the bytes cannot be echoed.
  case unanswerable(PlantMessageError)
  /// The message is beyond the limit, and its sender has already been notified in this window.
  case spam
}

extension PlantHostOutcome {
  /// A name for counters: `answered`, or the reason why there was no answer.
  public var name: String {
    switch self {
    case .answered: "answered"
    case .refused(let tag, _): tag.rawValue
    case .own: "own"
    case .notForUs: "not-for-us"
    case .peerError: "peer-error"
    case .unanswerable(let error): error.name
    case .spam: "spam"
    }
  }
}
