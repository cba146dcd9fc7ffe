import AvahiSystemd
import Glibc
import Logging

/// The announcement of the service on the local network (`_tactus._tcp`, and further services of the systems). There is
/// none if the service listens on loopback only, if Avahi is not running, or in a build without the trait Bonjour.
struct Announcement {
  /// The type of the daemon's own service.
  static let type = "_tactus._tcp"
  #if Bonjour
    private let announcer: AvahiAnnouncer?
  #endif

  /// Announces the service.
  ///
  /// - Parameters:
  ///   - address: the configured address on which the service listens.
  ///   - port: the port in effect.
  ///   - systems: the names of the systems served: `robot`.
  init(address: String, port: UInt16, hasTLS: Bool, systems: [String], logger: Logger) {
    #if Bonjour
      // An announced loopback address would be useless to other hosts.
      guard !Configuration.isLoopback(address) else {
        announcer = nil
        return
      }
      announcer = AvahiAnnouncer(Self.services(port: port, hasTLS: hasTLS, systems: systems)) { report in
        switch report {
        case .announced: logger.info("\(report)")
        case .absent: logger.debug("\(report)")
        case .failed: logger.warning("\(report)")
        }
      }
      announcer?.start()
    #endif
  }

  /// Withdraws the announcement.
  func stop() {
    #if Bonjour
      announcer?.stop()
    #endif
  }

  static func services(port: UInt16, hasTLS: Bool, systems: [String]) -> [AnnouncedService] {
    let kinds = DaemonProgram.current.kinds.filter { systems.contains($0.name) }
    return [service(port: port, hasTLS: hasTLS, systems: systems)]
      + kinds.flatMap { $0.announcements(host: hostName(), port: port, hasTLS: hasTLS) }
  }

  static func service(port: UInt16, hasTLS: Bool, systems: [String]) -> AnnouncedService {
    AnnouncedService(
      name: "Tactus on \(hostName())", type: type, port: port,
      text: [
        "version=\(TactusCommand.version)", "api=/api", "tls=\(hasTLS ? 1 : 0)",
        "systems=\(systems.sorted().joined(separator: ","))",
      ])
  }

  /// Returns the host name without its domain.
  private static func hostName() -> String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "this machine" }
    let name = bytes.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    return String(name.prefix { $0 != "." })
  }
}
