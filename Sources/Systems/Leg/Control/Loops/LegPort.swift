import Buses
import Tactus

/// The kind of a link to a leg.
public enum LegLinkKind: Sendable, Hashable, BitwiseCopyable {
  case datagrams
  case serial
  case bluetooth
}

/// One link to one leg, with its listener.
struct LegPort: ~Copyable {
  let kind: LegLinkKind
  let leg: Int
  private var port: DatagramPort
  /// The connections of the link, or `nil` if the link has no notion of connections.
  private var control: LinkControl?
  /// The status of the link. On a link without connections the listener is the sender heard last, at `heardAt`.
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

  /// Returns the next change of the connection since the last call, or `nil` if the connection has not changed. A connected client is a listener even
  /// before it sends anything.
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

  /// Sends a telemetry frame to the listener. Returns whether the frame was sent, or `nil` if there is no listener.
  @_noLocks @_noAllocation
  mutating func report(_ bytes: UnsafeRawBufferPointer, at now: TickInstant) -> Bool? {
    if control == nil, (now - heardAt).count >= LegLoop.listenerPatience.count { status.listener = nil }
    guard let listener = status.listener else { return nil }
    let isSent = port.send(bytes, to: listener)
    if isSent { status.sent &+= 1 } else { status.sendFailures &+= 1 }
    return isSent
  }
}

/// One link to one leg at the end of a tick: its listener, and the frames that it has carried since the start.
public struct LegLinkStatus: Sendable, BitwiseCopyable {
  public internal(set) var kind = LegLinkKind.datagrams
  public internal(set) var leg = 0
  /// The destination of telemetry, or `nil` if no listener is known.
  public internal(set) var listener: Endpoint?
  /// The number of frames received, valid or not.
  public internal(set) var received: Int64 = 0
  /// The number of frames that could not be decoded as a command.
  public internal(set) var malformed: Int64 = 0
  /// The number of telemetry frames sent.
  public internal(set) var sent: Int64 = 0
  /// The number of telemetry frames that the kernel or the radio did not accept.
  public internal(set) var sendFailures: Int64 = 0

  @_noLocks @_noAllocation
  init() {}
}
