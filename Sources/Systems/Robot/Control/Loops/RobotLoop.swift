import Buses
import Tactus
import Wire

/// The device side's loop: datagrams and requests in, one machine, motors, snapshot and replies out.
///
/// Order of a tick: failsafe, settings, requests, datagrams, the period's own step, motors, replies, snapshot, answers. A stop
/// is written the moment it is decided, before anything else is read; of all drives decided in a tick only the last is written.
/// Work is bounded: 64 requests, 4 × 64 datagrams, one stop and one drive (a second stop when that drive is a fault).
public struct RobotLoop: ~Copyable, ControlLoop {
  private static var batchesPerTick: Int {
    @_noLocks @_noAllocation get { 4 }
  }
  /// Requests to the loop; its answers, notices and snapshots from it.
  public typealias Channel = LoopChannel<RobotRequest, RobotAnswer, RobotNotice, RobotSnapshot>
  /// A channel for one loop, of which a tick takes 64 requests at most.
  public static func channel(_ settings: RobotSettings = .standard) -> Channel {
    Channel(state: RobotSnapshot(settings), requestsPerTick: 64, notices: 1_024)
  }

  private var machine: RobotMachine
  private var motors: Motors
  private var port: DatagramPort
  private var batch: DatagramBatch
  private var settings: RulesInput<RobotSettings>
  private var settingsChanges: UInt64 = 0
  private var channel: Channel.Ends
  private let commandAge: AgeMeter
  private var snapshot: RobotSnapshot
  private var replies = ReplyTable()
  private let replyBytes: UnsafeMutableRawBufferPointer
  /// Requests of this tick, to be answered at its end, with the state at its end.
  private let taken: UnsafeMutablePointer<(number: UInt64, verdict: Verdict)>
  private var takenCount = 0

  // Within one tick.
  private var now = TickInstant(nanoseconds: 0)
  private var pendingDrive: WheelSpeeds?
  /// The instant at which the command was issued or arrived that is being decided on. It is `nil` while no command is being decided on,
  /// and for a command without a stamp.
  private var heardAt: TickInstant?
  /// Of the command that `pendingDrive` is from.
  private var pendingHeardAt: TickInstant?
  private var hasStopped = false
  /// The state has changed and nobody has been told: that waits for the motors' answer, which belongs to the news.
  private var hasEdge = false

  /// - Parameters:
  ///   - port: the robot's UDP socket.
  ///   - settings: those that are committed hold from the next tick on.
  ///   - channel: the loop's side of a channel that `channel(_:)` has made. Each request is answered, in their order.
  ///   - commandAge: told of each command that the motors took in the tick that read it: when its datagram arrived, or its
  ///     request was issued.
  ///   - longestDatagram: in bytes, 1…`RobotMessage.maximumLength`; a longer one is malformed.
  ///   - afterOutsideStop: whether something else, as a guard, has stopped the motors since a loop drove them last: nothing drives until a
  ///     stick that is held has come to zero.
  public init(
    motors: consuming Motors, port: consuming DatagramPort, settings: consuming RulesInput<RobotSettings>,
    channel: consuming Channel.Ends,
    commandAge: consuming AgeMeter = DataAge("command", fromOutside: .releasesLoop).meter(),
    longestDatagram: Int = RobotMessage.maximumLength, afterOutsideStop: Bool = false
  ) {
    batch = DatagramBatch(capacity: 64, size: longestDatagram)
    let first = settings.rules
    machine = RobotMachine(first, afterOutsideStop: afterOutsideStop)
    snapshot = RobotSnapshot(first)
    self.motors = motors
    self.port = port
    self.settings = settings
    taken = .allocate(capacity: channel.requestsPerTick)
    self.channel = channel
    self.commandAge = commandAge
    replyBytes = .allocate(byteCount: RobotReply.maximumEncodedLength, alignment: 8)
  }

  deinit {
    replyBytes.deallocate()
    taken.deallocate()
  }

