import BluetoothBlueZ
import Buses
import BusesLinux
import Leg
import Service
import Tactus
import TactusDaemon

/// A link to a leg, open: one shape for all of them.
struct LegLink {
  /// How the user named the leg.
  let name: String
  /// Where the loop sends to, and whose messages it takes.
  let leg: Endpoint
  /// For the one loop that owns it; keeps alive what the port needs as long as the link lives.
  let port: () -> DatagramPort
  /// Of a link that knows connections, for the same loop, or `nil` if it does not know them.
  var control: (() -> LinkControl)?
  /// How long a leg may take to answer for the first time.
  var patience = Nanoseconds.seconds(5)
  /// What is wrong with the link itself, in a few words, or `nil` if there is nothing. Any thread.
  let trouble: () -> String?
  let close: () -> Void

  /// - Throws: what goes wrong when it is opened; a leg that does not answer is no such thing.
  static func open(_ address: LegAddress, name: String, credentials: LegCredentials) throws -> LegLink {
    switch address {
    case .datagrams(let host, let port):
      let leg = try HostName.resolve(host, port: port)
      let socket = try LinuxDatagramSocket(address: leg.isIPv4 ? "0.0.0.0" : "::", port: 0)
      return LegLink(
        name: "\(leg)", leg: leg, port: { socket.port() }, trouble: { nil }, close: { withExtendedLifetime(socket) {} })
    case .serial(let path, let baudRate):
      let line = try LinuxSerialPort(path: path, baudRate: baudRate)
      let link = LegSerialLink(line.port())
      return LegLink(
        name: name, leg: .linkPeer, port: { link.port(descriptor: line.descriptor) },
        trouble: { link.counters.words }, close: { withExtendedLifetime((line, link)) {} })
    case .bluetooth(let place): return try bluetooth(place, name: name)
    case .door(let address, let leg):
      let client = try WebSocketClient(
        address, prefix: LegFrameAddress.prefix(of: leg), token: credentials.token,
        fingerprint: credentials.fingerprint)
      client.start()
      return LegLink(
        name: name, leg: .linkPeer, port: { client.bridge.port() }, trouble: { client.trouble },
        close: { client.stop() })
    }
  }
}

extension LegLink {
  /// A connection is made when the loop asks for it: a scan takes seconds.
  private static func bluetooth(_ place: BluetoothPlace, name: String) throws -> LegLink {
    #if Bluetooth
      let link = try MessageLink()
      let central = try BluetoothCentral(
        .framed, to: place.wanted, adapter: place.adapter, link: link
      ) { _ in }
      central.start()
      return LegLink(
        name: name, leg: MessageLink.peer, port: { link.port() }, control: { link.control() }, patience: .seconds(40),
        trouble: { central.state.trouble }, close: { central.stop() })
    #else
      preconditionFailure("LegAddress lets no such address through")
    #endif
  }
}

/// What a daemon's door wants to see.
struct LegCredentials {
  var token: String?
  /// SHA-256 of a self-signed certificate, for `wss`.
  var fingerprint: String?
}

extension LegSerialCounters {
  fileprivate var words: String? {
    if isGone { return "the serial device is gone" }
    return refused > 0 ? "\(refused) frames refused, \(discardedBytes) bytes discarded" : nil
  }
}
