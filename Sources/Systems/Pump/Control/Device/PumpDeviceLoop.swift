import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// The control loop of the device side, at 20 Hz: reads lines and requests, drives the motor's PWM, and sends lines and a snapshot.
///
/// The order of a tick: settings, limits, connection, inputs, requests, lines, periodic work, snapshot, answers. An off is written as soon as it is
/// decided, and again at every tick until the output accepts it. The work of a tick is bounded: 64 requests, 1 KB of lines.
public struct PumpDeviceLoop: ~Copyable, ControlLoop {
  public static let rate = Rate.hertz(20)
  /// The period at which the sensors are read, as in the firmware.
  static var sensorPeriod: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(2) }
  }
  /// The period at which the potentiometer is read, as in the firmware.
  static var potPeriod: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(100) }
  }
  private var machine: PumpDeviceMachine
  private var ends: PumpMailbox.Ends
  private var rulesChanges: UInt64 = 0
  private var link: PumpDeviceLink
  private var second: PumpDeviceLink
  private var asker = PumpAsker.nobody
  private var motor: PWMOutput
  private var inputs: PumpInputs
  private let commandAge: AgeMeter
  private let temperatureAge: AgeMeter
  private var snapshot = PumpDeviceSnapshot()
  private let reply = UnsafeMutableRawBufferPointer.allocate(byteCount: PumpReply.maximumEncodedLength, alignment: 8)
  /// The state that was last reported to the log.
  private var told: PumpDeviceState
  private var nextSensors = TickInstant.zero
  private var nextPot = TickInstant.zero
  private var now = TickInstant.zero
  /// The instant at which the request being decided on was issued, or `nil` if no request is being decided on.
  private var issued: TickInstant?

  /// Creates the loop of a pump in the device role.
  ///
  /// - Parameters:
  ///   - ends: the loop's side of its mailboxes. Requests are answered in the order in which they were made.
  ///   - governor: the run limit with the time already used, or `nil` if the pump has rested.
  ///   - link, second: the links by which the pump is operated, or `nil` for a link that is not configured. Lines that are not replies go to both.
  ///   - motor: the PWM output of the pump's motor; nothing is written to it until the machine decides to.
  ///   - commandAge: records the age of each request that the motor has followed. Lines have no timestamp.
  ///   - temperatureAge: records the age of the temperatures on which the machine decides.
  public init(
    _ ends: consuming PumpMailbox.Ends, governor: PumpGovernor? = nil, link: consuming PumpLink?,
    second: consuming PumpLink? = nil, motor: consuming PWMOutput, inputs: consuming PumpInputs,
    commandAge: consuming AgeMeter = DataAge("command", fromOutside: .releasesLoop).meter(),
    temperatureAge: consuming AgeMeter = DataAge("temperature", fromOutside: .unknown).meter()
  ) {
    let first = ends.rules.own
    machine = PumpDeviceMachine(first, governor: governor)
    self.ends = ends
    told = machine.state
    self.link = PumpDeviceLink(link, rule: first.commands)
    self.second = PumpDeviceLink(second, rule: first.commands)
    self.motor = motor
    self.inputs = inputs
    self.commandAge = commandAge
    self.temperatureAge = temperatureAge
    preparePumpToThrow()
  }

  deinit { reply.deallocate() }

  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get { machine.nextDeadline }
  }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    begin(at: tick.started)
    ends.begin(tick)
    takeSettings()
    if let deadline = machine.nextDeadline, !(now < deadline) { step(.tick) }
    link.takeEvents()
    second.takeEvents()
    snapshot.isFirstConnected = link.isConnected
    snapshot.isConnected = link.isConnected || second.isConnected
    readInputs()
    takeRequests()
    readLines()
    if case .period = tick.cause { step(.tick) }
    finish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    begin(at: tick.started)
    ends.beginSafeState(tick)
    switch cause {
    case .misses(let releases): step(.missed(releases: releases))
    case .externalStop:
      // Lines carry no time, so what arrived meanwhile is dropped: an OFF and an ON sent before the stop would turn the pump on after it.
      link.drop()
      second.drop()
      step(.externalStop)
    case .stop:
      step(.shutdown)
      // No tick follows that could repeat the write, so it is repeated here.
      for _ in 0..<2 {
        if case .shutDown(.confirmed) = machine.state { break }
        _ = turnOff()
      }
    }
    finish()
  }

  @_noLocks @_noAllocation
  private mutating func begin(at instant: TickInstant) {
    now = instant
    link.begin(at: instant)
    second.begin(at: instant)
    motor.now = instant
    issued = nil
  }

  // MARK: inputs

  @_noLocks @_noAllocation
  private mutating func takeSettings() {
    guard ends.rulesChanges != rulesChanges else { return }
    rulesChanges = ends.rulesChanges
    step(.settings(ends.rules.own))
  }

  @_noLocks @_noAllocation
  private mutating func takeRequests() {
    while let request = ends.next() {
      issued = request.issued
      let verdict = obey(request.order)
      issued = nil
      snapshot.count(verdict)
      ends.answer(request, verdict)
    }
  }

  @_noLocks @_noAllocation
  private mutating func obey(_ order: PumpOrder) -> PumpVerdict {
    switch order {
    case .turnOn(let speed): return turnOn(speed, lasting: nil)
    case .run(let speed, let time): return turnOn(speed, lasting: time)
    case .turnOff: return obey(.off)
    case .setSpeed(let speed): return obey(.speed(speed))
    case .emergencyStop: return step(.emergencyStop)
    case .reset: return step(.reset)
    case .quit: return step(.shutdown)
    // These requests come from inside the daemon, so they do not count as a command of the operator.
    case .readTemperatures, .watched, .query: return .accepted
    }
  }

  @_noLocks @_noAllocation
  private mutating func turnOn(_ speed: PumpSpeed?, lasting time: Nanoseconds?) -> PumpVerdict {
    // A run that could not end in time does not begin.
    if let time, machine.governor.left(at: now) < time { return .refused(.beyondLimit) }
    var verdict = obey(.on)
    if case .accepted = verdict, let speed { verdict = obey(.speed(speed)) }
    if case .accepted = verdict, let time { verdict = step(.runTime(time)) }
    return verdict
  }

  /// Executes a command from inside the daemon.
  @_noLocks @_noAllocation
  private mutating func obey(_ command: PumpCommand) -> PumpVerdict {
    asker = .inside
    let verdict = step(.command(command))
    asker = .nobody
    return verdict
  }

  @_noLocks @_noAllocation
  private mutating func readLines() {
    link.beginReading()
    asker = .first
    while let outcome = link.nextLine() { hear(outcome, link.line) }
    second.beginReading()
    asker = .second
    while let outcome = second.nextLine() { hear(outcome, second.line) }
    asker = .nobody
  }

  @_noLocks @_noAllocation
  private mutating func hear(_ outcome: PumpLineAssembler.Outcome, _ line: UnsafeMutableRawBufferPointer) {
    switch outcome {
    case .incomplete: break
    case .line(let count): obey(UnsafeRawBufferPointer(start: line.baseAddress, count: count))
    case .cut(let count): _ = obeyOff(in: UnsafeRawBufferPointer(start: line.baseAddress, count: count))
    case .rest(let count):
      // The sender of the line waits for an answer.
      if !obeyOff(in: UnsafeRawBufferPointer(start: line.baseAddress, count: count)) { refuse(.unknownCommand(at: 0)) }
    case .dropped(let count): refuse(.tooLong(count: count))
    }
  }

  @_noLocks @_noAllocation
  private mutating func obey(_ bytes: UnsafeRawBufferPointer) {
    let command: PumpCommand
    do throws(PumpLineError) {
      command = try PumpCommand.decode(bytes, rule: machine.settings.commands)
    } catch {
      return refuse(error)
    }
    snapshot.commands &+= 1
    // An ON that lay in the line while the program was frozen must not start the pump when it goes on.
    if case .on = command, ends.hasBacklog { return send(.error(.startFailed)) }
    step(.command(command))
    if case .off = command { ends.stopped(at: now) }
  }

  /// Executes an incomplete line if it is an OFF, the only command accepted from one. Returns whether it was an OFF.
  @_noLocks @_noAllocation
  private mutating func obeyOff(in piece: UnsafeRawBufferPointer) -> Bool {
    do throws(PumpLineError) {
      guard case .off = try PumpCommand.decode(piece, rule: machine.settings.commands) else { return false }
    } catch {
      return false
    }
    snapshot.commands &+= 1
    step(.command(.off))
    ends.stopped(at: now)
    return true
  }

  @_noLocks @_noAllocation
  private mutating func refuse(_ error: PumpLineError) {
    snapshot.malformed &+= 1
    snapshot.lastMalformed = error
    step(.invalidCommand(error))
  }

  @_noLocks @_noAllocation
  private mutating func readInputs() {
    guard let sample = inputs.read(at: now) else {
      snapshot.inputFailures &+= 1
      if Self.isDue(&nextSensors, Self.sensorPeriod, at: now) { step(.temperatures(water: .unknown, skin: .unknown)) }
      return
    }
    if let isPressed = sample.isButtonPressed { step(.button(isPressed: isPressed)) }
    if let counts = sample.pot, Self.isDue(&nextPot, Self.potPeriod, at: now) { step(.pot(counts: counts)) }
    if Self.isDue(&nextSensors, Self.sensorPeriod, at: now) {
      if let readAt = sample.temperaturesAt { temperatureAge.uses(sampledAt: readAt) }
      step(
        .temperatures(
          water: reading(sample.water, isUnreadable: sample.isWaterUnreadable),
          skin: reading(sample.skin, isUnreadable: sample.isSkinUnreadable)))
    }
  }

  @_noLocks @_noAllocation
  private func reading(_ counts: Int?, isUnreadable: Bool) -> PumpReading {
    if isUnreadable { return .unknown }
    guard let counts else { return .absent }
    return .value(PumpThermistor.temperature(counts: counts))
  }

  /// Returns whether the periodic work is due and schedules the next one, which stays in phase unless a whole period was missed.
  @_noLocks @_noAllocation
  private static func isDue(_ next: inout TickInstant, _ period: Nanoseconds, at now: TickInstant) -> Bool {
    guard !(now < next) else { return false }
    let following = next + period
    next = now < following ? following : now + period
    return true
  }

  // MARK: outputs

  @_noLocks @_noAllocation @discardableResult
  private mutating func step(_ event: PumpDeviceEvent) -> PumpVerdict {
    let action = machine.step(event, at: now)
    let isDone: Bool
    switch action.output {
    case .none: isDone = true
    case .off: isDone = turnOff()
    case .run(let speed): isDone = run(speed)
    }
    // A change is reported at every step, because a pump may be on for less than a tick.
    if told.isEdge(to: machine.state) {
      snapshot.source = source(of: event)
      ends.report(.own(machine.state, snapshot.source))
    }
    told = machine.state
    // The replies describe the state after the write, so they are sent only if it succeeded; a failing output has sent its own error.
    if isDone { send(action.replies) }
    if let refusal = action.refusal { return .refused(refusal) }
    return .accepted
  }

  /// Returns the source of the command that brought the pump into the state to which `event` has led.
  @_noLocks @_noAllocation
  private func source(of event: PumpDeviceEvent) -> PumpControlSource {
    if case .error = machine.state { return .device }
    switch event {
    case .command, .invalidCommand, .emergencyStop, .reset: return .app
    case .button, .pot: return .manual
    case .runTime, .temperatures, .settings, .tick, .offConfirmed, .outputFailed, .missed, .externalStop: return .device
    case .shutdown: return .host
    }
  }

  @_noLocks @_noAllocation
  private mutating func turnOff() -> Bool {
    guard write(PumpSpeed(duty: 0)) else {
      send(machine.step(.outputFailed, at: now).replies)
      return false
    }
    _ = machine.step(.offConfirmed, at: now)
    return true
  }

  /// Writes the speed if it differs from the motor's present one. Returns whether the output has accepted the speed.
  @_noLocks @_noAllocation
  private mutating func run(_ speed: PumpSpeed) -> Bool {
    if let duty = snapshot.duty, duty.duty == speed.duty { return true }
    if write(speed) { return true }
    send(machine.step(.outputFailed, at: now).replies)
    _ = turnOff()
    return false
  }

  @_noLocks @_noAllocation
  private mutating func send(_ replies: PumpReplies) {
    for index in 0..<replies.count { send(replies[index]) }
  }

  @_noLocks @_noAllocation
  private mutating func write(_ speed: PumpSpeed) -> Bool {
    do throws(PWMError) {
      try motor.set(active: motor.period * Int64(speed.duty) / 255)
      snapshot.duty = speed
      if let issued { commandAge.uses(sampledAt: issued) }
      return true
    } catch {
      if case .some = snapshot.duty { ends.report(.outputFails(error)) }
      snapshot.duty = nil
      snapshot.outputFailures &+= 1
      snapshot.lastOutputFailure = error
      return false
    }
  }

  /// Sends a reply to the links that receive it. A link without a client is not counted as a failure.
  @_noLocks @_noAllocation
  private mutating func send(_ line: PumpReply) {
    let count = line.encode(into: reply)
    let bytes = UnsafeRawBufferPointer(start: reply.baseAddress, count: count)
    if asker.isHeard(line, byFirst: true), let isSent = link.send(bytes) { self.count(isSent: isSent) }
    if asker.isHeard(line, byFirst: false), let isSent = second.send(bytes) { self.count(isSent: isSent) }
  }

  @_noLocks @_noAllocation
  private mutating func count(isSent: Bool) {
    if isSent { snapshot.sent &+= 1 } else { snapshot.sendFailures &+= 1 }
  }

  // MARK: news

  @_noLocks @_noAllocation
  private mutating func finish() {
    snapshot.at = now
    snapshot.state = machine.state
    snapshot.water = machine.water
    snapshot.skin = machine.skin
    snapshot.spent = machine.governor.spent(at: now)
    snapshot.left = machine.governor.left(at: now)
    snapshot.runEnds = machine.runEnds
    snapshot.restedAt = machine.governor.restedAt
    snapshot.governor = machine.governor
    ends.finish(.own(snapshot), isSafe: machine.state.isSafe)
  }
}

extension PumpDeviceState {
  /// Returns whether the change to `next` should be logged: a new speed or a confirmation alone is not.
  @_noLocks @_noAllocation
  func isEdge(to next: PumpDeviceState) -> Bool {
    switch (self, next) {
    case (.off, .off), (.on, .on), (.error, .error), (.emergencyStopped, .emergencyStopped), (.shutDown, .shutDown):
      false
    default: true
    }
  }
}
