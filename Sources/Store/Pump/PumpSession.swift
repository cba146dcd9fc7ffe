public import WallTime

/// One session of the cooling pump: from when it ran until it did not, or was no longer known to.
public struct PumpSession: Sendable, Hashable {
  /// Temperatures of one sensor, °C; nil: not known.
  public struct Range: Sendable, Hashable {
    public var first: Double?
    public var last: Double?
    public var highest: Double?

    public init(first: Double? = nil, last: Double? = nil, highest: Double? = nil) {
      (self.first, self.last, self.highest) = (first, last, highest)
    }

    /// A reading; nil changes nothing.
    public mutating func take(_ celsius: Double?) {
      guard let celsius else { return }
      first = first ?? celsius
      last = celsius
      highest = max(highest ?? celsius, celsius)
    }
  }

  /// Counts from 1; given by the store.
  public var number: Int64
  public var start: WallInstant
  /// Pumped, measured by a clock that does not jump.
  public var seconds: Double
  /// app, manual, device, host; nil: nobody knows.
  public var startedBy: String?
  /// off, emergency-stop, contact-lost, shut-down, power-cut, crash, or the name of a fault; nil: it goes on.
  public var end: String?
  public var endedBy: String?
  /// The mean of its speed; nil: not known.
  public var speedPercent: Double?
  public var water: Range
  public var skin: Range

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
  public var since: WallInstant?
  /// Started before that.
  public var until: WallInstant?
  public var newestFirst: Bool

  public init(since: WallInstant? = nil, until: WallInstant? = nil, newestFirst: Bool = true) {
    self.since = since
    self.until = until
    self.newestFirst = newestFirst
  }
}

/// Some sessions, and where the next ones begin.
public struct PumpSessionPage: Sendable, Hashable {
  public var sessions: [PumpSession]
  /// The number after which they do; nil: there are no more.
  public var next: Int64?
}
