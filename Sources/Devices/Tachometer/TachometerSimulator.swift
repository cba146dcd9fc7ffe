import Buses
import Tactus
import TactusControl

/// A fan's tachometer output on a line of a `SimulatedGPIOBank`: low for half of a pulse's time, high for the other
/// half.
///
/// For simulations of the fan: a loop, which calls `step` once a tick, or a test. Pulses come at their own instants
/// between two steps, to a nanosecond, whatever the rate of the steps. Timing of a step: two changes for each pulse, at
/// most 1,024 pulses; allocates nothing.
///
/// Not simulated: poles that are spaced unevenly.
public struct TachometerSimulator: ~Copyable {
  private static var changesPerStep: Int64 {
    @_noLocks @_noAllocation get { 2_048 }
  }

  /// Pulses of one turn, 1…16.
  public let pulsesPerTurn: Int
  /// Fault: each pulse begins with so many short ones besides, `bounceTime` low and high in turns. 0…16; more count as
  /// 16.
  public var bounces = 0
  /// Of a bounce, low and high each: what does not fit into half of a pulse's time is left out.
  public var bounceTime = Nanoseconds.microseconds(10)
  /// Fault: each pulse comes late by 0…`jitter`, as an interrupt does; at most a quarter of a pulse's time.
  public var jitter = Nanoseconds.zero
  /// Fault: the wire is off, so that the line stays high.
  public var isDisconnected = false
  /// Changes that the line had no room for, because the line is not read.
  public private(set) var lost: Int64 = 0

  private var line: SimulatedGPIODriver
  private var random: SplitMix64
  private var at: TickInstant?
  /// Halves of a pulse since the last change, 0..<1.
  private var phase = 0.0
  private var isHigh = true
  private var lastChange = TickInstant.zero

  /// A fan that stands, the line high.
  ///
  /// - Parameters:
  ///   - line: of the request that a `Tachometer` listens to.
  ///   - pulsesPerTurn: 1…16.
  ///   - seed: the jitter follows from it alone.
  public init(_ line: consuming SimulatedGPIODriver, pulsesPerTurn: Int = 2, seed: UInt64 = 1) {
    precondition((1...16).contains(pulsesPerTurn), "a turn has 1…16 pulses")
    self.line = line
    self.pulsesPerTurn = pulsesPerTurn
    random = SplitMix64(seed: seed)
    self.line.set(isHigh: true, at: .zero)
  }

  /// The fan has turned at `rpm` since the last step, which was before `now`; a negative speed is turning backward. The
  /// first step only says when it begins. A speed that is not finite traps.
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

  /// Changes are put in their order: after a jitter or a bounce, the next one is not before them.
  @_noLocks @_noAllocation
  private mutating func put(_ isHigh: Bool, at instant: TickInstant) {
    if lastChange < instant { lastChange = instant }
    if !line.set(isHigh: isHigh || isDisconnected, at: lastChange) { lost &+= 1 }
  }
}
