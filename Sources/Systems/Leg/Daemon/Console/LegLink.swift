import BluetoothBlueZ
import Buses
import BusesLinux
import Leg
import Service
import Tactus
import TactusDaemon

/// An open link to a leg, in the same form for every kind of link.
struct LegLink {
  /// The leg's address as the user wrote it.
  let name: String
  /// The endpoint that the loop sends to and accepts messages from.
  let leg: Endpoint
  /// Returns the port for the one loop that owns it. The closure keeps alive what the port needs as long as the link lives.
  let port: () -> DatagramPort
  /// Returns the control of the link's connections, for the loop that has the port. The closure is `nil` if the link has no notion of connections.
  var control: (() -> LinkControl)?
  /// The longest time that a leg may take to answer for the first time.
  var patience = Nanoseconds.seconds(5)
  /// Returns a description of the fault of the link itself, in a few words, or `nil` if the link works. Any thread may call this.
  let trouble: () -> String?
  let close: () -> Void

  /// Opens a link.
  ///
  /// - Throws: an error if the link cannot be opened. A leg that does not answer is not an error.
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
  /// Opens a Bluetooth link. The connection is made only when the loop requests it, because a scan takes seconds.
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

/// The credentials for a daemon's WebSocket.
struct LegCredentials {
  var token: String?
  /// The SHA-256 fingerprint of a self-signed certificate, for `wss`, or `nil` if none was given.
  var fingerprint: String?
}

extension LegSerialCounters {
  fileprivate var words: String? {
    if isGone { return "the serial device is gone" }
    return refused > 0 ? "\(refused) frames refused, \(discardedBytes) bytes discarded" : nil
  }
}
