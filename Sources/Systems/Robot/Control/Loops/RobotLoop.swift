import Buses
import Tactus
import Wire

/// The control loop of the device side. Inputs are datagrams and requests; outputs are motor commands, a snapshot and replies.
///
/// Order of a tick: failsafe, settings, requests, datagrams, the distance ahead, the board and the inertial sensors, the step of the
/// period, motors, fittings, replies, snapshot, answers. A stop is written the moment it is decided, before anything else is read; of all
/// drives decided in a tick only the last is written. Work is bounded: 64 requests, 4 × 64 datagrams, one stop and one drive (a second
/// stop when that drive is a fault), and one write to a fitting.
public struct RobotLoop: ~Copyable, ControlLoop {
  private static var batchesPerTick: Int {
    @_noLocks @_noAllocation get { 4 }
  }
  /// The mailboxes of one robot loop. A tick takes at most 64 requests.
  public typealias Mailbox = LoopMailbox<RobotOrder, IgnoreReason, RobotNotice, RobotSnapshot, RobotSettings>
  /// The client side of the mailboxes: sends requests and receives answers, notices and the published snapshot.
  public typealias Client = Mailbox.Client

  private var machine: RobotMachine
  private var motors: Motors
  private var port: DatagramPort
  private var batch: DatagramBatch
  private var ends: Mailbox.Ends
  private var settingsChanges: UInt64 = 0
  private let commandAge: AgeMeter
  private var snapshot: RobotSnapshot
  private var replies = ReplyTable()
  private var distance = DistanceWatch()
  private var board: BoardWatch
  private var inertial: InertialSensors?
  /// Whether the inertial sensors, and not the board, measure the attitude.
  private let hasInertialSensors: Bool
  private var line = LineWatch()
  private let readsLine: Bool
  private var fittings: Fittings
  private let replyBytes: UnsafeMutableRawBufferPointer

  // These values are valid within one tick.
  private var now = TickInstant(nanoseconds: 0)
  private var pendingDrive: WheelSpeeds?
  /// The instant at which the command that is being decided was issued or arrived, or `nil` between commands and for a command without a known
  /// instant.
  private var heardAt: TickInstant?
  /// The instant at which the command behind `pendingDrive` was issued or arrived, or `nil` if that is not known.
  private var pendingHeardAt: TickInstant?
  private var hasStopped = false
  /// Whether the state has changed without a notice yet. The notice waits for the motors' answer, which is part of the notice.
  private var hasEdge = false

  /// Creates the loop of a robot with these motors.
  ///
  /// - Parameters:
  ///   - ends: the loop's side of the mailboxes. Requests are answered in order; committed settings take effect at the next tick.
  ///   - port: the robot's UDP socket.
  ///   - commandAge: receives, for each command that the motors took in the tick that read the command, the instant at which its datagram
  ///     arrived or its request was issued.
  ///   - longestDatagram: the length limit in bytes, 1…`RobotMessage.maximumLength`; a longer datagram counts as malformed.
  ///   - afterOutsideStop: whether something outside the program, such as the guard, has stopped the motors since a loop last drove them.
  ///     If so, the robot does not drive until a stick that is held has come to zero.
  ///   - batteryLowPercent: the charge of the battery that is worth a notice, or `nil` if there is none.
  ///   - inertial: the sensors that measure the attitude, or `nil` if the board measures it or nothing does.
  ///   - mount: the limits of the camera mount, or `nil` for the standard limits of the board's mount.
  ///   - readsLine: whether the line sensor is read. A board without a line sensor has no readings.
  public init(
    ends: consuming Mailbox.Ends, motors: consuming Motors, port: consuming DatagramPort,
    commandAge: consuming AgeMeter = DataAge("command", fromOutside: .releasesLoop).meter(),
    longestDatagram: Int = RobotMessage.maximumLength, afterOutsideStop: Bool = false,
    batteryLowPercent: Int? = nil, inertial: consuming InertialSensors? = nil, mount: CameraMountSettings? = nil,
    readsLine: Bool = false
  ) {
    switch consume inertial {
    case .some(let sensors):
      self.inertial = consume sensors
      hasInertialSensors = true
    case .none:
      self.inertial = nil
      hasInertialSensors = false
    }
    let kind = motors.board
    fittings = Fittings(kind, mount: mount ?? .standard(kind))
    self.readsLine = readsLine && kind.can(.line)
    board = BoardWatch(lowPercent: batteryLowPercent)
    batch = DatagramBatch(capacity: 64, size: longestDatagram)
    let first = ends.rules
    machine = RobotMachine(first, afterOutsideStop: afterOutsideStop)
    snapshot = RobotSnapshot(first, fittings: fittings)
    self.motors = motors
    self.port = port
    self.ends = ends
    self.commandAge = commandAge
    replyBytes = .allocate(byteCount: RobotReply.maximumEncodedLength, alignment: 8)
  }

