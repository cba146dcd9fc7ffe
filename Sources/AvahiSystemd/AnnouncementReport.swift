/// The outcome of an announcement, for the log.
public enum AnnouncementReport: Sendable, Hashable, CustomStringConvertible {
  /// Avahi announces the service under `name`, which differs from the wanted name if that was taken.
  case announced(name: String, type: String)
  /// There is no bus, or no Avahi on it. The event is reported once until that changes.
  case absent(reason: String)
  /// Avahi refused the announcement, or every name that was tried is taken. The announcement is tried again when Avahi restarts.
  case failed(reason: String)

  public var description: String {
    switch self {
    case .announced(let name, let type): "announced as \"\(name)\" (\(type))"
    case .absent(let reason): "not announced: \(reason)"
    case .failed(let reason): "the announcement failed: \(reason)"
    }
  }
}
