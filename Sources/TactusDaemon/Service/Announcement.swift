import AvahiSystemd
import Glibc
import Logging

/// The service's announcement on the local network (`_tactus._tcp`, and what systems announce besides): nothing where it listens on loopback only, where
/// Avahi is not, or in a build without the trait Bonjour.
struct Announcement {
  #if Bonjour
    private let announcer: AvahiAnnouncer?
  #endif

  /// - Parameters:
  ///   - address: where the service listens, as configured.
  ///   - port: the port in effect.
  ///   - systems: names of those served: `robot`.
  init(address: String, port: UInt16, hasTLS: Bool, systems: [String], logger: Logger) {
    #if Bonjour
      // Announcing it would send others to a closed door.
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

  /// Withdraws it.
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
      name: "Tactus on \(hostName())", type: "_tactus._tcp", port: port,
      text: [
        "version=\(TactusCommand.version)", "api=/api", "tls=\(hasTLS ? 1 : 0)",
        "systems=\(systems.sorted().joined(separator: ","))",
      ])
  }

  /// Without a domain.
  private static func hostName() -> String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "this machine" }
    let name = bytes.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    return String(name.prefix { $0 != "." })
  }
}
