import Buses
import Tactus
import Wire

/// A request from another thread to the operator side.
public enum LegOperatorRequest: Sendable, Hashable, BitwiseCopyable {
  /// Arms the leg, once for each press and never automatically.
  case arm
  /// Disarms the leg, whether it answers or not.
  case disarm
  /// Sends one pulse now.
  case sendOnce(PulseWidth)
  /// Sends one ping now.
  case ping
  /// Switches the periodic mode on or off.
  case periodic(Bool)
  /// Disarms the leg if it may be armed, after which nothing more is sent.
  case quit
}

/// The state of the operator side at the end of a tick.
public struct LegOperatorSnapshot: Sendable, BitwiseCopyable {
  public internal(set) var at = TickInstant(nanoseconds: 0)
  public internal(set) var state: LegOperatorState
  /// The pulse that the periodic mode sends.
  public internal(set) var pulse = PulseWidth.middle
  /// The newest telemetry, or `nil` before the first one and after the connection was lost.
  public internal(set) var heard: HeardTelemetry?
  public internal(set) var telemetryAge = LegTelemetryAge.nothingYet
  /// The number of frames sent.
  public internal(set) var sent: Int64 = 0
  /// The number of frames that the kernel did not accept.
  public internal(set) var sendFailures: Int64 = 0
  /// The number of telemetry frames received from the leg.
  public internal(set) var received: Int64 = 0
  /// The number of datagrams from the leg that could not be decoded as telemetry.
  public internal(set) var malformed: Int64 = 0
  /// The number of requests refused because the leg does not answer.
  public internal(set) var refused: Int64 = 0

  /// Creates the snapshot that holds before the first tick.
  public init() { state = LegOperatorMachine().state }
}

/// The control loop of the operator side, at 50 Hz. Inputs are the pulse, requests and telemetry; outputs are frames and a snapshot.
public struct LegOperatorLoop: ~Copyable, ControlLoop {
  /// The rate at which commands are sent to keep a leg alive.
  public static let rate = Rate.hertz(50)

  private var machine: LegOperatorMachine
  private var port: DatagramPort
  /// The connections of the link, or `nil` if the link has no notion of connections.
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

  /// Creates the loop of an operator of one leg.
  ///
  /// - Parameters:
  ///   - port: any socket or link; telemetry comes back to it.
  ///   - control: the connections of the same link, or `nil` if the link has no notion of connections. The loop requests a connection
  ///     whenever the machine wants to try.
  ///   - leg: the leg's address, port 5010 unless configured otherwise; `.linkPeer` on a link with only one peer.
  ///   - pulse: the pulse that the periodic mode sends; the newest value is read at every tick.
  ///   - requestBell: rung after requests have been pushed, one of the loop's inputs, or `nil` if requests wait for the next tick.
  ///   - pingsByItself: whether pings keep an armed leg alive while the periodic mode is off.
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
    while let request = requests.pop() { apply(.ask(request)) }
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

  /// Handles the connections that were opened or closed, before any frame, so that the frames read afterwards belong to the present
  /// connection. Events beyond four wait for the next release, for which the link has rung already.
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

  /// Steps the machine and sends its frames; nothing is sent without a connection.
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

  /// Receives one batch a tick, which is enough because a leg sends ten frames a second. Datagrams from other senders are ignored.
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