  deinit { replyBytes.deallocate() }

  /// The instant at which the failsafe expires, or at which the rest after a clock change ends; `nil` unless the robot is driving.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get { machine.nextDeadline }
  }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    begin(at: tick.started)
    ends.begin(tick)
    if let deadline = machine.nextDeadline, now >= deadline { decide(.tick) }
    takeSettings()
    takeRequests()
    drain()
    if case .period = tick.cause {
      watchAhead()
      hearBoard()
      lean()
      decide(.tick)
    }
    if let speeds = pendingDrive { write(speeds) }
    // The board is tended last, so that nothing that moves or stops a motor waits for it.
    if case .period = tick.cause { tendBoard() }
    finish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    begin(at: tick.started)
    ends.beginSafeState(tick)
    switch cause {
    // A loop that hung has not ended beeps in time, and the guard may have silenced the buzzer.
    case .misses(let count):
      fittings.forget()
      decide(.missed(releases: count))
    case .externalStop:
      fittings.forget()
      decide(.externalStop)
    case .stop:
      decide(.shutdown)
      // A stop that the board has not confirmed is repeated here, because no tick follows.
      for _ in 0..<2 {
        guard case .shutDown(.pending) = machine.state else { break }
        hasStopped = false
        decide(.tick)
      }
      fittings.shutDown()
      for _ in 0..<4 where machine.failures == 0 { _ = fit() }
    }
    finish()
  }

  @_noLocks @_noAllocation
  private mutating func begin(at instant: TickInstant) {
    // The wheels have turned as the last tick left them until this instant.
    if let geometry = snapshot.settings.geometry {
      snapshot.odometry.advance(by: instant - snapshot.at, at: snapshot.speeds, geometry)
    }
    now = instant
    port.now = instant
    motors.begin(at: instant)
    pendingDrive = nil
    pendingHeardAt = nil
    heardAt = nil
    hasStopped = false
    hasEdge = false
  }

  @_noLocks @_noAllocation
  private mutating func finish() {
    if hasEdge { ends.report(.state(machine.state)) }
    snapshot.at = now
    snapshot.state = machine.state
    snapshot.settings = machine.settings
    snapshot.retries = motors.retries
    snapshot.ahead = distance.reading
    snapshot.counters.distanceFailures = distance.failures
    snapshot.line = line.reading
    snapshot.counters.lineFailures = line.failures
    snapshot.fittings = fittings
    sendReplies()
    ends.finish(snapshot, isSafe: isSafe)
  }

  /// Whether the board has confirmed the stop.
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
    guard ends.rulesChanges != settingsChanges else { return }
    settingsChanges = ends.rulesChanges
    decide(.settings(ends.rules))
  }

  @_noLocks @_noAllocation
  private mutating func takeRequests() {
    while let request = ends.nextOfAnyAge() {
      var verdict = Verdict.accepted
      let source = ControlSource.local(request.client)
      if let event = request.order.event(from: source, in: machine.state, isStale: ends.isStale(request)) {
        heardAt = request.issued
        verdict = decide(event)
        heardAt = nil
        snapshot.counters.count(verdict)
      } else if case .fitting(let order) = request.order {
        verdict =
          ends.isStale(request)
          ? .ignored(.stale)
          : fittings.obey(
            order, in: machine.state, lean: board.readings.tilt, most: machine.settings.tiltStopDegrees, at: now)
        snapshot.counters.count(verdict)
      }
      switch verdict {
      case .accepted: ends.answer(request, .accepted)
      case .ignored(let reason): ends.answer(request, .refused(reason))
      }
    }
  }

  /// Reads up to four batches of datagrams. Datagrams that remain wait for the next release, which comes within the minimum interval.
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
    let isQuery = if case .query = message.command { true } else { false }
    if !isQuery {
      let event = RobotEvent.command(message.command, timestamp: message.timestamp, from: .datagram(source))
      heardAt = batch.arrivedAt(index)
      verdict = decide(hasWaited() ? event.late : event)
      heardAt = nil
      snapshot.counters.count(verdict)
      if case .accepted = verdict, event.isStop { ends.stopped(at: batch.arrivedAt(index) ?? now) }
    }
    if let echo = message.echo, !replies.ask(source, echo, verdict, at: now) {
      snapshot.counters.repliesDropped &+= 1
    }
  }

  /// Returns whether the datagram that is being decided lay in the socket for the failsafe's time, in which a command loses its force: what came
  /// while the program was frozen must not drive when it goes on.
  @_noLocks @_noAllocation
  private func hasWaited() -> Bool {
    guard let heardAt else { return ends.hasBacklog }
    return now - heardAt >= machine.settings.failsafeTimeout && Mechanism.staleness.acts
  }

  /// Reads the distance ahead if the settings watch it, and tells the machine. Nothing is read while a motor write is repeated, because the
  /// stop needs the bus.
  @_noLocks @_noAllocation
  private mutating func watchAhead() {
    guard case .some = machine.settings.stopWithinMillimetres else { return }
    if machine.failures == 0 { distance.read(&motors, at: now) }
    decide(.clearance(distance.clearance(at: now)))
  }

  /// Takes the board's reply, and tells the machine the battery's charge and the attitude.
  @_noLocks @_noAllocation
  private mutating func hearBoard() {
    guard motors.canBeAsked else { return }
    let wasLow = board.readings.isBatteryLow
    let reply = board.hear(&motors, at: now)
    snapshot.board = board.readings
    switch reply {
    case .charge(let percent):
      let percent = Int(saturating: percent.value)
      if board.readings.isBatteryLow, !wasLow { ends.report(.batteryLow(percent: percent)) }
      decide(.battery(percent: percent))
    case .roll, .pitch:
      if let tilt = board.readings.tilt { decide(.tilt(degrees: tilt)) }
    case .timedOut, nil: break
    }
    // A board that no longer reports its attitude must not prevent a reset.
    if case .none = board.readings.tilt { decide(.attitudeLost) }
  }

  /// Reads the inertial sensors, if there are any, and tells the machine the attitude.
  @_noLocks @_noAllocation
  private mutating func lean() {
    guard hasInertialSensors else { return }
    board.note(inertial?.attitude(at: now) ?? nil, at: now)
    snapshot.board = board.readings
    if let tilt = board.readings.tilt { decide(.tilt(degrees: tilt)) } else { decide(.attitudeLost) }
  }

  // MARK: outputs

  /// Steps the machine and returns the verdict. A stop is written to the motors at once, a drive after the tick has read all inputs.
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
    // The fittings are halted at every step, because an emergency stop and its reset may come in the same tick.
    switch machine.state {
    case .emergencyStopped, .fault, .shutDown: fittings.halt()
    case .stopped, .driving: break
    }
    if before.isEdge(to: machine.state) {
      if hasEdge { ends.report(.state(before)) }
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

  /// Reads the line sensor, requests the battery's charge or the attitude, and makes one write to a fitting. None of these is done while a
  /// motor write is repeated, because the stop needs the bus.
  @_noLocks @_noAllocation
  private mutating func tendBoard() {
    guard machine.failures == 0 else { return }
    if readsLine { line.read(&motors, at: now) }
    if !fit(), motors.canBeAsked { board.ask(&motors, at: now) }
  }

  /// Makes the next write to a fitting. Returns whether one was due.
  @_noLocks @_noAllocation
  private mutating func fit() -> Bool {
    guard let write = fittings.next(period: machine.settings.tickPeriod, at: now) else { return false }
    do {
      try motors.fit(write)
      fittings.took(write, at: now)
    } catch {
      snapshot.counters.fittingFailures &+= 1
      snapshot.lastFailure = error
      fittings.failed(write)
    }
    return true
  }

  @_noLocks @_noAllocation
  private mutating func noteSuccess() {
    snapshot.counters.writes &+= 1
    if machine.failures > 0 { ends.report(.motorsAnswer) }
  }

  @_noLocks @_noAllocation
  private mutating func note(_ failure: MotorFailure) {
    snapshot.counters.writeFailures &+= 1
    snapshot.lastFailure = failure
    if machine.failures == 0 { ends.report(.motorsFail(failure)) }
  }

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
