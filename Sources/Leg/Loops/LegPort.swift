import Buses
import Tactus

/// What a way to a leg is.
public enum LegLinkKind: Sendable, Hashable, BitwiseCopyable {
  case datagrams
  case serial
  case bluetooth
}

/// One way to one leg, and who listens there.
struct LegPort: ~Copyable {
  let kind: LegLinkKind
  let leg: Int
  private var port: DatagramPort
  /// nil: a way that knows no connections.
  private var control: LinkControl?
  /// Telemetry goes there; of a way without connections it is who was heard last, at `heardAt`.
  private var listener: Endpoint?
  private var heardAt = TickInstant(nanoseconds: 0)

  init(_ kind: LegLinkKind, _ port: consuming DatagramPort, control: consuming LinkControl?, leg: Int) {
    self.kind = kind
    self.leg = leg
    self.port = port
    self.control = control
  }

  @_noLocks @_noAllocation
  mutating func begin(at now: TickInstant) { port.now = now }

  /// What has happened to the connection since the last call. Whoever is connected listens, having sent something or not.
  @_noLocks @_noAllocation
  mutating func takeEvent() -> LinkEvent? {
    guard let event = control?.takeEvent() else { return nil }
    switch event {
    case .up: listener = .linkPeer
    case .down: listener = nil
    }
    return event
  }

  @_noLocks @_noAllocation
  mutating func receive(into batch: inout DatagramBatch) -> Bool { port.receive(into: &batch) }

  @_noLocks @_noAllocation
  mutating func hear(_ sender: Endpoint, at now: TickInstant) {
    listener = sender
    heardAt = now
  }

  /// To whoever listens; nil: nobody does.
  @_noLocks @_noAllocation
  mutating func report(_ bytes: UnsafeRawBufferPointer, at now: TickInstant) -> Bool? {
    guard let listener else { return nil }
    if control == nil, (now - heardAt).count >= LegLoop.listenerPatience.count { return nil }
    return port.send(bytes, to: listener)
  }
}
