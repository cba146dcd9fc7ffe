import CTactus

/// An eventfd that wakes a thread other than a lane's, or releases a loop.
///
/// Writers ring the bell after pushing into a `Ring`. The ring's reader waits for the bell, or is a loop that has `loopInput` among
/// its inputs and clears `input` in every tick before it reads the ring.
public final class Doorbell: Sendable {
  /// The descriptor, which polls readable while the bell has been rung and not cleared.
  public let descriptor: Int32

  /// Creates a bell that has not been rung.
  ///
  /// - Throws: `.system` when the process or the machine has no descriptor left.
  public init() throws(RuntimeError) {
    descriptor = tactus_eventfd_create()
    if descriptor < 0 { throw .system(call: "eventfd", errno: -descriptor) }
  }

  deinit { tactus_close(descriptor) }

  /// The button that rings the bell: a plain value that a loop may hold. The value is valid as long as the bell exists.
  public var button: DoorbellButton { DoorbellButton(descriptor: descriptor) }

  /// The loop input that releases a loop when the bell rings.
  public var loopInput: LoopInput { .descriptor(descriptor) }

  /// The bell as the loop that it releases sees it. The value is valid as long as the bell exists.
  public var input: DoorbellInput { DoorbellInput(descriptor: descriptor) }

  /// Blocks until the bell is rung, then clears it. Returns `false` if `limit`, rounded up to a whole millisecond, passed first;
  /// with `nil` there is no limit.
  @discardableResult
  public func wait(limit: Nanoseconds? = nil) -> Bool {
    tactus_eventfd_wait(descriptor, limit.map(Self.milliseconds) ?? -1) != 0
  }

  /// Converts a limit to milliseconds, rounded up, so that a short limit is a wait and not a poll.
  static func milliseconds(_ limit: Nanoseconds) -> Int32 {
    Int32(clamping: max(0, limit.count / 1_000_000 + (limit.count % 1_000_000 > 0 ? 1 : 0)))
  }

  /// Clears the bell, so that `wait` blocks until the bell is rung again. The call takes one system call, which never blocks. A
  /// loop clears `input` instead.
  public func clear() { tactus_eventfd_clear(descriptor) }
}

/// Rings a `Doorbell`: one system call, which never blocks.
public struct DoorbellButton: Sendable, BitwiseCopyable {
  let descriptor: Int32

  /// Rings the bell, which wakes the thread in `Doorbell.wait` or releases the loop that has `Doorbell.loopInput` among its inputs.
  /// Several rings before the bell is cleared count as one. The function may be called in a tick.
  @_noLocks @_noAllocation
  public func ring() { tactus_eventfd_signal(descriptor) }
}

/// A doorbell as seen by the loop that it releases: a plain value, real or simulated.
///
/// Writers push before they ring. The loop clears the bell before it reads the ring, so no push is missed; at worst a tick
/// finds its ring empty.
public struct DoorbellInput: BitwiseCopyable {
  /// The descriptor of a real bell, or −1 for a simulated one.
  private let descriptor: Int32
  private let readyAt: UnsafeMutablePointer<TickInstant>?

  init(descriptor: Int32) {
    self.descriptor = descriptor
    readyAt = nil
  }

  init(readyAt: UnsafeMutablePointer<TickInstant>) {
    descriptor = -1
    self.readyAt = readyAt
  }

  /// Clears the bell. Has no effect on a bell that has not been rung. The call takes at most one system call, which never blocks.
  @_noLocks @_noAllocation
  public func clear() {
    if let readyAt {
      readyAt.pointee = .distantFuture
    } else {
      tactus_eventfd_clear(descriptor)
    }
  }
}
