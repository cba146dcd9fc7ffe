import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// A fan's tachometer: an open-collector output that gives a number of pulses per turn, on one input line with edge events.
///
/// It is to be called once per tick. The speed is derived from the kernel's stamps of the pulses, never from the time of the tick, so a late tick
/// measures as well as a punctual one. The speed is a number of whole turns divided by their time, over as many turns as fit into `window` and at
/// least one. Whole turns are used because a rotor's poles are not spaced evenly.
///
/// - **Slowing down**: a turn that is not complete limits the speed, so the result falls while no pulses come.
/// - **Stopped**: the speed is 0 once no pulse has come for `silence`. Speeds below one pulse in `silence` read 0.
/// - **Bouncing**: an edge that follows a pulse within `blanking` does not count as a pulse.
/// - **Lost edges** are counted by their sequence numbers. On a line that bounces their number does not show the number of
///   turns, so the measurement starts anew after the gap.
///
/// The type is not copyable: the tachometer owns its line and the buffers. Errors are those of the line, after which the state is
/// unchanged. Timing: at most four drains and 63 comparisons; allocates nothing. Source: README.md beside this file.
public struct Tachometer: ~Copyable {
  private static var batchesPerTick: Int {
    @_noLocks @_noAllocation get { 4 }
  }
  /// The number of pulses without a bounce after which a line no longer counts as bouncing.
  private static var calmPulses: Int64 {
    @_noLocks @_noAllocation get { 64 }
  }

  /// The number of pulses per turn, 1…16.
  public let pulsesPerTurn: Int
  /// The time over which speed is averaged.
  public let window: Nanoseconds
  /// The time without a pulse after which the speed is 0.
  public let silence: Nanoseconds
  /// The time after a pulse in which another edge counts as a bounce: half of a pulse's time at the greatest speed.
  public let blanking: Nanoseconds
  /// The number of edges that counted as pulses, including lost edges on a line that does not bounce.
  public private(set) var pulses: Int64 = 0
  /// The number of edges that did not count as pulses.
  public private(set) var bounces: Int64 = 0
  /// The number of edges that the kernel dropped because they were not read in time.
  public var lost: Int64 {
    @_noLocks @_noAllocation get { edges.dropped }
  }

  private var port: GPIOEvents
  private var batch = GPIOEdgeBatch()
  private var edges = GPIOPulseCount()
  private var turns: TachometerTurns
  /// The number of pulses since the last bounce. Before the first bounce it is the number that makes a line count as calm.
  private var calm: Int64
  private var lastPulse: TickInstant?
  private var speed = 0.0

  /// Creates a tachometer on one line.
  ///
  /// - Parameters:
  ///   - port: one line that reports one kind of edge, without a debounce; preferably the electrically falling edge, which the
  ///     transistor makes, since a resistor makes the rising one.
  ///   - pulsesPerTurn: the number of pulses per turn, 1…16; 2 for PC fans.
  ///   - window: the time over which speed is averaged, 10 ms…10 s. A longer window smooths more and lags more, by half its length.
  ///   - silence: the time without a pulse after which the speed is 0, 10 ms…60 s. 500 ms is one pulse at 60 rpm and 2 pulses per
  ///     turn, which is slower than any PC fan turns.
  ///   - maximumRPM: the greatest speed at which bounces can be distinguished from pulses, 1…1,000,000.
  public init(
    _ port: consuming GPIOEvents, pulsesPerTurn: Int = 2, window: Nanoseconds = .milliseconds(100),
    silence: Nanoseconds = .milliseconds(500), maximumRPM: Double = 20_000
  ) {
    precondition(port.count == 1, "a tachometer has one line")
    precondition((1...16).contains(pulsesPerTurn), "a turn has 1…16 pulses")
    precondition(window >= .milliseconds(10) && window <= .seconds(10), "a window is 10 ms…10 s")
    precondition(silence >= .milliseconds(10) && silence <= .seconds(60), "a silence is 10 ms…60 s")
    precondition(maximumRPM >= 1 && maximumRPM <= 1_000_000, "the greatest speed is 1…1,000,000 rpm")
    self.port = port
    self.pulsesPerTurn = pulsesPerTurn
    self.window = window
    self.silence = silence
    blanking = Nanoseconds(Int64(saturating: 30e9 / (maximumRPM * Double(pulsesPerTurn))))
    calm = Self.calmPulses
    turns = TachometerTurns(pulsesPerTurn: Int64(pulsesPerTurn))
  }

  /// Returns the speed in rpm, 0 or more, from the pulses up to `now`, the instant of the tick. The direction of turning is unknown.
  @_noLocks @_noAllocation
  public mutating func rpm(at now: TickInstant) throws(GPIOError) -> Double {
    port.now = now
    for _ in 0..<Self.batchesPerTick {
      let isFull = try port.receive(into: &batch)
      for index in 0..<batch.count { add(batch[index]) }
      if !isFull { break }
    }
    guard let lastPulse, now - lastPulse < silence else {
      turns.removeAll()
      speed = 0
      return 0
    }
    if let measured = turns.speed(over: window) { speed = measured }
    // The bound is taken one blanking time earlier, so that a pulse that is a little late does not lower the speed.
    let bound = turns.bound(at: now - blanking)
    return bound < speed ? bound : speed
  }

  @_noLocks @_noAllocation
  private mutating func add(_ edge: GPIOEdge) {
    let before = edges.count
    let previous = edges.last
    edges.add(edge)
    let steps = edges.count &- before
    if let lastPulse, !(edge.at - lastPulse < silence) {
      turns.removeAll()
      speed = 0
    }
    if steps > 1 { bridge(steps, to: edge.at) }
    // The first pulse of a measurement must not be a bounce of an earlier pulse that was not seen, so a quiet time is required before it.
    guard let reference = turns.newest ?? (steps == 1 ? previous : nil) else { return }
    guard !(edge.at - reference < blanking) else { return bounce() }
    calm &+= 1
    pulses &+= turns.isEmpty ? 1 : steps
    turns.add(edge.at, after: steps)
    lastPulse = edge.at
  }

  /// Handles a gap in the edges: discards the pulses before it if the lost edges may have been bounces.
  @_noLocks @_noAllocation
  private mutating func bridge(_ steps: Int64, to instant: TickInstant) {
    guard let newest = turns.newest else { return }
    if instant - newest < blanking * steps { calm = 0 }
    if calm < Self.calmPulses { turns.removeAll() }
  }

  @_noLocks @_noAllocation
  private mutating func bounce() {
    bounces &+= 1
    calm = 0
  }
}
