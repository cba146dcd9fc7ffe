import CTactus

/// A doorbell as the loop that it releases sees it: a plain value, real or simulated.
///
/// Writers push before they ring. The loop clears the bell before it reads the ring, so no push is missed; at worst a tick
/// finds its ring empty.
public struct DoorbellInput: BitwiseCopyable {
  /// −1: simulated.
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

  /// Takes the bell back to silence; a bell that has not been rung stays so. At most one system call, never blocks.
  @_noLocks @_noAllocation
  public func clear() {
    if let readyAt {
      readyAt.pointee = .distantFuture
    } else {
      tactus_eventfd_clear(descriptor)
    }
  }
}
