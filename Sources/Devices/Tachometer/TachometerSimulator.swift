import Buses
@_spi(FromOutside) import Conversions
import Tactus
import TactusControl

/// A simulated tachometer output of a fan on a line of a `SimulatedGPIOBank`. The line is low for half of a pulse's time and high for the other half.
///
/// It is used by a loop that simulates the fan and calls `step` once per tick, or by a test. Pulses have their exact instants between two steps, to a
/// nanosecond, whatever the rate of the steps. Timing of a step: two changes per pulse, at most 1,024 pulses; allocates nothing.
///
/// Poles that are spaced unevenly are not simulated.
public struct TachometerSimulator: ~Copyable {
  private static var changesPerStep: Int64 {
    @_noLocks @_noAllocation get { 2_048 }
  }

  /// The number of pulses per turn, 1…16.
  public let pulsesPerTurn: Int
  /// A fault: the number of short extra pulses at the beginning of each pulse, each of `bounceTime` low and `bounceTime` high.
  /// 0…16; larger numbers count as 16.
  public var bounces = 0
  /// The length of the low and of the high part of a bounce. Bounces that do not fit into half of a pulse's time are omitted.
  public var bounceTime = Nanoseconds.microseconds(10)
  /// A fault: each pulse is late by 0…`jitter`, as an interrupt may be; at most by a quarter of a pulse's time.
  public var jitter = Nanoseconds.zero
  /// A fault: the wire is disconnected, so the line stays high.
  public var isDisconnected = false
  /// The number of changes that were lost because the line is not read and had no room for them.
  public private(set) var lost: Int64 = 0

  private var line: SimulatedGPIODriver
  private var random: SplitMix64
  private var at: TickInstant?
  /// The phase since the last change in halves of a pulse, 0..<1.
  private var phase = 0.0
  private var isHigh = true
  private var lastChange = TickInstant.zero

  /// Creates a fan that stands still, with the line high.
  ///
  /// - Parameters:
  ///   - line: a line of the request that a `Tachometer` reads.
  ///   - pulsesPerTurn: the number of pulses per turn, 1…16.
  ///   - seed: the seed that determines the jitter.
  public init(_ line: consuming SimulatedGPIODriver, pulsesPerTurn: Int = 2, seed: UInt64 = 1) {
    precondition((1...16).contains(pulsesPerTurn), "a turn has 1…16 pulses")
    self.line = line
    self.pulsesPerTurn = pulsesPerTurn
    random = SplitMix64(seed: seed)
    self.line.set(isHigh: true, at: .zero)
  }

  /// Advances the fan, which has turned at `rpm` since the last step; that step must be before `now`. A negative speed is turning
  /// backward. The first step only sets the beginning. A speed that is not finite traps.
  @_noLocks @_noAllocation
  public mutating func step(rpm: Double, at now: TickInstant) {
    precondition(rpm.isFinite, "a speed is finite")
    guard let start = at else {
      at = now
      return
    }
    guard start < now else { return }
    at = now
    let halvesPerNanosecond = (rpm < 0 ? -rpm : rpm) * Double(pulsesPerTurn) * 2 / 60e9
    let total = phase + halvesPerNanosecond * Double((now - start).count)
    let changes = Int64(Math.integer(Math.floor(total)) ?? 0)
    let made = changes < Self.changesPerStep ? changes : Self.changesPerStep
    let half = halvesPerNanosecond > 0 ? 1 / halvesPerNanosecond : 0
    for index in 0..<made {
      let time = (Double(index + 1) - phase) * half
      change(at: start + Nanoseconds(Int64(Math.integer(time) ?? 0)), half: half)
    }
    lost &+= changes &- made
    if changes &- made & 1 == 1 { isHigh.toggle() }
    phase = total - Double(changes)
  }

  @_noLocks @_noAllocation
  private mutating func change(at instant: TickInstant, half: Double) {
    isHigh.toggle()
    guard !isHigh else { return put(true, at: instant) }
    var instant = instant
    if jitter.count > 0 {
      let most =
        UInt64(clamping: jitter.count) < UInt64(saturating: half / 2)
        ? UInt64(clamping: jitter.count) : UInt64(saturating: half / 2)
      instant = instant + Nanoseconds(Int64(clamping: random.below(most &+ 1)))
    }
    put(false, at: instant)
    var end = bounceTime * 2
    for _ in 0..<(bounces < 16 ? bounces : 16) {
      guard Double(end.count) < half / 2 else { return }
      put(true, at: instant + end - bounceTime)
      put(false, at: instant + end)
      end = end + bounceTime * 2
    }
  }

  /// Sets the line's level, not before the previous change: after a jitter or a bounce changes stay in order.
  @_noLocks @_noAllocation
  private mutating func put(_ isHigh: Bool, at instant: TickInstant) {
    if lastChange < instant { lastChange = instant }
    if !line.set(isHigh: isHigh || isDisconnected, at: lastChange) { lost &+= 1 }
  }
}
