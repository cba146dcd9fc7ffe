import Tactus

/// A message to subscribers of `/ws`.
///
/// On the wire one JSON object: `type`, `system`, `seq` (edges and the states of each second counted since the start of the
/// daemon; telemetry carries the last one's), `monotonicNs`, then the members of `body`.
public struct Event: Sendable {
  /// Which subscribers get an event, and how often.
  public enum Kind: Sendable, Hashable {
    /// A change; every subscriber gets it at once.
    case edge
    /// The state, once a second, to everyone.
    case state
    /// The state, at up to 10 Hz, to those who subscribed to the system's telemetry.
    case telemetry
    /// A binary frame for one client, by its number: `body` as it is. Replaces an older one of the same `type` that the
    /// client has not taken yet.
    case frame(client: UInt32)
  }
  /// Only `.edge` and `.state` raise the sequence number.
  public let kind: Kind
  /// `robot`, `zone`, `rain`, …
  public let type: String
  /// `robot`, `sprinkler`, `daemon`, …
  public let system: String
  /// The tick it belongs to.
  public let at: TickInstant
  /// A JSON object with its braces; its members must not be named like the four above.
  public let body: [UInt8]

  /// - Parameter body: a JSON object with its braces, without which publishing traps; any bytes for a `.frame`.
  public init(_ kind: Kind, type: String, system: String, at: TickInstant, body: [UInt8]) {
    (self.kind, self.type, self.system, self.at, self.body) = (kind, type, system, at, body)
  }

  /// As subscribers of `/ws` get it, without a number: for links that number nothing.
  public var document: [UInt8] { NumberedEvent.document(self, number: nil) }

  /// - Parameter body: encoded at once, with sorted keys; it must become a JSON object. A value that JSON cannot carry
  ///   traps.
  public init(_ kind: Kind, type: String, system: String, at: TickInstant, json body: some Encodable) {
    self.init(kind, type: type, system: system, at: at, body: encodeJSON(body))
  }
}
