import Tactus
import Wire

/// The sequence that the loop plays. It moves legs as commands do, within their limits and their slew, and feeds no deadman: the client that has
/// started it keeps the legs armed by pings.
extension LegLoop {
  /// Begins a sequence at the present positions of its legs. The sequence that was played before ends, even if the new
  /// one is refused.
  ///
  /// Every leg that it moves must be armed, and no leg's first motion may exceed its slew. Being a command, it feeds
  /// the legs once. Returns the verdict with the index of the leg that refused.
  @_noLocks @_noAllocation
  mutating func play(_ number: UInt64, from client: UInt32, after wait: Nanoseconds) -> (LegVerdict, Int) {
    if Mechanism.staleness.acts, wait.count > LegRequest.patience.count { return (.ignored(.stale), 0) }
    if player.isPlaying { endSequence(.replaced) }
    guard let moved = player.load(number) else { return (.ignored(.noSequence), 0) }
    for index in 0..<Self.maximumLegs where moved & Self.bit(index) != 0 {
      guard index < count else { return (.ignored(.noSequence), 0) }
      if let reason = legs[index].machine.state.driveRefusal { return (.ignored(reason), index) }
      let place = legs[index].machine.state.place
      if let place, isTooFast(index, from: place) { return (.ignored(.tooFast), index) }
      player.place(index, at: place)
    }
    for index in 0..<count where moved & Self.bit(index) != 0 {
      decide(index, .order(.command(.ping)))
      let leg = legs + index
      leg.pointee.status.holder = LegHolder(client: client, at: now)
    }
    player.begin(at: now)
    ends.report(.sequence(number: number, nil))
    return (.accepted, 0)
  }

  /// Returns whether the first motion of a leg would exceed its slew.
  @_noLocks @_noAllocation
  private func isTooFast(_ index: Int, from place: PulseWidth) -> Bool {
    guard let slew = legs[index].machine.settings.slewMicrosecondsPerSecond, let way = player.firstWay(of: index) else {
      return false
    }
    return way.over.count < LegSequence.shortestWay(from: place, to: way.to, slew: slew).count
  }

  /// Moves the legs of the sequence to their positions at this instant. A leg that is no longer armed ends the sequence first.
  @_noLocks @_noAllocation
  mutating func steer() {
    watchSequence()
    guard player.isPlaying else { return }
    let isOver = player.advance(to: now)
    let moved = player.legs
    for index in 0..<count where moved & Self.bit(index) != 0 {
      if let pulse = player.position(of: index, at: now) { decide(index, .steer(pulse)) }
    }
    if isOver { endSequence(.completed) }
  }

  /// Ends the sequence if one of its legs is no longer armed.
  @_noLocks @_noAllocation
  mutating func watchSequence() {
    let moved = player.legs
    guard moved != 0 else { return }
    for index in 0..<count where moved & Self.bit(index) != 0 {
      guard case .armed = legs[index].machine.state else { return endSequence(.legLost) }
    }
  }

  /// Ends the sequence, if one is played. Its legs stay where they are, as long as they are armed and fed.
  @_noLocks @_noAllocation
  mutating func endSequence(_ end: LegSequenceEnd) {
    guard player.isPlaying else { return }
    player.end(end)
    ends.report(.sequence(number: player.status.number, end))
  }
}

extension LegState {
  /// The reason why a leg in this state cannot be driven, or `nil` if it can.
  fileprivate var driveRefusal: LegIgnoreReason? {
    @_noLocks @_noAllocation get {
      switch self {
      case .armed: nil
      case .disarmed: .notArmed
      case .fault: .inFault
      case .emergencyStopped: .emergencyStopped
      case .shutDown: .shutDown
      }
    }
  }

  /// The position of the servo, or `nil` if it is not known.
  fileprivate var place: PulseWidth? {
    @_noLocks @_noAllocation get {
      switch self {
      case .armed(.pulse(let motion)): motion.output
      case .armed(.released(let pulse, _)): pulse
      case .armed(.waiting), .disarmed, .fault, .emergencyStopped, .shutDown: nil
      }
    }
  }
}
