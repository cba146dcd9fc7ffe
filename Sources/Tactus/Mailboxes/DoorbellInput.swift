import CTactus

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
