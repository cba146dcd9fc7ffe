/// A link to a leg beside its UDP port, as its owner sees it.
struct LegLinkReport: Sendable, Equatable {
  enum Kind: String, Sendable, Encodable {
    case udp
    case bluetooth
    case serial
    case websocket
  }

  enum State: String, Sendable, Encodable {
    case starting
    /// What it needs is not there; it is used as soon as it is.
    case waiting
    /// The radio's daemon does not take the service; tried again.
    case refused
    /// Anyone may connect.
    case advertising
    case connected
    case stopped
    /// A UDP port, a serial line, and the service's socket are.
    case open
    /// A serial line's device was unplugged.
    case gone

    /// Whether somebody can command the leg by it.
    var isUsable: Bool {
      switch self {
      case .advertising, .connected, .open: true
      case .starting, .waiting, .refused, .stopped, .gone: false
      }
    }
  }

  let kind: Kind
  let state: State
  /// `hci0`, `/dev/ttyACM0`, or `nil` if that is not known.
  var device: String?
  /// Who is connected.
  var peer: String?
  /// Why it does not work, or `nil` if it does.
  var reason: String?
  /// Frames that came and never reached the leg: noise on a line, the loop was behind.
  var lost: UInt64

  init(
    _ kind: Kind, _ state: State, device: String? = nil, peer: String? = nil, reason: String? = nil, lost: UInt64 = 0
  ) {
    (self.kind, self.state, self.device, self.peer, self.reason) = (kind, state, device, peer, reason)
    self.lost = lost
  }
}
