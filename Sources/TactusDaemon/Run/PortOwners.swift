import BusesLinux
@_spi(FromOutside) import Conversions
import Glibc
import Service

/// A port on which only one program can listen.
public struct LocalPort: Hashable, Sendable {
  /// The transport protocol of a port.
  public enum Transport: String, Sendable {
    /// A TCP port, which accepts connections.
    case tcp
    /// A UDP port, which receives datagrams.
    case udp
  }
  /// The transport protocol of the port.
  public let transport: Transport
  /// The port number, more than 0.
  public let number: UInt16

  /// Returns a TCP port.
  public static func tcp(_ number: UInt16) -> LocalPort { LocalPort(transport: .tcp, number: number) }
  /// Returns a UDP port.
  public static func udp(_ number: UInt16) -> LocalPort { LocalPort(transport: .udp, number: number) }
}

/// The programs that listen on ports of the host, as far as /proc shows them.
///
/// A confined program does not see the ports of other programs, so the owners of ports are determined before it
/// confines itself.
public struct PortOwners: Sendable, Equatable {
  private var owners: [LocalPort: String] = [:]

  /// Creates a value for which no ports have been examined.
  public init() {}

  /// Determines the owners of `ports`. This takes less than a millisecond if all of them are free.
  public init(of ports: [LocalPort]) {
    let sockets = ports.isEmpty ? [] : Self.sockets(on: ports)
    guard !sockets.isEmpty else { return }
    let holders = Machine.holders(of: Set(sockets.map(\.path)))
    for socket in sockets where owners[socket.port] == nil {
      // Another user's descriptors are hidden from all but root.
      owners[socket.port] =
        holders[socket.path].map { "\($0.name) (pid \($0.process))" }
        ?? "a program of the user \(Self.name(of: socket.user))"
    }
  }

  /// Returns the program that had the port when the ports were examined, such as `nginx (pid 123)` or `a program of the
  /// user mosquitto`, or `nil` if no program had it or it was not examined.
  public subscript(port: LocalPort) -> String? { owners[port] }

  private struct Socket {
    let port: LocalPort
    let user: uid_t
    /// The target of a link in `/proc/PID/fd` for a descriptor of the socket.
    let path: String
  }

  /// Returns the sockets that listen on one of `ports`, from the tables of the kernel. On a host with thousands of
  /// connections the tables have megabytes, so only one line is kept in memory at a time.
  private static func sockets(on ports: [LocalPort]) -> [Socket] {
    let tables = [("tcp", LocalPort.Transport.tcp), ("tcp6", .tcp), ("udp", .udp), ("udp6", .udp)]
    var found: [Socket] = []
    for (name, transport) in tables {
      forEachLine(of: "/proc/net/\(name)") { line in
        guard let socket = socket(line, transport), ports.contains(socket.port) else { return }
        found.append(socket)
      }
    }
    return found
  }

  /// Calls `take` with each line of a file without its line feed; does nothing if the file cannot be read.
  static func forEachLine(of path: String, _ take: (Substring) -> Void) {
    guard let file = fopen(path, "re") else { return }
    var line: UnsafeMutablePointer<CChar>?
    var size = 0
    defer {
      free(line)
      fclose(file)
    }
    while getline(&line, &size, file) > 0, let line {
      take(String(cString: line).prefix { $0 != "\n" })
    }
  }

  /// Parses a line of /proc/net/tcp such as `0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000
  /// 1000 0 12345 …`. Returns `nil` if the socket is not listening.
  private static func socket(_ line: Substring, _ transport: LocalPort.Transport) -> Socket? {
    let fields = line.split(separator: " ")
    guard fields.count > 9, let digits = fields[1].split(separator: ":").last, let number = UInt16(digits, radix: 16),
      let user = uid_t(fields[7]), transport == .udp || fields[3] == "0A"
    else { return nil }
    return Socket(port: LocalPort(transport: transport, number: number), user: user, path: "socket:[\(fields[9])]")
  }

  private static func name(of user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
  }
}

extension PortOwners {
  /// Determines the owners of the ports on which a program with this configuration would listen.
  init(of configuration: Configuration) {
    self.init(of: configuration.claims.compactMap(\.resource.port))
  }

  /// Returns the reason why a start failed, including the key of a port that is taken and the program that has it.
  func reason(for error: any Error, _ configuration: Configuration) -> String {
    let taken: LocalPort? =
      switch (error as? BenchError)?.cause ?? error {
      case BusOpenError.portInUse(_, let port): .udp(port)
      case ServiceStartError.portInUse(_, let port): .tcp(port)
      default: nil
      }
    guard let taken, let claim = configuration.claims.first(where: { $0.resource.port == taken }) else {
      return "\(error)"
    }
    // The error of a bench already names the key.
    return sentence(claim.key, taken) ?? (error is BenchError ? "\(error)" : "\(claim.key): \(error)")
  }

  /// Returns a message such as `network.http_port: TCP port 8000 is taken by nginx (pid 123): …`, or `nil` if no
  /// program is known to have the port.
  public func sentence(_ key: String, _ port: LocalPort) -> String? {
    self[port].map {
      "\(key): \(port.transport.rawValue.uppercased()) port \(port.number) is taken by \($0): stop that program, or set another port"
    }
  }
}

extension ResourceClaim.Resource {
  /// The port that the resource stands for, or `nil` if the resource is not a port.
  var port: LocalPort? {
    switch self {
    case .tcp(let port): .tcp(port)
    case .udp(let port): .udp(port)
    case .i2c, .serial, .spi, .part, .gpio, .radio, .pwm: nil
    }
  }
}
