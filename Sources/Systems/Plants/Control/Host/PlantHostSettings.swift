import Tactus

/// How the host behaves toward Plant-Tracker clients.
public struct PlantHostSettings: Sendable, Hashable {
  /// The host's name as sender and receiver of messages.
  public var hostName = "Host-RPI3B+"
  /// The receiver of a message that is for every host.
  public static let everybody = "all"
  /// Whether add, delete and edit are not acknowledged, as by the original host.
  public var legacyQuiet = false
  /// The largest number of messages of one client within `spamWindow`, or `nil` for no limit.
  public var spamLimit: Int? = 15
  public var spamWindow = Nanoseconds.seconds(15)
  /// The age above which a reading counts as missing.
  public var staleAfter = Nanoseconds.seconds(120)

  public init() {}
}
