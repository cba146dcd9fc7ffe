import Wire

/// Between which readings a plant is well; nil: no such limit.
public struct PlantLimits: Sendable, Hashable, Codable {
  /// 0…100 %.
  public var dryPercent: Double?
  /// 0…100 %, more than `dryPercent`.
  public var wetPercent: Double?
  /// −40…85 °C.
  public var coldCelsius: Double?
  /// −40…85 °C, more than `coldCelsius`.
  public var hotCelsius: Double?

  /// Dry below 20 %, as Home Assistant's plants are.
  public init(
    dryPercent: Double? = 20, wetPercent: Double? = nil, coldCelsius: Double? = nil, hotCelsius: Double? = nil
  ) {
    self.dryPercent = dryPercent
    self.wetPercent = wetPercent
    self.coldCelsius = coldCelsius
    self.hotCelsius = hotCelsius
  }

  /// Throws, naming the field, unless every limit is in its range and the pairs are in order.
  public func check() throws(PlantRefusal) {
    try check(dryPercent, "dryPercent", 0...100)
    try check(wetPercent, "wetPercent", 0...100)
    try check(coldCelsius, "coldCelsius", -40...85)
    try check(hotCelsius, "hotCelsius", -40...85)
    if let dryPercent, let wetPercent, !(dryPercent < wetPercent) {
      throw PlantRefusal(
        .invalidPlantSettings, field: "wetPercent", "expected more than dryPercent, \(dryPercent), got \(wetPercent)")
    }
    if let coldCelsius, let hotCelsius, !(coldCelsius < hotCelsius) {
      throw PlantRefusal(
        .invalidPlantSettings, field: "hotCelsius", "expected more than coldCelsius, \(coldCelsius), got \(hotCelsius)")
    }
  }

  private func check(_ value: Double?, _ field: String, _ range: ClosedRange<Double>) throws(PlantRefusal) {
    guard let value, !range.contains(value) else { return }
    throw PlantRefusal(
      .invalidPlantSettings, field: field, "expected \(range.lowerBound)…\(range.upperBound), got \(value)")
  }
}
