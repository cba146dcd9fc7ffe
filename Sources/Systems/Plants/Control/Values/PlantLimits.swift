/// The readings between which a plant is well; a limit that is `nil` does not exist.
public struct PlantLimits: Sendable, Hashable, Codable {
  /// The moisture below which the plant is dry, 0…100 %.
  public var dryPercent: Double?
  /// The moisture above which the plant is wet, 0…100 %, more than `dryPercent`.
  public var wetPercent: Double?
  /// The temperature below which the plant is cold, −40…85 °C.
  public var coldCelsius: Double?
  /// The temperature above which the plant is hot, −40…85 °C, more than `coldCelsius`.
  public var hotCelsius: Double?

  /// Creates limits. By default a plant is dry below 20 %, as in Home Assistant.
  public init(
    dryPercent: Double? = 20, wetPercent: Double? = nil, coldCelsius: Double? = nil, hotCelsius: Double? = nil
  ) {
    self.dryPercent = dryPercent
    self.wetPercent = wetPercent
    self.coldCelsius = coldCelsius
    self.hotCelsius = hotCelsius
  }

  /// Throws an error with the name of the field unless every limit is in its range and the pairs are in order.
  ///
  /// - Parameter old: the limits that are being replaced. For a pair in the wrong order, the error names a limit that has changed.
  public func check(replacing old: PlantLimits) throws(PlantRefusal) {
    try check(dryPercent, "dryPercent", 0...100)
    try check(wetPercent, "wetPercent", 0...100)
    try check(coldCelsius, "coldCelsius", -40...85)
    try check(hotCelsius, "hotCelsius", -40...85)
    if let dryPercent, let wetPercent, !(dryPercent < wetPercent) {
      throw Self.outOfOrder(
        ("dryPercent", dryPercent), ("wetPercent", wetPercent), isUpperNew: wetPercent != old.wetPercent)
    }
    if let coldCelsius, let hotCelsius, !(coldCelsius < hotCelsius) {
      throw Self.outOfOrder(
        ("coldCelsius", coldCelsius), ("hotCelsius", hotCelsius), isUpperNew: hotCelsius != old.hotCelsius)
    }
  }

  private static func outOfOrder(
    _ lower: (field: String, value: Double), _ upper: (field: String, value: Double), isUpperNew: Bool
  ) -> PlantRefusal {
    isUpperNew
      ? PlantRefusal(
        .invalidPlantSettings, field: upper.field,
        "expected more than \(lower.field), \(lower.value), got \(upper.value)")
      : PlantRefusal(
        .invalidPlantSettings, field: lower.field,
        "expected less than \(upper.field), \(upper.value), got \(lower.value)")
  }

  private func check(_ value: Double?, _ field: String, _ range: ClosedRange<Double>) throws(PlantRefusal) {
    guard let value, !range.contains(value) else { return }
    throw PlantRefusal(
      .invalidPlantSettings, field: field, "expected \(range.lowerBound)…\(range.upperBound), got \(value)")
  }
}
