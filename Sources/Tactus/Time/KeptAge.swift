/// How long ago something was, so kept that no setting of the wall clock changes it: what a store has of a length of time that is to hold
/// over a restart.
///
/// Within one boot it is exact. What was before the boot counts as far as it was noted, and the boot's own time counts; the time without
/// power between them counts only if the wall clock was synchronised when the age was noted and is synchronised now. So an age is never
/// too great, and it is too small by the time without power and the time since it was last noted at most.
public struct KeptAge: Sendable, Hashable, Codable {
  /// When it was noted, s.
  private var seconds: Double
  private var boot: BootID?
  /// The boot's clock when it was noted, s.
  private var bootSeconds: Double
  /// Seconds since 1970 when it was noted, or `nil` if the wall clock was not synchronised then.
  private var wallSeconds: Int64?

  /// Something that is now, or that was so many seconds ago.
  public init(_ seconds: Double = 0, at now: WallReading) {
    self.seconds = max(0, seconds)
    boot = now.boot
    bootSeconds = Self.seconds(now.bootTime)
    wallSeconds = now.isSynchronised ? now.secondsSince1970 : nil
  }

  /// How long ago it was, s; 0 or more.
  public func seconds(at now: WallReading) -> Double {
    let present = Self.seconds(now.bootTime)
    if isOfBoot(of: now) { return seconds + (present - bootSeconds) }
    let off = wallSeconds.flatMap { now.isSynchronised ? Double(now.secondsSince1970 &- $0) : nil } ?? 0
    return seconds + max(present, off)
  }

  /// The same age, noted now.
  public func noted(at now: WallReading) -> Self { Self(seconds(at: now), at: now) }

  /// How long ago it was noted, s, or `nil` if that was in another boot.
  public func sinceNoted(at now: WallReading) -> Double? {
    isOfBoot(of: now) ? Self.seconds(now.bootTime) - bootSeconds : nil
  }

  /// Two boots without an id count as the same one as long as the clock goes on.
  private func isOfBoot(of now: WallReading) -> Bool { boot == now.boot && Self.seconds(now.bootTime) >= bootSeconds }

  private static func seconds(_ instant: TickInstant) -> Double { Double(instant.nanoseconds) / 1e9 }
}
