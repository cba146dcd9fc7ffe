import Glibc

/// The reason why no guard could be started, replaced or extended.
public enum GuardError: Error, Sendable, Hashable {
  /// A timeout or a write is invalid, with the reason.
  case invalid(String)
  /// The guard could not open some devices. Each text states the expected and the actual state, and a remedy.
  case cannotOpen([String])
  /// The kernel refused to create a process or a thread.
  case notStarted(errno: Int32)
  /// The guard process did not report ready within five seconds, or died before.
  case notReady
  /// A guard process that was to be replaced has been killed, and the kernel has not ended it within two seconds.
  case notEnded
  /// More than 64 loops would be watched in total.
  case tooManyLoops(Int)
  /// The guard was dismissed.
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
