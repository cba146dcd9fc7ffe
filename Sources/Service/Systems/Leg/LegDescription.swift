import Leg

/// One leg as the configuration made it.
public struct LegDescription: Sendable {
  public let name: String
  public let configuration: LegConfiguration
  /// Where it listens, the UDP port in effect.
  public let port: UInt16
  /// What it is reached by besides, as of now. Any thread.
  public let links: [@Sendable () -> LegLinkReport]

  public init(
    name: String, configuration: LegConfiguration, port: UInt16, links: [@Sendable () -> LegLinkReport] = []
  ) {
    (self.name, self.configuration, self.port, self.links) = (name, configuration, port, links)
  }
}
