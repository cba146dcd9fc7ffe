/// A link to a leg beside its UDP port, as `GET /api/leg` shows it.
public struct LegLinkReport: Sendable, Encodable, Equatable {
  public enum Kind: String, Sendable, Encodable {
    case bluetooth
    case serial
  }

  public enum State: String, Sendable, Encodable {
    case starting
    /// What it needs is not there; it is used as soon as it is.
    case waiting
    /// The radio's daemon does not take the service; tried again.
    case refused
    /// Anyone may connect.
    case advertising
    case connected
    case stopped
    /// A serial line is.
    case open
    /// A serial line's device was unplugged.
    case gone
  }

  public let kind: Kind
  public let state: State
  /// `hci0`, `/dev/ttyACM0`; nil: not known.
  @OrNull public var device: String?
  /// Who is connected.
  @OrNull public var peer: String?
  /// Why it does not work; nil: it does.
  @OrNull public var reason: String?

  public init(_ kind: Kind, _ state: State, device: String? = nil, peer: String? = nil, reason: String? = nil) {
    self.kind = kind
    self.state = state
    _device = OrNull(wrappedValue: device)
    _peer = OrNull(wrappedValue: peer)
    _reason = OrNull(wrappedValue: reason)
  }

  public static func == (one: LegLinkReport, other: LegLinkReport) -> Bool {
    one.kind == other.kind && one.state == other.state && one.device == other.device && one.peer == other.peer
      && one.reason == other.reason
  }
}
