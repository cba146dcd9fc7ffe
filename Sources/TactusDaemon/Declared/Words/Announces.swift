import AvahiSystemd

/// Adopted by a system that announces services on the local network besides the program's service.
public protocol Announces: DeviceSystem {
  /// Returns the services to announce while the program's service runs.
  ///
  /// - Parameters:
  ///   - host: the host name without a domain.
  ///   - port: the port of the program's service, 1 to 65535.
  ///   - hasTLS: whether the program's service accepts only HTTPS.
  static func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService]
}
