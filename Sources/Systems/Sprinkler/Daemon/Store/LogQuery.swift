import Sprinkler
import WallTime

/// Which lines of the watering log, and in which order.
public struct LogQuery: Sendable, Hashable {
  /// Started then or later.
  var since: WallInstant?
  /// Started before that.
  var until: WallInstant?
  var zone: ZoneID?
  var program: Int?
  var newestFirst: Bool

  public init(
    since: WallInstant? = nil, until: WallInstant? = nil, zone: ZoneID? = nil, program: Int? = nil,
    newestFirst: Bool = true
  ) {
    self.since = since
    self.until = until
    self.zone = zone
    self.program = program
    self.newestFirst = newestFirst
  }
}

/// A place in the log that stays the same when lines are added: after the line with this start and this run.
public struct LogPosition: Sendable, Hashable {
  var start: WallInstant
  var run: UInt64

  init(start: WallInstant, run: UInt64) {
    self.start = start
    self.run = run
  }

  /// From its text: `1790000000-42`; nil if it is none.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let start = Int64(parts[0]), let run = UInt64(parts[1]) else { return nil }
    self.init(start: WallInstant(secondsSince1970: start), run: run)
  }

  /// For an address: `1790000000-42`.
  var text: String { "\(start.secondsSince1970)-\(run)" }
}

/// Some lines of the log, and where the next ones begin.
public struct LogPage: Sendable, Hashable {
  var records: [WateringRecord]
  /// Nil: there are no more.
  var next: LogPosition?
}
