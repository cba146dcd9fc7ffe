import AvahiSystemd

/// Adopted by a system that is found on the local network by services besides the program's own.
public protocol Announces: DeviceSystem {
  /// What is announced while the service runs.
  ///
  /// - Parameters:
  ///   - host: the machine's name, without a domain.
  ///   - port: of the service, 1 to 65535.
  ///   - hasTLS: whether the service speaks HTTPS alone.
  static func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService]
}
