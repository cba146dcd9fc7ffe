/// How a plant is.
public struct PlantCondition: Sendable, Hashable {
  /// Mean of its sensors that are not silent, 0…100 %, or `nil` if all of them are.
  public var moisturePercent: Double?
  /// Mean of those that have a thermometer.
  public var celsius: Double?
  public var alerts: Set<PlantAlert> = []
  /// It has not been seen not dry by its sensors as they are calibrated now, and a person has not said that it may be watered (`Plant.proof`).
  public var needsConfirmation = false

  public init() {}

  /// Whether its sensors, every one of them read lately, show that they can say something else than dry.
  func isWetEnough(by limits: PlantLimits) -> Bool {
    guard let moisturePercent, let dry = limits.dryPercent, alerts.isDisjoint(with: [.dry, .silent]) else {
      return false
    }
    return moisturePercent > dry
  }

  /// The alerts that follow from the values, with hysteresis about those that are raised.
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
