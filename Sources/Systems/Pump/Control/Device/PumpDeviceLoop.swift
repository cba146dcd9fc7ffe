import Buses
import Tactus

/// The device side's loop, 20 Hz: lines and requests in, a motor's PWM, lines and a snapshot out.
///
/// Order of a tick: settings, limits, connection, inputs, requests, lines, the period's own work, snapshot, answers. An off is written the
/// moment it is decided, and at every tick until the output takes it. Work is bounded: 64 requests, 1 KB of lines.
public struct PumpDeviceLoop: ~Copyable, ControlLoop {
  public static let rate = Rate.hertz(20)
  /// Requests to the loop; its answers, notices and snapshots from it.
  public typealias Channel = LoopChannel<PumpDeviceRequest, PumpAnswer, PumpDeviceNotice, PumpDeviceSnapshot>
  /// A channel for one loop, of which a tick takes 64 requests at most.
  public static func channel() -> Channel {
    Channel(state: PumpDeviceSnapshot(), requestsPerTick: 64, notices: 1_024)
  }
  /// The firmware's: sensors every 2 s, the pot every 100 ms.
  static var sensorPeriod: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(2) }
  }
  static var potPeriod: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(100) }
  }
  private var machine: PumpDeviceMachine
  private var settings: RulesInput<PumpDeviceSettings>
  private var settingsChanges: UInt64 = 0
  private var link: PumpDeviceLink
  private var second: PumpDeviceLink
  private var asker = PumpAsker.nobody
  private var motor: PWMOutput
  private var inputs: PumpInputs
  private var channel: Channel.Ends
  private let commandAge: AgeMeter
  private let temperatureAge: AgeMeter
  private var snapshot = PumpDeviceSnapshot()
  private let reply = UnsafeMutableRawBufferPointer.allocate(byteCount: PumpReply.maximumEncodedLength, alignment: 8)
  /// The state that the log knows.
  private var told: PumpDeviceState
  private var nextSensors = TickInstant.zero
  private var nextPot = TickInstant.zero
  private var now = TickInstant.zero
  /// The instant at which the request was issued that is being decided on, or `nil` while no request is.
  private var issued: TickInstant?

  /// - Parameters:
  ///   - settings: those that are committed hold from the next tick on.
  ///   - governor: with what was pumped before, or `nil` if the pump has rested.
  ///   - link, second: ways to operate it, or `nil` if there is none. What is not an answer goes to both.
  ///   - motor: the pump's; nothing until the machine says so.
  ///   - channel: the loop's side of a channel that `channel()` has made. Each request is answered, in their order.
  ///   - commandAge: told when each request was issued that the motor has followed. Lines have no stamp.
  ///   - temperatureAge: told when the temperatures were read that the machine decides by.
  public init(
    _ settings: consuming RulesInput<PumpDeviceSettings>, governor: PumpGovernor? = nil, link: consuming PumpLink?,
    second: consuming PumpLink? = nil,
    motor: consuming PWMOutput, inputs: consuming PumpInputs, channel: consuming Channel.Ends,
    commandAge: consuming AgeMeter = DataAge("command", fromOutside: .releasesLoop).meter(),
    temperatureAge: consuming AgeMeter = DataAge("temperature", fromOutside: .unknown).meter()
  ) {
    let first = settings.rules
    machine = PumpDeviceMachine(first, governor: governor)
    self.settings = settings
    told = machine.state
    self.link = PumpDeviceLink(link, rule: first.commands)
    self.second = PumpDeviceLink(second, rule: first.commands)
    self.motor = motor
    self.inputs = inputs
    self.channel = channel
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
    channel.begin(tick)
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
    switch cause {
    case .misses(let releases): step(.missed(releases: releases))
    case .externalStop:
      // What came on a line meanwhile has no time: an OFF and an ON of before the stop would turn the pump on after it.
      link.drop()
      second.drop()
      step(.externalStop)
    case .stop:
      step(.shutdown)
      // No tick follows that could repeat it.
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
    settings.begin()
    guard settings.changes != settingsChanges else { return }
    settingsChanges = settings.changes
    step(.settings(settings.rules))
  }

  @_noLocks @_noAllocation
  private mutating func takeRequests() {
    while let request = channel.next() {
      var verdict = PumpVerdict.accepted
      if request.isStale(at: now) {
        verdict = .ignored(.stale)
      } else {
        issued = request.issued
        switch request.order {
        case .command(let command):
          asker = .inside
          verdict = step(.command(command))
          asker = .nobody
        case .emergencyStop: verdict = step(.emergencyStop)
        case .reset: verdict = step(.reset)
        case .query: break
        }
        issued = nil
      }
      switch verdict {
      case .accepted: snapshot.accepted &+= 1
      case .ignored(let reason):
        snapshot.ignored &+= 1
        snapshot.lastIgnored = reason
      }
      channel.answer(PumpAnswer(number: request.number, verdict, at: now))
    }
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
      // Its sender waits for an answer.
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
    step(.command(command))
  }

  /// Of a piece of a line nothing but an OFF counts. Returns whether it is one.
  @_noLocks @_noAllocation
  private mutating func obeyOff(in piece: UnsafeRawBufferPointer) -> Bool {
    do throws(PumpLineError) {
      guard case .off = try PumpCommand.decode(piece, rule: machine.settings.commands) else { return false }
    } catch {
      return false
    }
    snapshot.commands &+= 1
    step(.command(.off))
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

  /// In phase, unless one was missed altogether.
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
    // At every step: a pump may be on for less than a tick.
    if told.isEdge(to: machine.state) {
      snapshot.source = source(of: event)
      notice(.state(machine.state))
    }
    told = machine.state
    // The other end is not told that the pump is what it is not: an output that fails has said so already.
    if isDone { send(action.replies) }
    if let refusal = action.refusal { return .ignored(refusal) }
    return .accepted
  }

  /// Who brought it into the state that `event` has led to.
  @_noLocks @_noAllocation
  private func source(of event: PumpDeviceEvent) -> PumpControlSource {
    if case .error = machine.state { return .device }
    switch event {
    case .command, .invalidCommand, .emergencyStop, .reset: return .app
    case .button, .pot: return .manual
    case .temperatures, .settings, .tick, .offConfirmed, .outputFailed, .missed, .externalStop: return .device
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

  /// Written when it differs from what the motor has.
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
      if case .some = snapshot.duty { notice(.outputFails(error)) }
      snapshot.duty = nil
      snapshot.outputFailures &+= 1
      snapshot.lastOutputFailure = error
      return false
    }
  }

  /// That no client is connected is no failure.
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
    settings.finish(isSafe: machine.state.isSafe)
    snapshot.at = now
    snapshot.state = machine.state
    snapshot.water = machine.water
    snapshot.skin = machine.skin
    snapshot.spent = machine.governor.spent(at: now)
    snapshot.left = machine.governor.left(at: now)
    snapshot.restedAt = machine.governor.restedAt
    snapshot.governor = machine.governor
    snapshot.noticesDropped = channel.noticesDropped
    snapshot.answersDropped = channel.answersDropped
    channel.finish(snapshot)
  }

  @_noLocks @_noAllocation
  private mutating func notice(_ subject: PumpDeviceNotice.Subject) {
    channel.tell(PumpDeviceNotice(at: now, subject, by: snapshot.source))
  }
}

extension PumpDeviceState {
  /// Whether going from here to `next` is a change that a log should show: not another speed, not a confirmation.
  @_noLocks @_noAllocation
  func isEdge(to next: PumpDeviceState) -> Bool {
    switch (self, next) {
    case (.off, .off), (.on, .on), (.error, .error), (.emergencyStopped, .emergencyStopped), (.shutDown, .shutDown):
      false
    default: true
    }
  }
}
