/// What a system that waters zones offers to other systems: whether it may be asked, and for what. Its own queue decides what
/// becomes of a request. Any thread.
package struct WaterSupply: Sendable {
  /// A rain delay is in force.
  package let isRainDelayed: @Sendable () -> Bool
  /// It takes no requests: e-stop, fault, shut down.
  package let isStopped: @Sendable () -> Bool
  /// Whether a zone's valve is open.
  package let isOpen: @Sendable (_ zone: Int) -> Bool
  /// Days since 1970, by its calendar.
  package let day: @Sendable (_ secondsSince1970: Int64) -> Int
  /// Returns when the run is in the queue; throws `APIError` when it is not.
  package let ask: @Sendable (WaterRequest) async throws -> Void

  package init(
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
package struct WaterRequest: Sendable, Hashable {
  /// The zone's number, from 1.
  package let zone: Int
  package let seconds: Int
  /// Which system asks, and which part of it: `plants`, `plant-3`. For the log.
  package let system: String
  package let part: String

  package init(zone: Int, seconds: Int, system: String, part: String) {
    self.zone = zone
    self.seconds = seconds
    self.system = system
    self.part = part
  }
}
