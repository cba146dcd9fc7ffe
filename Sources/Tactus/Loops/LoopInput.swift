/// The waking side of an input in simulated time: when what waits there becomes readable.
///
/// A simulated network or device lowers `readyAt` when something is sent to it and raises it when it is drained; the
/// simulated scheduler releases the loop then. Used by one thread: the one that runs the simulation.
public final class SimulatedInput {
  /// When what waits becomes readable; `.distantFuture` while nothing waits. A pointer, so that ticks reach it without touching a reference count; valid
  /// as long as this object.
  public let readyAt: UnsafeMutablePointer<TickInstant>

  /// An input with nothing waiting.
  public init() {
    readyAt = .allocate(capacity: 1)
    readyAt.initialize(to: .distantFuture)
  }

  deinit { readyAt.deallocate() }

  /// As `Doorbell.input`, for a loop whose bell is this: `clear()` raises `readyAt`.
  public var doorbell: DoorbellInput { DoorbellInput(readyAt: readyAt) }

  /// As `DoorbellButton.ring()`, at `instant`, which is not before the simulation's present.
  public func ring(at instant: TickInstant) {
    if instant < readyAt.pointee { readyAt.pointee = instant }
  }
}

/// What releases a loop by arrival.
public enum LoopInput {
  /// A file descriptor that polls readable. Its maker keeps it open as long as the runtime runs.
  case descriptor(Int32)
  /// An input of simulated time, which the simulation's caller makes ready. In real time it never releases the
  /// loop.
  case simulated(SimulatedInput)

  var simulated: SimulatedInput? {
    switch self {
    case .descriptor: nil
    case .simulated(let input): input
    }
  }
}
