#if Bluetooth
  import Tactus

  //         asked            found            connected           known          subscribed
  //   idle ──────▶ scanning ──────▶ connecting ────────▶ resolving ─────▶ opening ─────────▶ linked
  //     ▲             │                 │                   │               │                  │
  //     └─────────────┴─────────────────┴───────────────────┴───────────────┴──────────────────┘
  //                     too late, refused, radio gone, the loop asks, the other end has gone;
  //                     through `ending` where BlueZ has something to end

  /// Where an attempt of the central is.
  enum CentralPhase {
    case idle(BluetoothCentralFailure?)
    /// Asked, and it is not known yet what there is.
    case starting
    case scanning(until: TickInstant)
    case connecting(device: String, until: TickInstant)
    case resolving(device: String, until: TickInstant)
    case opening(device: String, until: TickInstant)
    case linked(CentralConnection)
    /// The link is down; BlueZ has not yet said that the connection or the scan has ended. Asked meanwhile: `again`.
    case ending(BluetoothCentralFailure, until: TickInstant, again: Bool)
  }

  /// What is open while the link is up.
  struct CentralConnection {
    let device: String
    let ends: RemoteService
    let sockets: CentralSockets
  }
#endif
