import CTactus
import Synchronization

/// The wall clock with a watch for jumps. A program has one, which it passes to all code that depends on the time of day. The clock
/// is usable from any thread.
///
/// A jump is noticed when the clock is read, so it has to be read a few times a second.
public final class WatchedWallClock: Sendable {
  private let watch: Mutex<WallWatch>
  private let sample: @Sendable () -> WallWatch.Sample

  /// Creates a watch over the machine's clock.
  public convenience init() { self.init(boot: BootClock.boot, sample: { Self.machine }) }

  /// Creates a clock for a test.
  ///
  /// - Parameters:
  ///   - boot: the identifier of the boot in which the clock runs, or `nil` if it is unknown.
  ///   - sample: reads both clocks. Called while a lock is held, so that readings come in order.
  public init(boot: BootID?, sample: @escaping @Sendable () -> WallWatch.Sample) {
    watch = Mutex(WallWatch(boot: boot))
    self.sample = sample
  }

  /// The present reading of the wall clock. Takes about a microsecond, since the kernel is asked whether the clock is synchronised.
  public var now: WallReading { watch.withLock { $0.read(sample()) } }

  /// A sample of the machine's two clocks at one instant. If the thread was preempted between the two readings, both clocks are read again.
  private static var machine: WallWatch.Sample {
    var before = BootClock.now
    for _ in 0..<3 {
      let wall = WallClock.microseconds
      let after = BootClock.now
      if after - before < .milliseconds(100) {
        return WallWatch.Sample(microseconds: wall, bootTime: after, isSynchronised: WallClock.isSynchronised)
      }
      before = after
    }
    return WallWatch.Sample(
      microseconds: WallClock.microseconds, bootTime: BootClock.now, isSynchronised: WallClock.isSynchronised)
  }
}
