import BusesLinux
import Glibc
import Service

/// A port that only one program can listen on.
public struct LocalPort: Hashable, Sendable {
  /// What it takes.
  public enum Transport: String, Sendable {
    /// Connections.
    case tcp
    /// Datagrams.
    case udp
  }
  /// What it takes.
  public let transport: Transport
  /// More than 0.
  public let number: UInt16

  /// A port that takes connections.
  public static func tcp(_ number: UInt16) -> LocalPort { LocalPort(transport: .tcp, number: number) }
  /// A port that takes datagrams.
  public static func udp(_ number: UInt16) -> LocalPort { LocalPort(transport: .udp, number: number) }
}

/// The programs that listen on ports of the host, as far as /proc shows them.
///
/// A confined program does not see what others have open, so owners of ports are looked for before it confines itself.
public struct PortOwners: Sendable, Equatable {
  private var owners: [LocalPort: String] = [:]

  /// The ports have not been looked at.
  public init() {}

  /// Looks for the owners of `ports`. Takes less than a millisecond while none of them is taken.
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

  /// Returns which program had the port when it was looked for: `nginx (pid 123)`, `a program of the user mosquitto`; `nil` if none had, or it was
  /// not looked for.
  public subscript(port: LocalPort) -> String? { owners[port] }

  private struct Socket {
    let port: LocalPort
    let user: uid_t
    /// What a descriptor of it links to.
    let path: String
  }

  /// The sockets that listen on one of `ports`, by the kernel's tables. A host with thousands of connections has tables of megabytes: no more
  /// than a line of them is held.
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

  /// Calls `take` with each line, without its end; not at all if the file cannot be read.
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

  /// `0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 12345 …` of /proc/net/tcp; `nil` if it does not listen.
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
  /// The holders of the ports on which a program with this configuration would listen.
  init(of configuration: Configuration) {
    self.init(of: configuration.claims.compactMap(\.resource.port))
  }

  /// Why a start failed, with the key of a port that is taken and the program that has it.
  func reason(for error: any Error, _ configuration: Configuration) -> String {
    let taken: LocalPort? =
      switch error {
      case BusOpenError.portInUse(_, let port): .udp(port)
      case ServiceStartError.portInUse(_, let port): .tcp(port)
      default: nil
      }
    guard let taken, let claim = configuration.claims.first(where: { $0.resource.port == taken }) else {
      return "\(error)"
    }
    return words(claim.key, taken) ?? "\(claim.key): \(error)"
  }

  /// `network.http_port: TCP port 8000 is taken by nginx (pid 123): …`; `nil` if no program is known to have the port.
  public func words(_ key: String, _ port: LocalPort) -> String? {
    self[port].map {
      "\(key): \(port.transport.rawValue.uppercased()) port \(port.number) is taken by \($0): stop that program, or set another port"
    }
  }
}

extension ResourceClaim.Resource {
  /// `nil` if this is no port.
  var port: LocalPort? {
    switch self {
    case .tcp(let port): .tcp(port)
    case .udp(let port): .udp(port)
    case .i2c, .serial, .spi, .part, .gpio, .radio, .pwm: nil
    }
  }
}
