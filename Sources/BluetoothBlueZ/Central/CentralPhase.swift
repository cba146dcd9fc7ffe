#if Bluetooth
  import Tactus

  //         asked            found            connected           known          subscribed
  //   idle ──────▶ scanning ──────▶ connecting ────────▶ resolving ─────▶ opening ─────────▶ linked
  //     ▲             │                 │                   │               │                  │
  //     └─────────────┴─────────────────┴───────────────────┴───────────────┴──────────────────┘
  //                     too late, refused, radio gone, the loop asks, the other end has gone;
  //                     through `ending` where BlueZ has something to end

  /// The phase of the central's present attempt.
  enum CentralPhase {
    case idle(BluetoothCentralFailure?)
    /// A connection was requested, and BlueZ's objects are not known yet.
    case starting
    case scanning(until: TickInstant)
    case connecting(device: String, until: TickInstant)
    case resolving(device: String, until: TickInstant)
    case opening(device: String, until: TickInstant)
    case linked(CentralConnection)
    /// The link is down, and BlueZ has not confirmed the end of the connection or the scan yet. `again` is set if a connection was
    /// requested meanwhile.
    case ending(BluetoothCentralFailure, until: TickInstant, again: Bool)
  }

  /// The resources that are open while the link is up.
  struct CentralConnection {
    let device: String
    let ends: RemoteService
    let sockets: CentralSockets
  }
#endif