  /// The failsafe.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get { machine.nextDeadline }
  }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    begin(at: tick.started)
    channel.begin(tick)
    if let deadline = machine.nextDeadline, now >= deadline { decide(.tick) }
    takeSettings()
    takeRequests()
    drain()
    if case .period = tick.cause { decide(.tick) }
    if let speeds = pendingDrive { write(speeds) }
    finish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    begin(at: tick.started)
    switch cause {
    case .misses(let count): decide(.missed(releases: count))
    case .externalStop: decide(.externalStop)
    case .stop:
      decide(.shutdown)
      // No tick follows that could repeat it.
      for _ in 0..<2 {
        guard case .shutDown(.pending) = machine.state else { break }
        hasStopped = false
        decide(.tick)
      }
    }
    finish()
  }

  @_noLocks @_noAllocation
  private mutating func begin(at instant: TickInstant) {
    now = instant
    port.now = instant
    motors.begin(at: instant)
    pendingDrive = nil
    pendingHeardAt = nil
    heardAt = nil
    hasStopped = false
    hasEdge = false
    takenCount = 0
  }

  @_noLocks @_noAllocation
  private mutating func finish() {
    if hasEdge { notice(.state(machine.state)) }
    snapshot.at = now
    snapshot.state = machine.state
    settings.finish(isSafe: isSafe)
    snapshot.settings = machine.settings
    snapshot.retries = motors.retries
    sendReplies()
    for index in 0..<takenCount {
      channel.answer(RobotAnswer(number: taken[index].number, taken[index].verdict, at: now, machine.state))
    }
    snapshot.counters.noticesDropped = channel.noticesDropped
    snapshot.counters.answersDropped = channel.answersDropped
    channel.finish(snapshot)
  }

  /// The board has taken a stop.
  private var isSafe: Bool {
    @_noLocks @_noAllocation get {
      switch machine.state {
      case .stopped(let standstill): standstill.confirmation.isConfirmed
      case .emergencyStopped(let stop): stop.confirmation.isConfirmed
      case .fault(let fault): fault.confirmation.isConfirmed
      case .shutDown(let confirmation): confirmation.isConfirmed
      case .driving: false
      }
    }
  }

  // MARK: inputs

  @_noLocks @_noAllocation
  private mutating func takeSettings() {
    settings.begin()
    guard settings.changes != settingsChanges else { return }
    settingsChanges = settings.changes
    decide(.settings(settings.rules))
  }

  @_noLocks @_noAllocation
  private mutating func takeRequests() {
    while let request = channel.next() {
      var verdict = Verdict.accepted
      if let event = request.event(in: machine.state, at: now) {
        heardAt = request.issued
        verdict = decide(event)
        heardAt = nil
        snapshot.counters.count(verdict)
      }
      taken[takenCount] = (request.number, verdict)
      takenCount &+= 1
    }
  }

  /// What is left after four batches waits for the next release, which comes within the minimum interval.
  @_noLocks @_noAllocation
  private mutating func drain() {
    for _ in 0..<Self.batchesPerTick {
      let isFull = port.receive(into: &batch)
      for index in 0..<batch.count { receive(index) }
      if !isFull { return }
    }
  }

  @_noLocks @_noAllocation
  private mutating func receive(_ index: Int) {
    snapshot.counters.datagrams &+= 1
    guard let bytes = batch.bytes(index) else {
      snapshot.counters.malformed &+= 1
      snapshot.lastMalformed = .tooLong(count: batch.length(index))
      return
    }
    let message: RobotMessage
    do {
      message = try RobotMessage.decode(bytes)
    } catch {
      snapshot.counters.malformed &+= 1
      snapshot.lastMalformed = error
      return
    }
    if message.directionMismatch { snapshot.counters.directionMismatches &+= 1 }
    let source = batch.source(index)
    var verdict = Verdict.accepted
    if let event = message.event(from: .datagram(source)) {
      heardAt = batch.arrivedAt(index)
      verdict = decide(event)
      heardAt = nil
      snapshot.counters.count(verdict)
    }
    if let echo = message.echo, !replies.ask(source, echo, verdict, at: now) {
      snapshot.counters.repliesDropped &+= 1
    }
  }

  // MARK: outputs

  /// Steps the machine; a stop goes to the motors at once, a drive when the tick has read everything.
  @_noLocks @_noAllocation @discardableResult
  private mutating func decide(_ event: RobotEvent) -> Verdict {
    let action = step(event)
    switch action.output {
    case .none: break
    case .drive(let speeds):
      pendingDrive = speeds
      // The period's own step repeats the command that was just read.
      if let heardAt { pendingHeardAt = heardAt }
    case .stop: stop()
    }
    return action.verdict
  }

  @_noLocks @_noAllocation
  private mutating func step(_ event: RobotEvent) -> RobotAction {
    let before = machine.state
    let action = machine.step(event, at: now)
    if before.isEdge(to: machine.state) {
      if hasEdge { notice(.state(before)) }
      hasEdge = true
    }
    return action
  }

  @_noLocks @_noAllocation
  private mutating func stop() {
    if Mechanism.stopOvertakes.acts { pendingDrive = nil }
    pendingHeardAt = nil
    guard !hasStopped else { return }
    hasStopped = true
    do {
      try motors.stop()
      noteSuccess()
      if let heardAt { commandAge.uses(sampledAt: heardAt) }
      _ = step(.stopConfirmed)
    } catch {
      note(error)
      _ = step(.stopFailed(error))
    }
  }

  @_noLocks @_noAllocation
  private mutating func write(_ speeds: WheelSpeeds) {
    do {
      try motors.drive(speeds)
      noteSuccess()
      if let pendingHeardAt { commandAge.uses(sampledAt: pendingHeardAt) }
      _ = step(.driveConfirmed)
    } catch {
      note(error)
      if case .stop = step(.driveFailed(error)).output {
        hasStopped = false
        stop()
      }
    }
  }

  @_noLocks @_noAllocation
  private mutating func noteSuccess() {
    snapshot.counters.writes &+= 1
    if machine.failures > 0 { notice(.motorsAnswer) }
  }

  @_noLocks @_noAllocation
  private mutating func note(_ failure: MotorFailure) {
    snapshot.counters.writeFailures &+= 1
    snapshot.lastFailure = failure
    if machine.failures == 0 { notice(.motorsFail(failure)) }
  }

  @_noLocks @_noAllocation
  private mutating func notice(_ subject: RobotNotice.Subject) { channel.tell(RobotNotice(at: now, subject)) }

  @_noLocks @_noAllocation
  private mutating func sendReplies() {
    for _ in 0..<ReplyTable.capacity {
      guard let (source, echo, verdict) = replies.take(at: now) else { return }
      let count = RobotReply(echo: echo, verdict: verdict, machine.state, at: now).encode(into: replyBytes)
      if port.send(UnsafeRawBufferPointer(start: replyBytes.baseAddress, count: count), to: source) {
        snapshot.counters.replies &+= 1
      } else {
        snapshot.counters.repliesDropped &+= 1
      }
    }
  }
}

extension RobotMessage {
  /// What the machine must hear of it; nil for a query.
  @_noLocks @_noAllocation
  func event(from source: ControlSource) -> RobotEvent? {
    switch datagram {
    case .drive(let speeds): .command(speeds, timestamp: timestamp, from: source)
    case .stop: .stop(timestamp: timestamp, from: source)
    case .emergencyStop: .emergencyStop(from: source)
    case .reset: .reset(from: source)
    case .query: nil
    }
  }
}
