import Tactus

/// The video process as the daemon that watches over it sees it.
public struct VideoProcessReport: Sendable, Hashable {
  /// nil: it does not run.
  public var process: Int32?
  public var starts: Int64 = 0
  /// Of `starts`.
  public var ends: Int64 = 0
  /// Why it does not run, or how the last one ended.
  public var cause: String?
  /// Of one that does not run: when it is started again.
  public var nextStart: TickInstant?

  public init() {}
}
