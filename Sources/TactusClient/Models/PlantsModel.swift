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

  /// Returns the readings of a plant's probes since yesterday.
  public func history(_ id: Int) async throws(ClientError) -> PlantHistory {
    try await look("/api/plants/\(id)/history", as: PlantHistory.self)
  }

  /// Reads all plants at once, also those beyond the first hundred.
  public func refresh() async throws(ClientError) { state = try await look("/api/plants", as: PlantsState.self) }

  func take(_ state: PlantsState) { self.state = state }
}
