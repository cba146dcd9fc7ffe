@_spi(FromOutside) import Conversions
import Synchronization
import Tactus
import Wire

/// One step of a sequence: the positions to which some of the legs move, the duration of that motion, and the pause
/// after it.
public struct LegStep: Sendable, Hashable {
  /// The pulse at the step's end by the index of the leg, as commanded. A leg without a pulse stays where it is.
  public var pulses: [Int: PulseWidth]
  /// The duration of the motion, at least a period of the loop and at most 60 s.
  public var over: Nanoseconds
  /// The pause after the motion, 0…60 s.
  public var hold: Nanoseconds

  /// Creates a step. Its ranges are checked when a sequence is made of it.
  public init(_ pulses: [Int: PulseWidth], over: Nanoseconds, hold: Nanoseconds = .zero) {
    (self.pulses, self.over, self.hold) = (pulses, over, hold)
  }
}

/// A sequence of steps in the form in which the loop plays it: a plain value of fixed size, checked when created.
public struct LegSequence: Sendable, BitwiseCopyable {
  /// The largest number of steps.
  public static let maximumSteps = 256
  /// The longest motion and the longest pause of a step.
  public static let longest = Nanoseconds.seconds(60)
  /// The largest number of rounds of a sequence that ends by itself.
  public static let maximumRounds = 10_000

  /// The number by which a request names the sequence, or 0 if it has none yet.
  public internal(set) var number: UInt64 = 0
  /// A bit for each leg that the sequence moves.
  let legs: UInt32
  /// The number of steps, 1…256.
  public let count: Int
  /// The number of rounds, or 0 to repeat the steps until the sequence is stopped.
  public let rounds: Int
  /// The pulse of leg `leg` at the end of step `step` in microseconds at `step × 32 + leg`, or 0 if the step does not move the leg.
  private(set) var pulses: [8_192 of UInt16]
  /// The duration of the motion of each step, in nanoseconds.
  private(set) var overs: [256 of Int64]
  /// The duration of the motion and of the pause of each step together, in nanoseconds.
  private(set) var lengths: [256 of Int64]

  /// A sequence of no steps, which cannot be played.
  static var none: LegSequence { LegSequence() }

  private init() {
    (legs, count, rounds) = (0, 0, 0)
    pulses = .init(repeating: 0)
    overs = .init(repeating: 0)
    lengths = .init(repeating: 0)
  }

  /// Creates a checked sequence.
  ///
  /// The first motion is not checked against the slew of the legs, since it begins at their positions at that time. The
  /// loop checks it when the sequence is played.
  ///
  /// - Parameters:
  ///   - steps: 1…256 steps.
  ///   - rounds: how often the steps are gone through, 1…10,000, or 0 to repeat them until the sequence is stopped.
  ///   - settings: the settings of the legs, in order. No step goes beyond the limits of a leg, and none needs more than its slew.
  ///   - period: the period of the loop.
  /// - Throws: the first step that is wrong, counted from 1.
  public init(
    _ steps: [LegStep], rounds: Int = 1, settings: [LegSettings], period: Nanoseconds
  ) throws(LegSequenceError) {
    guard (1...Self.maximumSteps).contains(steps.count) else { throw .steps(steps.count) }
    guard (0...Self.maximumRounds).contains(rounds) else { throw .rounds(rounds) }
    var legs: UInt32 = 0
    for (index, step) in steps.enumerated() {
      try Self.check(step, index + 1, settings, period)
      for leg in step.pulses.keys { legs |= LegLoop.bit(leg) }
    }
    guard legs != 0 else { throw .nothingMoves }
    try Self.checkSpeed(steps, repeats: rounds != 1, settings)
    (self.legs, count, self.rounds) = (legs, steps.count, rounds)
    pulses = .init(repeating: 0)
    overs = .init(repeating: 0)
    lengths = .init(repeating: 0)
    for (index, step) in steps.enumerated() {
      overs[index] = step.over.count
      lengths[index] = (step.over + step.hold).count
      for (leg, pulse) in step.pulses { pulses[index * LegLoop.maximumLegs + leg] = pulse.microseconds }
    }
  }

  private static func check(
    _ step: LegStep, _ number: Int, _ settings: [LegSettings], _ period: Nanoseconds
  ) throws(LegSequenceError) {
    guard step.over >= period, step.over <= longest else { throw .over(step: number, step.over, least: period) }
    guard step.hold >= .zero, step.hold <= longest else { throw .hold(step: number, step.hold) }
    for (leg, pulse) in step.pulses.sorted(by: { $0.key < $1.key }) {
      guard settings.indices.contains(leg) else { throw .leg(step: number, leg: leg) }
      let (lowest, highest) = (settings[leg].lowest, settings[leg].highest)
      guard lowest <= pulse, pulse <= highest else {
        throw .pulse(step: number, leg: leg, pulse, lowest: lowest, highest: highest)
      }
    }
  }

