/// A plant's number: given once, never again, the same in topics, routes and the store.
public struct PlantID: Sendable, Hashable, Comparable, Codable {
  public let number: UInt64

  public init(_ number: UInt64) { self.number = number }

  public static func < (left: Self, right: Self) -> Bool { left.number < right.number }

  public init(from decoder: any Decoder) throws { number = try decoder.singleValueContainer().decode(UInt64.self) }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}

extension PlantID: CustomStringConvertible {
  public var description: String { "\(number)" }
}

/// A plant as its user describes it, and what is remembered of it.
public struct Plant: Sendable, Hashable, Codable {
  public let id: PlantID
  public let user: PlantUser
  /// No two plants of one user share it.
  public var name: PlantName
  /// 1…4, none twice. Plants may share one.
  public var sensors: [PlantSensorID]
  public var limits: PlantLimits
  /// By a person's word or by a rise of its moisture, or `nil` if it is not known to be.
  public var lastWatered: PlantInstant?
  /// By which calibration of each of its sensors it was seen not dry, or somebody has said that it may be watered, or `nil` if neither
  /// ever was. While it is not as its sensors are calibrated now, its link asks for no water: a probe that is wrong reads dry for ever.
  public var proof: [PlantSensorID: PlantCalibration]?

  public init(
    id: PlantID, user: PlantUser, name: PlantName, sensors: [PlantSensorID], limits: PlantLimits = PlantLimits(),
    lastWatered: PlantInstant? = nil
  ) {
    self.id = id
    self.user = user
    self.name = name
    self.sensors = sensors
    self.limits = limits
    self.lastWatered = lastWatered
  }
}
