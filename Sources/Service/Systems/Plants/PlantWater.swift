import Plants
import Sprinkler
import Tactus
import WallTime

/// A sprinkler as plants see it: whether it may be asked, and for what. Nothing but its own queue decides what becomes of it.
public struct PlantWater: Sendable {
  /// A rain delay is in force.
  let isRainDelayed: @Sendable () -> Bool
  /// It takes no orders: e-stop, fault, shut down.
  let isStopped: @Sendable () -> Bool
  /// A zone's valve is open.
  public let isOpen: @Sendable (Int) -> Bool
  /// Days since 1970, by its calendar.
  let day: @Sendable (PlantInstant) -> Int
  /// Returns when the run is in the queue; throws `APIError` when it is not.
  let ask: @Sendable (PlantWateringRequest) async throws -> Void

  public init(
    isRainDelayed: @escaping @Sendable () -> Bool, isStopped: @escaping @Sendable () -> Bool,
    isOpen: @escaping @Sendable (Int) -> Bool = { _ in false },
    day: @escaping @Sendable (PlantInstant) -> Int, ask: @escaping @Sendable (PlantWateringRequest) async throws -> Void
  ) {
    self.isRainDelayed = isRainDelayed
    self.isStopped = isStopped
    self.isOpen = isOpen
    self.day = day
    self.ask = ask
  }
}

extension SprinklerDoor {
  /// For links of plants: a run like any that a person asks for, at the end of the queue.
  public var water: PlantWater {
    PlantWater(
      isRainDelayed: { [self] in rainDelay(desk.view) != nil },
      isStopped: { [self] in
        // Nothing is known of zones and of what they have run.
        guard desk.view.isLoaded else { return true }
        return switch desk.newest.state {
        case .emergencyStopped, .fault, .shutDown: true
        case .idle, .watering, .paused: false
        }
      },
      isOpen: { [self] number in ZoneID(number).map { desk.newest[$0].isOn } ?? false },
      day: { [description] instant in
        let wall = WallInstant(secondsSince1970: instant.secondsSince1970)
        let local = instant.secondsSince1970 + Int64(description.timeZone.offsetSeconds(at: wall))
        return Int((Double(local) / 86_400).rounded(.down))
      },
      ask: { [self] request in
        try desk.requireLoaded()
        guard let zone = ZoneID(request.zone), desk.view.records.zones.contains(where: { $0.id == zone }) else {
          throw APIError.notFound("no zone \(request.zone); GET /api/zones lists them")
        }
        try refuseIfStopped()
        let caller = Caller(scope: .control, tokenID: "plants", address: "plant-\(request.plant)", client: 0)
        _ = try await desk.perform(.runOnce([.init(zone: zone, seconds: request.seconds)]), caller)
      })
  }
}
