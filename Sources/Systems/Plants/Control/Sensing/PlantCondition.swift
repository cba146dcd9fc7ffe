/// The measured condition of a plant.
public struct PlantCondition: Sendable, Hashable {
  /// The mean moisture, 0…100 %, of the sensors that are not silent and whose last value is possible in soil, or `nil`
  /// if there is none.
  public var moisturePercent: Double?
  /// The mean temperature of these sensors, or `nil` if none of them has measured one.
  public var celsius: Double?
  public var alerts: Set<PlantAlert> = []
  /// Whether the last value of at least one of the sensors is impossible in soil, as with an open or shorted wire.
  public var isDoubtful = false
  /// Whether watering must be confirmed: with their present calibrations the sensors have never shown the plant to be other than dry, and no person
  /// has confirmed that it may be watered (`Plant.proof`).
  public var needsConfirmation = false

  public init() {}

  /// Returns whether the plant needs no water: its mean moisture is known and above the limit for dry, and neither the alert `dry` nor `silent` is
  /// raised.
  func isWetEnough(by limits: PlantLimits) -> Bool {
    guard let moisturePercent, let dry = limits.dryPercent, alerts.isDisjoint(with: [.dry, .silent]) else {
      return false
    }
    return moisturePercent > dry
  }

  /// Updates the alerts from the values, with hysteresis for those that are raised.
  mutating func judge(by limits: PlantLimits, isSilent: Bool) {
    func set(_ alert: PlantAlert, _ isRaised: Bool) {
      if isRaised { alerts.insert(alert) } else { alerts.remove(alert) }
    }
    func was(_ alert: PlantAlert) -> Bool { alerts.contains(alert) }
    set(
      .dry,
      PlantBand.isBelow(
        moisturePercent, limits.dryPercent, wasRaised: was(.dry), band: PlantBand.moisture, greatest: 100))
    set(
      .wet,
      PlantBand.isAbove(moisturePercent, limits.wetPercent, wasRaised: was(.wet), band: PlantBand.moisture, least: 0))
    set(
      .cold,
      PlantBand.isBelow(celsius, limits.coldCelsius, wasRaised: was(.cold), band: PlantBand.celsius, greatest: 85))
    set(
      .hot, PlantBand.isAbove(celsius, limits.hotCelsius, wasRaised: was(.hot), band: PlantBand.celsius, least: -40))
    set(.silent, isSilent)
  }
}
