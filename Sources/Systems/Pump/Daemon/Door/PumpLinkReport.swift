import TactusDaemon

/// A link to the pump in the form in which `GET /api/pump` returns it.
struct PumpLinkReport: Sendable, Equatable {
  enum Kind: String, Sendable {
    case serial
    case bluetooth
    case simulated
  }

  let kind: Kind
  /// The device, for example `/dev/ttyUSB0`, `ble:HMSoft` or `hci0`, or `nil` if it has no name.
  let device: String?
  /// The state of a Bluetooth link: idle, scanning, connecting or connected; advertising and others in the device role.
  let state: String?
  /// The reason why there is no connection, or `nil` if the reason is not known.
  let reason: String?

  init(_ kind: Kind, device: String? = nil, state: String? = nil, reason: String? = nil) {
    (self.kind, self.device, self.state, self.reason) = (kind, device, state, reason)
  }

  var kindWord: String { kind.rawValue }
}

/// The reports of all links to the pump, readable from any thread.
struct PumpLinkReports: Sendable {
  let now: @Sendable () -> [PumpLinkReport]

  init(_ now: @escaping @Sendable () -> [PumpLinkReport]) { self.now = now }
}
