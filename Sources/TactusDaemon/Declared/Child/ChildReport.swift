import Tactus

/// The state of a child as seen by the thread that supervises it.
public struct ChildReport: Sendable, Hashable {
  /// The number of the running process, or `nil` if none runs or it is being killed.
  public var process: Int32?
  /// The number of processes that were started.
  public var starts: Int64 = 0
  /// The number of processes that have ended.
  public var ends: Int64 = 0
  /// The reason why no process runs, or how the last one ended; `nil` if none has ended.
  public var cause: String?
  /// The instant of the next start, or `nil` if a process runs or its end is awaited.
  public var nextStart: TickInstant?

  /// Creates the report of a child that was never started.
  public init() {}
}
