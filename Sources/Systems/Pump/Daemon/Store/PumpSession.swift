import WallTime

/// One session of the cooling pump: from the start of the pump until it stopped or its state was no longer known.
public struct PumpSession: Sendable, Hashable {
  /// The temperatures of one sensor during a session, in °C; `nil` if they are not known.
  public struct Range: Sendable, Hashable {
    var first: Double?
    var last: Double?
    var highest: Double?

    public init(first: Double? = nil, last: Double? = nil, highest: Double? = nil) {
      (self.first, self.last, self.highest) = (first, last, highest)
    }

    /// Adds a reading; `nil` changes nothing.
    mutating func add(_ celsius: Double?) {
      guard let celsius else { return }
      first = first ?? celsius
      last = celsius
      highest = max(highest ?? celsius, celsius)
    }
  }

  /// The number of the session, counted from 1 and assigned by the store.
  public var number: Int64
  var start: WallInstant
  /// The running time in seconds, measured by a clock that does not jump.
  var seconds: Double
  /// The initiator of the session: app, manual, device or host; `nil` if it is not known.
  var startedBy: String?
  /// The cause of the session's end: off, emergency-stop, contact-lost, shut-down, power-cut, crash or the name of a fault; `nil` if it is in
  /// progress.
  public var end: String?
  var endedBy: String?
  /// The mean speed in per cent, or `nil` if it is not known.
  public var speedPercent: Double?
  var water: Range
  var skin: Range
  /// A person's note about the session, at most `longestNote` characters; `nil` if there is none.
  public var note: String?

  static let longestNote = 200

  public init(
    number: Int64 = 0, start: WallInstant, seconds: Double = 0, startedBy: String? = nil, end: String? = nil,
    endedBy: String? = nil, speedPercent: Double? = nil, water: Range = Range(), skin: Range = Range(),
    note: String? = nil
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
    self.note = note
  }
}

/// The selection and the order of the sessions to return.
public struct PumpSessionQuery: Sendable, Hashable {
  /// The earliest start of the sessions to return.
  var since: WallInstant?
  /// The instant before which the sessions to return started.
  var until: WallInstant?
  var newestFirst: Bool

  public init(since: WallInstant? = nil, until: WallInstant? = nil, newestFirst: Bool = true) {
    self.since = since
    self.until = until
    self.newestFirst = newestFirst
  }
}

/// A page of sessions, and where the next page begins.
public struct PumpSessionPage: Sendable, Hashable {
  public var sessions: [PumpSession]
  /// The number of the page's last session, after which the next page begins; `nil` if there are no more.
  var next: Int64?
}
