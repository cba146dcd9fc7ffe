import Tactus
import Wire

/// Checks whether a daemon that stopped in order published on the broker that it is offline. Without its disconnect the
/// broker publishes its will, as for a daemon that has died.
public struct SwarmFarewell {
  /// The longest time from the stop until the broker has received the disconnect.
  private static let patience = Nanoseconds.seconds(4)
  private var stoppedAt: TickInstant?

  /// Makes the check for a daemon that has not been stopped yet.
  public init() {}

  /// Notes that a daemon stops in order.
  public mutating func stopped(_ broker: SwarmBroker, at now: TickInstant) {
    stoppedAt = broker.connectedSince == nil ? nil : now
  }

  /// Returns whether the broker has received the last daemon's disconnect and, before it, the message that the daemon
  /// is offline. Returns `nil` if that is not known yet, or if the connection was lost in between.
  public mutating func check(_ broker: SwarmBroker, at now: TickInstant) -> Bool? {
    guard let stop = stoppedAt else { return nil }
    if broker.lostAt >= stop {
      stoppedAt = nil
      return nil
    }
    let heard = broker.goodbye.flatMap { $0.at >= stop ? $0 : nil }
    guard heard != nil || now - stop > Self.patience else { return nil }
    stoppedAt = nil
    return heard.map { $0.retained[broker.topics.availability] == Array(DeviceTopics.offline.utf8) } ?? false
  }

  /// Returns the observation that contradicts the invariant.
  public func observation(_ broker: SwarmBroker) -> String {
    guard let goodbye = broker.goodbye else { return "no daemon has disconnected in order" }
    let status = goodbye.retained[broker.topics.availability].map { String(decoding: $0, as: UTF8.self) } ?? "unknown"
    return "the last disconnect came at \(SwarmAction.text(goodbye.at)) s, of a daemon that was \(status)"
  }
}
