import Tactus

/// The video process as the daemon that watches over it sees it.
struct VideoProcessReport: Sendable, Hashable {
  /// It is `nil` if it does not run, or is being killed.
  var process: Int32?
  var starts: Int64 = 0
  /// Of `starts`.
  var ends: Int64 = 0
  /// Why it does not run, or how the last one ended.
  var cause: String?
  /// Of one that does not run: when it is started again.
  var nextStart: TickInstant?

  init() {}
}
