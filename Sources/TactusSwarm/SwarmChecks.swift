import Tactus

/// The invariants of one part: how often each was looked at, and the first failure.
public struct SwarmChecks: Sendable {
  /// What failed, when, and how.
  public struct Failure: Sendable, Hashable {
    /// As in `names`.
    public let invariant: String
    /// When it was seen.
    public let at: TickInstant
    /// What was seen instead.
    public let what: String
  }

  /// The invariants, a sentence each.
  public let names: [String]
  /// By invariant: how often it was looked at.
  public private(set) var counts: [Int]
  /// The first failure, or `nil` if all have held.
  public private(set) var failure: Failure?
  /// Whether there is one.
  public private(set) var hasFailed = false

  /// - Parameter names: the invariants, a sentence each; they are numbered in this order.
  public init(_ names: [String]) {
    self.names = names
    counts = Array(repeating: 0, count: names.count)
  }

  /// Looks at one invariant.
  ///
  /// - Parameters:
  ///   - index: its place in `names`.
  ///   - holds: whether it holds.
  ///   - what: what is seen if it does not.
  public mutating func check(_ index: Int, _ holds: Bool, at now: TickInstant, _ what: @autoclosure () -> String) {
    counts[index] += 1
    guard !holds, !hasFailed else { return }
    failure = Failure(invariant: names[index], at: now, what: what())
    hasFailed = true
  }
}
