import Tactus

/// The measurements of the link to one viewer since the last report.
public struct LinkReport: Sendable, Equatable {
  /// The part of the packets that did not arrive, 0…1.
  public var lost: Double
  /// The queueing delay: the time for which data waits in the network, in addition to the shortest transmission time.
  public var wait: Nanoseconds

  public init(lost: Double = 0, wait: Nanoseconds = .zero) {
    (self.lost, self.wait) = (min(max(lost, 0), 1), max(.zero, wait))
  }

  /// Returns a report with the greater loss and the greater wait of both.
  public func worse(than other: LinkReport) -> LinkReport {
    LinkReport(lost: max(lost, other.lost), wait: max(wait, other.wait))
  }
}

/// The reports of one receiver of RTP (RFC 3550, 6.4.1), whose counts begin with its session.
public struct ReceiverReports: Sendable {
  /// One report as it was received. Its values are the receiver's and not verified.
  public struct Report: Sendable, Equatable {
    /// The packets lost since the beginning, as the receiver counts them. Packets that arrive twice reduce the number.
    public var lost: Int32
    /// The highest sequence number, with the number of its wrap-arounds in the upper bits.
    public var highest: UInt32
    /// The round-trip time of one of our reports, without the time that it spent at the receiver, or `nil` if it is not
    /// known yet.
    public var roundTrip: Nanoseconds?

    public init(lost: Int32, highest: UInt32, roundTrip: Nanoseconds? = nil) {
      (self.lost, self.highest, self.roundTrip) = (lost, highest, roundTrip)
    }
  }

  /// The longest jump of sequence numbers that counts as a loss; a longer one is a new beginning. It is the packets of many seconds at a high bit
  /// rate.
  private static let longestJump: UInt32 = 1 << 16

  private var last: Report?
  private var shortest: Nanoseconds?

  public init() {}

  /// Receives the newest report. Returns what the link has shown since the one before, or `nil` if the report is the same, or the first.
  public mutating func receive(_ report: Report) -> LinkReport? {
    guard report != last else { return nil }
    defer { last = report }
    let wait = wait(report)
    guard let last else { return nil }
    let expected = report.highest &- last.highest
    guard expected > 0, expected < Self.longestJump else { return nil }
    let lost = Double(report.lost) - Double(last.lost)
    return LinkReport(lost: lost / Double(expected), wait: wait)
  }

  /// Returns the excess of the round trip over the shortest recent one. The comparison is with recent ones because a new route may be longer
  /// permanently.
  private mutating func wait(_ report: Report) -> Nanoseconds {
    // A round trip of a minute or more is not believed: the receiver's clock or its report is wrong.
    guard let roundTrip = report.roundTrip, roundTrip > .zero, roundTrip < .seconds(60) else { return .zero }
    guard let before = shortest else {
      shortest = roundTrip
      return .zero
    }
    let now = min(roundTrip, before + Nanoseconds((roundTrip - before).count / 64))
    shortest = now
    return roundTrip - now
  }
}
