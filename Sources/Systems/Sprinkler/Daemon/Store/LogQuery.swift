@_spi(FromOutside) import Conversions
import Sprinkler
import WallTime

/// A selection of lines of the watering log, and their order.
public struct LogQuery: Sendable, Hashable {
  /// The earliest start of the lines, or `nil` for no limit.
  var since: WallInstant?
  /// The instant before which the lines start, or `nil` for no limit.
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

/// A position in the log, after the line with this start and run. It stays valid when lines are added.
public struct LogPosition: Sendable, Hashable {
  var start: WallInstant
  var run: UInt64

  init(start: WallInstant, run: UInt64) {
    self.start = start
    self.run = run
  }

  /// Reads a position from its text, `1790000000-42`, or returns `nil` if the text is not a position.
  init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let start = Int64(parts[0]), let run = UInt64(parts[1]) else { return nil }
    self.init(start: WallInstant(secondsSince1970: start), run: run)
  }

  /// The text of the position for use in a URL: `1790000000-42`.
  var text: String { "\(start.secondsSince1970)-\(run)" }
}

/// A page of the log, with the position of the next page.
public struct LogPage: Sendable, Hashable {
  var records: [WateringRecord]
  /// The position of the next page, or `nil` if there are no more lines.
  var next: LogPosition?
}
