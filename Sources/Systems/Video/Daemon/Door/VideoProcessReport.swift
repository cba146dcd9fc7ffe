import Tactus

/// The video process as the daemon that watches over it sees it.
public struct VideoProcessReport: Sendable, Hashable {
  /// `nil` if it does not run, or is being killed.
  var process: Int32?
  /// How often it was started.
  public var starts: Int64 = 0
  /// How many of these have ended.
  public var ends: Int64 = 0
  /// Why it does not run, or how the last one ended.
  var cause: String?
  /// Of one that does not run: when it is started again.
  var nextStart: TickInstant?

  init() {}
}
