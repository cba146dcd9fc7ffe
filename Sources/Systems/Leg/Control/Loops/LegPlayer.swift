@_spi(FromOutside) import Conversions
import Tactus
import Wire

/// The reason why a sequence ended.
public enum LegSequenceEnd: Sendable, Hashable, BitwiseCopyable, CaseIterable {
  /// Every round was played.
  case completed
  /// A request stopped the sequence.
  case stopped
  /// A pulse was commanded for one of the sequence's legs.
  case commanded
  /// One of the sequence's legs is no longer armed: disarmed, in fault or stopped.
  case legLost
  /// Another sequence was started.
  case replaced
}

/// The sequence that is played, or was played last, as published to other threads.
public struct LegSequenceStatus: Sendable, Hashable, BitwiseCopyable {
  /// The number of the sequence, or 0 if none has been played since the start.
  public internal(set) var number: UInt64 = 0
  /// Whether the sequence is being played.
  public internal(set) var isPlaying = false
  /// The present step, or the last one, from 1.
  public internal(set) var step = 0
  /// The number of steps of a round.
  public internal(set) var steps = 0
  /// The present round, or the last one, from 1.
  public internal(set) var round = 0
  /// The number of rounds, or 0 for a sequence that repeats until it is stopped.
  public internal(set) var rounds = 0
  /// The reason why the sequence ended, or `nil` if it is playing or none has been played.
  public internal(set) var end: LegSequenceEnd?

  @_noLocks @_noAllocation
  init() {}
}

/// Plays a sequence: where each of its legs is to be at an instant.
///
/// The positions depend on elapsed time only, not on the number of calls, and lie on straight lines between the steps. The player feeds no
/// deadman and knows no machine; the loop passes each position on as `LegEvent.steer`. Allocates nothing after its creation.
struct LegPlayer: ~Copyable {
  /// The greatest number of steps that one call passes; the next call passes the rest. More steps elapse in one call only after missed releases,
  /// which are a fault.
  private static var stepsPerCall: Int {
    @_noLocks @_noAllocation get { 8 }
  }

  private var reader: LatestReader<LegSequence>?
  /// The sequence, and within it its arrays, behind pointers since Swift copies a whole inline array to read one element.
  private let sequence: UnsafeMutablePointer<LegSequence>
  private let pulses: UnsafePointer<UInt16>
  private let overs: UnsafePointer<Int64>
  private let lengths: UnsafePointer<Int64>
  /// The position of each leg when the present step began, in microseconds, or 0 if that is not known.
  private let from: UnsafeMutablePointer<UInt16>
  /// The instant at which the present step began.
  private var beganAt = TickInstant.zero
  private(set) var status = LegSequenceStatus()

  /// Creates a player, which plays no sequence at first.
  ///
  /// - Parameter reader: the loop's end of a `LegSequenceBook`, or `nil` if no sequence is ever played.
  init(_ reader: consuming LatestReader<LegSequence>?) {
    self.reader = reader
    sequence = .allocate(capacity: 1)
    sequence.initialize(to: .none)
    let raw = UnsafeRawPointer(sequence)
    pulses = (raw + MemoryLayout<LegSequence>.offset(of: \.pulses)!).assumingMemoryBound(to: UInt16.self)
    overs = (raw + MemoryLayout<LegSequence>.offset(of: \.overs)!).assumingMemoryBound(to: Int64.self)
    lengths = (raw + MemoryLayout<LegSequence>.offset(of: \.lengths)!).assumingMemoryBound(to: Int64.self)
    from = .allocate(capacity: LegLoop.maximumLegs)
    from.initialize(repeating: 0, count: LegLoop.maximumLegs)
  }

  deinit {
    sequence.deallocate()
    from.deallocate()
  }

  func addMemory(to memory: inout LoopMemory) {
    memory.add(sequence)
    memory.add(from, count: LegLoop.maximumLegs)
  }

  var isPlaying: Bool {
    @_noLocks @_noAllocation get { status.isPlaying }
  }

