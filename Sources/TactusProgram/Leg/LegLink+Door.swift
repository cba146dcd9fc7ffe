import Buses
import Service
import Tactus

extension LegLink {
  static func openDoor(_ address: ServiceAddress, name: String, credentials: LegCredentials) throws -> LegLink {
    let client = try LegDoorClient(address, token: credentials.token, fingerprint: credentials.fingerprint)
    client.start()
    return LegLink(
      name: name, leg: .linkPeer, port: { client.bridge.port() }, trouble: { client.trouble }, close: { client.stop() })
  }
}
