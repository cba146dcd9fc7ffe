import Tactus
import Wire

/// Whether a daemon that stopped in order has said so on the broker itself. Without its goodbye the broker says its will, which is of somebody who has
/// died.
public struct SwarmFarewell {
  /// From what was said to the broker's hearing of it.
  private static let patience = Nanoseconds.seconds(4)
  private var stoppedAt: TickInstant?

  /// Of a daemon that has not been stopped yet.
  public init() {}

  /// A daemon stops in order.
  public mutating func stopped(_ broker: SwarmBroker, at now: TickInstant) {
    stoppedAt = broker.connectedSince == nil ? nil : now
  }

  /// Whether the broker has heard the last one's goodbye, and with it that it is offline, or `nil` if that is not known yet, or if the connection was lost
  /// in between.
  public mutating func look(_ broker: SwarmBroker, at now: TickInstant) -> Bool? {
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

  /// What was seen instead.
  public func words(_ broker: SwarmBroker) -> String {
    guard let goodbye = broker.goodbye else { return "nobody has said goodbye" }
    let status = goodbye.retained[broker.topics.availability].map { String(decoding: $0, as: UTF8.self) } ?? "unknown"
    return "the last goodbye came at \(SwarmAction.text(goodbye.at)) s, of a daemon that was \(status)"
  }
}
