import Pump
import Tactus
import TactusDaemon

/// What must hold of a pump's motor, from what was sent to it and what its output does.
struct PumpOracle {
  enum Command { case on, off, emergencyStop, reset }

  static let names = [
    "no more pumping between two rests than the run limit, over kills and restarts",
    "no pumping without an ON since the last stop",
    "what the guard has stopped pumps only after an OFF or a reset",
  ]
  private static let tick = Nanoseconds.milliseconds(50)
  /// PumpRequest: how long an ON may wait for the loop.
  private static let patience = Nanoseconds.milliseconds(500)
  /// What was pumped since the last note in the store, when the daemon is killed.
  private static let unnoted = Nanoseconds.milliseconds(150)

  var output = SwarmOutput(names, tick: tick)
  private var waiting: [(command: Command, issued: TickInstant?)] = []
  private var mayPump = false
  /// When the guard stopped a motor that ran; `nil` since a person has said OFF, or reset it.
  private var cutAt: TickInstant?
  /// Pumped since the last rest, while it could be stopped.
  private var pumped = Nanoseconds.zero
  private var allowance = PumpSwarm.settings.runLimit + tick
  private var stillSince = TickInstant.zero
  private var lookedAt = TickInstant.zero

  // MARK: What is done

  mutating func started(at now: TickInstant, _ cover: SwarmCover) {
    (waiting, mayPump, cutAt) = ([], false, nil)
    output.started(at: now, cover)
  }

  mutating func killed(at now: TickInstant, safeBy: TickInstant) {
    waiting = []
    allowance = allowance + Self.unnoted
    output.killed(at: now, safeBy: safeBy)
  }

  /// The guard has turned the motor off.
  mutating func cut(wasPumping: Bool, isConfirmed: Bool, at now: TickInstant) {
    output.reach.wrote(isConfirmed: isConfirmed)
    if wasPumping { cutAt = now }
  }

  mutating func hear(_ command: Command, issued: TickInstant?) {
    guard issued == nil else { return waiting.append((command, issued)) }
    // A line has no place in the ring, and no age.
    if case .off = command { cutAt = nil } else { mayPump = true }
  }

  // MARK: What the loop may know

  mutating func ticked(at now: TickInstant) {
    for (command, issued) in waiting {
      let isStale = issued.map { now - $0 > Self.patience } ?? false
      switch command {
      case .on: if !isStale { mayPump = true }
      // A line may be on its way: only the door's own stop is known to have been the last.
      case .off: cutAt = nil
      case .emergencyStop: output.took(isStop: true, at: now)
      case .reset:
        output.took(isStop: false, at: now)
        cutAt = nil
        // A person takes the responsibility.
        if !isStale { forget() }
      }
    }
    waiting = []
  }

  private mutating func forget() {
    pumped = .zero
    allowance = PumpSwarm.settings.runLimit + Self.tick
  }

  // MARK: What must hold

  mutating func look(isPumping: Bool, at now: TickInstant) {
    let isExcused = output.look(isActive: isPumping, at: now)
    account(isPumping: isPumping, isExcused: isExcused, at: now)
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
      if !isExcused { pumped = pumped + (now - lookedAt) }
      stillSince = now
    } else if now - stillSince >= PumpSwarm.settings.rest {
      forget()
    }
    lookedAt = now
  }
}
