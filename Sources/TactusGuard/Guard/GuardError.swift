import Glibc

/// Why there is no guard.
public enum GuardError: Error, Sendable, Hashable {
  /// What was asked for cannot be: a time-out or a write, and why.
  case invalid(String)
  /// Devices that the guard could not open: each with what was expected, what came, and what to do about it.
  case cannotOpen([String])
  /// The kernel refused a process or a thread.
  case notStarted(errno: Int32)
  /// It did not report ready within five seconds, or died before.
  case notReady
  /// A guard that was to be replaced has been killed, and the kernel has not ended it within two seconds.
  case notEnded
  /// More than 64 loops are to be watched.
  case tooManyLoops(Int)
  /// It was dismissed.
  case dismissed
}

extension GuardError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .invalid(let reason): "the guard cannot be started: \(reason)"
    case .cannotOpen(let failures): "the guard could not open: \(failures.joined(separator: "; "))"
    case .notStarted(let errno): "the guard process could not be started: \(String(cString: strerror(errno)))"
    case .notReady: "the guard process did not become ready"
    case .notEnded: "the old guard process was killed and has not ended: it waits for a device in the kernel"
    case .tooManyLoops(let count): "a guard watches at most \(LoopWatch.capacity) loops, got \(count)"
    case .dismissed: "the guard was dismissed"
    }
  }
}
