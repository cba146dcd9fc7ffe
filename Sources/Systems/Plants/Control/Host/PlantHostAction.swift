/// What follows from one message.
public struct PlantHostAction: Sendable, Hashable {
  /// To be published, in this order.
  public var replies: [PlantMessage] = []
  /// To be stored, all or nothing, before the replies go out.
  public var changes: [PlantChange] = []
  public var outcome: PlantHostOutcome

  init(_ outcome: PlantHostOutcome) { self.outcome = outcome }
}

/// What became of a message.
public enum PlantHostOutcome: Sendable, Hashable {
  case answered(PlantRequestTag)
  /// Answered with that error.
  case refused(PlantErrorTag, String)
  /// Our own, back from a topic that we publish to.
  case own
  /// For somebody else.
  case notForUs
  /// A client reports an error: logged, never answered, or two peers would answer each other for ever.
  case peerError(operation: String, payload: String)
  /// No message, and no client to answer: no sender in it, or it cannot be echoed.
  case unanswerable(PlantMessageError)
  /// Beyond the limit; its sender has been told once in this window.
  case spam
}

extension PlantHostOutcome {
  /// Name for counters: `answered`, or the reason for which there was no answer.
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