  /// Checks that no motion between two steps exceeds the slew of its leg. If the steps are repeated, the motion from
  /// the last step to the first is included.
  private static func checkSpeed(
    _ steps: [LegStep], repeats: Bool, _ settings: [LegSettings]
  ) throws(LegSequenceError) {
    var last: [Int: PulseWidth] = [:]
    for (index, step) in (repeats ? steps + steps : steps).enumerated() {
      for (leg, pulse) in step.pulses.sorted(by: { $0.key < $1.key }) {
        if let from = last[leg], let slew = settings[leg].slewMicrosecondsPerSecond {
          let least = shortestWay(from: from, to: pulse, slew: slew)
          guard step.over >= least else {
            throw .tooFast(step: index % steps.count + 1, leg: leg, step.over, least: least)
          }
        }
        last[leg] = pulse
      }
    }
  }

  /// Returns the shortest duration of a motion between two pulses at a slew in µs/s.
  @_noLocks @_noAllocation
  static func shortestWay(from: PulseWidth, to: PulseWidth, slew: Int64) -> Nanoseconds {
    let way = Int64(from.microseconds) - Int64(to.microseconds)
    return Nanoseconds(((way < 0 ? -way : way) * 1_000_000_000 + slew - 1) / slew)
  }
}

/// The reason why steps do not form a valid sequence. Steps are counted from 1.
public enum LegSequenceError: Error, Sendable, Hashable {
  /// The number of steps is not 1…256.
  case steps(Int)
  /// The number of rounds is not 0…10,000.
  case rounds(Int)
  /// No step moves a leg.
  case nothingMoves
  /// The duration of the motion is out of range.
  case over(step: Int, Nanoseconds, least: Nanoseconds)
  /// The pause is out of range.
  case hold(step: Int, Nanoseconds)
  /// There is no leg of that index.
  case leg(step: Int, leg: Int)
  /// A pulse is beyond the limits of its leg.
  case pulse(step: Int, leg: Int, PulseWidth, lowest: PulseWidth, highest: PulseWidth)
  /// The motion to the step would exceed the slew of the leg.
  case tooFast(step: Int, leg: Int, Nanoseconds, least: Nanoseconds)
}

extension LegSequenceError: CustomStringConvertible {
  /// The error in words: the step, the expected value and the given one.
  public var description: String {
    switch self {
    case .steps(let count): "steps: expected 1…\(LegSequence.maximumSteps), got \(count)"
    case .rounds(let count): "rounds: expected 0…\(LegSequence.maximumRounds), got \(count)"
    case .nothingMoves: "steps: expected a position of a leg in one of them, got none"
    case .over(let step, let value, let least):
      "step \(step), time of the way: expected \(least)…\(LegSequence.longest), got \(value)"
    case .hold(let step, let value):
      "step \(step), time of the stand: expected 0 ns…\(LegSequence.longest), got \(value)"
    case .leg(let step, let leg): "step \(step): there is no leg \(leg)"
    case .pulse(let step, let leg, let pulse, let lowest, let highest):
      "step \(step), leg \(leg): expected \(lowest)…\(highest), the limits of the leg, got \(pulse)"
    case .tooFast(let step, let leg, let over, let least):
      "step \(step), leg \(leg): expected at least \(least) for the way at the leg's slew, got \(over)"
    }
  }
}

/// Hands sequences from other threads to the loop. Only the newest sequence is kept, so a request to play an older one is refused.
public final class LegSequenceBook: Sendable {
  private struct State: ~Copyable {
    var writer: LatestWriter<LegSequence>
    var number: UInt64 = 0
  }

  private let latest: Latest<LegSequence>
  private let state: Mutex<State>

  /// Creates a book without a sequence.
  public init() {
    let latest = Latest(LegSequence.none)
    self.latest = latest
    state = Mutex(State(writer: latest.writer()))
  }

  /// Keeps a sequence for the loop. Returns the number by which `LegOrder.play` names it.
  public func put(_ sequence: LegSequence) -> UInt64 {
    state.withLock { state in
      state.number += 1
      var sequence = sequence
      sequence.number = state.number
      state.writer.write(sequence)
      return state.number
    }
  }

  /// Returns the loop's end.
  public func reader() -> LatestReader<LegSequence> { latest.reader() }
}
