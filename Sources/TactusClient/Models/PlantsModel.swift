import Foundation
import Observation

/// The plants and their probes.
@MainActor
@Observable
public final class PlantsModel: SystemModel {
  enum Expected: Hashable {}

  /// The plants as the daemon last said them.
  public private(set) var state: PlantsState
  @ObservationIgnored var expectations = Expectations<Expected, JSONValue>()
  @ObservationIgnored let link: DaemonLink

  init(_ state: PlantsState, link: DaemonLink) {
    self.state = state
    self.link = link
  }

  private struct PlantDone: Decodable { var plant: PlantsState.Plant }

  /// Adds a plant, and returns it with its number. Sent once.
  @discardableResult
  public func add(_ plant: NewPlant) async throws(ClientError) -> PlantsState.Plant {
    let made = try await send("/api/plants", plant, as: PlantDone.self).plant
    try await refresh()
    return made
  }

  /// Changes a plant.
  public func change(_ id: Int, _ change: PlantChange) async throws(ClientError) {
    try await send("/api/plants/\(id)", change, method: "PUT")
    try await refresh()
  }

  /// Removes a plant.
  public func remove(_ id: Int) async throws(ClientError) {
    try await send("/api/plants/\(id)", method: "DELETE")
    try await refresh()
  }

  /// Says that somebody has watered a plant.
  public func noteWatered(_ id: Int) async throws(ClientError) {
    try await send("/api/plants/\(id)/watered")
    try await refresh()
  }

  /// Says that a plant may be watered by the sprinkler, which has only ever read dry.
  public func confirmWatering(_ id: Int) async throws(ClientError) {
    try await send("/api/plants/\(id)/confirm-watering")
    try await refresh()
  }

  /// What a plant's probes have read since yesterday.
  public func history(_ id: Int) async throws(ClientError) -> PlantHistory {
    try await look("/api/plants/\(id)/history", as: PlantHistory.self)
  }

  /// Reads all plants: at once, and beyond the first hundred.
  public func refresh() async throws(ClientError) { state = try await look("/api/plants", as: PlantsState.self) }

  func take(_ state: PlantsState) { self.state = state }
}
