import Foundation
import Observation

/// The plants and their probes.
@MainActor
@Observable
public final class PlantsModel: SystemModel {
  enum Expected: Hashable {}

  /// The plants' state as last reported by the daemon.
  public private(set) var state: PlantsState
  @ObservationIgnored var expectations = Expectations<Expected, JSONValue>()
  @ObservationIgnored let link: DaemonLink

  init(_ state: PlantsState, link: DaemonLink) {
    self.state = state
    self.link = link
  }

  private struct PlantDone: Decodable { var plant: PlantsState.Plant }

  /// Adds a plant. Returns it with its number. The request is sent once.
  @discardableResult
  public func add(_ plant: NewPlant) async throws(ClientError) -> PlantsState.Plant {
    let made = try await send("/api/plants", plant, as: PlantDone.self).plant
    try await refresh()
    return made
  }

  /// Changes settings of a plant.
  public func change(_ id: Int, _ change: PlantChange) async throws(ClientError) {
    try await send("/api/plants/\(id)", change, method: "PUT")
    try await refresh()
  }

  /// Removes a plant.
  public func remove(_ id: Int) async throws(ClientError) {
    try await send("/api/plants/\(id)", method: "DELETE")
    try await refresh()
  }

  /// Records that a person has watered a plant.
  public func noteWatered(_ id: Int) async throws(ClientError) {
    try await send("/api/plants/\(id)/watered")
    try await refresh()
  }

  /// Confirms that the sprinkler may water a plant whose probes have only ever reported dry soil.
  public func confirmWatering(_ id: Int) async throws(ClientError) {
    try await send("/api/plants/\(id)/confirm-watering")
    try await refresh()
  }

  /// Returns the readings of a plant's probes in a span of time.
  /// - Parameters:
  ///   - id: the number of the plant.
  ///   - since: the start of the span, or `nil` for a day before its end. The second counts.
  ///   - until: the end of the span, or `nil` for now.
  ///   - points: the greatest number of rows of one probe, 1…2000. Neighbours are merged.
  public func history(
    _ id: Int, since: Date? = nil, until: Date? = nil, points: Int = 200
  ) async throws(ClientError) -> PlantHistory {
    let path = Self.path(
      "/api/plants/\(id)/history",
      ["since": Self.text(since), "until": Self.text(until), "points": String(points)])
    return try await fetch(path, as: PlantHistory.self)
  }

  /// Returns the alerts in force, and what happened lately: alerts that began and ended, waterings, requests to the sprinkler.
  /// - Parameters:
  ///   - plant: the number of the plant, or `nil` for all.
  ///   - limit: the greatest number of events, 1…1000.
  public func alerts(of plant: Int? = nil, limit: Int = 100) async throws(ClientError) -> PlantAlerts {
    let path = Self.path("/api/plants/alerts", ["plant": plant.map { String($0) }, "limit": String(limit)])
    return try await fetch(path, as: PlantAlerts.self)
  }

  /// Returns the list of the daily pictures.
  /// - Parameter limit: the greatest number of pictures, 1…3660.
  public func pictures(limit: Int = 400) async throws(ClientError) -> PlantPictures {
    try await fetch("/api/plants/pictures?limit=\(limit)", as: PlantPictures.self)
  }

  /// Returns the picture of a day, a JPEG.
  /// - Parameter day: the day, `YYYY-MM-DD`, as `pictures` lists it.
  public func picture(of day: String) async throws(ClientError) -> Data {
    try await link.caller.call(
      ClientRequest("GET", "/api/plants/pictures/\(Endpoint.escaped(day))", kind: .look))
  }

  /// Reads all plants at once, also those beyond the first hundred.
  public func refresh() async throws(ClientError) { state = try await fetch("/api/plants", as: PlantsState.self) }

  func receive(_ state: PlantsState) { self.state = state }
}
