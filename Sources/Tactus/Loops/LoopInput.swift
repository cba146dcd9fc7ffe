/// The waking side of an input in simulated time: the instant at which the input becomes readable.
///
/// A simulated network or device lowers `readyAt` when data is sent to it and raises it when the data has been read; the simulated
/// scheduler releases the loop at that instant. Only the thread that runs the simulation uses the input.
public final class SimulatedInput {
  /// The instant at which the input becomes readable, or `.distantFuture` while no data waits. It is a pointer, so that ticks reach
  /// it without touching a reference count; valid as long as this object.
  public let readyAt: UnsafeMutablePointer<TickInstant>

  /// Creates an input without waiting data.
  public init() {
    readyAt = .allocate(capacity: 1)
    readyAt.initialize(to: .distantFuture)
  }

  deinit { readyAt.deallocate() }

  /// The doorbell of a loop that has this input, as `Doorbell.input` is in real time: `clear()` raises `readyAt`.
  public var doorbell: DoorbellInput { DoorbellInput(readyAt: readyAt) }

  /// Rings the bell, as `DoorbellButton.ring()` does, at `instant`, which is not before the simulation's present.
  public func ring(at instant: TickInstant) {
    if instant < readyAt.pointee { readyAt.pointee = instant }
  }
}

/// A source whose arrival releases a loop.
public enum LoopInput {
  /// A file descriptor that becomes readable. Its creator keeps the descriptor open as long as the runtime runs.
  case descriptor(Int32)
  /// An input of simulated time, which the simulation's caller makes ready. In real time it never releases the loop.
  case simulated(SimulatedInput)

  var simulated: SimulatedInput? {
    switch self {
    case .descriptor: nil
    case .simulated(let input): input
    }
  }
}
