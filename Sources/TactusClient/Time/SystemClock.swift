import Foundation

/// The machine's clocks. No other file of the client reads one.
public struct SystemClock: ClientClock {
  private static let origin = ContinuousClock.now

  /// Creates the clock.
  public init() {}

  /// The time since the first use of the clock in this process, the machine's sleep included.
  public var now: Duration { ContinuousClock.now - Self.origin }

  /// Seconds since 1970.
  public var wallSeconds: Double { Date().timeIntervalSince1970 }

  /// Returns after `duration`, or throws as soon as the task is cancelled.
  public func wait(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}
