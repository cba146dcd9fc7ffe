import Tactus

/// The invariants of one part, with the number of checks of each and the first failure.
public struct SwarmChecks: Sendable {
  /// A failed check.
  public struct Failure: Sendable, Hashable {
    /// The invariant, as in `names`.
    public let invariant: String
    /// The instant at which the failure was detected.
    public let at: TickInstant
    /// The observation that contradicts the invariant.
    public let what: String
  }

  /// The invariants, one sentence each.
  public let names: [String]
  /// The number of checks of each invariant.
  public private(set) var counts: [Int]
  /// The first failure, or `nil` if all invariants have held.
  public private(set) var failure: Failure?
  /// Whether an invariant has failed.
  public private(set) var hasFailed = false

  /// Makes the checks of the given invariants.
  ///
  /// - Parameter names: the invariants, one sentence each, numbered in this order.
  public init(_ names: [String]) {
    self.names = names
    counts = Array(repeating: 0, count: names.count)
  }

  /// Checks one invariant.
  ///
  /// - Parameters:
  ///   - index: the index of the invariant in `names`.
  ///   - holds: whether the invariant holds.
  ///   - what: the observation that contradicts the invariant, used only if it does not hold.
  public mutating func check(_ index: Int, _ holds: Bool, at now: TickInstant, _ what: @autoclosure () -> String) {
    counts[index] += 1
    guard !holds, !hasFailed else { return }
    failure = Failure(invariant: names[index], at: now, what: what())
    hasFailed = true
  }
}
