import Pump
import Tactus
import TactusSwarm
import Wire

/// Checks a pump's motor, given the commands sent to it and the value of its output.
struct PumpOracle: SwarmLoopOracle {
  enum Command { case on, off, emergencyStop, reset }

  /// The names of the rules: the pump's, then the operator's.
  static let names = own + PumpOperatorOracle.names
  static let own = [
    "no more pumping between two rests than the run limit, over kills, restarts and reloads",
    "no pumping without an ON since the last stop",
    "what the guard has stopped pumps only after an OFF or a reset",
  ]
  private static let tick = Nanoseconds.milliseconds(50)
  /// The longest time for which an ON may wait for the loop (see `LoopMailbox`).
  private static let patience = Nanoseconds.milliseconds(250)
  /// The longest running time that is not stored yet when the daemon is killed.
  private static let unnoted = Nanoseconds.milliseconds(150)
  /// The longest time from a line's first byte at the pump to its arrival at the operator, including the lines queued before it.
  private static let lineTime = Nanoseconds.seconds(3)

  var output = SwarmOutput(names, tick: tick)
  private var waiting: [(command: Command, issued: TickInstant?)] = []
  private var mayPump = false
  /// The instant at which the guard stopped a running motor, or `nil` if a person has sent OFF or a reset since.
  private var cutAt: TickInstant?
  /// The running time since the last rest, excluding times in which the motor could not be stopped.
  private var pumped = Nanoseconds.zero
  private var limit = SwarmLimit(PumpSwarm.settings.runLimit, tick: tick)
  private var rest = SwarmLimit(PumpSwarm.settings.rest, tick: tick)
  /// The largest running time since the last rest that may be missing in the store.
  private var lost = Nanoseconds.zero
  /// The running time when the limit last changed.
  private var before = Nanoseconds.zero
  private var stillSince = TickInstant.zero
  private var lookedAt = TickInstant.zero
  /// The instant since which the motor has been running without a break, or `nil` if it stands still.
  private var boutSince: TickInstant?
  /// The instant at which the motor last ran before its present run.
  private var stillBefore = TickInstant.zero
  /// The value of `stillBefore` for a short run that a killed daemon may not have stored.
  private var forgotten: TickInstant?
  /// The instant at which the motor last ran.
  private var ranAt: TickInstant?
  /// The instant at which the motor last stood still.
  private var stoodAt: TickInstant?
  /// The instant at which the pump last received an ON.
  private var onAt: TickInstant?
  /// The instant at which the pump last received an OFF.
  private var offAt: TickInstant?
  /// The last instant at which the motor's output could not be reached.
  private var excusedAt: TickInstant?

  // MARK: What is done

  mutating func started(at now: TickInstant, _ cover: SwarmCover, _ settings: PumpDeviceSettings) {
    limit = SwarmLimit(settings.runLimit, tick: Self.tick)
    rest = SwarmLimit(settings.rest, tick: Self.tick)
    if let since = forgotten.take() { stillSince = since }
    (waiting, mayPump, cutAt) = ([], false, nil)
    output.started(at: now, cover)
  }

  mutating func killed(at now: TickInstant, safeBy: TickInstant) {
    waiting = []
    lost = lost + Self.unnoted
    // A short run that was not stored before the kill does not interrupt the stored rest.
    if let boutSince, now - boutSince <= Self.unnoted { forgotten = stillBefore }
    output.killed(at: now, safeBy: safeBy)
  }

  /// Notes that a reload has given the loop new limits.
  mutating func changed(to settings: PumpDeviceSettings) {
    limit.changed(to: settings.runLimit)
    rest.changed(to: settings.rest)
  }

  /// Notes that the guard has turned the motor off.
  mutating func cut(wasPumping: Bool, isConfirmed: Bool, at now: TickInstant) {
    output.reach.wrote(isConfirmed: isConfirmed)
    if wasPumping { cutAt = now }
  }

  mutating func hear(_ command: Command, issued: TickInstant?, at now: TickInstant) {
    switch command {
    case .on: onAt = now
    case .off, .emergencyStop: offAt = now
    case .reset: break
    }
    guard issued == nil else { return waiting.append((command, issued)) }
    // A line does not pass the ring and has no age, so it takes effect at once.
    if case .off = command { cutAt = nil } else { mayPump = true }
  }

  // MARK: What the loop may know

  mutating func ticked(at now: TickInstant) {
    rest.ticked(at: now)
    if limit.ticked(at: now) { before = pumped }
    for (command, issued) in waiting {
      let isStale = issued.map { now - $0 > Self.patience } ?? false
      switch command {
      case .on: if !isStale { mayPump = true }
      // A line may still be on its way, so only an emergency stop from the service is known to be the last command.
      case .off: cutAt = nil
      case .emergencyStop: output.took(isStop: true, at: now)
      case .reset:
        output.took(isStop: false, at: now)
        cutAt = nil
        // A reset begins the limit anew, on a person's responsibility.
        if !isStale { forget() }
      }
    }
    waiting = []
  }

  private mutating func forget() {
    (pumped, lost, before) = (.zero, .zero, .zero)
  }

  // MARK: What must hold

  mutating func check(_ isPumping: Bool, at now: TickInstant) {
    limit.observe(isOff: !isPumping)
    let isExcused = output.check(isActive: isPumping, at: now)
    account(isPumping: isPumping, isExcused: isExcused, at: now)
    let allowance = max(limit.longest, before) + Self.tick + lost
    output.check(
      0, isExcused || pumped <= allowance, at: now,
      "it has pumped for \(pumped.inSeconds) s since its last rest, \(allowance.inSeconds) s are allowed")
    output.check(1, isExcused || mayPump, at: now, "it pumps")
    if let cutAt {
      output.check(
        2, isExcused || now <= cutAt, at: now, "it pumps, and the guard stopped it at \(SwarmAction.text(cutAt)) s")
    }
  }

  private mutating func account(isPumping: Bool, isExcused: Bool, at now: TickInstant) {
    if isPumping {
      if boutSince == nil { (boutSince, stillBefore) = (lookedAt, stillSince) }
      ranAt = now
    } else {
      (boutSince, stoodAt) = (nil, now)
    }
    if isPumping {
      if !isExcused { pumped = pumped + (now - lookedAt) }
      stillSince = now
    } else if now - stillSince >= rest.shortest {
      forget()
    }
    lookedAt = now
  }

  // MARK: What it says

  /// Notes after a tick of a pump with an operator whether the motor could be reached.
  mutating func listen(at now: TickInstant) {
    if output.reach.isExcused(at: now) { excusedAt = now }
  }

  /// Notes that a line of the pump has reached its operator.
  mutating func said(_ reply: PumpReply, at now: TickInstant) {
    guard let isOn = reply.isOn else { return }
    // At a speed of 0 the motor of a pump that is on stands still.
    if isOn {
      guard case .status(let status) = reply, let percent = status.percent, percent > 0 else { return }
    }
    func isRecent(_ instant: TickInstant?) -> Bool { instant.map { now - $0 <= Self.lineTime } ?? false }
    // A command that is revoked in the same tick is reported, but the motor never follows it.
    let holds = isRecent(isOn ? ranAt : stoodAt) || isRecent(isOn ? offAt : onAt) || isRecent(excusedAt)
    output.check(
      PumpOperatorOracle.said, holds, at: now,
      "it says \(reply), and last did at \((isOn ? ranAt : stoodAt).map(SwarmAction.text) ?? "no time")")
  }
}
