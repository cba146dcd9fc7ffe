import Foundation

/// The clock of a client: the only one that its senders, retries and deadlines read.
///
/// `SystemClock` is the machine's clock. A test uses another one, so that it does not wait.
public protocol ClientClock: Sendable {
  /// The time since a fixed instant. It never decreases.
  var now: Duration { get }

  /// The seconds since 1970 by the wall clock, which may be set. Only the age of a cached state is computed from it.
  var wallSeconds: Double { get }

  /// Returns after `duration`, or throws `CancellationError` as soon as the task is cancelled.
  func wait(for duration: Duration) async throws
}

/// A source of random numbers for the jitter of retries.
public protocol RandomSource: Sendable {
  /// Returns a number from 0 up to, but not including, 1.
  func fraction() -> Double
}

/// The random numbers of the operating system.
public struct SystemRandom: RandomSource {
  /// Creates the source.
  public init() {}

  /// Returns a number from 0 up to, but not including, 1.
  public func fraction() -> Double { Double.random(in: 0..<1) }
}

/// The machine's clocks. No other file of the client reads one.
public struct SystemClock: ClientClock {
  private static let origin = ContinuousClock.now

  /// Creates the clock.
  public init() {}

  /// The time since the first use of the clock in this process, including the time in which the machine slept.
  public var now: Duration { ContinuousClock.now - Self.origin }

  /// The wall clock in seconds since 1970.
  public var wallSeconds: Double { Date().timeIntervalSince1970 }

  /// Returns after `duration`, or throws as soon as the task is cancelled.
  public func wait(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}
