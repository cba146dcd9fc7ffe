/// Between which readings a plant is well, or `nil` for no such limit.
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
  ///
  /// - Parameter old: the limits that these are to replace. Of a pair that is out of order the one that has not changed is not to blame.
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
