import WallTime

/// One session of the cooling pump: from when it ran until it did not, or was no longer known to.
public struct PumpSession: Sendable, Hashable {
  /// Temperatures of one sensor, °C, or `nil` if that is not known.
  public struct Range: Sendable, Hashable {
    var first: Double?
    var last: Double?
    var highest: Double?

    public init(first: Double? = nil, last: Double? = nil, highest: Double? = nil) {
      (self.first, self.last, self.highest) = (first, last, highest)
    }

    /// A reading; nil changes nothing.
    mutating func take(_ celsius: Double?) {
      guard let celsius else { return }
      first = first ?? celsius
      last = celsius
      highest = max(highest ?? celsius, celsius)
    }
  }

  /// Counts from 1; given by the store.
  public var number: Int64
  var start: WallInstant
  /// Pumped, measured by a clock that does not jump.
  var seconds: Double
  /// app, manual, device, host, or `nil` if that is not known.
  var startedBy: String?
  /// off, emergency-stop, contact-lost, shut-down, power-cut, crash, or the name of a fault, or `nil` if it goes on.
  public var end: String?
  var endedBy: String?
  /// The mean of its speed, or `nil` if that is not known.
  public var speedPercent: Double?
  var water: Range
  var skin: Range

  public init(
    number: Int64 = 0, start: WallInstant, seconds: Double = 0, startedBy: String? = nil, end: String? = nil,
    endedBy: String? = nil, speedPercent: Double? = nil, water: Range = Range(), skin: Range = Range()
  ) {
    self.number = number
    self.start = start
    self.seconds = seconds
    self.startedBy = startedBy
    self.end = end
    self.endedBy = endedBy
    self.speedPercent = speedPercent
    self.water = water
    self.skin = skin
  }
}

/// Which sessions, and in which order.
public struct PumpSessionQuery: Sendable, Hashable {
  /// Started then or later.
  var since: WallInstant?
  /// Started before that.
  var until: WallInstant?
  var newestFirst: Bool

  public init(since: WallInstant? = nil, until: WallInstant? = nil, newestFirst: Bool = true) {
    self.since = since
    self.until = until
    self.newestFirst = newestFirst
  }
}

/// Some sessions, and where the next ones begin.
public struct PumpSessionPage: Sendable, Hashable {
  public var sessions: [PumpSession]
  /// The number after which they do, or `nil` if there are no more.
  var next: Int64?
}
