import Devices

/// One leg of a `LegLoop`: its rules and its servo.
public struct LegConfiguration: Sendable, Hashable {
  public var settings: LegSettings
  public var channel: ServoChannel

  /// The settings' limits are what telemetry reports a clamp for; the channel's hold besides.
  public init(_ settings: LegSettings = .standard, channel: ServoChannel) {
    self.settings = settings
    self.channel = channel
  }
}
