import Service

/// The way to the pump, as `GET /api/pump` shows it.
struct PumpLinkReport: Sendable, Encodable, Equatable {
  enum Kind: String, Sendable, Encodable {
    case serial
    case bluetooth
    case simulated
  }

  let kind: Kind
  /// `/dev/ttyUSB0`, `ble:HMSoft`, `hci0`, or `nil` if it has no name.
  @OrNull var device: String?
  /// Of a Bluetooth link: idle, scanning, connecting, connected; advertising and others where this is the pump itself.
  @OrNull var state: String?
  /// Why there is no connection, as far as it is known.
  @OrNull var reason: String?

  init(_ kind: Kind, device: String? = nil, state: String? = nil, reason: String? = nil) {
    self.kind = kind
    _device = OrNull(wrappedValue: device)
    _state = OrNull(wrappedValue: state)
    _reason = OrNull(wrappedValue: reason)
  }

  static func == (one: PumpLinkReport, other: PumpLinkReport) -> Bool {
    one.kind == other.kind && one.device == other.device && one.state == other.state && one.reason == other.reason
  }
}
