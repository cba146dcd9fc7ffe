import Buses
import Tactus

/// A fan's tachometer: an open-collector output that gives some pulses a turn, on one input line with edge events.
///
/// Called once a tick. The speed comes from the kernel's stamps of the pulses, never from the tick's own time, so a
/// late tick measures as well as a punctual one. It is the number of whole turns by the time that they took, over as
/// many turns as fit into `window`, but at least one; whole turns because a rotor's poles are not spaced evenly.
///
/// - **Slowing down**: a turn that is not over yet bounds the speed, so the result falls while pulses stay out.
/// - **Stopped**: 0 once no pulse has come for `silence`. Speeds below one pulse in `silence` read 0.
/// - **Bouncing**: an edge that follows a pulse within `blanking` is no pulse.
/// - **Lost edges** are counted by their sequence numbers. On a line that bounces, that number says nothing about
///   turns: there the measurement starts anew behind the gap.
///
/// Not copyable: it owns its line and the buffers. Errors: whatever the line says; the state stays as it was. Timing:
/// at most four drains and 63 comparisons; allocates nothing. Source: README.md beside this file.
public struct Tachometer: ~Copyable {
  private static var batchesPerTick: Int {
    @_noLocks @_noAllocation get { 4 }
  }
  /// After so many pulses without a bounce, a line no longer counts as one that bounces.
  private static var calmPulses: Int64 {
    @_noLocks @_noAllocation get { 64 }
  }

  /// Pulses of one turn, 1…16.
  public let pulsesPerTurn: Int
  /// The span over which speed is averaged.
  public let window: Nanoseconds
  /// Without a pulse for so long, the speed is 0.
  public let silence: Nanoseconds
  /// An edge that follows a pulse by less than this is a bounce: half of a pulse's time at the greatest speed.
  public let blanking: Nanoseconds
  /// Edges that counted as pulses, those included that were lost on a line that does not bounce.
  public private(set) var pulses: Int64 = 0
  /// Edges that did not count.
  public private(set) var bounces: Int64 = 0
  /// Edges that the kernel dropped because they were not read in time.
  public var lost: Int64 {
    @_noLocks @_noAllocation get { edges.dropped }
  }

  private var port: GPIOEvents
  private var batch = GPIOEdgeBatch()
  private var edges = GPIOPulseCount()
  private var turns: TachometerTurns
  /// Pulses since the last bounce; as many as make a calm line before the first one.
  private var calm: Int64
  private var lastPulse: TickInstant?
  private var speed = 0.0

  /// A tachometer on one line.
  ///
  /// - Parameters:
  ///   - port: one line that reports one kind of edge, without a debounce: best the falling one electrically, which the
  ///     transistor makes, while a resistor makes the rising one.
  ///   - pulsesPerTurn: 1…16; 2 for PC fans.
  ///   - window: 10 ms…10 s. A longer one smooths more and lags more, by half of itself.
  ///   - silence: 10 ms…60 s. 500 ms is one pulse at 60 rpm and 2 pulses a turn, slower than any PC fan turns.
  ///   - maximumRPM: 1…1,000,000. The greatest speed at which bounces can be told from pulses.
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

  /// The speed in rpm, 0 or more, by the pulses up to `now`, the instant of the tick. The direction of turning is
  /// unknown.
  @_noLocks @_noAllocation
  public mutating func rpm(at now: TickInstant) throws(GPIOError) -> Double {
    port.now = now
    for _ in 0..<Self.batchesPerTick {
      let isFull = try port.receive(into: &batch)
      for index in 0..<batch.count { take(batch[index]) }
      if !isFull { break }
    }
    guard let lastPulse, now - lastPulse < silence else {
      turns.removeAll()
      speed = 0
      return 0
    }
    if let measured = turns.speed(over: window) { speed = measured }
    // Less the blanking, so that a pulse that is a little late does not lower the speed.
    let bound = turns.bound(at: now - blanking)
    return bound < speed ? bound : speed
  }

  @_noLocks @_noAllocation
  private mutating func take(_ edge: GPIOEdge) {
    let before = edges.count
    let previous = edges.last
    edges.take(edge)
    let steps = edges.count &- before
    if let lastPulse, !(edge.at - lastPulse < silence) {
      turns.removeAll()
      speed = 0
    }
    if steps > 1 { bridge(steps, to: edge.at) }
    // The first pulse of a measurement must not be a bounce of one that was not seen: nothing came for a while before it.
    guard let reference = turns.newest ?? (steps == 1 ? previous : nil) else { return }
    guard !(edge.at - reference < blanking) else { return bounce() }
    calm &+= 1
    pulses &+= turns.isEmpty ? 1 : steps
    turns.add(edge.at, after: steps)
    lastPulse = edge.at
  }

  /// Behind a gap: forgets the pulses before it if the lost edges may have been bounces.
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
