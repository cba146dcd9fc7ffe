import Tactus

/// A message to subscribers of `/ws`.
///
/// An event is sent as one JSON object: `type`, `system`, `seq`, `monotonicNs`, then the members of `body`. `seq`
/// counts edges and the states of each second since the start of the daemon; telemetry carries the number of the last
/// of them.
public struct Event: Sendable {
  /// The subscribers that get an event, and how often.
  public enum Kind: Sendable, Hashable {
    /// A change, which every subscriber gets at once.
    case edge
    /// The state of a system, which every subscriber gets once a second.
    case state
    /// The state of a system, at up to 10 Hz, for the clients that have subscribed to the system's telemetry.
    case telemetry
    /// A binary frame with the bytes of `body` for one client, given by its number. The frame replaces an older one of
    /// the same `type` that the client has not received yet.
    case frame(client: UInt32)
  }
  /// The kind of the event. Only `.edge` and `.state` raise the sequence number.
  public let kind: Kind
  /// The type of the event: `robot`, `zone`, `rain`, …
  public let type: String
  /// The system that the event is about: `robot`, `sprinkler`, `daemon`, …
  public let system: String
  /// The instant of the tick that the event belongs to.
  public let at: TickInstant
  /// A JSON object with its braces. Its members must not be named `type`, `system`, `seq` or `monotonicNs`.
  public let body: [UInt8]

  /// Makes an event with an encoded body.
  ///
  /// - Parameter body: a JSON object with its braces, or any bytes for a `.frame`. Publishing traps if the braces are missing.
  public init(_ kind: Kind, type: String, system: String, at: TickInstant, body: [UInt8]) {
    (self.kind, self.type, self.system, self.at, self.body) = (kind, type, system, at, body)
  }

  /// The event as subscribers of `/ws` get it, but without the sequence number, for transports that do not number events.
  public var document: [UInt8] { NumberedEvent.document(self, number: nil) }

  /// Encodes the body at once, with sorted keys.
  ///
  /// - Parameter body: a value that is encoded as a JSON object. A value that JSON cannot carry traps.
  public init(_ kind: Kind, type: String, system: String, at: TickInstant, json body: some Encodable) {
    self.init(kind, type: type, system: system, at: at, body: encodeJSON(body))
  }
}
