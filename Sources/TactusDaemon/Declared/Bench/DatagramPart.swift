import Buses
import BusesLinux
import Service
import Tactus

/// A UDP port that a bench has opened. The bench keeps it alive.
///
/// In a simulation on the machine's clock, the socket is real and lies behind a network that can be impaired under
/// `/api/sim`. In simulated time and while planning, the port is one end of a network within this process, whose other
/// end is `peer()`.
public final class DatagramPart {
  private let socket: LinuxDatagramSocket?
  let impaired: ImpairedDatagrams?
  private let network: SimulatedNetwork?

  private static let here = Endpoint.ipv4(192, 0, 2, 1, port: 1)
  private static let there = Endpoint.ipv4(192, 0, 2, 2, port: 1)

  /// Opens the port.
  ///
  /// - Parameter address: the address on which the port listens, or `nil` in simulated time and while planning.
  init(_ port: UInt16, at address: String?, isSimulated: Bool, clock: RecordClock) throws(BusOpenError) {
    guard let address else {
      (socket, impaired, network) = (nil, nil, SimulatedNetwork([Self.here, Self.there]))
      return
    }
    let socket = try LinuxDatagramSocket(address: address, port: port)
    (self.socket, network) = (socket, nil)
    impaired = isSimulated ? ImpairedDatagrams(socket.port(), clock: clock) : nil
  }

  /// The address on which the port listens, with the port number in effect.
  public var endpoint: Endpoint { socket?.localEndpoint ?? Self.here }

  /// Returns the port for the loop that owns it.
  public func port() -> DatagramPort { impaired?.port() ?? socket?.port() ?? network!.port(Self.here) }

  /// The input that releases the loop when a datagram arrives.
  public var loopInput: LoopInput {
    // A socket of the kernel has a descriptor.
    socket.map { .descriptor($0.port().descriptor!) } ?? .simulated(network!.input(Self.here))
  }

  /// Whether the other end of the port is in this process, as in simulated time. A twin of that end is made only then.
  public var hasPeer: Bool { network != nil }

  /// Returns the other end of the port for a twin. The function traps unless `hasPeer` is `true`.
  public func peer() -> DatagramPort { network!.port(Self.there) }
}
