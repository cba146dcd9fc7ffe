import Tactus

/// The rules of the pump's operator side: which commands are sent, which state the pump is known to be in, and when it must be off.
///
/// The machine only decides and performs no input or output; its rules are numbered in the folder's README. A step sends at most one command.
public struct PumpOperatorMachine: Sendable, Hashable, BitwiseCopyable {
  /// The number of consecutive missing replies after which the pump counts as silent.
  static var silencesUntilSilent: Int {
    @_noLocks @_noAllocation get { 3 }
  }
  /// The time for which a `watched` order counts.
  static var watchPatience: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(10) }
  }
  /// The number of times that an OFF is sent if no later tick can repeat it.
  static var lastOffs: Int {
    @_noLocks @_noAllocation get { 2 }
  }

  public internal(set) var state = PumpOperatorState.unknown
  public internal(set) var contact = PumpContact.down(PumpBackOff(from: .zero))
  public private(set) var settings: PumpOperatorSettings
  public internal(set) var governor: PumpGovernor
  /// The source of the command that brought the pump into its state, or `nil` if the source is not known.
  public internal(set) var source: PumpControlSource?
  /// The instant at which the run is to end because it was ordered for a time, or `nil`. The instant stays while the
  /// pump cannot be reached; the pump is turned off then, too.
  public internal(set) var runEnds: TickInstant?
  /// The pump's speed, or `nil` if it is unknown or the pump does not run.
  public internal(set) var speed: PumpKnownSpeed?
  /// The last STATUS line, or `nil` before the first.
  public internal(set) var status: PumpStatus?
  /// The instant at which the last STATUS line arrived, or `nil` before the first.
  public internal(set) var statusAt: TickInstant?
  /// The last readings of the sensors, from a STATUS line or a line of temperatures.
  public internal(set) var temperatures = PumpTemperatures()
  public internal(set) var temperaturesAt: TickInstant?
  /// Whether the pump has stopped because of its sensors and has not reported their readings since. Earlier readings do not count.
  var awaitsReading = false
  /// Whether the pump has answered a SPEED with a line that contains the speed; then `OK` alone does not confirm one.
  var namesSpeeds = false
  var channel = PumpChannel()
  /// The instant at which a STATUS was last requested. An unrequested STATUS does not change this, because a pump may depend on hearing from the
  /// operator.
  var polledAt: TickInstant?
  var watchedAt: TickInstant?

  /// Creates a machine without a connection; the event `linked` reports one.
  ///
  /// - Parameter governor: the run limit with the time already used, or `nil` if the pump has rested.
  @_noLocks @_noAllocation
  public init(_ settings: PumpOperatorSettings, governor: PumpGovernor? = nil) {
    self.settings = settings
    if let governor { self.governor = governor } else { self.governor = settings.governor() }
  }

  /// Processes one event at one instant. Instants never decrease. The function never blocks and never allocates.
  @_noLocks @_noAllocation
  public mutating func step(_ event: PumpOperatorEvent, at now: TickInstant) -> PumpOperatorAction {
    var action = PumpOperatorAction()
    let wanted = Wanted(self)
    expire(at: now, &action)
    if case .settings(let new) = event {
      settings = new
      let rules = new.governor()
      governor.change(limit: rules.limit, rest: rules.rest, at: now)
      expire(at: now, &action)
    }
    tellLost(wanted, .noAnswer(attempts: settings.attempts), &action)
    let stillWanted = Wanted(self)
    respond(to: event, at: now, &action)
    if !event.isCommand { tellLost(stillWanted, Self.lossReason(event), &action) }
    governor.observe(isPumping: mayPump, at: now)
    if case .some = state.off { runEnds = nil }
    endRest(at: now)
    if case .shutdown = event { return action }
    send(at: now, &action)
    return action
  }

  /// The earliest of: the timeout of the next reply, the next poll, the next attempt to connect, and the end of the run or of the rest.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      var first = earlier(limitEnd, runEnds)
      if case .fault(.runLimit, .confirmed) = state { first = earlier(first, governor.restedAt) }
      switch contact {
      case .down(let backOff): return earlier(first, backOff.next)
      case .waiting, .answering, .silent: break
      }
      if let inFlight = channel.inFlight {
        first = earlier(first, inFlight.sentAt + settings.answerTimeout)
      } else if let poll = nextPoll {
        first = earlier(first, poll)
      }
      return first
    }
  }

  @_noLocks @_noAllocation
  private func earlier(_ one: TickInstant?, _ other: TickInstant?) -> TickInstant? {
    guard let one else { return other }
    guard let other, other < one else { return one }
    return other
  }

  /// Whether the pump may be running: a pump last known to run counts as running until it is known to be off.
  private var mayPump: Bool {
    @_noLocks @_noAllocation get {
      switch state {
      case .on: return true
      case .off(.confirmed), .fault(_, .confirmed), .emergencyStopped(.confirmed), .shutDown(.confirmed): return false
      // Until the pump replies, it is not known whether it has started.
      case .starting where channel.startsUnanswered > 0: return true
      case .unknown, .starting, .off(.pending), .fault(_, .pending), .emergencyStopped(.pending), .shutDown(.pending):
        if case .pumping = governor.phase { return true }
        return false
      }
    }
  }

  /// The instant at which the pump reaches its run limit, or `nil` if it does not run or is already being turned off.
  private var limitEnd: TickInstant? {
    @_noLocks @_noAllocation get {
      switch state {
      case .unknown, .starting, .on: governor.expiresAt
      case .off, .fault, .emergencyStopped, .shutDown: nil
      }
    }
  }

  /// The instant at which the next STATUS is to be requested, or `nil` if none is requested any more.
  private var nextPoll: TickInstant? {
    @_noLocks @_noAllocation get {
      if case .shutDown = state { return nil }
      guard let polledAt else { return .zero }
      var period = settings.pollPeriod
      if isCurious(at: polledAt), settings.watchedPeriod.count < period.count {
        period = settings.watchedPeriod
      }
      return polledAt + period
    }
  }

  /// Returns whether a person is watching or the pump's state is in doubt.
  @_noLocks @_noAllocation
  private func isCurious(at now: TickInstant) -> Bool {
    if !contact.isAnswering || channel.silences > 0 { return true }
    if case .unknown = state { return true }
    guard let watchedAt else { return false }
    return (now - watchedAt).count < Self.watchPatience.count
  }

  // MARK: time

  @_noLocks @_noAllocation
  private mutating func expire(at now: TickInstant, _ action: inout PumpOperatorAction) {
    if let end = runEnds, !(now < end) {
      channel.forgetDriving()
      source = .host
      state = .off(.pending)
      runEnds = nil
    } else if let end = limitEnd, !(now < end) {
      fail(.runLimit, isOff: false)
    }
    endRest(at: now)
    if case .down(var backOff) = contact, !(now < backOff.next) {
      backOff.tried(at: now)
      contact = .down(backOff)
      action.connects = true
    }
    if let inFlight = channel.inFlight, !(now < inFlight.sentAt + settings.answerTimeout) {
      channel.inFlight = nil
      channel.silences &+= 1
      giveUp(inFlight, .noAnswer(attempts: inFlight.attempt), &action)
      if Mechanism.unknownWhenSilent.acts, channel.silences >= Self.silencesUntilSilent, contact.isUp {
        contact = .silent
        loseSight()
      }
    }
  }

  @_noLocks @_noAllocation
  private mutating func endRest(at now: TickInstant) {
    if case .fault(.runLimit, .confirmed) = state, let end = governor.restedAt, !(now < end) {
      state = .off(.confirmed)
    }
  }

  /// Handles a command in flight that was not obeyed: it is sent again until the number of attempts is used up.
  @_noLocks @_noAllocation
  mutating func giveUp(
    _ inFlight: PumpChannel.InFlight, _ reason: PumpCommandFailure.Reason, _ action: inout PumpOperatorAction
  ) {
    switch inFlight.command {
    case .off, .status: return  // repeated because its state is, or at the next poll
    case .temperature:
      action.failure = PumpCommandFailure(inFlight.command, reason)
      return
    case .on:
      guard case .starting = state else { return }
    case .speed(let speed):
      guard case .on = state else { return }
      // If a newer speed waits, that one is sent instead.
      if case .some = channel.speed { return }
      channel.speed = speed
    }
    guard inFlight.attempt >= settings.attempts else {
      channel.attempts = inFlight.attempt
      return
    }
    channel.forgetDriving()
    action.failure = PumpCommandFailure(inFlight.command, reason)
    // Without a reply it is not known whether the pump has started.
    if Mechanism.unansweredStart.acts, case .on = inFlight.command { state = .off(.pending) }
  }

  // MARK: accepted commands that fail

  /// The accepted commands that have not been carried out yet.
  private struct Wanted: BitwiseCopyable {
    let isStarting: Bool
    let speed: PumpSpeed?

    @_noLocks @_noAllocation
    init(_ machine: PumpOperatorMachine) {
      if case .starting = machine.state { isStarting = true } else { isStarting = false }
      speed = machine.channel.wantedSpeed
    }
  }

  /// Reports an accepted command as failed if it has been dropped without being carried out or replaced by another request.
  @_noLocks @_noAllocation
  private func tellLost(
    _ wanted: Wanted, _ reason: PumpCommandFailure.Reason, _ action: inout PumpOperatorAction
  ) {
    guard case .none = action.failure else { return }
    switch state {
    case .starting, .on:
      // While the pump is starting or on, a SPEED leaves the channel only if it was confirmed or replaced.
      return
    case .unknown, .off, .fault, .emergencyStopped, .shutDown: break
    }
    if wanted.isStarting {
      action.failure = PumpCommandFailure(.on, reason)
    } else if let speed = wanted.speed {
      action.failure = PumpCommandFailure(.speed(speed), reason)
    }
  }

  @_noLocks @_noAllocation
  private static func lossReason(_ event: PumpOperatorEvent) -> PumpCommandFailure.Reason {
    switch event {
    case .linked, .unlinked: .contactLost
    default: .stopped
    }
  }

  // MARK: sending

  @_noLocks @_noAllocation
  private mutating func send(at now: TickInstant, _ action: inout PumpOperatorAction) {
    guard contact.isUp else { return }
    if case .some(.pending) = state.off, Mechanism.offUntilConfirmed.acts || !channel.owesOff {
      // An OFF overtakes all waiting commands and does not wait for the reply to the one in flight.
      if let inFlight = channel.inFlight, inFlight.isOff || !Mechanism.stopOvertakes.acts { return }
      return send(.off, at: now, &action)
    }
    if case .some = channel.inFlight { return }
    if case .shutDown = state { return }
    if case .starting = state { return send(.on, at: now, &action) }
    if case .on = state, let speed = channel.speed {
      channel.speed = nil
      return send(.speed(speed), at: now, &action)
    }
    if channel.wantsTemperatures {
      channel.wantsTemperatures = false
      return send(.temperature, at: now, &action)
    }
    if let poll = nextPoll, channel.wantsStatus || !(now < poll) {
      channel.wantsStatus = false
      polledAt = now
      send(.status, at: now, &action)
    }
  }

  @_noLocks @_noAllocation
  private mutating func send(_ command: PumpCommand, at now: TickInstant, _ action: inout PumpOperatorAction) {
    channel.inFlight = PumpChannel.InFlight(command, sentAt: now, attempt: channel.attempts &+ 1)
    channel.attempts = 0
    switch command {
    case .on: channel.startsUnanswered &+= 1
    case .off: channel.owesOff = true
    case .speed, .status, .temperature: break
    }
    action.command = command
  }

  // MARK: events

  @_noLocks @_noAllocation
  private mutating func respond(
    to event: PumpOperatorEvent, at now: TickInstant, _ action: inout PumpOperatorAction
  ) {
    switch event {
    case .order(let order): action.verdict = obey(order, at: now)
    case .linked: link()
    case .unlinked: unlink(at: now)
    case .reply(let reply): hear(reply, at: now, &action)
    case .invalidLine: action.verdict = .refused(.notUnderstood)
    case .tick, .settings: break
    case .missed(let releases): fail(.missedReleases(releases), isOff: false)
    case .externalStop: externalStop()
    case .shutdown:
      quit()
      guard contact.isUp, case .some(.pending) = state.off else { return }
      action.command = .off
      action.copies = Self.lastOffs
      channel.owesOff = true
    }
  }
}
