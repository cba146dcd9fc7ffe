import CTactus
import Synchronization

/// The wall clock with the watch over it: one for a program, handed to all that depends on the time of day. Usable from any thread.
///
/// It notices a jump when it is read, so something has to read it a few times a second.
public final class WatchedWallClock: Sendable {
  private let watch: Mutex<WallWatch>
  private let sample: @Sendable () -> WallWatch.Sample

  /// The machine's clock.
  public convenience init() { self.init(boot: BootClock.boot, sample: { Self.machine }) }

  /// A clock of a test's.
  ///
  /// - Parameters:
  ///   - boot: the boot that it runs in, or `nil` if that is not known.
  ///   - sample: reads both clocks. Called within a lock, so that readings come in their order.
  public init(boot: BootID?, sample: @escaping @Sendable () -> WallWatch.Sample) {
    watch = Mutex(WallWatch(boot: boot))
    self.sample = sample
  }

  /// The wall clock now. Takes a microsecond: the kernel is asked whether something keeps it.
  public var now: WallReading { watch.withLock { $0.read(sample()) } }

  /// Both clocks are read at one instant: a thread that was stopped in between reads them again.
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
