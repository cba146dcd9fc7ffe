/// What a token allows. Each scope includes those before it.
public enum Scope: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  /// Look: states, statistics, logs, events.
  case read
  /// Move: commands of every system, e-stop and reset included.
  case control
  /// Change the daemon itself: log level, simulated faults.
  case admin

  public static func < (one: Scope, other: Scope) -> Bool { one.rank < other.rank }

  private var rank: Int {
    switch self {
    case .read: 0
    case .control: 1
    case .admin: 2
    }
  }
}
