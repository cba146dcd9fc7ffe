import Plants
import TactusDaemon

/// The part of an item of `plants.watering` that cannot change during a run.
struct PlantWateringWiring: Settings, Equatable {
  /// The number of the plant, or `nil` if none is given.
  var plant: Int?
  var zone: Int?
  /// Whether the item has neither a plant nor a zone and therefore links nothing, as in the reference.
  var isNothing: Bool { plant == nil && zone == nil }

  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    Key(
      "plant", \.plant, in: 1...2_147_483_647,
      "The number of a plant, as GET /api/plants shows it, that may ask for water while it is dry. Unless there is such an "
        + "entry no plant ever does; one without plant and zone is none.")
    Key(
      "zone", \.zone, in: 1...64,
      "The sprinkler zone that waters it, by the sprinkler's own rules: queue, rain delay, limits of the zone.")
  }

  func check(_ report: (PartialKeyPath<Self>, String) -> Void) {
    if isNothing { return }
    if plant == nil { report(\.plant, "expected the number of a plant, got nothing") }
    if zone == nil { report(\.zone, "expected the number of a sprinkler zone, got nothing") }
  }
}

/// The part of an item of `plants.watering` that a reload can change.
struct PlantWateringRules: Settings, Equatable {
  var seconds = 60
  var perDay = 2
  var gapMinutes = 360

  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    Key("seconds", \.seconds, in: 1...3_600, "Seconds of water each time.")
    Key("max_per_day", \.perDay, in: 1...24, "Requests in one local day, at most.")
    Key("min_gap_min", \.gapMinutes, in: 1...10_080, "Minutes between two requests, at least.")
  }
}
