/// What a system that waters zones offers to other systems: whether it may be asked, and for what. Its own queue decides what
/// becomes of a request. Any thread.
public struct WaterSupply: Sendable {
  /// A rain delay is in force.
  public let isRainDelayed: @Sendable () -> Bool
  /// It takes no requests: e-stop, fault, shut down.
  public let isStopped: @Sendable () -> Bool
  /// Whether a zone's valve is open.
  public let isOpen: @Sendable (_ zone: Int) -> Bool
  /// Days since 1970, by its calendar.
  public let day: @Sendable (_ secondsSince1970: Int64) -> Int
  /// Returns when the run is in the queue; throws `APIError` when it is not.
  public let ask: @Sendable (WaterRequest) async throws -> Void

  /// The closures are called on any thread. Without an `isOpen`, no valve ever shows as open.
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
  /// How long to water, s. `WaterSupply.ask` may refuse it: the sprinkler takes 1 up to the zone's maximum.
  public let seconds: Int
  /// Which system asks: `plants`. For the log.
  public let system: String
  /// Which part of that system asks: `plant-3`. For the log.
  public let part: String

  /// A request, not checked yet: `WaterSupply.ask` refuses one that cannot be carried out.
  public init(zone: Int, seconds: Int, system: String, part: String) {
    self.zone = zone
    self.seconds = seconds
    self.system = system
    self.part = part
  }
}
