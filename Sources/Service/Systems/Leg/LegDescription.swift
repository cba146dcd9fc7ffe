import Leg

/// One leg as the configuration made it.
public struct LegDescription: Sendable {
  public let name: String
  public let configuration: LegConfiguration
  /// Where it listens, the UDP port in effect.
  public let port: UInt16

  public init(name: String, configuration: LegConfiguration, port: UInt16) {
    (self.name, self.configuration, self.port) = (name, configuration, port)
  }
}
