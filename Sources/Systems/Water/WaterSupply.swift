/// The interface through which other systems request watering from a system that waters zones. That system's own queue
/// decides about each request. The value may be used from any thread.
public struct WaterSupply: Sendable {
  /// Returns whether a rain delay is in force.
  public let isRainDelayed: @Sendable () -> Bool
  /// Returns whether the system takes no requests, because it is emergency-stopped, in fault or shut down.
  public let isStopped: @Sendable () -> Bool
  /// Returns whether a zone's valve is open.
  public let isOpen: @Sendable (_ zone: Int) -> Bool
  /// Returns the number of days since 1970 by the system's calendar.
  public let day: @Sendable (_ secondsSince1970: Int64) -> Int
  /// Requests a run, and waits until it is in the queue. Throws `APIError` if the request is refused.
  public let ask: @Sendable (WaterRequest) async throws -> Void

  /// Creates the interface from closures, which are called on any thread. Without `isOpen`, every valve counts as
  /// closed.
  public init(
    isRainDelayed: @escaping @Sendable () -> Bool, isStopped: @escaping @Sendable () -> Bool,
    isOpen: @escaping @Sendable (_ zone: Int) -> Bool = { _ in false },
    day: @escaping @Sendable (_ secondsSince1970: Int64) -> Int,
    ask: @escaping @Sendable (WaterRequest) async throws -> Void
  ) {
    self.isRainDelayed = isRainDelayed
    self.isStopped = isStopped
    self.isOpen = isOpen
    self.day = day
    self.ask = ask
  }
}

/// A request to water one zone once.
public struct WaterRequest: Sendable, Hashable {
  /// The zone's number, from 1.
  public let zone: Int
  /// The time for which to water, in seconds. `WaterSupply.ask` may refuse the value; the sprinkler accepts 1 s up to
  /// the zone's maximum.
  public let seconds: Int
  /// The name of the system that makes the request, such as `plants`, for the log.
  public let system: String
  /// The name of the part of that system, such as `plant-3`, for the log.
  public let part: String

  /// Creates a request without checking the values: `WaterSupply.ask` refuses one that cannot be carried out.
  public init(zone: Int, seconds: Int, system: String, part: String) {
    self.zone = zone
    self.seconds = seconds
    self.system = system
    self.part = part
  }
}
