import Buses
import BusesLinux
import Service
import Tactus

/// A UDP port that a bench has opened. The bench keeps it.
///
/// In a simulation that runs with the machine's clock the socket is a real one behind a network that can be made bad under `/api/sim`; in simulated
/// time, and while planning, it is an end of a network in this process, whose other end is `peer()`.
public final class DatagramPart {
  private let socket: LinuxDatagramSocket?
  let impaired: ImpairedDatagrams?
  private let network: SimulatedNetwork?

  private static let here = Endpoint.ipv4(192, 0, 2, 1, port: 1)
  private static let there = Endpoint.ipv4(192, 0, 2, 2, port: 1)

  /// - Parameter address: where it listens; `nil` in simulated time and while planning.
  init(_ port: UInt16, at address: String?, isSimulated: Bool, clock: RecordClock) throws(BusOpenError) {
    guard let address else {
      (socket, impaired, network) = (nil, nil, SimulatedNetwork([Self.here, Self.there]))
      return
    }
    let socket = try LinuxDatagramSocket(address: address, port: port)
    (self.socket, network) = (socket, nil)
    impaired = isSimulated ? ImpairedDatagrams(socket.port(), clock: clock) : nil
  }

  /// Where it listens, with the port in effect.
  public var endpoint: Endpoint { socket?.localEndpoint ?? Self.here }

  /// For the one loop that owns it.
  public func port() -> DatagramPort { impaired?.port() ?? socket?.port() ?? network!.port(Self.here) }

  /// What releases the loop when a datagram arrives.
  public var loopInput: LoopInput {
    // A socket of the kernel has a descriptor.
    socket.map { .descriptor($0.port().descriptor!) } ?? .simulated(network!.input(Self.here))
  }

  /// Whether its other end is in this process: in simulated time. A twin of it is made only then.
  public var hasPeer: Bool { network != nil }

  /// The other end, for a twin. It traps unless `hasPeer`.
  public func peer() -> DatagramPort { network!.port(Self.there) }
}
