import Buses
import Tactus
import Wire

/// What other threads ask of the operator side.
public enum LegOperatorRequest: Sendable, Hashable, BitwiseCopyable {
  case arm
  case disarm
  case sendOnce(PulseWidth)
  case ping
  case periodic(Bool)
  /// Disarm the leg, if it may be armed, and send nothing more.
  case quit

  var event: LegOperatorEvent {
    @_noLocks @_noAllocation get {
      switch self {
      case .arm: .arm
      case .disarm: .disarm
      case .sendOnce(let pulse): .send(pulse)
      case .ping: .ping
      case .periodic(let isOn): .periodic(isOn)
      case .quit: .quit
      }
    }
  }
}

/// The operator side at the end of a tick.
public struct LegOperatorSnapshot: Sendable, BitwiseCopyable {
  public internal(set) var at = TickInstant(nanoseconds: 0)
  public internal(set) var state: LegOperatorState
  /// What the periodic mode sends.
  public internal(set) var pulse = PulseWidth.middle
  /// The newest telemetry; nil while there is none, or since the connection was lost.
  public internal(set) var heard: HeardTelemetry?
  public internal(set) var telemetryAge = LegTelemetryAge.nothingYet
  /// Frames sent, and not taken by the kernel.
  public internal(set) var sent: Int64 = 0
  public internal(set) var sendFailures: Int64 = 0
  /// Telemetry frames from the leg, and datagrams of it that were none.
  public internal(set) var received: Int64 = 0
  public internal(set) var malformed: Int64 = 0
  /// Requests refused because the leg does not answer.
  public internal(set) var refused: Int64 = 0

  /// Before the first tick.
  public init() { state = LegOperatorMachine().state }
}

/// The operator side's loop, 50 Hz: pulse and requests in, frames out, telemetry in.
public struct LegOperatorLoop: ~Copyable, ControlLoop {
  /// The keepalive's rate.
  public static let rate = Rate.hertz(50)

  private var machine: LegOperatorMachine
  private var port: DatagramPort
  /// It is `nil` if a link that knows no connections.
  private var control: LinkControl?
  private var isUp = false
  private let leg: Endpoint
  private var batch = DatagramBatch(capacity: 16, size: 64)
  private var pulse: LatestReader<PulseWidth>
  private var requests: RingReader<LegOperatorRequest>
  private let requestBell: DoorbellInput?
  private var output: LatestWriter<LegOperatorSnapshot>
  private var snapshot = LegOperatorSnapshot()
  private let bytes: UnsafeMutableRawBufferPointer
  private var now = TickInstant(nanoseconds: 0)

  /// - Parameters:
  ///   - port: any socket or link; telemetry comes back to it.
  ///   - control: of the same link, if it knows connections: one is asked for whenever the machine wants to try.
  ///   - leg: where the leg listens, port 5010 unless configured; `.linkPeer` on a link that has only one other end.
  ///   - pulse: what the periodic mode sends; the newest value at every tick.
  ///   - requestBell: rung after requests have been pushed, one of the loop's inputs, or `nil` if they wait for the next tick.
  ///   - pingsByItself: keeps an armed leg alive while the periodic mode is off.
  public init(
    port: consuming DatagramPort, control: consuming LinkControl? = nil, leg: Endpoint,
    pulse: consuming LatestReader<PulseWidth>, requests: consuming RingReader<LegOperatorRequest>,
    requestBell: DoorbellInput? = nil,
    snapshot: consuming LatestWriter<LegOperatorSnapshot>, pingsByItself: Bool = true
  ) {
    machine = LegOperatorMachine(pingsByItself: pingsByItself)
    self.port = port
    self.control = control
    self.leg = leg
    self.pulse = pulse
    self.requests = requests
    self.requestBell = requestBell
    output = snapshot
    bytes = .allocate(byteCount: LegCommand.maximumEncodedLength, alignment: 8)
    prepareLegsToThrow()
  }

  deinit { bytes.deallocate() }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    begin(at: tick.started)
    takeLinkEvents()
    receive()
    apply(.aim(pulse.read()))
    if let requestBell { requestBell.clear() }
    while let request = requests.pop() { apply(request.event) }
    if case .period = tick.cause { apply(.tick) }
    publish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    begin(at: tick.started)
    switch cause {
    case .misses, .externalStop: break  // the leg's own deadman is what counts
    case .stop: apply(.shutdown)
    }
    publish()
  }

  @_noLocks @_noAllocation
  private mutating func begin(at instant: TickInstant) {
    now = instant
    port.now = instant
  }

  /// Before the frames: those that are read afterwards are of the connection that there is. Events beyond four wait for the
  /// next release, for which the link has rung.
  @_noLocks @_noAllocation
  private mutating func takeLinkEvents() {
    for _ in 0..<4 {
      guard let event = control?.takeEvent() else { return }
      switch event {
      case .up: isUp = true
      case .down:
        isUp = false
        apply(.linkLost)
      }
    }
  }

  /// Without a connection nothing is sent.
  @_noLocks @_noAllocation
  private mutating func apply(_ event: LegOperatorEvent) {
    let action = machine.step(event, at: now)
    if action.isRefused { snapshot.refused &+= 1 }
    if action.connects { control?.connect() }
    guard let command = action.command, control == nil || isUp else { return }
    let count = command.encode(into: bytes)
    for _ in 0..<action.copies {
      if port.send(UnsafeRawBufferPointer(start: bytes.baseAddress, count: count), to: leg) {
        snapshot.sent &+= 1
      } else {
        snapshot.sendFailures &+= 1
      }
    }
  }

  /// One batch a tick: a leg sends ten frames a second. Anyone else's datagrams are not ours.
  @_noLocks @_noAllocation
  private mutating func receive() {
    _ = port.receive(into: &batch)
    for index in 0..<batch.count where batch.source(index).isSame(as: leg) {
      guard let bytes = batch.bytes(index) else {
        snapshot.malformed &+= 1
        continue
      }
      do {
        let telemetry = try LegTelemetry.decode(bytes)
        snapshot.received &+= 1
        apply(.telemetry(telemetry))
      } catch {
        snapshot.malformed &+= 1
      }
    }
  }

  @_noLocks @_noAllocation
  private mutating func publish() {
    snapshot.at = now
    snapshot.state = machine.state
    snapshot.pulse = machine.pulse
    snapshot.heard = machine.heard
    snapshot.telemetryAge = machine.telemetryAge(at: now)
    output.write(snapshot)
  }
}

extension Endpoint {
  /// `==` for ticks.
  @_noLocks @_noAllocation
  func isSame(as other: Endpoint) -> Bool {
    low == other.low && port == other.port && high == other.high && scope == other.scope
  }
}
