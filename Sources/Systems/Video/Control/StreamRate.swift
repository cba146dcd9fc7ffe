@_spi(FromOutside) import Conversions
import Tactus

/// The rule for the bit rate and the frame rate of the encoder that all viewers share: what the worst link of them takes, between limits.
///
/// Packets that are lost beyond one in ten, or data that waits, mean that the link is full: the rate falls to what
/// arrived. A smaller loss is normal for a radio link, and a lower rate would not reduce it. The rate rises again by a
/// twentieth a second, and slowly near the rate at which a link was full. Where few bits are left, fewer frames share
/// them. The rule accesses neither a network nor a clock.
public struct StreamRate: Sendable, Equatable {
  /// The limits between which bit rate and frame rate move. With equal bit rates they never change.
  public struct Limits: Sendable, Equatable {
    public var lowest: UInt32
    public var highest: UInt32
    public var slowest: UInt16
    public var fastest: UInt16

    /// Creates limits from two bit rates and two frame rates.
    ///
    /// - Parameters:
    ///   - lowest: the lowest bit rate, in bits a second. A rate above `highest` counts as `highest`.
    ///   - highest: the highest bit rate, which also applies while no link reports anything.
    ///   - slowest: the lowest frame rate, in frames a second. A rate above `fastest` counts as `fastest`.
    ///   - fastest: the highest frame rate, 1 or more.
    public init(lowest: UInt32, highest: UInt32, slowest: UInt16, fastest: UInt16) {
      (self.highest, self.fastest) = (max(highest, 1), max(fastest, 1))
      self.lowest = min(max(lowest, 1), self.highest)
      self.slowest = min(max(slowest, 1), self.fastest)
    }
  }

  /// The reason for the present rate.
  public enum Cause: UInt8, Sendable, Hashable, CaseIterable {
    /// The rate is the configured one.
    case configured
    /// A viewer's packets are lost.
    case loss
    /// The data of a viewer waits in the network.
    case wait
    /// The links carry the present rate, so it rises towards the configured one.
    case rising
  }

  /// The loss, as a ratio, above which a link counts as full.
  public static let fullLoss = 0.1
  /// The loss, as a ratio, up to which the rate rises as if nothing were lost.
  public static let littleLoss = 0.02
  /// The wait above which a link counts as full.
  public static let fullWait = Nanoseconds.milliseconds(250)
  /// The wait above which the rate does not rise.
  public static let someWait = Nanoseconds.milliseconds(100)
  /// The time after a fall of the rate before it may fall again. The reports that come meanwhile are about packets sent before the fall.
  public static let settling = Nanoseconds.milliseconds(1_500)
  /// The time without viewers, without a report or without a full link after which the knowledge of the link is forgotten. A player that makes
  /// reports sends one at least every five seconds.
  public static let memory = Nanoseconds.seconds(30)

  public let limits: Limits
  /// The bit rate to encode with, in bits a second.
  public var bitsPerSecond: UInt32 { UInt32(saturating: rate.rounded()) }
  /// The frames to encode a second.
  public private(set) var framesPerSecond: UInt16
  public private(set) var cause = Cause.configured
  /// The worst report of the last step that had one.
  public private(set) var worst = LinkReport()

  private var rate: Double
  /// The number of frames of the camera of which one is encoded.
  private var step = 1
  /// The rate at which a link was last full, and the instant of that, or `nil` if no link was full recently.
  private var full: (rate: Double, at: TickInstant)?
  private var lastReport: TickInstant?
  private var alone: TickInstant?

  public init(_ limits: Limits) {
    self.limits = limits
    rate = Double(limits.highest)
    framesPerSecond = limits.fastest
  }

  /// Takes the reports since the last step. The function is to be called once a second.
  ///
  /// - Parameters:
  ///   - worst: the worst of them, or `nil` if no viewer has reported.
  ///   - isWatched: whether there is a viewer.
  public mutating func step(_ worst: LinkReport?, isWatched: Bool, at now: TickInstant) {
    guard isWatched else { return rest(at: now) }
    alone = nil
    if let worst {
      self.worst = worst
      lastReport = now
      if worst.lost > Self.fullLoss || worst.wait > Self.fullWait {
        fall(worst, at: now)
      } else if worst.wait <= Self.someWait {
        rise(worst, at: now)
      }
    } else if let lastReport, now - lastReport > Self.memory {
      // The viewer with the bad link has left, and the present ones send no reports.
      rise(LinkReport(lost: Self.fullLoss), at: now)
    }
    if let full, now - full.at > Self.memory { self.full = nil }
    spread()
  }

  /// Keeps the rate while there are no viewers, for a viewer who comes back soon.
  private mutating func rest(at now: TickInstant) {
    guard let alone else {
      alone = now
      return
    }
    if now - alone >= Self.memory { self = StreamRate(limits) }
  }

  private mutating func fall(_ worst: LinkReport, at now: TickInstant) {
    if let full, now - full.at < Self.settling { return }
    full = (rate, now)
    let isLoss = worst.lost > Self.fullLoss
    // With a loss above a fifth, the rate becomes the part that arrives.
    let part = !isLoss ? 0.75 : worst.lost > 0.2 ? 1 - worst.lost : 1 - worst.lost / 2
    rate = max(Double(limits.lowest), rate * part)
    cause = isLoss ? .loss : .wait
  }

  private mutating func rise(_ worst: LinkReport, at now: TickInstant) {
    let highest = Double(limits.highest)
    guard rate < highest else { return }
    if let full, now - full.at < Self.settling { return }
    let isNearFull = full.map { rate > $0.rate * 0.8 } ?? false
    let isLossy = worst.lost > Self.littleLoss
    rate = min(highest, rate * (isNearFull || isLossy ? 1.01 : 1.05))
    cause = rate < highest ? .rising : .configured
  }

  /// Spreads the bits over fewer frames below two fifths of the highest bit rate: every second one, every third one, and so on.
  private mutating func spread() {
    let wanted = Double(limits.fastest) * min(1, rate / (Double(limits.highest) * 0.4))
    func frames(_ step: Int) -> Double { Double(limits.fastest) / Double(step) }
    while frames(step) * 0.85 > wanted, frames(step + 1) >= Double(limits.slowest) { step += 1 }
    while step > 1, wanted >= frames(step - 1) { step -= 1 }
    framesPerSecond = UInt16(clamping: max(1, Int(limits.fastest) / step))
  }

  public static func == (left: Self, right: Self) -> Bool {
    (left.limits, left.rate, left.step, left.cause, left.worst) == (
      right.limits, right.rate, right.step, right.cause, right.worst
    )
  }
}
