/// The requests that a token allows. Each scope includes the scopes before it.
public enum Scope: String, Sendable, Hashable, Codable, CaseIterable, Comparable {
  /// Permission to read states, statistics, logs and events.
  case read
  /// Permission to send commands to every system, e-stop and reset included.
  case control
  /// Permission to change the daemon itself: the log level, its tokens, and simulated faults.
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
