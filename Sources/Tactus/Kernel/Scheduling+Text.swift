extension Scheduling: CustomStringConvertible {
  /// The scheduling as text: `normal`, `fifo 80` or `deadline 2 ms / 5 ms / 5 ms` (runtime, deadline, period).
  public var description: String {
    switch self {
    case .normal: "normal"
    case .fifo(let priority): "fifo \(priority)"
    case .deadline(let runtime, let deadline, let period): "deadline \(runtime) / \(deadline) / \(period)"
    }
  }
}
