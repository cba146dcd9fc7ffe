import Peers
import Synchronization

/// The last use of each token since the program's start. It may be used from any thread; the 512 tokens used last are
/// known.
public final class TokenSightings: Sendable {
  /// One use of a token.
  struct Sighting: Sendable, Equatable {
    /// The time in seconds since 1970.
    var seconds: Int64
    /// The peer's address without its port.
    var address: String
  }

  static let capacity = 512

  private let table = Mutex(RecentTable<String, Sighting>(capacity: capacity))

  /// Makes a table in which no token has been used.
  public init() {}

  /// Notes a use of a token.
  ///
  /// - Parameter tokenID: the token's public identifier.
  func note(_ tokenID: String, address: String, at seconds: Int64) {
    let sighting = Sighting(seconds: seconds, address: address)
    table.withLock { $0.use(tokenID, default: sighting) { $0 = sighting } }
  }

  /// Returns the last use of a token, or `nil` if it was not used since the start.
  func last(_ tokenID: String) -> Sighting? { table.withLock { $0.value(of: tokenID) } }
}
