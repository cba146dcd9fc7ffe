import Leg
import Tactus
import TactusSwarm
import Wire

/// The checks of the legs' pulses: derives from the commands sent what the chip may do.
///
/// The oracle never allows less than the machine: every arm, pulse and ping counts as a command that feeds, whatever the state.
struct LegOracle: SwarmLoopOracle {
  /// The names of the checks: those of the legs, then those of an operator.
  static let names = own + LegOperatorOracle.names
  static let own = [
    "no pulse the deadman's time-out (200 ms until a reload) and a tick after the last command that feeds",
    "no pulse without an arm and a set since the last disarm",
    "what the guard has stopped pulses only after a disarm, or a reset",
  ]
  private static let tick = Nanoseconds.milliseconds(20)
  /// The longest time for which an arm or a pulse may wait for the loop before it must be ignored, as in `LegRequest`.
  private static let patience = Nanoseconds.milliseconds(150)

  private struct Leg {
    var fedAt: TickInstant?
    var isArmed = false
    var isSet = false
    /// The instant at which the guard ended the leg's pulse, or `nil` if the leg has been disarmed since.
    var cutAt: TickInstant?
  }

  private enum Heard {
    case command(LegCommand, leg: Int, issued: TickInstant?)
    case stop(Bool)
  }

  var output = SwarmOutput(names, tick: tick)
  private var deadman = SwarmLimit(LegSettings.standard.deadmanTimeout, tick: tick)
  private var legs: [Leg]
  private var requests: [Heard] = []
  private var frames: [Heard] = []

  init(legs count: Int) { legs = Array(repeating: Leg(), count: count) }

  // MARK: Inputs

  mutating func started(at now: TickInstant, _ cover: SwarmCover, _ settings: LegSettings) {
    deadman = SwarmLimit(settings.deadmanTimeout, tick: Self.tick)
    legs = Array(repeating: Leg(), count: legs.count)
    (requests, frames) = ([], [])
    output.started(at: now, cover)
  }

  mutating func killed(at now: TickInstant, safeBy: TickInstant) {
    (requests, frames) = ([], [])
    output.killed(at: now, safeBy: safeBy)
  }

  /// Takes the settings of a reload.
  mutating func changed(to settings: LegSettings) { deadman.changed(to: settings.deadmanTimeout) }

  /// Records that the guard has turned every channel off.
  mutating func cut(pulsing: Int, isConfirmed: Bool, at now: TickInstant) {
    output.reach.wrote(isConfirmed: isConfirmed)
    for leg in legs.indices where pulsing >> leg & 1 != 0 { legs[leg].cutAt = now }
  }

  mutating func hear(_ command: LegCommand, _ leg: Int, issued: TickInstant?) {
    let heard = Heard.command(command, leg: leg, issued: issued)
    if issued == nil { frames.append(heard) } else { requests.append(heard) }
  }

  mutating func hearStop(_ isStop: Bool) { requests.append(.stop(isStop)) }

  // MARK: Ticks

  /// Records that a tick began at `now`, which has taken all requests, then all frames.
  mutating func ticked(at now: TickInstant) {
    deadman.ticked(at: now)
    for heard in requests + frames {
      switch heard {
      case .stop(let isStop):
        output.took(isStop: isStop, at: now)
        if !isStop { for leg in legs.indices { legs[leg].cutAt = nil } }
      case .command(.disarm, let leg, _):
        (legs[leg].isArmed, legs[leg].isSet, legs[leg].cutAt) = (false, false, nil)
      case .command(_, _, let issued?) where now - issued > Self.patience: break
      case .command(let command, let leg, _):
        legs[leg].fedAt = now
        if command == .arm { legs[leg].isArmed = true }
        if case .setServo = command, legs[leg].isArmed { legs[leg].isSet = true }
      }
    }
    (requests, frames) = ([], [])
  }

  // MARK: Checks

  mutating func check(_ pulsing: Int, at now: TickInstant) {
    deadman.observe(isOff: pulsing == 0)
    let isReachable = !output.check(isActive: pulsing != 0, at: now)
    for index in legs.indices {
      let isExcused = pulsing >> index & 1 == 0 || !isReachable
      let leg = legs[index]
      let isFed = leg.fedAt.map { now <= $0 + deadman.longest + Self.tick } ?? false
      output.check(
        0, isExcused || isFed, at: now,
        "leg \(index) pulses, and was last fed \(leg.fedAt.map { "at \(SwarmAction.text($0)) s" } ?? "never")")
      output.check(1, isExcused || leg.isSet, at: now, "leg \(index) pulses")
      guard let cutAt = leg.cutAt else { continue }
      output.check(
        2, isExcused || now <= cutAt, at: now,
        "leg \(index) pulses, and the guard ended its pulse at \(SwarmAction.text(cutAt)) s")
    }
  }
}
