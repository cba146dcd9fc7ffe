import Tactus

/// How the host behaves toward Plant-Tracker clients.
public struct PlantHostSettings: Sendable, Hashable {
  /// Its name as sender and receiver.
  public var hostName = "Host-RPI3B+"
  /// A message to this receiver is for every host.
  public static let everybody = "all"
  /// Add, delete and edit are not acknowledged: what the original host did.
  public var legacyQuiet = false
  /// Messages of one client in `spamWindow`, at most, or `nil` for no limit.
  public var spamLimit: Int? = 15
  public var spamWindow = Nanoseconds.seconds(15)
  /// A reading that is older is none.
  public var staleAfter = Nanoseconds.seconds(120)

  public init() {}
}
