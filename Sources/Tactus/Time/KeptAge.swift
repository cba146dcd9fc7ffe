/// The age of an event, stored in such a way that setting the wall clock does not change it. Stores use it for lengths of time that
/// hold over a restart.
///
/// Within one boot the age is exact. After another boot it consists of the age as last noted, the time since this boot and, if the
/// wall clock was synchronised when the age was noted and is synchronised now, the time without power. An age is therefore never
/// too great; at most it is too small by the time without power and the time since it was last noted.
public struct KeptAge: Sendable, Hashable, Codable {
  /// The age in seconds at the instant at which it was last noted.
  private var seconds: Double
  private var boot: BootID?
  /// The boot's clock when the age was noted, in seconds.
  private var bootSeconds: Double
  /// The wall clock in seconds since 1970 when the age was noted, or `nil` if the wall clock was not synchronised then.
  private var wallSeconds: Int64?

  /// Creates the age of an event that happened `seconds` ago.
  public init(_ seconds: Double = 0, at now: WallReading) {
    self.seconds = max(0, seconds)
    boot = now.boot
    bootSeconds = Self.seconds(now.bootTime)
    wallSeconds = now.isSynchronised ? now.secondsSince1970 : nil
  }

  /// Returns the present age in seconds, 0 or more.
  public func seconds(at now: WallReading) -> Double {
    let present = Self.seconds(now.bootTime)
    if isOfBoot(of: now) { return seconds + (present - bootSeconds) }
    let off = wallSeconds.flatMap { now.isSynchronised ? Double(now.secondsSince1970 &- $0) : nil } ?? 0
    return seconds + max(present, off)
  }

  /// Returns the same age, noted at the present instant.
  public func noted(at now: WallReading) -> Self { Self(seconds(at: now), at: now) }

  /// Returns the seconds since the age was noted, or `nil` if it was noted in another boot.
  public func sinceNoted(at now: WallReading) -> Double? {
    isOfBoot(of: now) ? Self.seconds(now.bootTime) - bootSeconds : nil
  }

  /// Returns whether the age was noted in the present boot. Two boots without an identifier count as the same boot if the clock has not gone back.
  private func isOfBoot(of now: WallReading) -> Bool { boot == now.boot && Self.seconds(now.bootTime) >= bootSeconds }

  private static func seconds(_ instant: TickInstant) -> Double { Double(instant.nanoseconds) / 1e9 }
}
