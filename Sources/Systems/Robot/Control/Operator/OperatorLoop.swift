import Buses
import Tactus
import Wire

/// A request from another thread to the operator side.
public enum OperatorRequest: Sendable, Hashable, BitwiseCopyable {
  /// Stops the robot until the controls are released.
  case stop
  /// Triggers the robot's e-stop, and that of the operator side.
  case emergencyStop
  /// Leaves the e-stop of the operator side, and asks the robot to leave its e-stop or fault.
  case reset
  /// Stops the robot, after which nothing more is sent.
  case quit
}

/// The state of the operator side at the end of a tick.
public struct OperatorSnapshot: Sendable, BitwiseCopyable {
  public internal(set) var at = TickInstant(nanoseconds: 0)
  public internal(set) var state = OperatorState.driving
  /// The wheel speeds that the controls ask for.
  public internal(set) var speeds = WheelSpeeds(left: Percent(0), right: Percent(0))
  public internal(set) var connection = Connection.noReplyYet
  /// The newest reply, with the robot's state, speeds and reason, or `nil` before the first reply.
  public internal(set) var heard: HeardReply?
  /// The number of datagrams sent.
  public internal(set) var sent: Int64 = 0
  /// The number of datagrams that the kernel did not accept.
  public internal(set) var sendFailures: Int64 = 0
  /// The number of replies received from the robot.
  public internal(set) var replies: Int64 = 0
  /// The number of datagrams from the robot that could not be decoded as a reply.
  public internal(set) var malformed: Int64 = 0
  /// The number of resets refused because the stick was not at zero.
  public internal(set) var refusedResets: Int64 = 0
  /// The number of times that this program stood still for a second or more while it was driving, which stopped the robot until the stick was
  /// released.
  public internal(set) var standstills: Int64 = 0

  /// Creates the snapshot that holds before the first tick.
  public init() {}
}

/// The control loop of the operator side. Inputs are controls, requests and replies; outputs are one datagram a tick and a snapshot with
/// the state of the connection.
public struct OperatorLoop: ~Copyable, ControlLoop {
  private var machine: OperatorMachine
  private var port: DatagramPort
  private let robot: Endpoint
  private var batch = DatagramBatch(capacity: 16, size: RobotMessage.maximumLength)
  private var input: LatestReader<OperatorInput>
  private var requests: RingReader<OperatorRequest>
  private var output: LatestWriter<OperatorSnapshot>
  private var snapshot = OperatorSnapshot()
  private let bytes: UnsafeMutableRawBufferPointer
  private var now = TickInstant(nanoseconds: 0)

  /// Creates the loop of an operator of one robot.
  ///
  /// - Parameters:
  ///   - port: any UDP socket; the robot replies to its address.
  ///   - robot: the robot's address, port 5005 unless configured otherwise.
  ///   - wallClockAtStart: microseconds since 1970 now, read once by the caller.
  ///   - input: the controls; the newest value is sent at every tick.
  public init(
    port: consuming DatagramPort, robot: Endpoint, wallClockAtStart: Int64,
    input: consuming LatestReader<OperatorInput>,
    requests: consuming RingReader<OperatorRequest>, snapshot: consuming LatestWriter<OperatorSnapshot>
  ) {
    machine = OperatorMachine(wallClockAtStart: wallClockAtStart)
    self.port = port
    self.robot = robot
    self.input = input
    self.requests = requests
    output = snapshot
    bytes = .allocate(byteCount: RobotMessage.maximumEncodedLength, alignment: 8)
  }

  deinit { bytes.deallocate() }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    begin(at: tick.started)
    receive()
    apply(.input(input.read()))
    while let request = requests.pop() { apply(.ask(request)) }
    if case .period = tick.cause { apply(.tick) }
    publish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    begin(at: tick.started)
    switch cause {
    case .misses, .externalStop: break  // the robot's own failsafe is what counts
    case .stop: apply(.shutdown)
    }
    publish()
  }

  @_noLocks @_noAllocation
  private mutating func begin(at instant: TickInstant) {
    now = instant
    port.now = instant
  }

  @_noLocks @_noAllocation
  private mutating func apply(_ event: OperatorEvent) {
    let action = machine.step(event, at: now)
    if action.isRefused { snapshot.refusedResets &+= 1 }
    guard let datagram = action.datagram else { return }
    let count = datagram.encode(
      timestampMicroseconds: machine.timestamp(at: now), echo: machine.echo(at: now), into: bytes)
    for _ in 0..<action.copies {
      if port.send(UnsafeRawBufferPointer(start: bytes.baseAddress, count: count), to: robot) {
        snapshot.sent &+= 1
      } else {
        snapshot.sendFailures &+= 1
      }
    }
  }

  /// Receives one batch a tick, which is enough because a robot answers each datagram at most once. Datagrams from other senders are
  /// ignored.
  @_noLocks @_noAllocation
  private mutating func receive() {
    _ = port.receive(into: &batch)
    for index in 0..<batch.count where batch.source(index).isSame(as: robot) {
      guard let bytes = batch.bytes(index) else {
        snapshot.malformed &+= 1
        continue
      }
      do {
        let reply = try RobotReply.decode(bytes)
        snapshot.replies &+= 1
        apply(.reply(reply))
      } catch {
        snapshot.malformed &+= 1
      }
    }
  }

  @_noLocks @_noAllocation
  private mutating func publish() {
    snapshot.at = now
    snapshot.state = machine.state
    snapshot.speeds = machine.input.speeds
    snapshot.connection = machine.connection(at: now)
    snapshot.heard = machine.heard
    snapshot.standstills = machine.standstills
    output.write(snapshot)
  }
}
