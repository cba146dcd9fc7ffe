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
  /// It is `nil` if a way that knows no connections.
  private var control: LinkControl?
  /// Its listener: of a way without connections it is who was heard last, at `heardAt`.
  private(set) var status = LegLinkStatus()
  private var heardAt = TickInstant(nanoseconds: 0)

  init(_ kind: LegLinkKind, _ port: consuming DatagramPort, control: consuming LinkControl?, leg: Int) {
    self.kind = kind
    self.leg = leg
    self.port = port
    self.control = control
    status.kind = kind
    status.leg = leg
  }

  @_noLocks @_noAllocation
  mutating func begin(at now: TickInstant) { port.now = now }

  /// What has happened to the connection since the last call. A client that is connected listens, having sent something or not.
  @_noLocks @_noAllocation
  mutating func takeEvent() -> LinkEvent? {
    guard let event = control?.takeEvent() else { return nil }
    switch event {
    case .up: status.listener = .linkPeer
    case .down: status.listener = nil
    }
    return event
  }

  @_noLocks @_noAllocation
  mutating func receive(into batch: inout DatagramBatch) -> Bool { port.receive(into: &batch) }

  @_noLocks @_noAllocation
  mutating func hear(_ sender: Endpoint, at now: TickInstant) {
    status.listener = sender
    status.received &+= 1
    heardAt = now
  }

  @_noLocks @_noAllocation
  mutating func countMalformed() { status.malformed &+= 1 }

  /// To the listener, or `nil` if there is none.
  @_noLocks @_noAllocation
  mutating func report(_ bytes: UnsafeRawBufferPointer, at now: TickInstant) -> Bool? {
    if control == nil, (now - heardAt).count >= LegLoop.listenerPatience.count { status.listener = nil }
    guard let listener = status.listener else { return nil }
    let isSent = port.send(bytes, to: listener)
    if isSent { status.sent &+= 1 } else { status.sendFailures &+= 1 }
    return isSent
  }
}
