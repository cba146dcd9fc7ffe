import Plants
import Service
import Synchronization
import Tactus
import Wire

/// The plants behind the door: `/api/plants`, their events.
///
/// Reads the desk's view and the loop's snapshots; commands go through the desk. Nothing here moves an actuator: an e-stop is the
/// sprinkler's, which then takes no request of a plant either.
final class PlantDoor: ServedSystem {
  let name = "plants"
  let desk: PlantDesk
  /// It is `nil` if the app is not served.
  let hostName: String?
  /// The user of plants that were added here and not by the app.
  static let ownUser = PlantUser(sender: "tactus")
  /// Plants that an event shows.
  private static let shown = 100

  /// - Parameter hostName: the name that the app's clients send to, or `nil` if they are not served.
  init(_ desk: PlantDesk, hostName: String?) { (self.desk, self.hostName) = (desk, hostName) }

  // MARK: state and events

  var version: UInt64 { desk.snapshot.version.read() &+ desk.view.version &* 0x1_0000_0000 }

  /// A system's state goes where size matters: the first hundred plants. `GET /api/plants` has all.
  var state: [UInt8] { encodeJSON(document(most: Self.shown)) }

  /// The state each second; what happens in between is an edge.
  func events(at now: TickInstant, second: Bool) -> [Event] {
    guard second else { return [] }
    return [
      Event(.state, type: "plants", system: name, at: desk.newest.at, json: document(isEvent: true, most: Self.shown))
    ]
  }

  /// What subscribers are told of news, or `nil` if there is nothing.
  func edge(_ news: PlantNews) -> Event? {
    let at = desk.newest.at
    func edge(_ type: String, _ plant: Plant, _ more: (inout PlantEdge) -> Void = { _ in }) -> Event {
      var edge = PlantEdge(plantId: plant.id.number, name: plant.name.text)
      more(&edge)
      return Event(.edge, type: type, system: name, at: at, json: edge)
    }
    switch news {
    case .added(let plant): return edge("plant.added", plant)
    case .changed(let plant): return edge("plant.changed", plant)
    case .removed(let id):
      return Event(.edge, type: "plant.removed", system: name, at: at, json: PlantEdge(plantId: id.number))
    case .raised(let plant, let alert, let percent):
      return edge("plant.alert", plant) {
        ($0.alert, $0.isRaised, $0.moisturePercent) = (alert.rawValue, true, percent.map(tenth))
      }
    case .cleared(let plant, let alert, let percent):
      return edge("plant.alert", plant) {
        ($0.alert, $0.isRaised, $0.moisturePercent) = (alert.rawValue, false, percent.map(tenth))
      }
    case .watered(let plant, let isByHand): return edge("plant.watered", plant) { $0.isByHand = isByHand }
    case .asked(let plant, let request):
      return edge("plant.asked", plant) { ($0.zoneId, $0.seconds) = (request.zone, request.seconds) }
    case .refused(let plant, let request, let reason):
      return edge("plant.refused", plant) { ($0.zoneId, $0.reason) = (request.zone, reason) }
    case .waits(let plant, let zone):
      return edge("plant.waits", plant) { ($0.zoneId, $0.reason) = (zone, PlantNews.waits) }
    case .confirmed(let plant): return edge("plant.changed", plant)
    case .calibrated, .uselessCalibration, .fileCalibration, .store, .clientError: return nil
    }
  }

  // MARK: the broker

  /// Each of the first hundred plants, on a topic of its own.
  var parts: [StatePart] {
    let view = desk.view
    return view.records.plants.prefix(Self.shown).map { StatePart("\($0.id)", json: document($0, view)) }
  }

  var movingMembers: Set<String> {
    [
      "moisturePercent", "temperatureCelsius", "raw", "ageMs", "readings", "failures", "failuresInARow", "retries",
      "messages", "replies",
    ]
  }

  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    desk.view.records.plants.prefix(Self.shown).flatMap { plant in
      PlantTopics.entities(
        of: plant.id, name: plant.name.text, on: topics, takesCommands: takesCommands,
        asksForWater: desk.linkSettings[plant.id] != nil)
    }
  }

  // MARK: documents

  /// - Parameters:
  ///   - isEvent: without the time, which an event carries itself.
  ///   - most: plants shown, or `nil` for all.
  func document(isEvent: Bool = false, ok: Bool? = nil, user: PlantUser? = nil, most: Int? = nil) -> PlantsDocument {
    let view = desk.view
    let plants = user.map { user in view.records.plants.filter { $0.user == user } } ?? view.records.plants
    let alertCount = plants.count { !(view.conditions[$0.id]?.alerts.isEmpty ?? true) }
    return PlantsDocument(
      ok: ok, monotonicNs: isEvent ? nil : desk.newest.at.nanoseconds, state: alertCount == 0 ? "ok" : "problem",
      plants: plants.prefix(most ?? .max).map { document($0, view) }, plantCount: plants.count,
      userCount: Set(view.records.plants.map(\.user)).count,
      alertCount: alertCount, sensors: sensors(view),
      app: hostName.map { .init(hostName: $0, messages: messages(view), replies: view.replies) },
      store: .init(open: view.isLoaded, writable: view.storeFailure == nil, failure: view.storeFailure))
  }

  func document(_ plant: Plant, _ view: PlantView) -> PlantDocument {
    PlantDocument(plant, view, desk.linkSettings[plant.id])
  }

  func sensors(_ view: PlantView) -> [PlantSensorDocument] {
    let (newest, staleAfter, now) = (desk.newest, desk.staleAfter, desk.now())
    return desk.sensors.enumerated().map { index, sensor in
      PlantSensorDocument(sensor, newest[index], view, staleAfter: staleAfter, at: now)
    }
  }

  func messages(_ view: PlantView) -> [String: Int64] {
    var messages = view.outcomes.filter { $0.value > 0 }
    if desk.busyCount > 0 { messages["busy"] = desk.busyCount }
    if desk.oldCount > 0 { messages["old"] = desk.oldCount }
    return messages
  }

  // MARK: commands

  /// There is nothing to stop.
  func emergencyStop(_ caller: Caller) async throws {}
  func holdEmergencyStop() {}
  var isEmergencyStopped: Bool { false }

  /// Nothing is latched.
  func reset(_ caller: Caller) async throws {}

  func take(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool { false }

  func clientLeft(_ caller: Caller) {}
}

/// What became of a plant: members that do not belong to the event are absent.
private struct PlantEdge: Encodable {
  let plantId: UInt64
  var name: String?
  var alert: String?
  var isRaised: Bool?
  var moisturePercent: Double?
  var isByHand: Bool?
  var zoneId, seconds: Int?
  var reason: String?

  init(plantId: UInt64, name: String? = nil) { (self.plantId, self.name) = (plantId, name) }
}
