import Leg

/// One leg as the configuration made it.
struct LegDescription: Sendable {
  let name: String
  let configuration: LegConfiguration
  /// Where it listens, the UDP port in effect.
  let port: UInt16
  /// What it is reached by besides, as of now. Any thread.
  let links: [@Sendable () -> LegLinkReport]

  init(
    name: String, configuration: LegConfiguration, port: UInt16, links: [@Sendable () -> LegLinkReport] = []
  ) {
    (self.name, self.configuration, self.port, self.links) = (name, configuration, port, links)
  }
}