  /// A bit for each leg that the sequence moves while it is played; 0 otherwise.
  var legs: UInt32 {
    @_noLocks @_noAllocation get { status.isPlaying ? sequence.pointee.legs : 0 }
  }

  /// Takes the sequence with this number from the book. Returns its legs, or `nil` if another sequence has replaced it. A sequence that is
  /// playing must have been ended before.
  @_noLocks @_noAllocation
  mutating func load(_ number: UInt64) -> UInt32? {
    guard number != 0, let newest = reader?.read(), newest.number == number, newest.count > 0 else { return nil }
    sequence.pointee = newest
    return newest.legs
  }

  /// Returns the first position to which the loaded sequence moves a leg, and the duration of that motion, or `nil` if
  /// no step moves the leg.
  @_noLocks @_noAllocation
  func firstWay(of leg: Int) -> (to: PulseWidth, over: Nanoseconds)? {
    for step in 0..<sequence.pointee.count {
      let pulse = pulses[step &* LegLoop.maximumLegs &+ leg]
      if pulse != 0 { return (PulseWidth(microseconds: pulse), Nanoseconds(overs[step])) }
    }
    return nil
  }

  /// Sets the position of a leg at the beginning of the sequence, or `nil` if it is not known. The first motion of such
  /// a leg is then made at once.
  @_noLocks @_noAllocation
  func place(_ leg: Int, at pulse: PulseWidth?) { from[leg] = pulse?.microseconds ?? 0 }

  /// Begins the loaded sequence, after `place` was called for each of its legs.
  @_noLocks @_noAllocation
  mutating func begin(at now: TickInstant) {
    beganAt = now
    status.number = sequence.pointee.number
    status.isPlaying = true
    (status.step, status.steps) = (1, sequence.pointee.count)
    (status.round, status.rounds) = (1, sequence.pointee.rounds)
    status.end = nil
  }

  /// Passes the steps whose time is over by `now`. Returns whether the sequence has come to its end; the positions are then the last ones.
  @_noLocks @_noAllocation
  mutating func advance(to now: TickInstant) -> Bool {
    for _ in 0..<Self.stepsPerCall {
      let length = Nanoseconds(lengths[status.step &- 1])
      guard (now - beganAt).count >= length.count else { return false }
      let isLast = status.step == status.steps
      if isLast, status.rounds != 0, status.round == status.rounds { return true }
      for leg in 0..<LegLoop.maximumLegs {
        let end = pulses[(status.step &- 1) &* LegLoop.maximumLegs &+ leg]
        if end != 0 { from[leg] = end }
      }
      beganAt = beganAt + length
      status.step = isLast ? 1 : status.step &+ 1
      if isLast { status.round = status.round &+ 1 }
    }
    return false
  }

  /// Returns the position that a leg is to have at `now`, or `nil` if the leg's position is not known yet. The present
  /// step must not be over unless the sequence has ended.
  @_noLocks @_noAllocation
  func position(of leg: Int, at now: TickInstant) -> PulseWidth? {
    let goal = Int64(pulses[(status.step &- 1) &* LegLoop.maximumLegs &+ leg])
    let start = Int64(from[leg])
    guard goal != 0 else { return start == 0 ? nil : PulseWidth(microseconds: from[leg]) }
    let (elapsed, over) = ((now - beganAt).count, overs[status.step &- 1])
    guard start != 0, elapsed < over else { return PulseWidth(microseconds: UInt16(truncatingIfNeeded: goal)) }
    // The product is at most 2000 µs times 60 s in nanoseconds, far from overflowing. The quotient is rounded half up.
    let twice = 2 * (goal - start) * elapsed + over
    let way = twice >= 0 ? twice / (2 * over) : -((-twice + 2 * over - 1) / (2 * over))
    return PulseWidth(microseconds: UInt16(truncatingIfNeeded: start + way))
  }

  @_noLocks @_noAllocation
  mutating func end(_ end: LegSequenceEnd) {
    status.isPlaying = false
    status.end = end
  }
}
